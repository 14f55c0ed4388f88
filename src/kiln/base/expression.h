// Regular expressions that users write.
#ifndef KILN_BASE_EXPRESSION_H
#define KILN_BASE_EXPRESSION_H

#include <regex>
#include <string>

#include "kiln/base/status.h"

namespace kiln {

// One that is searched in a time that grows with the text, and not with how many ways there are to find it; without
// back references. An error says what is wrong with it.
Result<std::regex> parseExpression(const std::string &text);

} // namespace kiln

#endif // KILN_BASE_EXPRESSION_H
