// The verbs of kiln-dispatch. Each prints what it does, and gives the exit code.
#ifndef KILN_TOOLS_DISPATCH_COMMANDS_H
#define KILN_TOOLS_DISPATCH_COMMANDS_H

#include "kiln/tools/dispatch/dispatch_flags.h"

namespace kiln {

struct Lab {
  const DispatchFlags &flags;
  const measure::FamilyRegistry &families;
  GeneratedFolder folder;
  std::string commandLine;
};

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

// What measures as the flags ask for.
SweepSettings settingsOf(const Lab &lab);
// Kiln as a candidate, without a problem and a module; an error where it does not work.
Result<SweepCandidate> kilnCandidate(const Lab &lab);

// What is told of results; `arguments` are those behind the verb.
struct ReportFlags {
  std::string database;
  std::vector<std::string> runs;
  std::string dispatches, provider, format = "console";
  std::vector<std::string> columns, outputs, arguments;
  bool allRuns = false, append = false;
  uint32_t threshold = 5; // percent

  void add(FlagParser &parser);
};

namespace verbs {

Result<int> report(const Lab &lab, const ReportFlags &flags);
Result<int> explain(const Lab &lab, const ReportFlags &flags);
Result<int> query(const Lab &lab, const ReportFlags &flags);
Result<int> compare(const Lab &lab, const ReportFlags &flags);

} // namespace verbs

// Prints the run's table, or the documents' blocks, and writes it to the files that --output names.
Status writeReports(const Lab &lab, const std::string &run, bool asBlocks);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_COMMANDS_H
