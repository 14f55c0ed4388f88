// The command line of the runtime's tools: `--name=value`, a bare boolean is true, lists repeat, `--flagfile=`, both
// spellings of base/flags.h, one dash as good as two, an unknown flag is an error that suggests the nearest, and a help
// that is derived from the same records as the parser.
//
//   FlagParser line("kiln-run-module", "Runs one function of a compiled module and prints its results.");
//   line.group("What to run");
//   line.add({"module", "FILE", "A module file; `-` reads standard input. The last one is main."}, modules);
//   if (std::optional<int> code = line.parse(argc, argv))
//     return *code;
#ifndef KILN_TOOLS_CLI_H
#define KILN_TOOLS_CLI_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/tools/printing.h"

namespace kiln {

// What a flag is called and what its help says. The default is what the variable holds when the flag is added.
struct FlagText {
  std::string name;  // without dashes
  std::string value; // what stands for the value in the help: "FILE"; of a choice "a|b|c"; empty for a boolean
  std::string help;  // sentences; wrapped when printed
};

class FlagParser {
public:
  FlagParser(std::string tool, std::string summary);
  FlagParser(const FlagParser &) = delete;
  FlagParser &operator=(const FlagParser &) = delete;

  // Flags that are added from here on stand under this heading.
  void group(std::string title) { currentGroup = std::move(title); }

  // The variable must live until `parse` has returned; it is written there. A list's flag repeats; of any other flag
  // the last occurrence counts.
  void add(FlagText text, bool &value);
  void add(FlagText text, std::string &value);
  void add(FlagText text, uint32_t &value);
  void add(FlagText text, uint64_t &value);
  // 0 or more, and finite.
  void add(FlagText text, double &value);
  void add(FlagText text, std::vector<std::string> &values);
  // One of the words that FlagText::value separates by '|'.
  void addChoice(FlagText text, std::string &value);
  // `--name` alone gives an empty string, `--name=x` gives x; without the flag there is nothing.
  void addOptionalValue(FlagText text, std::optional<std::string> &value);
  // Arguments that are no flags. Without this they are errors.
  void addPositional(FlagText text, std::vector<std::string> &values);

  // Flags of another library: known ones are collected for it as written, with two dashes. An unknown flag that starts
  // with `warnPrefix` is dropped with a warning that suggests the nearest.
  void passThrough(std::vector<FlagText> known, std::string warnPrefix, std::vector<std::string> &arguments);
  // Unknown flags that start with `text.name` are collected as written, with two dashes: another tool judges them.
  void forwardPrefix(FlagText text, std::vector<std::string> &arguments);
  // `--prefix,rest`: each rest is collected.
  void addPrefixed(FlagText text, std::vector<std::string> &values);

  // A flag of other commands of the tool: here it is an error that says why, and the help leaves it out.
  void refuse(std::string name, std::string why);

  // Shown at the end of the help.
  void example(std::string command) { examples.push_back(std::move(command)); }

  // Parses all of argv. Gives the exit code where the tool is done: after --help or --version, or, with a message on
  // standard error, after a mistake.
  std::optional<int> parse(int argc, const char *const *argv);

  // At most 80 columns wide; also what the generated docs show.
  std::string helpText() const;
  const std::string &tool() const { return toolName; }

private:
  enum class Kind { Value, Boolean, OptionalValue, Positional, PassThrough, Forwarded, Prefixed, Refused };
  struct Flag {
    FlagText text;
    Kind kind;
    std::string group;
    std::string defaultText; // empty where there is none to tell
    bool repeats;
    // Takes a value as it was written; of flags of others, the whole argument.
    std::function<Status(std::string)> assign;
  };
  void record(FlagText text, Kind kind, std::function<Status(std::string)> assign, std::string defaultText = {},
              bool repeats = false);
  template <typename T> void addNumber(FlagText text, T &value);
  // Assigns all arguments, and says whether one of them is --help or --version.
  Status read(int argc, const char *const *argv, bool &help, bool &version);
  const Flag *find(std::string_view name) const;
  const Flag *firstOf(Kind kind) const;
  std::vector<std::string> flagNames() const;
  static bool isListed(const Flag &flag) { return flag.kind != Kind::Refused; }
  std::string usage(const Flag &flag) const;

  std::string toolName, summary, currentGroup = "Flags";
  std::vector<Flag> flags;
  std::vector<std::string> examples;
  std::string warnPrefix;
};

} // namespace kiln

#endif // KILN_TOOLS_CLI_H
