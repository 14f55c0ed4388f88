// Values of columns, and facts, as JSON.
#ifndef KILN_REPORT_FORMATS_JSON_VALUE_H
#define KILN_REPORT_FORMATS_JSON_VALUE_H

#include <cmath>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

#include "kiln/report/columns/columns.h"

namespace kiln::report {

using Json = nlohmann::ordered_json;

inline Json jsonOf(const Value &value) {
  if (const auto *text = std::get_if<std::string>(&value))
    return *text;
  if (const auto *integer = std::get_if<int64_t>(&value))
    return *integer;
  if (const auto *natural = std::get_if<uint64_t>(&value))
    return *natural;
  if (const auto *number = std::get_if<Number>(&value))
    return std::isfinite(number->value) ? Json(number->value) : Json();
  if (const auto *ranking = std::get_if<Ranking>(&value))
    return ranking->rank;
  return {};
}

// JSON that the store holds as text; as a string where it is none.
inline Json parsedJson(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(std::string(text)) : json;
}

// Text that is no UTF-8 does not end the program.
inline std::string dumpJson(const Json &json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace kiln::report

#endif // KILN_REPORT_FORMATS_JSON_VALUE_H
