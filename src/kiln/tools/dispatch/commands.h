// The verbs of kiln-dispatch. Each prints what it does, and gives the exit code.
#ifndef KILN_TOOLS_DISPATCH_COMMANDS_H
#define KILN_TOOLS_DISPATCH_COMMANDS_H

#include "kiln/report/model/table.h"
#include "kiln/tools/dispatch/dispatch_flags.h"
#include "kiln/tools/dispatch/sweep/compile_pool.h"

namespace kiln {

struct KnownProvider;

// `show`: what of a dispatch.
struct ShowFlags {
  bool ir = false, assembly = false;
  std::string stage; // empty: the one before LLVM

  void add(FlagParser &parser);
};

// `repro`: where to.
struct ReproFlags {
  std::string folder; // empty: ./repro_<dispatch>

  void add(FlagParser &parser);
};

// `compare`: two stored runs, or two builds that are measured now.
struct CompareFlags {
  std::string compilers;      // PATH_A,PATH_B
  std::string flagsA, flagsB; // of the compiler, separated by spaces
  bool force = false, dryRun = false;
  double threshold = 2; // percent

  void add(FlagParser &parser);
};

struct Lab {
  const DispatchFlags &flags;
  const measure::FamilyRegistry &families;
  GeneratedFolder folder;
  std::string commandLine;
};

// What this command compiles with: the compiler and the flags that it was given, into the cache of its folder.
CompileSettings compileSettings(const Lab &lab);

namespace verbs {

// The documents' three steps.
Result<int> generate(const Lab &lab);
Result<int> compile(const Lab &lab);
Result<int> profile(const Lab &lab);
// The three at once.
Result<int> sweep(const Lab &lab);

// Searches configurations, and writes down the best.
Result<int> tune(const Lab &lab);

Result<int> families(const Lab &lab);

} // namespace verbs

// The settings of a sweep, as the flags ask for them.
SweepSettings settingsOf(const Lab &lab);
// A provider as a candidate, without a problem and a module.
SweepCandidate candidateOf(const Lab &lab, const KnownProvider &provider);
// The same with a problem, and with a configuration that was compiled into the file `module`.
SweepCandidate configured(SweepCandidate candidate, const Operation &operation, const std::string &configuration,
                          const CompileResult &compiled, std::string module);

// What is told of results; `arguments` are those behind the verb.
struct ReportFlags {
  std::string database;
  std::vector<std::string> runs;
  std::string dispatches, provider;
  std::string format; // empty: the console's, and of a file what its extension says
  std::vector<std::string> columns, outputs, arguments;
  bool allRuns = false, append = false;
  std::string compiler;           // of `show` and `repro`, for rows of other compilers than the one beside this tool
  bool allowNetworkStore = false; // of `merge`
  ShowFlags show;
  ReproFlags repro;
  CompareFlags compare;

  void addStore(FlagParser &parser);
  void addSelection(FlagParser &parser);
  void addFormat(FlagParser &parser);
  void addCompiler(FlagParser &parser);
  // An error where --dispatches is no expression.
  Result<report::Filter> filter() const;
  // Of what is printed.
  std::string_view shownFormat() const { return format.empty() ? "console" : std::string_view(format); }
};

// The store that the flags name; an error that says how to make one where there is none.
Result<std::unique_ptr<store::Reader>> openStore(const Lab &lab, const ReportFlags &flags);
// Of the terminal, or what COLUMNS says.
size_t consoleWidth();
// Before any work: whether each file has a format, which `format` says for all where it is not empty, and can be
// written.
Status checkOutputs(const std::vector<std::string> &paths, const std::string &generatedDir,
                    std::string_view format = {});
// Before anything is measured: whether rows can be added to the CSV files that --append means.
Status checkAppend(const DispatchFlags &flags);

namespace verbs {

Result<int> report(const Lab &lab, const ReportFlags &flags);
Result<int> explain(const Lab &lab, const ReportFlags &flags);
Result<int> show(const Lab &lab, const ReportFlags &flags);
Result<int> repro(const Lab &lab, const ReportFlags &flags);
Result<int> history(const Lab &lab, const ReportFlags &flags);
Result<int> query(const Lab &lab, const ReportFlags &flags);
Result<int> merge(const Lab &lab, const ReportFlags &flags);
Result<int> compare(const Lab &lab, const ReportFlags &flags);

} // namespace verbs

// Prints the run's table, or the documents' blocks, and writes it to the files that --output names.
Status writeReports(const Lab &lab, const std::string &run, bool asBlocks);

// Compiles all that the flags select with each of the builds, and measures all of it in common rounds, none dropped:
// Kiln only. The key of the run; nothing where it was interrupted, or where it is only said what would be done.
Result<std::optional<std::string>> measureBuilds(const Lab &lab, const std::vector<CompilerBuild> &builds, bool dryRun);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_COMMANDS_H
