// The flags of kiln-dispatch, those of the documents and its own, and what they select.
#ifndef KILN_TOOLS_DISPATCH_DISPATCH_FLAGS_H
#define KILN_TOOLS_DISPATCH_DISPATCH_FLAGS_H

#include <map>
#include <string>
#include <vector>

#include "kiln/measure/family.h"
#include "kiln/tools/cli.h"
#include "kiln/tools/dispatch/lab_device.h"
#include "kiln/tools/dispatch/patterns.h"
#include "kiln/tools/dispatch/sweep/sweep.h"
#include "kiln/tools/dispatch/tune/tune_flags.h"

namespace kiln {

// One way to compile everything that was selected.
struct CompilerBuild {
  std::string variant;  // its name among the candidates; empty for the plain one
  std::string compiler; // a path; empty: the one beside this tool
  std::vector<std::string> flags;
};

// What a verb has to tell, besides that it goes on.
struct VerbOutput {
  bool table = false, tags = false, commands = false;
};

// Why a verb refuses other participants than Kiln, and programs of a user's.
struct KilnAlone {
  const char *participants, *corpus;
};

struct DispatchFlags {
  // What to take.
  std::string generatedDir = ".";
  std::string operationKind = "all";
  std::string dispatches;
  std::string corpus; // a folder of a user's own programs
  std::string problemShapes;
  std::string types;
  struct Sizes {
    std::string text;
    uint64_t minimum = 1;
  };
  std::map<std::string, Sizes> problemSizes; // of each dimension that some family has
  bool defaultConfig = false;
  uint32_t configurations = 0; // how many of each problem's; 0: as many as the family offers

  // How to compile.
  std::string device;
  std::string cudaArchitecture; // of a GPU; empty: that of the device
  LabDevice labDevice;          // what `device` says, once it is checked
  std::vector<std::string> targetFlags = {"--kiln-hal-target-backends=llvm-cpu"}; // of the compiler, for that device
  bool selects = false, compiles = false;                                         // the verb does
  bool usesMmaSync = false, usesWmma = false;                                     // of a GPU's instructions
  std::string compiler; // a path; empty: the one beside this tool
  std::vector<std::string> compilerFlags;
  std::vector<std::string> compilerVariants; // NAME=[COMPILER] FLAGS
  std::string jobs = "0";                    // 0, or -1 as in the documents: one for each processor
  bool forceCompile = false;
  bool dryRun = false, saveCommands = false;

  // How to measure.
  std::vector<std::string> providers;
  std::vector<std::string> providerCommands;
  bool noDefaultConfig = false;
  std::string peersDir; // of the libraries; empty: where `make peers` installs them
  uint32_t threads = 0; // 0: one for each processor
  std::string verificationEnabled = "true", profilingEnabled = "true";
  std::string cache = "cold";
  uint32_t repetitions = 0;   // of rounds; 0: as the statistics ask
  std::string minutes = "10"; // of rounds of one problem, at most: a duration
  uint32_t memoryLimitMiB = 8192;
  uint32_t timeoutSeconds = 60; // for an answer; twice as many to load
  uint64_t seed = 0;
  bool fresh = false;
  bool resumeOnEqualHardware = false;
  bool allowNetworkStore = false;

  // What to tell.
  std::vector<std::string> outputs;
  std::string tags;
  bool append = false, verbose = false;

  TuneFlags tuning;

  // Which flags a verb has.
  void addSelection(FlagParser &parser, const measure::FamilyRegistry &families, const KilnAlone *alone = nullptr);
  void addCompilation(FlagParser &parser);
  void addParticipants(FlagParser &parser, const KilnAlone *alone = nullptr);
  void addMeasurement(FlagParser &parser);
  void addOutput(FlagParser &parser, VerbOutput verb);

  uint32_t jobCount() const;
  uint32_t threadCount() const;
  double measureSeconds() const; // what --minutes says, once it is checked
  uint64_t timeoutNanoseconds() const { return uint64_t(timeoutSeconds) * 1'000'000'000; }
  std::vector<std::string> allCompilerFlags() const;
  // Without --compiler-variant, what everything is compiled with.
  CompilerBuild plainBuild() const { return {"", compiler, allCompilerFlags()}; }
  // Each with its flags, those of all included.
  Result<std::vector<CompilerBuild>> parsedVariants() const;
  Result<std::vector<std::pair<std::string, std::string>>> parsedTags() const;
  // The instructions whose configurations are kept, where flags ask for some: others are left out, the compiler's own
  // choice among them.
  std::vector<std::string> askedInstructions() const;
  // Looks for the device, too, where the verb compiles for it or chooses its configurations.
  Status check();
};

// --allow-network-store, of all verbs that write a store.
void addNetworkStore(FlagParser &parser, bool &allow);

// Words separated by spaces, as flags of the compiler; one without dashes gets them.
void appendFlags(std::string_view text, std::vector<std::string> &flags);

// The flags of Candidate::compilerFlags, one by one. A first word that is no flag is the compiler: see recordedFlags.
std::vector<std::string> splitFlags(std::string_view text);
// As Candidate::compilerFlags holds them: with the compiler before them, where it is another than the one beside this
// tool; words with spaces are quoted.
std::string recordedFlags(std::string_view compiler, const std::vector<std::string> &flags);

// The operations that the flags ask for, from the families.
Result<std::vector<Operation>> selectOperations(const measure::FamilyRegistry &families, const DispatchFlags &flags);
// Leaves those dispatches whose names match; an error that lists the nearest names where none does.
Status filterOperations(std::vector<Operation> &operations, const DispatchFlags &flags);

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_DISPATCH_FLAGS_H
