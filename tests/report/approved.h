// Text that a person has looked at and found right: tests/report/approved/NAME.txt.
#pragma once

#include <string>

namespace headprune::testing {

/// Checks that `text` is the approved one. Where it is not, the text is kept under the temporary folder and named in
/// the failure: look at it, and copy it over the approved file if it is better.
void check_approved(const std::string& name, const std::string& text);

}  // namespace headprune::testing
