// The flags of kiln-dispatch, those of the documents and its own, and what they select.
#ifndef KILN_TOOLS_DISPATCH_DISPATCH_FLAGS_H
#define KILN_TOOLS_DISPATCH_DISPATCH_FLAGS_H

#include <map>
#include <string>
#include <vector>

#include "kiln/measure/family.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/dispatch/patterns.h"
#include "kiln/tools/dispatch/sweep.h"

namespace kiln {

struct DispatchFlags {
  // What to take.
  std::string generatedDir = ".";
  std::string operationKind = "all";
  std::string dispatches;
  std::string problemM, problemN, problemK, problemB, problemSlices;
  std::string types;
  bool defaultConfig = false;
  uint32_t configurations = 0; // how many of each problem's; 0: as many as the family offers

  // How to compile.
  std::string buildDir;
  std::string device;
  std::vector<std::string> compilerFlags;
  std::vector<std::string> compilerVariants; // NAME=FLAGS
  std::string jobs = "0";                    // 0, or -1 as in the documents: one for each processor
  bool forceCompile = false;
  bool dryRun = false, saveCommands = false;

  // How to measure.
  std::vector<std::string> providers;
  std::vector<std::string> providerCommands;
  uint32_t threads = 0; // 0: one for each processor
  std::string verificationEnabled = "true", profilingEnabled = "true";
  std::string cache = "cold";
  uint32_t repetitions = 0; // of rounds; 0: as the statistics ask
  uint32_t minutes = 10;    // of rounds of one problem, at most
  uint32_t memoryLimitMiB = 8192;
  uint64_t seed = 1;
  bool fresh = false;

  // What to tell.
  std::vector<std::string> outputs;
  std::string tags;
  bool append = false, verbose = false;

  // Which flags a verb has.
  void addSelection(FlagParser &parser);
  void addCompilation(FlagParser &parser);
  void addMeasurement(FlagParser &parser);
  void addOutput(FlagParser &parser);

  uint32_t jobCount() const;
  uint32_t threadCount() const;
  std::vector<std::string> allCompilerFlags() const;
  // Each with its flags, those of all included.
  Result<std::vector<std::pair<std::string, std::vector<std::string>>>> parsedVariants() const;
  Result<std::vector<std::pair<std::string, std::string>>> parsedTags() const;
  Status check() const;
};

// The operations that the flags ask for, from the families.
Result<std::vector<Operation>> selectOperations(const measure::FamilyRegistry &families, const DispatchFlags &flags);
// Leaves those dispatches whose names match; an error that lists the nearest names where none does.
Status filterOperations(std::vector<Operation> &operations, const DispatchFlags &flags);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_DISPATCH_FLAGS_H
