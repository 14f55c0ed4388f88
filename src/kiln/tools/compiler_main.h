// What the mains of the compiler's tools share.
#ifndef KILN_TOOLS_COMPILER_MAIN_H
#define KILN_TOOLS_COMPILER_MAIN_H

#include <string>
#include <string_view>
#include <vector>

#include "kiln/tools/printing.h"

namespace kiln {

class HelpText;
class OptionBinder;

// The first call of a tool's main after llvm::InitLLVM: where the system gives no more memory or threads, the tool says
// so in one line and ends with exit code 1. `tool` must live as long as the program.
void nameWhatLlvmExhausts(const char *tool);

// The command line with --flagfile expanded and both spellings of flags made one.
class CommandLine {
public:
  // Errors are printed where they happen, after the tool's name.
  CommandLine(std::string tool, int argc, char **argv);

  bool ok() const { return valid; }
  int argc() const { return static_cast<int>(texts.size()); }
  // For a parser; valid until the command line is changed.
  char **argv();
  // As the user typed them, the program's name first.
  const std::vector<std::string> &typed() const { return original; }

  // Whether --print-docs was given: the tool's flags as markdown, for docs/generated.
  bool wantsDocs() const { return has({"--print-docs"}); }
  // Whether --help was given. The tool prints its own: that of llvm::cl is as wide as its longest line.
  bool wantsHelp() const { return has({"--help", "-help", "-h"}); }
  bool wantsVersion() const { return has({"--version", "-version"}); }

  // What llvm::cl would say in words of its own: that a flag is unknown, with the nearest of the binder's and then of
  // all that are registered by now; that there is more than one input file. A file that hangs on -o is set apart from
  // it. False after a mistake, which has been printed.
  bool check(const OptionBinder &binder);

  bool gives(std::string_view name) const;
  // The value of the last --name=value; empty where there is none.
  std::string_view valueOf(std::string_view name) const;
  // Puts a flag before all others.
  void prepend(std::string flag);

private:
  bool has(std::initializer_list<std::string_view> flags) const;
  bool fail(const std::string &message);
  // Whether the flag at `i` is known and is done with; moves on to its value where that is an argument of its own.
  bool acceptFlag(size_t &i);
  bool rejectUnknown(size_t i, const OptionBinder &binder);

  std::string tool;
  std::vector<std::string> original;
  std::vector<std::string> expanded; // with flag files, in the user's spelling; one for each of `texts`
  std::vector<std::string> texts;
  std::vector<char *> pointers;
  bool valid = true;
};

// What the binder has declared, by its groups.
void appendOptions(HelpText &help, const OptionBinder &binder);

// To standard output; each gives the exit code.
int printText(std::string_view tool, std::string_view text);
int printVersion(std::string_view tool);
// What the binder has declared as markdown.
int printOptionDocs(std::string_view tool, const OptionBinder &binder);

} // namespace kiln

#endif // KILN_TOOLS_COMPILER_MAIN_H
