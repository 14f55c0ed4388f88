#include "kiln/schema/signature.h"

namespace kiln::schema {

int64_t Signature::repeatCount(uint64_t count) const {
  if (count < arguments.size())
    return -1;
  uint64_t rest = count - arguments.size();
  if (rest == 0)
    return 0;
  if (repeated.empty() || rest % repeated.size() != 0)
    return -1;
  return static_cast<int64_t>(rest / repeated.size());
}

char Signature::argumentKind(uint64_t index) const {
  if (index < arguments.size())
    return arguments[index];
  return repeated[(index - arguments.size()) % repeated.size()];
}

Result<Signature> parseSignature(std::string_view text, bool allowRepeated) {
  auto fail = [&](std::string_view why) { return invalidArgument("signature '{}' is not valid: {}", text, why); };
  size_t separator = text.find('_');
  if (separator == std::string_view::npos)
    return fail("it has no '_' between arguments and results");
  std::string_view arguments = text.substr(0, separator);
  std::string_view results = text.substr(separator + 1);

  Signature signature;
  if (!arguments.empty() && arguments.back() == '*') {
    if (!allowRepeated)
      return fail("only an import may repeat arguments");
    arguments.remove_suffix(1);
    if (!arguments.empty() && arguments.back() == ')') {
      size_t open = arguments.find('(');
      if (open == std::string_view::npos)
        return fail("a group is closed that was not opened");
      signature.repeated = arguments.substr(open + 1, arguments.size() - open - 2);
      arguments = arguments.substr(0, open);
    } else if (!arguments.empty()) {
      signature.repeated = arguments.back();
      arguments.remove_suffix(1);
    }
    if (signature.repeated.empty())
      return fail("the repeated group is empty");
  }
  signature.arguments = arguments;
  signature.results = results;
  for (const std::string *part : {&signature.arguments, &signature.repeated, &signature.results})
    for (char kind : *part)
      if (!isValueKind(kind))
        return fail(fmt::format("'{}' is not one of i, I, f, F, r", kind >= ' ' && kind < 127 ? kind : '?'));
  return signature;
}

} // namespace kiln::schema
