// Random numbers that are the same with every standard library, so that a search can be repeated.
#ifndef KILN_TOOLS_DISPATCH_TUNE_TUNING_RANDOM_H
#define KILN_TOOLS_DISPATCH_TUNE_TUNING_RANDOM_H

#include <cstddef>
#include <cstdint>
#include <random>

namespace kiln {

class TuningRandom {
public:
  explicit TuningRandom(uint64_t seed) : engine(seed) {}

  // Below `count`, which is positive.
  size_t below(size_t count) { return static_cast<size_t>(engine() % count); }
  // From 0 to 1.
  double unit() { return static_cast<double>(engine() >> 11) * 0x1p-53; }

private:
  std::mt19937_64 engine;
};

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_TUNE_TUNING_RANDOM_H
