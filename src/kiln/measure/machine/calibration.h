// How fast this machine can be: rates of arithmetic and of moving data, each as the best of many short windows. What
// `kiln calibrate` measures and stores, and reports compare with.
#ifndef KILN_MEASURE_MACHINE_CALIBRATION_H
#define KILN_MEASURE_MACHINE_CALIBRATION_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/provenance.h"

namespace kiln::measure {

// Of several windows of the same work; per second.
struct Speed {
  double best = 0, median = 0;
  unsigned windows = 0;

  // How far the median stays behind the best, of the best: what the neighbours took.
  double spread() const { return best > 0 ? 1 - median / best : 0; }
  static Speed of(std::vector<double> speeds);
  bool operator==(const Speed &) const = default;
};

struct ArithmeticRate {
  std::string type;         // of operands: "f32"
  std::string instructions; // "avx512_fma"
  unsigned threads = 0;
  Speed operations; // multiplications and additions
  bool operator==(const ArithmeticRate &) const = default;
};

struct Bandwidth {
  std::string level;    // "L1", "L2", "memory"
  std::string transfer; // "read", "copy", "triad"
  unsigned threads = 0;
  uint64_t bytesPerThread = 0; // that each thread works on
  Speed bytes;                 // that the program reads and writes
  bool operator==(const Bandwidth &) const = default;
};

// A launch of a kernel that does nothing.
struct LaunchCost {
  std::string how; // "awaited" by the host, "in a graph"
  double bestNanoseconds = 0, medianNanoseconds = 0;
  unsigned windows = 0;
  bool operator==(const LaunchCost &) const = default;
};

// The device that was measured, where it is not the CPU.
struct CalibratedDevice {
  std::string name; // "NVIDIA H200"
  // What makes two of a name differ, as its driver tells: ("architecture", "sm_90"), ("multiprocessors", "132").
  std::vector<std::pair<std::string, std::string>> properties;
  std::string driver;     // that it was measured with
  bool simulated = false; // its clock tells no time: what was measured is nobody's ceiling

  // Whether what was measured of one is true of the other.
  bool isLike(const CalibratedDevice &other) const {
    return name == other.name && properties == other.properties && !simulated && !other.simulated;
  }
  bool operator==(const CalibratedDevice &) const = default;
};

struct CalibrationOptions {
  std::vector<unsigned> threads; // empty: 1, 2, 4, ... and as many as there are CPUs
  // Short enough to fit between the interruptions of a busy machine.
  double windowSeconds = 0.002;
  // Of each measurement. Those whose best windows still differ are repeated further, until secondsLimit.
  unsigned repetitions = 40;
  // After this no repetition is started, once there are three.
  double secondsLimit = 30;
  // Called before each repetition, and told how much is done: 0 to 1.
  std::function<void(double)> progress;
  // Asked after each repetition whether it is to be the last.
  std::function<bool()> isOver = {};
};

struct Calibration {
  std::string time;   // when it was made, "2026-11-21T11:30:00Z"
  double seconds = 0; // that it took
  Provenance machine;
  std::optional<CalibratedDevice> device; // else the CPU
  // Of a device all of it counts as one thread.
  std::vector<ArithmeticRate> arithmetic;
  std::vector<Bandwidth> bandwidth;
  std::vector<LaunchCost> launches; // of a device

  // Repetitions of all measurements take turns, so that what disturbs for a while disturbs none of them throughout.
  static Result<Calibration> run(const CalibrationOptions &options = {});
  // The time of now, as `time` has it.
  static std::string timeNow();

  // The most operations per second with operands of a type; between measured numbers of threads, in proportion. Narrow
  // floats may be computed as f32, so they are at least as fast. Nothing where nothing was measured.
  std::optional<double> peakOperations(std::string_view type, unsigned threads) const;
  // Bytes per second: the best transfer at a level.
  std::optional<double> peakBytes(std::string_view level, unsigned threads) const;

  // Takes what another one found to be faster.
  void takeBest(const Calibration &other);

  std::string json() const;
  static Result<Calibration> parse(std::string_view json);

  bool operator==(const Calibration &) const = default;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_CALIBRATION_H
