// What the mains of the compiler's tools share.
#ifndef KILN_TOOLS_COMPILER_MAIN_H
#define KILN_TOOLS_COMPILER_MAIN_H

#include <string>
#include <vector>

namespace kiln {

class HelpText;
class OptionBinder;

// The command line with --flagfile expanded and both spellings of flags made one; prints an error where it cannot.
class CommandLine {
public:
  CommandLine(int argc, char **argv);

  bool ok() const { return valid; }
  int argc() const { return static_cast<int>(pointers.size()) - 1; }
  char **argv() { return pointers.data(); }
  const std::vector<std::string> &arguments() const { return texts; }

  // Whether --print-docs was given: the tool's flags as markdown, for docs/generated.
  bool wantsDocs() const { return docs; }
  // Whether --help was given. The tool prints its own: that of llvm::cl is as wide as its longest line.
  bool wantsHelp() const { return help; }

private:
  bool valid = true;
  bool docs = false;
  bool help = false;
  std::vector<std::string> texts;
  std::vector<char *> pointers;
};

// What the binder has declared, by its groups.
void appendOptions(HelpText &help, const OptionBinder &binder);

// To standard output; gives the exit code.
int printText(const HelpText &help);

// Prints what the binder has declared as markdown; gives the exit code.
int printOptionDocs(const char *tool, const OptionBinder &binder);

} // namespace kiln

#endif // KILN_TOOLS_COMPILER_MAIN_H
