// A store with made-up results for tests, and the parts that it is made of.
#ifndef KILN_STORE_TESTING_SAMPLE_STORE_H
#define KILN_STORE_TESTING_SAMPLE_STORE_H

#include <optional>
#include <string>

#include "kiln/store/reader.h"
#include "kiln/store/writer.h"

namespace kiln::store::testing {

Machine sampleMachine();
// `started` tells runs apart.
Run sampleRun(int64_t started);
Problem sampleProblem(uint64_t m, uint64_t n, uint64_t k);
Candidate sampleCandidate(const std::string &problem, const std::string &provider, const std::string &configuration);

struct SampleOptions {
  uint64_t problems = 3;
  uint64_t configurations = 12; // of Kiln, a problem
  uint64_t rounds = 4;          // 0: none are stored
  uint64_t seed = 1;
  double slowdown = 1; // of all of Kiln's times
  int64_t started = 1'790'000'000'000'000'000;
  bool failures = true;                    // some candidates fail, each in another way
  std::optional<double> defaultSpeed = {}; // of Kiln's default configuration, which then takes part, of its fastest
  std::optional<double> cutSeconds = {};   // of all groups
  bool interrupted = true;                 // one problem more is begun, and not finished
  uint64_t planned = 0;                    // problems that the run says that its sweep has; 0: it does not say
  std::string_view device = {};            // that the run says it was on; empty: the CPU
};

// One run. Deterministic in the options.
Status fillSampleStore(Writer &writer, const SampleOptions &options);

// Everything that a report reads, and whether the file is whole.
Status readEverything(Reader &reader);
Status readEverything(const std::string &path);

} // namespace kiln::store::testing

#endif // KILN_STORE_TESTING_SAMPLE_STORE_H
