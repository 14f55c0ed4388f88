// Verification of contractions on a device, where its tensors are: the same inputs and the same verdict as fillInputs
// and checkContraction, by kernels that clang compiled (kernels.cpp). The host draws the random vectors, of one element
// for each column, and compares what the matrices times these vectors are, of one element for each row.
//
//   KILN_ASSIGN_OR_RETURN(auto check, DeviceCheck::create(device));
//   check->fill(subject, lhs, rhs);
//   check->prefill(subject, out);
//   ... the candidate computes out ...
//   KILN_ASSIGN_OR_RETURN(RowSums expected, check->expect(subject, lhs, rhs));
//   KILN_ASSIGN_OR_RETURN(std::vector<WrongLines> wrong, check->findWrongRows(subject, expected, out));
//
// Real numbers are compared with sums of f64 of the elements that checkReal looks at, which the device adds up before
// the candidate runs (expectSums) and the host judges (judgeSums). Elements behind an activation are each held to the
// range that is right (findWrongActivations). Of what is no contraction the device looks at each element.
//
// Everything has happened when a call returns; what the device could not do is an error. For one thread at a time.
#ifndef KILN_MEASURE_VERIFY_DEVICE_DEVICE_CHECK_H
#define KILN_MEASURE_VERIFY_DEVICE_DEVICE_CHECK_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/verify/device/device_case.h"
#include "kiln/measure/verify/projection.h"
#include "kiln/measure/verify/real.h"
#include "kiln/runtime/hal/device.h"

namespace kiln::measure::verify {

// Of each row of all batches, an element of the field.
using RowSums = std::vector<int64_t>;

struct DeviceMatrix;

class DeviceCheck {
public:
  // Unimplemented where the device runs no PTX, or this build has no clang that makes it. The device outlives the
  // result.
  static Result<std::unique_ptr<DeviceCheck>> create(hal::Device &device);

  // Unimplemented where an element type is one that the kernels have no code for.
  static Status supports(const Contraction &contraction);

  // Fail where what was made is not what the host makes, at a few places.
  Status fill(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs);
  Status prefill(const DeviceCase &subject, hal::Buffer &out);
  // What each row of a right output is, times the random vector. Fails where an operand holds something else than
  // integers.
  Result<RowSums> expect(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs);
  // As findWrongRows of projection.h: the batches whose output is wrong, with their rows.
  Result<std::vector<WrongLines>> findWrongRows(const DeviceCase &subject, const RowSums &expected, hal::Buffer &out);
  // Of an output that is right, whether the check would see it if it were wrong: one element, counted row by row, is
  // another number for a moment. Fails where findWrongRows does not find its row, or finds others.
  Status checkPlanted(const DeviceCase &subject, const RowSums &expected, uint64_t element, hal::Buffer &out);

  // Of DeviceCase::Check::Real: the sums of what is looked at, and whether the output's elements are those.
  Result<std::vector<SampledSum>> expectSums(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs);
  Result<Verdict> judgeSums(const DeviceCase &subject, std::vector<SampledSum> sums, hal::Buffer &out);
  // As checkPlanted, of one of the elements that are looked at, which is no number for a moment.
  Status checkPlantedSum(const DeviceCase &subject, const std::vector<SampledSum> &sums, uint64_t planted,
                         hal::Buffer &out);
  // Of DeviceCase::Check::Activation.
  Result<std::vector<WrongLines>> findWrongActivations(const DeviceCase &subject, hal::Buffer &out);
  Status checkPlantedActivation(const DeviceCase &subject, uint64_t element, hal::Buffer &out);
  // Of DeviceCase::Check::Elements: how many elements are wrong. Unimplemented where there is no code for the type.
  Result<uint64_t> countWrongElements(const DeviceElements &elements, std::span<hal::Buffer *const> inputs,
                                      hal::Buffer &out);
  // Of DeviceCase::Check::Rows, likewise.
  Status fillRows(const DeviceCase &subject, std::span<hal::Buffer *const> inputs);
  Result<uint64_t> countWrongElements(const DeviceRows &rows, std::span<hal::Buffer *const> inputs, hal::Buffer &out);
  // Of DeviceCase::Check::Attention, likewise; queries, keys and values.
  Result<uint64_t> countWrongElements(const DeviceAttention &attention, std::span<hal::Buffer *const> inputs,
                                      hal::Buffer &out);
  // Of any case without a contraction.
  Result<uint64_t> countWrongElements(const DeviceCase &subject, std::span<hal::Buffer *const> inputs,
                                      hal::Buffer &out);
  // As checkPlanted, of an output of so many elements of the type: `count` counts the wrong ones. Unimplemented where
  // anything is right.
  Status checkPlantedElement(ElementType type, uint64_t elements, uint64_t planted, hal::Buffer &out,
                             const std::function<Result<uint64_t>()> &count);

private:
  // Whether the inputs have the bytes that are read.
  static Status matches(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs);
  enum class RowKernel : uint32_t { Fill, Check, SumValues, CheckAttention };
  enum class Kernel : uint32_t {
    Fill,
    Prefill,
    Project,
    FillScaled,
    FillUnits,
    Scatter,
    Dot,
    Pick,
    Ranges,
    Elements,
    ProjectPatches
  };
  explicit DeviceCheck(hal::Device &device) : device(device) {}

  Status compareElement(std::string_view what, hal::Buffer &tensor, int64_t element, ElementType type,
                        std::optional<int32_t> value);
  Status fillExact(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs);
  Status fillReal(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs);
  Status fillScaled(const DeviceCase &subject, const ScaledOperand &operand, hal::Buffer &tensor);
  Result<hal::Buffer *> listOf(ElementType type, int range);
  Status fillActivation(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs);
  // Looks for what is planted: an element of the output is no number for a moment, and `isFound` is asked.
  template <typename IsFound>
  Status plant(const DeviceCase &subject, int64_t b, int64_t row, int64_t column, hal::Buffer &out, IsFound isFound);
  Result<Ref<hal::Buffer>> allocate(uint64_t bytes);
  template <typename T> Result<Ref<hal::Buffer>> upload(std::span<const T> values);
  template <typename T> Status launch(Kernel kernel, const T &task, std::initializer_list<hal::Buffer *> buffers) {
    return launch(*executable, uint32_t(kernel), task, buffers);
  }
  template <typename T>
  Status launch(hal::Executable &of, uint32_t kernel, const T &task, std::initializer_list<hal::Buffer *> buffers);
  // The sum of what the blocks of a launch count, each in its place of a buffer that is handed to it.
  template <typename Launch> Result<uint64_t> sumOfBlocks(int64_t blocks, Launch launch);
  // What an input holds at an element, whose bytes are `expected`.
  Status compareBytes(std::string_view what, hal::Buffer &tensor, int64_t element, std::span<const uint8_t> expected);
  Result<hal::Executable *> rowExecutable(); // loaded when it is asked for
  // Of `vectorStride` 0, the same vector for all batches.
  Result<RowSums> project(const DeviceMatrix &matrix, int64_t batch, int64_t rows, int64_t columns,
                          std::span<const int64_t> vector, int64_t vectorStride, hal::Buffer &tensor);

  hal::Device &device;
  Ref<hal::Executable> executable, ofRows;
  // Lists that real numbers are taken from, which take long to make: of the types and ranges so far.
  struct NumberList {
    ElementType type;
    int range;
    Ref<hal::Buffer> numbers;
  };
  std::vector<NumberList> lists;
};

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_DEVICE_CHECK_H
