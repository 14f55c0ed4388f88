#include "kiln/tools/cli.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "fmt/format.h"
#include "kiln/base/flags.h"
#include "kiln/base/split.h"
#include "kiln/tools/help_text.h"
#include "kiln/tools/version.h"

namespace kiln {

static std::string dashed(const std::string &name) {
  return "--" + name;
}

static auto appendTo(std::vector<std::string> &values) {
  return [&values](std::string value) { return values.push_back(std::move(value)), okStatus(); };
}

FlagParser::FlagParser(std::string tool, std::string summary)
    : toolName(std::move(tool)), summary(std::move(summary)) {}

void FlagParser::record(FlagText text, Kind kind, std::function<Status(std::string)> assign, std::string defaultText,
                        bool repeats) {
  flags.push_back({std::move(text), kind, currentGroup, std::move(defaultText), repeats, std::move(assign)});
}

void FlagParser::add(FlagText text, bool &value) {
  auto assign = [name = text.name, &value](const std::string &word) {
    auto isOneOf = [&](std::initializer_list<std::string_view> words) { return std::ranges::count(words, word) > 0; };
    value = isOneOf({"true", "1", "yes", "on"});
    return value || isOneOf({"false", "0", "no", "off"})
               ? okStatus()
               : invalidArgument("--{}: '{}' is neither true nor false", name, word);
  };
  record(std::move(text), Kind::Boolean, assign, value ? "true" : "");
}

void FlagParser::add(FlagText text, std::string &value) {
  auto assign = [&value](std::string word) { return value = std::move(word), okStatus(); };
  record(std::move(text), Kind::Value, assign, value);
}

template <typename T> void FlagParser::addNumber(FlagText text, T &value) {
  auto assign = [name = text.name, &value](const std::string &word) {
    const char *last = word.data() + word.size();
    auto [end, error] = std::from_chars(word.data(), last, value);
    return error == std::errc() && end == last
               ? okStatus()
               : invalidArgument("--{}: '{}' is no whole number up to {}", name, word, std::numeric_limits<T>::max());
  };
  record(std::move(text), Kind::Value, assign, fmt::format("{}", value));
}

void FlagParser::add(FlagText text, uint32_t &value) {
  addNumber(std::move(text), value);
}

void FlagParser::add(FlagText text, uint64_t &value) {
  addNumber(std::move(text), value);
}

void FlagParser::add(FlagText text, double &value) {
  auto assign = [name = text.name, &value](const std::string &word) {
    const char *last = word.data() + word.size();
    auto [end, error] = std::from_chars(word.data(), last, value);
    return error == std::errc() && end == last && std::isfinite(value) && value >= 0
               ? okStatus()
               : invalidArgument("--{}: '{}' is no number of 0 or more", name, word);
  };
  record(std::move(text), Kind::Value, assign, fmt::format("{}", value));
}

void FlagParser::add(FlagText text, std::vector<std::string> &values) {
  auto assign = [&values, isDefault = true](std::string word) mutable {
    if (std::exchange(isDefault, false))
      values.clear();
    return values.push_back(std::move(word)), okStatus();
  };
  record(std::move(text), Kind::Value, assign, fmt::format("{}", fmt::join(values, ",")), /*repeats=*/true);
}

void FlagParser::addChoice(FlagText text, std::string &value) {
  auto assign = [text, &value](std::string word) {
    if (std::ranges::count(split(text.value, '|'), word) == 0)
      return invalidArgument("--{}: '{}' is not one of {}", text.name, word, text.value);
    value = std::move(word);
    return okStatus();
  };
  record(std::move(text), Kind::Value, assign, value);
}

void FlagParser::addOptionalValue(FlagText text, std::optional<std::string> &value) {
  record(std::move(text), Kind::OptionalValue,
         [&value](std::string word) { return value = std::move(word), okStatus(); });
}

void FlagParser::addPositional(FlagText text, std::vector<std::string> &values) {
  record(std::move(text), Kind::Positional, appendTo(values));
}

void FlagParser::passThrough(std::vector<FlagText> known, std::string warnPrefix, std::vector<std::string> &arguments) {
  for (FlagText &text : known)
    record(std::move(text), Kind::PassThrough, appendTo(arguments));
  this->warnPrefix = std::move(warnPrefix);
}

void FlagParser::forwardPrefix(FlagText text, std::vector<std::string> &arguments) {
  record(std::move(text), Kind::Forwarded, appendTo(arguments));
}

void FlagParser::addPrefixed(FlagText text, std::vector<std::string> &values) {
  record(std::move(text), Kind::Prefixed, appendTo(values), {}, /*repeats=*/true);
}

void FlagParser::refuse(std::string name, std::string why) {
  auto assign = [name, why = std::move(why)](const std::string &value) {
    return invalidArgument("--{}{}{}: {}", name, value.empty() ? "" : "=", value, why);
  };
  record({std::move(name), "", ""}, Kind::Refused, assign);
}

const FlagParser::Flag *FlagParser::find(std::string_view name) const {
  auto found = std::ranges::find_if(flags, [&](const Flag &flag) {
    return flag.text.name == name && flag.kind != Kind::Positional && flag.kind != Kind::Forwarded;
  });
  return found == flags.end() ? nullptr : &*found;
}

const FlagParser::Flag *FlagParser::firstOf(Kind kind) const {
  auto found = std::ranges::find(flags, kind, &Flag::kind);
  return found == flags.end() ? nullptr : &*found;
}

std::vector<std::string> FlagParser::flagNames() const {
  std::vector<std::string> names = {"help", "version", "flagfile"};
  for (const Flag &flag : flags)
    if (flag.kind != Kind::Positional && flag.kind != Kind::Forwarded && isListed(flag))
      names.push_back(flag.text.name);
  return names;
}

Status FlagParser::read(int argc, const char *const *argv, bool &help, bool &version) {
  std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
  KILN_ASSIGN_OR_RETURN(given, expandFlagFiles(given));
  given = canonicalArguments(given);
  const Flag *positional = firstOf(Kind::Positional), *forwarded = firstOf(Kind::Forwarded);
  bool onlyPositional = false;
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string &argument = given[i];
    bool isFlag = !onlyPositional && argument.size() > 1 && argument[0] == '-' &&
                  (argument[1] == '-' || std::isalpha(static_cast<unsigned char>(argument[1])));
    if (isFlag && argument == "--") {
      onlyPositional = true;
      continue;
    }
    if (!isFlag) {
      if (!positional)
        return invalidArgument(
            "unexpected argument '{}'; {}", argument,
            argument.ends_with(".vmfb") && find("module") ? fmt::format("did you mean '--module={}'?", argument)
            : find("parameters") && !find("module")       ? fmt::format("did you mean '--parameters={}'?", argument)
                                                          : "--help lists the flags");
      KILN_RETURN_IF_ERROR(positional->assign(argument));
      continue;
    }
    std::string body = argument.substr(argument[1] == '-' ? 2 : 1);
    size_t nameEnd = std::min(body.find_first_of("=,"), body.size());
    std::string name = body.substr(0, nameEnd), value = body.substr(std::min(nameEnd + 1, body.size()));
    bool hasValue = nameEnd < body.size();
    const Flag *flag = find(name);
    if (flag && hasValue && (body[nameEnd] == ',') != (flag->kind == Kind::Prefixed))
      flag = nullptr;
    if (!flag && (body == "help" || body == "h")) {
      help = true;
    } else if (!flag && body == "version") {
      version = true;
    } else if (!flag && forwarded && name.starts_with(forwarded->text.name)) {
      KILN_RETURN_IF_ERROR(forwarded->assign(dashed(body)));
    } else if (!flag || (flag->kind == Kind::Prefixed && !hasValue)) {
      std::string message = unknownFlagMessage(argument, flagNames());
      if (warnPrefix.empty() || !name.starts_with(warnPrefix))
        return invalidArgument("{}", message);
      reportWarning(toolName, message + " It is ignored.");
    } else if (flag->kind == Kind::Value && value.empty() && (hasValue || i + 1 == given.size())) {
      return invalidArgument("--{}{}: {}", name, hasValue ? "= has no value" : " needs a value", usage(*flag));
    } else if (flag->kind == Kind::Value && !hasValue) {
      KILN_RETURN_IF_ERROR(flag->assign(given[++i]));
    } else if (flag->kind == Kind::PassThrough) {
      KILN_RETURN_IF_ERROR(flag->assign(dashed(body)));
    } else {
      KILN_RETURN_IF_ERROR(flag->assign(flag->kind == Kind::Boolean && !hasValue ? "true" : value));
    }
  }
  return okStatus();
}

std::optional<int> FlagParser::parse(int argc, const char *const *argv) {
  bool help = false, version = false;
  if (Status status = read(argc, argv, help, version); !status.ok())
    return reportFailure(toolName, status);
  if (!help && !version)
    return std::nullopt;
  print(version ? fmt::format("{} (Kiln) {}\n", toolName, kVersion) : helpText());
  return finishOutput(toolName, 0);
}

std::string FlagParser::usage(const Flag &flag) const {
  switch (flag.kind) {
  case Kind::Positional: return flag.text.value;
  case Kind::OptionalValue: return fmt::format("--{}[={}]", flag.text.name, flag.text.value);
  case Kind::Forwarded: return dashed(flag.text.name + flag.text.value);
  case Kind::Prefixed: return fmt::format("--{},{}", flag.text.name, flag.text.value);
  default: return dashed(flag.text.name) + (flag.text.value.empty() ? "" : "=" + flag.text.value);
  }
}

std::string FlagParser::helpText() const {
  HelpText help;
  std::string positionals;
  for (const Flag &flag : flags)
    if (flag.kind == Kind::Positional)
      positionals += " " + flag.text.value;
  help.paragraph(fmt::format("Usage: {} [flags]{}", toolName, positionals));
  help.paragraph("");
  help.paragraph(summary);

  std::vector<std::string> groups;
  for (const Flag &flag : flags)
    if (isListed(flag) && std::ranges::find(groups, flag.group) == groups.end())
      groups.push_back(flag.group);
  for (const std::string &group : groups) {
    help.heading(group);
    for (const Flag &flag : flags)
      if (isListed(flag) && flag.group == group)
        help.item(usage(flag), flag.text.help + (flag.repeats ? " Repeats." : "") +
                                   (flag.defaultText.empty()
                                        ? ""
                                        : " Default: " + (flag.defaultText == "." ? "'.'" : flag.defaultText) + "."));
  }
  help.heading("General");
  help.item("--flagfile=FILE", "Reads flags from a file, one on each line; # starts a comment.");
  help.item("--version", "Prints the version.");
  help.item("--help", "Prints this.");
  if (!examples.empty())
    help.heading("Examples");
  for (const std::string &example : examples)
    help.command(example);
  return help.text();
}

} // namespace kiln
