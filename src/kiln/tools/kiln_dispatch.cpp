// kiln-dispatch: the kernel lab. Generates problems, compiles them, verifies, measures and ranks who computes them.
#include <cstdio>
#include <cstring>

#include "kiln/base/flags.h"
#include "kiln/families/families.h"
#include "kiln/tools/dispatch/commands.h"
#include "kiln/tools/dispatch/document_flags.h"
#include "kiln/tools/dispatch/shell_word.h"
#include "kiln/tools/dispatch/sweep/compiler_check.h"
#include "kiln/tools/exhaustion.h"
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
  // The flags of those that tell.
  void (*add)(FlagParser &parser, ReportFlags &flags) = nullptr;
  const char *example = nullptr; // of those that add none
  const KilnAlone *alone = nullptr;
};

constexpr KilnAlone kTune = {"it is for `kiln-dispatch sweep`; a tuning measures configurations of Kiln",
                             "a tuning searches the configurations of `kiln-dispatch families`; programs are tuned as "
                             "they are compiled, by kiln-compile --tuning-db"};
constexpr KilnAlone kCompare = {"it is for `kiln-dispatch sweep`; what is compared now is Kiln with two compilers",
                                "compilers are compared by the problems of `kiln-dispatch families`; sweep a corpus "
                                "with each --compiler, and compare the two runs"};

void addReport(FlagParser &parser, ReportFlags &flags) {
  flags.addSelection(parser);
  flags.addFormat(parser);
  parser.example("kiln-dispatch report --format=csv --dispatches=matmul_512x.*f16");
}
void addRow(FlagParser &parser, ReportFlags &flags) {
  flags.addSelection(parser);
  parser.addPositional({"row", "ROW", "A dispatch, or the start of what `report --columns=row` shows."},
                       flags.arguments);
}
void addShow(FlagParser &parser, ReportFlags &flags) {
  addRow(parser, flags);
  flags.addCompiler(parser);
  flags.show.add(parser);
}
void addRepro(FlagParser &parser, ReportFlags &flags) {
  addRow(parser, flags);
  flags.addCompiler(parser);
  flags.repro.add(parser);
}
void addDocument(FlagParser &parser, ReportFlags &flags, const char *formats) {
  parser.group("How to show them");
  parser.add({"format", "NAME", formats}, flags.format);
  parser.add({"output", "FILE", "Writes them to a file; its extension says the format, unless --format does."},
             flags.outputs);
}
void addHistory(FlagParser &parser, ReportFlags &flags) {
  flags.addStore(parser);
  addDocument(parser, flags, "console, csv, json or markdown; the default is console.");
  parser.addPositional({"dispatch", "DISPATCH", "A dispatch, or the key of a row of it."}, flags.arguments);
  parser.example("kiln-dispatch history matmul_256x256x256_f32t_f32t_f32t_tile_config_default --format=csv");
}
void addQuery(FlagParser &parser, ReportFlags &flags) {
  flags.addStore(parser);
  parser.addPositional({"sql", "SQL", "One statement; docs/store.md has the tables."}, flags.arguments);
  parser.example("kiln-dispatch query \"SELECT count(*) FROM run\"");
}
void addMerge(FlagParser &parser, ReportFlags &flags) {
  flags.addStore(parser);
  addNetworkStore(parser, flags.allowNetworkStore);
  parser.addPositional({"store", "FILE...", "Stores of other machines or folders; they stay as they are."},
                       flags.arguments);
  parser.example("kiln-dispatch merge node1/generated/results.db node2/generated/results.db");
}
void addCompare(FlagParser &parser, ReportFlags &flags) {
  flags.addStore(parser);
  flags.compare.add(parser);
  addDocument(parser, flags, "console, csv, json, markdown or junit; the default is console.");
  parser.addPositional({"run", "[RUN RUN]", "Two runs, before and after: the start of a key, latest, latest~1, ..."},
                       flags.arguments);
  parser.example("kiln-dispatch compare latest~1 latest --output=gate.xml");
  parser.example("kiln-dispatch compare --compilers=old/kiln-compile,new/kiln-compile --operation-kind=matmul "
                 "--configurations=4");
  parser.example("kiln-dispatch compare --flags-b=--kiln-opt-level=O2 --operation-kind=matmul --dtypes=f32");
}

constexpr Verb kVerbs[] = {
    {"sweep", "Generates, compiles, verifies, measures and ranks: what most people want.", true, true, true, true,
     verbs::sweep, nullptr, nullptr,
     "kiln-dispatch sweep --operation-kind=matmul --dtypes=f32 --problem-m=512 --problem-n=512 --problem-k=512 "
     "--output=table.html"},
    {"generate", "Writes the MLIR of problems, with a function for each configuration.", true, false, false, true,
     verbs::generate, nullptr, nullptr,
     "kiln-dispatch generate --operation-kind=matmul --problem-m=64:256:64 --problem-n=512 --problem-k=512 "
     "--generated-dir=/tmp/lab"},
    {"compile", "Compiles what was generated.", true, true, false, true, verbs::compile, nullptr, nullptr,
     "kiln-dispatch compile --generated-dir=/tmp/lab -j 4"},
    {"profile", "Verifies and measures what was compiled.", true, true, true, true, verbs::profile, nullptr, nullptr,
     "kiln-dispatch profile --generated-dir=/tmp/lab --dispatches='matmul_64x.*' --output=table.csv"},
    {"tune", "Searches the configurations of problems, and writes the best to a tuning database for kiln-compile.",
     true, true, true, true, verbs::tune, nullptr, nullptr, nullptr, &kTune},
    {"families", "Lists the operation families.", false, false, false, false, verbs::families, nullptr},
    {"report", "Shows results that are stored.", false, false, false, false, nullptr, verbs::report, addReport},
    {"explain", "Says of one row what was found, and why it failed.", false, false, false, false, nullptr,
     verbs::explain, addRow, "kiln-dispatch explain 1f09a6c2d35b8e07"},
    {"show", "Prints a row's IR, or its hot loop as llvm-mca sees it, beside that of the best.", false, false, false,
     false, nullptr, verbs::show, addShow},
    {"repro", "Writes a folder with all that it takes to compile, verify and measure one row again.", false, false,
     false, false, nullptr, verbs::repro, addRepro},
    {"history", "Shows one dispatch in all runs, with what changed from run to run.", false, false, false, false,
     nullptr, verbs::history, addHistory},
    {"compare",
     "Says what got faster or slower, from one run to another or, measured now in common rounds, from one compiler to "
     "another; exit code 1 on a regression.",
     true, true, true, false, nullptr, verbs::compare, addCompare, nullptr, &kCompare},
    {"query", "Runs one SQL statement that changes nothing on the store.", false, false, false, false, nullptr,
     verbs::query, addQuery},
    {"merge", "Takes the results of other stores into this one; what contradicts it is refused as a whole.", false,
     false, false, false, nullptr, verbs::merge, addMerge},
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
  help.command(kVerbs[0].example);
  print(help.text());
  return 0;
}

int runVerb(const Verb &verb, int argc, char **argv, const std::string &commandLine) {
  std::string tool = fmt::format("kiln-dispatch {}", verb.name);
  FlagParser parser(tool, verb.summary);
  measure::FamilyRegistry families;
  families::registerFamilies(families);
  DispatchFlags flags;
  ReportFlags reports;
  if (verb.selects)
    flags.addSelection(parser, families, verb.alone);
  else if (verb.tell)
    parser.add({"generated-dir", "DIR", "The folder in which generated/ lies, with results.db."}, flags.generatedDir);
  if (verb.compiles)
    flags.addCompilation(parser);
  if (verb.measures) {
    flags.addParticipants(parser, verb.alone);
    flags.addMeasurement(parser);
  }
  const VerbOutput output = {.table = verb.measures,
                             .tags = verb.measures && verb.run != verbs::tune,
                             .commands = verb.compiles && verb.run != verbs::tune};
  if (verb.outputs)
    flags.addOutput(parser, output);
  if (verb.run == verbs::tune)
    flags.tuning.add(parser);
  DocumentFlags documents;
  if (verb.selects)
    documents.add(parser, flags, {verb.compiles, verb.measures, output});
  if (verb.tell)
    verb.add(parser, reports);
  if (verb.example)
    parser.example(verb.example);
  if (std::optional<int> code = parser.parse(argc, argv))
    return *code;
  documents.apply(flags);
  if (Status status = flags.check(); !status.ok())
    return reportFailure(tool, status);
  for (const std::string &note : documents.notes(flags))
    print(note + "\n");
  for (const auto &[outputs, format] :
       {std::pair(&flags.outputs, std::string()), std::pair(&reports.outputs, reports.format)})
    if (Status status = checkOutputs(*outputs, flags.generatedDir, format); !status.ok())
      return reportFailure(tool, status);
  if (Status status = checkAppend(flags); !status.ok())
    return reportFailure(tool, status);
  if (Status status = checkCompilers(flags); !status.ok())
    return reportFailure(tool, status);
  Lab lab{flags, families, GeneratedFolder(flags.generatedDir), commandLine};
  Result<int> code = verb.tell ? verb.tell(lab, reports) : verb.run(lab);
  return code.ok() ? *code : reportFailure(tool, code.status());
}

int runTool(int argc, char **argv) {
  if (argc < 2 || !std::strcmp(argv[1], "--help") || !std::strcmp(argv[1], "-h") || !std::strcmp(argv[1], "help"))
    return printUsage();
  if (!std::strcmp(argv[1], "--version")) {
    print(fmt::format("kiln-dispatch (Kiln) {}\n", kVersion));
    return 0;
  }
  std::string commandLine = "kiln-dispatch";
  for (int i = 1; i < argc; ++i)
    commandLine += " " + plainShellWord(argv[i]);
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

} // namespace

int main(int argc, char **argv) {
  nameWhatIsExhausted("kiln-dispatch");
  return finishOutput("kiln-dispatch", runTool(argc, argv));
}
