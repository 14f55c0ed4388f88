// The flags of `kiln-dispatch tune`.
#ifndef KILN_TOOLS_DISPATCH_TUNE_TUNE_FLAGS_H
#define KILN_TOOLS_DISPATCH_TUNE_TUNE_FLAGS_H

#include <cstdint>
#include <string>

#include "kiln/base/status.h"
#include "kiln/tools/cli.h"

namespace kiln {

struct TuneFlags {
  std::string database;             // empty: generated/tuning.json
  std::string budgetMinutes = "10"; // for each problem: a duration
  uint32_t trials = 400;
  uint32_t patience = 5; // batches
  uint32_t batch = 16;
  uint32_t exhaustive = 64;
  uint32_t finalists = 4;
  uint32_t leastGain = 2; // percent

  void add(FlagParser &parser);
  Status check() const;
  double budgetSeconds() const; // what --budget-minutes says, once it is checked
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_TUNE_TUNE_FLAGS_H
