// How a row's results were checked, by all passes that were made.
#ifndef KILN_REPORT_MODEL_METHOD_H
#define KILN_REPORT_MODEL_METHOD_H

#include <string>

#include "kiln/store/facts.h"

namespace kiln::report {

// "exact: integers (sums + wide-lhs + wide-rhs), ...": what passes have in common is said once; different methods, each
// with its passes, are separated by semicolons. Empty where nothing was checked.
std::string methodText(const store::Verification &verification);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_METHOD_H
