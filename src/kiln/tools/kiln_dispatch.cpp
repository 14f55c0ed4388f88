// kiln-dispatch: the kernel lab. Generates problems, compiles them, verifies, measures and ranks who computes them.
#include <cstdio>
#include <cstring>

#include "kiln/base/flags.h"
#include "kiln/families/families.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/document_flags.h"
#include "kiln/tools/help_text.h"
#include "kiln/tools/printing.h"
#include "kiln/tools/version.h"

using namespace kiln;

namespace {

struct Verb {
  const char *name;
  const char *summary;
  bool selects, compiles, measures, outputs;
  Result<int> (*run)(const Lab &lab);
  Result<int> (*tell)(const Lab &lab, const ReportFlags &flags);
};

constexpr Verb kVerbs[] = {
    {"sweep", "Generates, compiles, verifies, measures and ranks: what most people want.", true, true, true, true,
     verbs::sweep, nullptr},
    {"generate", "Writes the MLIR of problems, with a function for each configuration.", true, false, false, true,
     verbs::generate, nullptr},
    {"compile", "Compiles what was generated.", true, true, false, true, verbs::compile, nullptr},
    {"profile", "Verifies and measures what was compiled.", true, true, true, true, verbs::profile, nullptr},
    {"tune", "Searches the configurations of problems, and writes the best to a tuning database for kiln-compile.",
     true, true, true, true, verbs::tune, nullptr},
    {"families", "Lists the operation families.", false, false, false, false, verbs::families, nullptr},
    {"report", "Shows results that are stored.", false, false, false, false, nullptr, verbs::report},
    {"explain", "Says of one row what was found, and why it failed.", false, false, false, false, nullptr,
     verbs::explain},
    {"compare", "Says what got faster or slower from one run to another; exit code 1 on a regression.", false, false,
     false, false, nullptr, verbs::compare},
    {"query", "Runs one SQL statement that changes nothing on the store.", false, false, false, false, nullptr,
     verbs::query},
};

int printUsage() {
  HelpText help;
  help.paragraph("Usage: kiln-dispatch VERB [flags]");
  help.paragraph("");
  help.paragraph("The kernel lab: from a problem to a table of who computes it how fast, verified and ranked. "
                 "`kiln-dispatch VERB --help` lists a verb's flags.");
  help.heading("Verbs");
  for (const Verb &verb : kVerbs)
    help.item(verb.name, verb.summary);
  help.heading("Example");
  help.line("kiln-dispatch sweep --operation-kind=matmul --dtypes=f32 \\");
  help.line("    --problem-m=512 --problem-n=512 --problem-k=512 --output=table.html");
  print(help.text());
  Status status = flushStandardOutput();
  return status.ok() ? 0 : reportFailure("kiln-dispatch", status);
}

int runVerb(const Verb &verb, int argc, char **argv, const std::string &commandLine) {
  std::string tool = fmt::format("kiln-dispatch {}", verb.name);
  FlagParser parser(tool, verb.summary);
  DispatchFlags flags;
  ReportFlags reports;
  if (verb.selects)
    flags.addSelection(parser);
  else
    parser.add({"generated-dir", "DIR", "The folder in which `generated` lies."}, flags.generatedDir);
  if (verb.compiles)
    flags.addCompilation(parser);
  if (verb.measures)
    flags.addMeasurement(parser);
  if (verb.outputs)
    flags.addOutput(parser);
  if (verb.run == verbs::tune)
    flags.tuning.add(parser);
  DocumentFlags documents;
  if (verb.selects)
    documents.add(parser, flags, {verb.compiles, verb.measures});
  if (verb.tell)
    reports.add(parser);
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  if (Status status = flags.check(); !status.ok())
    return reportFailure(tool, status);
  for (const std::string &note : documents.notes())
    print(note + "\n");
  measure::FamilyRegistry families;
  families::registerFamilies(families);
  Lab lab{flags, families, GeneratedFolder(flags.generatedDir), commandLine};
  Result<int> code = verb.tell ? verb.tell(lab, reports) : verb.run(lab);
  return code.ok() ? *code : reportFailure(tool, code.status());
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || !std::strcmp(argv[1], "--help") || !std::strcmp(argv[1], "-h") || !std::strcmp(argv[1], "help"))
    return printUsage();
  if (!std::strcmp(argv[1], "--version")) {
    std::printf("kiln-dispatch (Kiln) %s\n", kVersion);
    return 0;
  }
  std::string commandLine = "kiln-dispatch";
  for (int i = 1; i < argc; ++i)
    commandLine += std::string(" ") + argv[i];
  std::vector<std::string> names;
  for (const Verb &verb : kVerbs) {
    if (!std::strcmp(argv[1], verb.name))
      return runVerb(verb, argc - 1, argv + 1, commandLine);
    names.emplace_back(verb.name);
  }
  std::string_view nearest = nearestName(argv[1], names);
  return reportFailure("kiln-dispatch",
                       invalidArgument("there is no verb '{}'; {}--help lists the verbs", argv[1],
                                       nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest)));
}
