// JSON of this folder's records, read with errors that name the place: "rates[3].threads is no unsigned number".
#ifndef KILN_MEASURE_MACHINE_MACHINE_JSON_H
#define KILN_MEASURE_MACHINE_MACHINE_JSON_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/fact.h"

namespace kiln::measure {

using Json = nlohmann::ordered_json;

struct Cache;
struct CalibratedDevice;
struct Finding;
struct Noise;
struct Provenance;

// The object that the text holds.
inline Result<Json> parseObject(std::string_view text) {
  Json object = Json::parse(text, /*callback=*/nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded())
    return invalidArgument("this is no JSON");
  if (!object.is_object())
    return invalidArgument("this JSON is no object");
  return object;
}

// Takes members of an object that must be there. The first one that is missing or of another type decides `status`;
// what follows is left as it is.
class JsonReader {
public:
  // The object must outlive this. `place` ends with a dot, or is empty.
  JsonReader(const Json &object, std::string place) : object(object), place(std::move(place)) {}

  const Status &status() const { return error; }

  void get(const char *name, std::string &value) {
    if (const Json *member = find(name, memberIs<&Json::is_string>, "text"))
      value = member->get<std::string>();
  }
  void get(const char *name, bool &value) {
    if (const Json *member = find(name, memberIs<&Json::is_boolean>, "truth value"))
      value = member->get<bool>();
  }
  void get(const char *name, double &value) {
    if (const Json *member = find(name, memberIs<&Json::is_number>, "number"))
      value = member->get<double>();
  }
  void get(const char *name, uint64_t &value) {
    if (const Json *member = find(name, memberIs<&Json::is_number_unsigned>, "unsigned number"))
      value = member->get<uint64_t>();
  }
  void get(const char *name, unsigned &value) {
    uint64_t wide = value;
    get(name, wide);
    if (wide > UINT32_MAX)
      fail(name, "too large");
    else
      value = static_cast<unsigned>(wide);
  }
  void get(const char *name, Fact &value) {
    auto isFact = [](const Json &json) {
      return json.is_string() || (json.is_object() && json.contains("unavailable") && json["unavailable"].is_string());
    };
    if (const Json *member = find(name, isFact, "text or {\"unavailable\": \"why\"}"))
      value = member->is_string() ? Fact::of(member->get<std::string>())
                                  : Fact::missing((*member)["unavailable"].get<std::string>());
  }
  void get(const char *name, std::vector<std::string> &values) {
    getAll(name, values, memberIs<&Json::is_string>, "text");
  }
  void get(const char *name, std::vector<unsigned> &values) {
    auto fits = [](const Json &json) { return json.is_number_unsigned() && json.get<uint64_t>() <= UINT32_MAX; };
    getAll(name, values, fits, "unsigned number");
  }
  template <typename T> void getObjects(const char *name, std::vector<T> &values, void (*readOne)(JsonReader &, T &)) {
    const Json *list = find(name, memberIs<&Json::is_array>, "list");
    if (!list)
      return;
    values.clear();
    for (size_t i = 0; i < list->size() && error.ok(); ++i) {
      if (!(*list)[i].is_object())
        return fail(fmt::format("{}[{}]", name, i), "no object");
      JsonReader reader((*list)[i], fmt::format("{}{}[{}].", place, name, i));
      readOne(reader, values.emplace_back());
      error = reader.error;
    }
  }
  template <typename T> void getObject(const char *name, T &value, void (*readOne)(JsonReader &, T &)) {
    if (const Json *member = find(name, memberIs<&Json::is_object>, "object")) {
      JsonReader reader(*member, fmt::format("{}{}.", place, name));
      readOne(reader, value);
      error = reader.error;
    }
  }
  void fail(std::string_view name, std::string_view fault) {
    if (error.ok())
      error = invalidArgument("{}{} is {}", place, name, fault);
  }

private:
  template <bool (Json::*Is)() const noexcept> static bool memberIs(const Json &json) { return (json.*Is)(); }

  template <typename Predicate> const Json *find(const char *name, Predicate fits, std::string_view what) {
    auto found = object.find(name);
    if (found == object.end())
      fail(name, "missing");
    else if (!fits(*found))
      fail(name, fmt::format("no {}", what));
    return error.ok() ? &*found : nullptr;
  }
  template <typename T, typename Predicate>
  void getAll(const char *name, std::vector<T> &values, Predicate fits, std::string_view what) {
    const Json *list = find(name, memberIs<&Json::is_array>, "list");
    if (!list)
      return;
    values.clear();
    for (size_t i = 0; i < list->size(); ++i) {
      if (!fits((*list)[i]))
        return fail(fmt::format("{}[{}]", name, i), fmt::format("no {}", what));
      values.push_back((*list)[i].template get<T>());
    }
  }

  const Json &object;
  std::string place;
  Status error;
};

Json toJson(const Fact &fact);
Json toJson(const Provenance &machine);
Json toJson(const CalibratedDevice &device);
Json toJson(const Finding &finding);
Json toJson(const Noise &noise);
Json cachesJson(const std::vector<Cache> &caches);
void read(JsonReader &reader, Provenance &machine);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_MACHINE_JSON_H
