// Suggests a known name for one that is not known.
#ifndef KILN_REPORT_MODEL_SUGGESTION_H
#define KILN_REPORT_MODEL_SUGGESTION_H

#include <span>
#include <string>
#include <string_view>

namespace kiln::report {

// "; did you mean 'rank'?" of the known name that is nearest, whatever is upper case; else that starts with what was
// named. Empty where none is near.
std::string suggestion(std::string_view name, std::span<const std::string> known);

} // namespace kiln::report

#endif // KILN_REPORT_MODEL_SUGGESTION_H
