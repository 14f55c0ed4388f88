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
// Everything has happened when a call returns; what the device could not do is an error. For one thread at a time.
#ifndef KILN_MEASURE_VERIFY_DEVICE_DEVICE_CHECK_H
#define KILN_MEASURE_VERIFY_DEVICE_DEVICE_CHECK_H

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/verify/device/device_case.h"
#include "kiln/measure/verify/projection.h"
#include "kiln/runtime/hal/device.h"

namespace kiln::measure::verify {

// Of each row of all batches, an element of the field.
using RowSums = std::vector<int64_t>;

class DeviceCheck {
public:
  // Unimplemented where the device runs no PTX, or this build has no clang that makes it. The device outlives the
  // result.
  static Result<std::unique_ptr<DeviceCheck>> create(hal::Device &device);

  // Unimplemented where an element type, or a layout, is one that the kernels have no code for.
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

private:
  enum class Kernel : uint32_t { Fill, Prefill, Project };
  struct Projected {
    std::vector<int64_t> elements;
    std::vector<uint32_t> bad;
  };
  explicit DeviceCheck(hal::Device &device) : device(device) {}

  Status compareElement(std::string_view what, hal::Buffer &tensor, int64_t element, ElementType type,
                        std::optional<int32_t> value);
  Result<Ref<hal::Buffer>> allocate(uint64_t bytes);
  template <typename T> Result<Ref<hal::Buffer>> upload(std::span<const T> values);
  template <typename T> Status launch(Kernel kernel, const T &task, std::initializer_list<hal::Buffer *> buffers);
  // Of `vectorStride` 0, the same vector for all batches.
  Result<Projected> project(ElementType type, const Layout &layout, int64_t batch, int64_t rows, int64_t columns,
                            std::span<const int64_t> vector, int64_t vectorStride, hal::Buffer &tensor);

  hal::Device &device;
  Ref<hal::Executable> executable;
};

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_DEVICE_CHECK_H
