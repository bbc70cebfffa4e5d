// One lambda for each alternative of a std::variant.
#pragma once

namespace headprune {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace headprune
