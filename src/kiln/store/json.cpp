#include "kiln/store/json.h"

#include "kiln/base/json_depth.h"

#include "nlohmann/json.hpp"

namespace kiln::store {

using Json = nlohmann::ordered_json;

// Text that is no UTF-8 (a flag's value, a path) must not end the program.
static std::string dump(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status checkJsonSize(std::string_view text) {
  if (text.size() > kMostJsonBytes)
    return dataLoss("the store holds JSON of {} bytes, '{}...'; at most {} belong there", text.size(),
                    text.substr(0, 80), kMostJsonBytes);
  if (size_t depth = jsonDepth(text); depth > kMostJsonDepth)
    return dataLoss("the store holds JSON that is nested {} levels deep, '{}...'; at most {} belong there", depth,
                    text.substr(0, 80), kMostJsonDepth);
  return okStatus();
}

static Result<Json> parseArray(std::string_view text) {
  KILN_RETURN_IF_ERROR(checkJsonSize(text));
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_array())
    return dataLoss("the store holds '{}' where a JSON list belongs", text.substr(0, 80));
  return json;
}

std::string pairsToJson(const std::vector<std::pair<std::string, std::string>> &pairs) {
  Json json = Json::array();
  for (const auto &[name, value] : pairs)
    json.push_back(Json::array({name, value}));
  return dump(json);
}

Result<std::vector<std::pair<std::string, std::string>>> pairsFromJson(std::string_view text) {
  KILN_ASSIGN_OR_RETURN(Json json, parseArray(text));
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Json &pair : json) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
      return dataLoss("the store holds '{}' where a list of pairs belongs", text.substr(0, 80));
    pairs.emplace_back(pair[0].get<std::string>(), pair[1].get<std::string>());
  }
  return pairs;
}

std::string namesToJson(const std::vector<std::string> &names) {
  return dump(Json(names));
}

Result<std::vector<std::string>> namesFromJson(std::string_view text) {
  KILN_ASSIGN_OR_RETURN(Json json, parseArray(text));
  std::vector<std::string> names;
  for (const Json &name : json) {
    if (!name.is_string())
      return dataLoss("the store holds '{}' where a list of names belongs", text.substr(0, 80));
    names.push_back(name.get<std::string>());
  }
  return names;
}

Status checkObject(std::string_view text, std::string_view what) {
  KILN_RETURN_IF_ERROR(checkJsonSize(text));
  if (Json::parse(text, nullptr, false).is_object())
    return okStatus();
  return invalidArgument("{} must be a JSON object, not '{}'", what, text.substr(0, 80));
}

} // namespace kiln::store
