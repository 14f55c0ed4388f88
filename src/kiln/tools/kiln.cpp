// kiln: one command for all tools. `kiln run x` is `kiln-run-module x`.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

#include "fmt/format.h"
#include "kiln/base/flags.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/exhaustion.h"
#include "kiln/tools/sibling.h"
#include "kiln/tools/version.h"

using namespace kiln;

namespace {

struct Verb {
  const char *name;
  const char *tool;
  const char *help;
};

constexpr Verb kVerbs[] = {
    {"compile", "kiln-compile", "compile a program to a module file"},
    {"import-onnx", "kiln-import-onnx", "write a model as a program"},
    {"run", "kiln-run-module", "call a function of a module"},
    {"run-mlir", "kiln-run-mlir", "compile and run in one"},
    {"benchmark", "kiln-benchmark-module", "time calls of a module's functions"},
    {"bench-model", "kiln-bench-model", "time a model against other runtimes"},
    {"profile", "kiln-profile", "record, and say where the time went"},
    {"check", "kiln-check-module", "run the tests of a module"},
    {"dump", "kiln-dump-module", "show what is in a module"},
    {"create-parameters", "kiln-create-parameters", "write an archive of values"},
    {"convert-parameters", "kiln-convert-parameters", "make an archive of other files"},
    {"dump-parameters", "kiln-dump-parameters", "show what is in files of parameters"},
    {"dispatch", "kiln-dispatch", "the kernel lab: verify, measure and rank"},
    {"opt", "kiln-opt", "run passes and phases of the compiler"},
    {"calibrate", "kiln-calibrate", "measure how fast this machine can be"},
    {"doctor", "kiln-doctor", "say whether this machine can be trusted"},
};

// Verbs of the lab that need no `dispatch` in front. Its `compile` is none: that is the compiler's.
constexpr const char *kLabVerbs[] = {"sweep",   "generate", "tune",    "families", "report", "show",
                                     "explain", "repro",    "history", "compare",  "query",  "merge"};

std::string usage() {
  std::string text = "Usage: kiln VERB [flags]\n\nVerbs:\n";
  for (const Verb &verb : kVerbs)
    text += fmt::format("  {:<20}{} ({})\n", verb.name, verb.help, verb.tool);
  text += "  of the lab, with `dispatch` or without:\n";
  constexpr size_t kInALine = 6;
  for (size_t i = 0; i < std::size(kLabVerbs); i += kInALine)
    text += fmt::format("    {}\n",
                        fmt::join(std::span(kLabVerbs).subspan(i, std::min(kInALine, std::size(kLabVerbs) - i)), ", "));
  text += "  version             print the version\n"
          "  help                print this; `kiln help VERB` prints the flags of a verb\n"
          "\n"
          "Example:\n"
          "  kiln compile abs.mlir --kiln-hal-target-backends=llvm-cpu -o abs.vmfb\n"
          "  kiln run --module=abs.vmfb --input=f32=-2\n";
  return text;
}

int printText(const std::string &text) {
  print(text);
  return finishOutput("kiln", 0);
}

// A verb, or a tool by its own name: "run", "run-module", "kiln-run-module", "iree-run-module".
const Verb *findVerb(std::string_view name) {
  std::string canonical = canonicalName(name);
  auto found = std::ranges::find_if(kVerbs, [&](const Verb &verb) {
    return canonical == verb.name || canonical == verb.tool || "kiln-" + canonical == verb.tool;
  });
  return found == std::end(kVerbs) ? nullptr : found;
}

// Replaces this process by the tool that lies beside it; returns only with an error.
Status execute(const std::string &tool, std::vector<std::string> arguments) {
  KILN_ASSIGN_OR_RETURN(std::string path, siblingTool(tool));
  std::vector<char *> argv;
  arguments.insert(arguments.begin(), tool);
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  return errnoStatus(errno, fmt::format("cannot run '{}'", path));
}

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln");
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (arguments.empty()) {
    std::fputs(usage().c_str(), stderr);
    return 1;
  }
  std::string name = arguments.front();
  arguments.erase(arguments.begin());
  if (name == "version" || name == "--version")
    return printText(fmt::format("kiln {}\n", kVersion));
  if ((name == "help" || name == "--help" || name == "-h" || name == "-help") && arguments.empty())
    return printText(usage());
  if (name == "help") {
    name = arguments.front();
    arguments = {"--help"};
  }
  if (const Verb *verb = findVerb(name))
    return reportFailure("kiln", execute(verb->tool, std::move(arguments)));
  if (std::ranges::find(kLabVerbs, name) != std::end(kLabVerbs)) {
    arguments.insert(arguments.begin(), name);
    return reportFailure("kiln", execute("kiln-dispatch", std::move(arguments)));
  }

  std::vector<std::string> names = {"version", "help"};
  names.insert(names.end(), std::begin(kLabVerbs), std::end(kLabVerbs));
  for (const Verb &verb : kVerbs) {
    names.emplace_back(verb.name);
    names.emplace_back(std::string_view(verb.tool).substr(std::string_view("kiln-").size()));
  }
  std::string_view nearest = nearestName(name, names);
  return reportFailure("kiln", invalidArgument("unknown verb '{}'; {}", name,
                                               nearest.empty() ? std::string("`kiln help` lists the verbs")
                                                               : fmt::format("did you mean '{}'?", nearest)));
}
