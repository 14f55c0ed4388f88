// What the lab measures: a problem, which knows its program, its data, and how to tell a right result from a wrong one.
// Families implement it (families/<f>/workload). See docs/lab.md.
#ifndef KILN_MEASURE_WORKLOAD_H
#define KILN_MEASURE_WORKLOAD_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/verify/device/device_case.h"
#include "kiln/measure/verify/timed_check.h"
#include "kiln/measure/verify/verdict.h"
#include "kiln/runtime/io/host_tensor.h"

namespace kiln::measure {

// A tensor as it lies in memory: dense and row-major. A column-major matrix has its dimensions in the other order.
struct TensorType {
  io::ElementType type;
  std::vector<uint64_t> shape;

  bool operator==(const TensorType &) const = default;
};

struct MutableTensor {
  io::ElementType type;
  std::span<const uint64_t> shape;
  std::span<uint8_t> bytes;

  io::TensorSpan span() const { return {type, shape, bytes}; }
};

// What programs read, what they write, and the types of either.
using Tensors = std::span<const io::TensorSpan>;
using MutableTensors = std::span<const MutableTensor>;
using TensorTypes = std::span<const TensorType>;
// What is in a problem's name, each under a name of its own.
using Fields = std::vector<std::pair<std::string, std::string>>;

// Rows of a tensor {rows, columns, inner...}, one for each element behind its first two dimensions.
struct TensorRows {
  uint64_t columns = 1, inner = 1;
};

// What an input holds while programs are timed.
struct TimingNumbers {
  // Floats, from `low` to below `high`.
  double low = -1, high = 1;
  // Floats of an input whose rows have statistics that results depend on: row r holds s_r (u + o_r) for such a float u.
  // Scales s are from `smallestScale` to below `largestScale`, their logarithms uniform; o is uniform up to
  // `largestOffset` either way. So no constant stands for the sum, the mean or the maximum of a row.
  double smallestScale = 1, largestScale = 1, largestOffset = 0;
  // Of one row in four, an element at a random place is so much above all others of it.
  double outlier = 0;
  bool rowsDiffer() const { return smallestScale != largestScale || largestOffset != 0; }
  // Of an input whose rows become their largest or smallest number: rows whose extremum follows from nothing but
  // reading all of them.
  enum class Extremum { None, Largest, Smallest };
  Extremum extremum = Extremum::None;
  TensorRows rows = {};
};

class Problem {
public:
  virtual ~Problem() = default;

  // "matmul"
  virtual std::string_view family() const = 0;
  // "matmul_256x512x128_f32t_f32t_f32t"; the family's parse gives the same problem back.
  virtual std::string name() const = 0;
  // What is in the name, each under a name of its own and in the order of the report's columns: {"m", "256"}, ...
  // Numbers are decimal. Providers read these, and so do external programs.
  virtual Fields fields() const = 0;

  virtual std::vector<TensorType> inputs() const = 0;
  virtual std::vector<TensorType> outputs() const = 0;
  // Whether an input is a weight: constant in a program that runs for long, so that `load` may prepare it. A product's
  // right operand, a filter, a bias.
  virtual bool isWeight(size_t input) const { return false; }
  // What an input is timed with: of a square root no negative numbers, as NaN is nothing that programs compute.
  virtual TimingNumbers timingNumbers(size_t input) const { return {}; }
  // The same operation with products in tf32, which is what tensor cores make of f32: another problem of the same name,
  // with {"arithmetic", "tf32"} among its fields. Null where there is none.
  virtual std::unique_ptr<Problem> inTF32() const { return nullptr; }
  // It is computed where tensor cores may do so: sums of narrow floats in f32 are promised as these keep them, cut off
  // where f32 ends and not rounded.
  virtual void promiseSumsOfTensorCores() {}
  // The arithmetic that the definition asks for, and the bytes that must move at least: each input and output once.
  virtual double flops() const = 0;
  virtual double bytes() const;

  // MLIR of one function that computes it, without a module around it. Unless `configuration` is empty, the root op
  // carries it: {kiln.configuration = "tile_config_..."}.
  virtual std::string mlir(std::string_view function, std::string_view configuration) const = 0;
  // Of a program that somebody else wrote: the name of its function, empty where that could not be found out. `mlir` is
  // then the whole file, whatever its arguments. Nothing where the problem makes its program itself.
  virtual std::optional<std::string_view> ownFunction() const { return std::nullopt; }
  // What it is to providers that know operations and no files: of a program that somebody else wrote, the problem of a
  // family that it is, where that is known.
  virtual const Problem &operation() const { return *this; }

  // Names of the verification passes, each with inputs of its own that show mistakes of another kind.
  virtual std::vector<std::string> passes() const = 0;
  // Deterministic in `seed`. Inputs of a pass depend on nothing else, so that all candidates get the same.
  virtual Status fillInputs(size_t pass, uint64_t seed, MutableTensors inputs) const = 0;
  // What an output holds before the run, so that what is not written, or only added to, shows. By default all bits are
  // set, which is NaN in floating-point types.
  virtual void prefillOutputs(size_t pass, MutableTensors outputs) const;
  // Whether `outputs` are right for `inputs`, and if not, where and why. Takes far less time than computing them.
  virtual verify::Verdict check(size_t pass, uint64_t seed, Tensors inputs, Tensors outputs) const = 0;
  // The same pass for a device that makes the inputs, which are the same, and checks the output by itself. Otherwise an
  // error, which says why the host does it.
  virtual Result<verify::DeviceCase> deviceCase(size_t pass, uint64_t seed) const;
  // For inputs as they are timed with (fillForTiming): what outputs have to be, coarsely; see verify/timed_check.h.
  // Takes far less time than computing them. `seed` draws what is looked at. Null where nothing is known of the
  // operation.
  virtual std::unique_ptr<verify::TimedCheck> timedCheck(Tensors inputs, uint64_t seed) const;
  // Where making such a check takes as long as computing, most are left out: which, draws the second. Each candidate
  // shall have so many of new inputs; 0 where none are left out.
  virtual uint64_t fewestTimedChecks() const { return 0; }
  virtual bool leavesOutTimedCheck(uint64_t seed) const { return false; }
  // The definition as plain loops on one thread, which shares no code with what is measured: the provider `reference`.
  virtual Status reference(Tensors inputs, MutableTensors outputs) const;
};

using Problems = std::vector<std::unique_ptr<Problem>>;

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKLOAD_H
