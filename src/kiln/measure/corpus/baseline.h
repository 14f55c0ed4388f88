// Runs a module once in a worker process, so that a program that crashes does not end the lab.
#ifndef KILN_MEASURE_CORPUS_BASELINE_H
#define KILN_MEASURE_CORPUS_BASELINE_H

#include "kiln/measure/corpus/corpus_problem.h"

namespace kiln::measure::corpus {

struct BaselineOptions {
  std::vector<std::string> command; // {"kiln-lab-worker", "--provider=kiln"}
  std::string module, function;
  uint32_t threads = 1;
  uint64_t memoryLimit = 0;
  uint64_t timeout = uint64_t(300) * 1'000'000'000; // of each answer; unoptimized code is slow
};

// For that problem, which must outlive it.
Baseline makeBaseline(const CorpusProblem &problem, BaselineOptions options);

} // namespace kiln::measure::corpus

#endif // KILN_MEASURE_CORPUS_BASELINE_H
