// A list that may be written as its one entry: {local: {window: 8}} for [{local: {window: 8}}].
#pragma once

#include "config/fields.h"

namespace headprune {

/// Entries are no names in results, so plug-ins in it may be alike.
class OneOrListView : public ListView {};

template <class T>
struct OneOrList : std::vector<T> {
  using std::vector<T>::vector;
};

namespace detail {

template <class T>
struct ElementOf<OneOrList<T>> : ElementOf<std::vector<T>> {};

template <class T>
class BoundOneOrList final : public OneOrListView {
 public:
  explicit BoundOneOrList(std::vector<T>& member) : list_(member) {}
  size_t size() const override { return list_.size(); }
  void clear() override { list_.clear(); }
  Value append() override { return list_.append(); }
  Value at(size_t index) override { return list_.at(index); }

 private:
  BoundList<T> list_;
};

}  // namespace detail
}  // namespace headprune
