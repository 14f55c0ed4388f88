#include "kiln/report/model/method.h"

#include <algorithm>
#include <vector>

#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace kiln::report {

using Json = nlohmann::json;

namespace {
// Passes that were checked in the same way. The text is in two parts where it names the pass, which goes between them.
struct Method {
  std::string before, after;
  std::string passes;
  size_t count = 0;
  bool named = false;

  std::string text() const {
    if (named)
      return fmt::format("{}({}){}", before, passes, after);
    return count > 1 ? fmt::format("{}; passes: {}", before, passes) : before;
  }
};
} // namespace

static std::string textOf(const Json &check, const char *member) {
  auto found = check.find(member);
  return found != check.end() && found->is_string() ? found->get<std::string>() : std::string();
}

static void add(std::vector<Method> &methods, const std::string &pass, const std::string &text) {
  Method method{text, {}, pass, 1, false};
  std::string name = fmt::format("({})", pass);
  if (size_t at = text.find(name); at != std::string::npos)
    method = {text.substr(0, at), text.substr(at + name.size()), pass, 1, true};
  auto known = std::ranges::find_if(methods, [&](const Method &other) {
    return other.before == method.before && other.after == method.after && other.named == method.named;
  });
  if (known == methods.end()) {
    methods.push_back(std::move(method));
    return;
  }
  known->passes += " + " + pass;
  ++known->count;
}

std::string methodText(const store::Verification &verification) {
  Json details = Json::parse(verification.details, nullptr, /*allow_exceptions=*/false);
  std::vector<Method> methods;
  if (details.is_object())
    if (auto checks = details.find("checks"); checks != details.end() && checks->is_array())
      for (const Json &check : *checks)
        if (check.is_object() && !textOf(check, "method").empty())
          add(methods, textOf(check, "pass"), textOf(check, "method"));
  if (methods.empty()) {
    // Of older stores, which have the last pass and how many there were.
    auto passes = details.is_object() ? details.find("passes") : details.end();
    bool several = details.is_object() && passes != details.end() && passes->is_number_unsigned() && *passes > 1;
    return several ? fmt::format("{}; the last of {} passes", verification.method, passes->get<uint64_t>())
                   : verification.method;
  }
  std::string text;
  for (const Method &method : methods)
    text += (text.empty() ? "" : "; ") + method.text();
  return text;
}

} // namespace kiln::report
