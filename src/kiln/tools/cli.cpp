#include "kiln/tools/cli.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "kiln/base/flags.h"
#include "kiln/tools/help_text.h"
#include "kiln/tools/version.h"

namespace kiln {

namespace {

std::vector<std::string> splitChoices(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    size_t end = std::min(text.find('|'), text.size());
    words.emplace_back(text.substr(0, end));
    if (end == text.size())
      return words;
    text.remove_prefix(end + 1);
  }
}

std::string dashed(const std::string &name) {
  return "--" + name;
}

template <typename T> void declareOption(CLI::App &app, const std::string &name, T &value) {
  CLI::Option *option = app.add_option(dashed(name), value)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  // CLI11 alone would read -1 as a large number.
  if constexpr (std::is_unsigned_v<T>)
    option->check([](const std::string &text) {
      T number;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      bool isNumber = error == std::errc() && end == text.data() + text.size();
      return isNumber ? std::string()
                      : fmt::format("'{}' is no whole number up to {}", text, std::numeric_limits<T>::max());
    });
}

} // namespace

FlagParser::FlagParser(std::string tool, std::string summary)
    : toolName(std::move(tool)), summary(std::move(summary)) {}

FlagParser::Flag &FlagParser::record(FlagText text, Kind kind, std::string defaultText) {
  flags.push_back({std::move(text), currentGroup, std::move(defaultText), kind, false, nullptr, nullptr});
  return flags.back();
}

void FlagParser::add(FlagText text, bool &value) {
  Flag &flag = record(std::move(text), Kind::Boolean, value ? "true" : "");
  flag.declare = [name = flag.text.name, &value](CLI::App &app) {
    app.add_flag(dashed(name), value)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  };
}

void FlagParser::add(FlagText text, std::string &value) {
  Flag &flag = record(std::move(text), Kind::Value, value);
  flag.declare = [name = flag.text.name, &value](CLI::App &app) { declareOption(app, name, value); };
}

void FlagParser::add(FlagText text, uint32_t &value) {
  Flag &flag = record(std::move(text), Kind::Value, fmt::format("{}", value));
  flag.declare = [name = flag.text.name, &value](CLI::App &app) { declareOption(app, name, value); };
}

void FlagParser::add(FlagText text, uint64_t &value) {
  Flag &flag = record(std::move(text), Kind::Value, fmt::format("{}", value));
  flag.declare = [name = flag.text.name, &value](CLI::App &app) { declareOption(app, name, value); };
}

void FlagParser::add(FlagText text, std::vector<std::string> &values) {
  std::string defaultText;
  for (const std::string &value : values)
    defaultText += (defaultText.empty() ? "" : ",") + value;
  Flag &flag = record(std::move(text), Kind::Value, std::move(defaultText));
  flag.repeats = true;
  flag.declare = [name = flag.text.name, &values](CLI::App &app) {
    // One value for each occurrence; extra arguments would also make CLI11 split a value in brackets at its commas.
    app.add_option(dashed(name), values)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
}

void FlagParser::addChoice(FlagText text, std::string &value) {
  Flag &flag = record(std::move(text), Kind::Value, value);
  flag.declare = [text = flag.text, &value](CLI::App &app) {
    app.add_option(dashed(text.name), value)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->check([text, choices = splitChoices(text.value)](const std::string &word) {
          return std::ranges::find(choices, word) != choices.end()
                     ? std::string()
                     : fmt::format("'{}' is not one of {}", word, text.value);
        });
  };
}

void FlagParser::addOptionalValue(FlagText text, std::optional<std::string> &value) {
  Flag &flag = record(std::move(text), Kind::OptionalValue);
  // CLI11 knows no value that may be missing without taking the next argument for it.
  flag.assign = [&value](std::string given) { value = std::move(given); };
}

void FlagParser::addPositional(FlagText text, std::vector<std::string> &values) {
  record(std::move(text), Kind::Positional);
  positional = &values;
}

void FlagParser::passThrough(std::vector<FlagText> known, std::string warnPrefix, std::vector<std::string> &arguments) {
  for (FlagText &text : known)
    record(std::move(text), Kind::PassThrough);
  this->warnPrefix = std::move(warnPrefix);
  passed = &arguments;
}

void FlagParser::forwardPrefix(FlagText text, std::vector<std::string> &arguments) {
  forwardedPrefix = text.name;
  forwarded = &arguments;
  record(std::move(text), Kind::Forwarded);
}

void FlagParser::addPrefixed(FlagText text, std::vector<std::string> &values) {
  record(std::move(text), Kind::Prefixed).repeats = true;
  prefixed = &values;
}

const FlagParser::Flag *FlagParser::find(std::string_view name) const {
  auto found = std::ranges::find_if(flags, [&](const Flag &flag) { return flag.text.name == name; });
  bool isName = found != flags.end() && found->kind != Kind::Positional && found->kind != Kind::Forwarded;
  return isName ? &*found : nullptr;
}

std::vector<std::string> FlagParser::flagNames() const {
  std::vector<std::string> names = {"help", "version", "flagfile"};
  for (const Flag &flag : flags)
    if (flag.kind != Kind::Positional && flag.kind != Kind::Forwarded)
      names.push_back(flag.text.name);
  return names;
}

// What is left for CLI11: each flag with two dashes and its value joined by '='. Everything else has been collected, or
// is an error.
Result<std::vector<std::string>> FlagParser::prepare(int argc, const char *const *argv) {
  std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
  KILN_ASSIGN_OR_RETURN(given, expandFlagFiles(given));
  given = canonicalArguments(given);
  std::vector<std::string> prepared;
  bool onlyPositional = false;
  for (size_t i = 0; i < given.size(); ++i) {
    std::string argument = given[i];
    bool isFlag = !onlyPositional && argument.size() > 1 && argument[0] == '-' &&
                  (argument[1] == '-' || std::isalpha(static_cast<unsigned char>(argument[1])));
    if (isFlag && argument == "--") {
      onlyPositional = true;
      continue;
    }
    if (!isFlag) {
      if (!positional)
        return invalidArgument("unexpected argument '{}'; --help lists the flags", argument);
      positional->push_back(std::move(argument));
      continue;
    }
    std::string body = argument.substr(argument[1] == '-' ? 2 : 1);
    if (body == "h")
      body = "help";
    std::string name = body.substr(0, body.find('='));
    if (prefixed && name.find(',') != std::string::npos) {
      size_t comma = body.find(',');
      const Flag *flag = find(std::string_view(body).substr(0, comma));
      if (flag && flag->kind == Kind::Prefixed) {
        prefixed->push_back(body.substr(comma + 1));
        continue;
      }
    }
    const Flag *flag = find(name);
    if (!flag && (name == "help" || name == "version")) {
      prepared.push_back(dashed(body));
    } else if (!flag && forwarded && name.starts_with(forwardedPrefix)) {
      forwarded->push_back(dashed(body));
    } else if (!flag || flag->kind == Kind::Prefixed) {
      std::string message = unknownFlagMessage(argument, flagNames());
      if (warnPrefix.empty() || name.compare(0, warnPrefix.size(), warnPrefix) != 0)
        return invalidArgument("{}", message);
      reportWarning(toolName, message + " It is ignored.");
    } else if (flag->kind == Kind::PassThrough) {
      passed->push_back(dashed(body));
    } else if (flag->kind == Kind::Value && name.size() + 1 == body.size()) {
      return invalidArgument("--{}= has no value: {}", name, usage(*flag));
    } else if (flag->kind == Kind::Value && name.size() == body.size()) {
      if (i + 1 == given.size())
        return invalidArgument("--{} needs a value: {}", name, usage(*flag));
      prepared.push_back(dashed(body) + "=" + given[++i]);
    } else if (flag->kind == Kind::OptionalValue) {
      flag->assign(body.substr(std::min(name.size() + 1, body.size())));
    } else {
      prepared.push_back(dashed(body));
    }
  }
  return prepared;
}

std::optional<int> FlagParser::parse(int argc, const char *const *argv) {
  Result<std::vector<std::string>> prepared = prepare(argc, argv);
  if (!prepared.ok())
    return reportFailure(toolName, prepared.status());

  CLI::App app;
  app.set_help_flag();
  bool help = false, version = false;
  app.add_flag("--help", help);
  app.add_flag("--version", version);
  for (const Flag &flag : flags)
    if (flag.declare)
      flag.declare(app);
  try {
    // CLI11 takes its arguments last first.
    app.parse(std::vector<std::string>(prepared->rbegin(), prepared->rend()));
  } catch (const CLI::ParseError &error) {
    return reportFailure(toolName, invalidArgument("{}", error.what()));
  }
  if (!help && !version)
    return std::nullopt;
  std::string text = version ? fmt::format("{} (Kiln) {}\n", toolName, kVersion) : helpText();
  print(text);
  Status status = flushStandardOutput();
  return status.ok() ? 0 : reportFailure(toolName, status);
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
    if (std::ranges::find(groups, flag.group) == groups.end())
      groups.push_back(flag.group);
  for (const std::string &group : groups) {
    help.heading(group);
    for (const Flag &flag : flags)
      if (flag.group == group)
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
