// The tensors of a group, and what is done about them around timed requests: inputs that change, outputs that are
// poisoned before and checked afterwards. docs/verification.md says what that finds.
#ifndef KILN_MEASURE_WORKERS_TIMED_DATA_H
#define KILN_MEASURE_WORKERS_TIMED_DATA_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/workers/shared_tensors.h"
#include "kiln/measure/workload.h"

namespace kiln::measure {

struct TimedDataOptions {
  bool cold = true;
  uint64_t seed = 0;
  uint64_t lastLevelCacheBytes = 0;
  uint64_t dataBudget = 0; // bytes of all sets
  uint64_t freeMemory = UINT64_MAX;
  unsigned threads = 1; // that fill, poison and check sets
};

// What timing inputs are filled with at first. Later ones, and what their checks look at, nobody can foresee.
uint64_t timingSeed(uint64_t seed, uint32_t set, size_t tensor);

// Outputs of a candidate's timed calls that were compared.
struct ComparedOutputs {
  uint64_t sets = 0;
  verify::Deviations deviations; // how far off they are
};

// For one thread at a time.
class TimedData {
public:
  // Sets are planned, made and filled. `problem` outlives it.
  static Result<std::unique_ptr<TimedData>> create(const Problem &problem, const TimedDataOptions &options);

  const SetPlan &plan() const { return sets; }
  SharedTensors &inputs() { return *inputTensors; }
  SharedTensors &outputs() { return *outputTensors; }
  // As `load` says them, weights marked.
  std::vector<SharedTensor> describeInputs() const;
  std::vector<SharedTensor> describeOutputs() const { return outputTensors->describe(); }

  // The range of sets that `calls` calls use, the first with set `start`.
  SetRange range(uint32_t start, uint64_t calls) const;
  // The set after so many calls.
  uint32_t advance(uint32_t start, uint64_t calls) const;

  // How often the inputs of a set have changed.
  uint32_t generation(uint32_t set) const { return expected[set].generation; }

  // New numbers in the inputs of these sets; weights keep theirs unless they are asked for, too.
  void refresh(SetRange range, bool weights);
  // All bits of these sets' outputs, past the caches.
  void poison(SetRange range);
  // Reads a byte of each page of these sets' inputs, and leaves no more in the caches than there was. Hosts of virtual
  // machines take away memory that nobody has used for a second, and fetch it again in a hundred microseconds for each
  // page: that is no call's matter.
  void touch(SetRange range);
  // Holds the outputs against the inputs, of many sets some that nobody can foresee; nothing where all are right. The
  // cause says what it was caught at: `letRun` has the worker go on, which may finish what it had not. Those that were
  // compared are added to the candidate's: together they must not be off by more than rounding does, though each may
  // be. At least `required` are compared, also where the problem would leave them out.
  std::optional<verify::Verdict> check(SetRange range, uint64_t required, const std::function<void()> &letRun,
                                       ComparedOutputs &all);

private:
  // The secrets of one set's fill or check are drawn in order, and the work is done by all threads.
  struct Fill {
    uint32_t set = 0;
    std::vector<uint64_t> seeds; // of each tensor
  };
  struct MissingCheck {
    uint32_t set = 0;
    uint64_t secret = 0;
  };

  explicit TimedData(const Problem &problem) : problem(problem) {}

  uint64_t draw();
  void forEach(size_t count, const std::function<void(size_t index)> &function) const;
  Fill drawFill(uint32_t set);
  void fill(const std::vector<Fill> &fills, bool weights);
  void makeChecks(const std::vector<uint32_t> &of, uint64_t required);
  std::vector<uint32_t> drawSets(SetRange range);
  const verify::TimedCheck *checkOf(uint32_t set);
  std::vector<io::TensorSpan> outputsOf(uint32_t set) const { return std::as_const(*outputTensors).view(set); }
  bool isFormer(uint32_t set) const;
  verify::Cause causeOf(uint32_t set, SetRange range, const std::function<void()> &letRun);

  // What a set's outputs have to be; `former` for inputs before those that it holds now, a few of them.
  struct Expected {
    uint32_t generation = 0;
    bool made = false;
    std::unique_ptr<verify::TimedCheck> current;
    std::vector<std::unique_ptr<verify::TimedCheck>> former;
  };

  const Problem &problem;
  uint64_t seed = 0;
  unsigned threads = 1;
  // Each fill and each check gets a number of its own that follows from no other: inputs tell what they were made from.
  std::vector<uint64_t> secrets; // of the system, not used yet
  SetPlan sets;
  std::unique_ptr<SharedTensors> inputTensors;
  // One for all workers: who writes to other pages is faster or slower by some percent for as long as it has them.
  std::unique_ptr<SharedTensors> outputTensors;
  std::vector<Expected> expected; // of each set
};

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_TIMED_DATA_H
