// What some work is refused with.
#pragma once

#include <string>

#include "core/error.h"
#include "support/catch.h"

namespace headprune {

/// The sentence of the Error that `work` throws, which has this code; "no error" where it throws none.
template <class Work>
std::string error_of(ExitCode code, Work work) {
  try {
    work();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "no error";
}

}  // namespace headprune
