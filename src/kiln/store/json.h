// The few shapes of JSON that columns of the store hold.
#ifndef KILN_STORE_JSON_H
#define KILN_STORE_JSON_H

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/base/status.h"

namespace kiln::store {

// JSON of a store that is larger, or nested deeper, is not read: to destroy or print what it holds takes a call for
// each level, and a stack has room for some.
inline constexpr size_t kMostJsonBytes = 4 << 20;
Status checkJsonSize(std::string_view text);

// [["m","256"],...]
std::string pairsToJson(const std::vector<std::pair<std::string, std::string>> &pairs);
Result<std::vector<std::pair<std::string, std::string>>> pairsFromJson(std::string_view text);
// ["a",...]
std::string namesToJson(const std::vector<std::string> &names);
Result<std::vector<std::string>> namesFromJson(std::string_view text);
// `what` names it in the error.
Status checkObject(std::string_view text, std::string_view what);

} // namespace kiln::store

#endif // KILN_STORE_JSON_H
