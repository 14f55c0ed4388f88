// What the sources of DeviceCheck share.
#ifndef KILN_MEASURE_VERIFY_DEVICE_DEVICE_CHECK_IMPL_H
#define KILN_MEASURE_VERIFY_DEVICE_DEVICE_CHECK_IMPL_H

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

#include "kiln/measure/kernels/device_code.h"
#include "kiln/measure/verify/device/device_check.h"
#include "kiln/measure/verify/device/tasks.h"
#include "kiln/measure/verify/field.h"

namespace kiln::measure::verify {

// Blocks of a launch, which take several turns where there is more to do.
inline constexpr int64_t kMostBlocks = int64_t(1) << 24;
// Elements of a tensor that are compared with the host's.
inline constexpr uint64_t kSamples = 8;

// The first one, the last one, and random ones, which are others in each pass and for each seed.
inline int64_t placeOf(const DeviceCase &subject, uint64_t sample, int64_t extent) {
  if (sample % kSamples < 2)
    return sample % kSamples == 0 ? 0 : extent - 1;
  const uint64_t seed = randomBits(subject.seed ^ 0x5A3F1E, static_cast<uint64_t>(subject.pass));
  return static_cast<int64_t>(randomBits(seed, sample) % static_cast<uint64_t>(extent));
}

// Rows that a block takes, whose other threads share a row's columns: where neighbours in memory are of different rows,
// what a warp reads lies together.
inline int32_t rowsOfBlock(int64_t columns, bool rowsAreInner) {
  constexpr int64_t kColumnsOfThread = 16; // at least, where there are so many
  constexpr int32_t kRowsTogether = 32;
  const uint64_t lanes = std::bit_floor(uint64_t(std::clamp<int64_t>(columns / kColumnsOfThread, 1, kCheckThreads)));
  return std::max(kCheckThreads / int32_t(lanes), rowsAreInner ? kRowsTogether : 1);
}

inline std::optional<DeviceFormat> formatOf(ElementType type) {
  const auto bytes = static_cast<int32_t>(hal::elementTypeByteSize(type));
  switch (type) {
  case ElementType::F16: return DeviceFormat{bytes, true, true, true, 5, 10, 15};
  case ElementType::BF16: return DeviceFormat{bytes, true, true, true, 8, 7, 127};
  case ElementType::F32: return DeviceFormat{bytes, true, true, true, 8, 23, 127};
  case ElementType::F64: return DeviceFormat{bytes, true, true, true, 11, 52, 1023};
  case ElementType::F8E4M3FN: return DeviceFormat{bytes, true, true, false, 4, 3, 7};
  case ElementType::F8E5M2: return DeviceFormat{bytes, true, true, true, 5, 2, 15};
  case ElementType::I8:
  case ElementType::SI8:
  case ElementType::I16:
  case ElementType::SI16:
  case ElementType::I32:
  case ElementType::SI32: return DeviceFormat{bytes, false, true};
  case ElementType::UI8: return DeviceFormat{bytes, false, false};
  default: return std::nullopt;
  }
}

inline DeviceFormat supportedFormat(ElementType type) {
  return formatOf(type).value_or(DeviceFormat());
}

inline DeviceMatrix matrixOf(ElementType type, const Layout &layout) {
  return {supportedFormat(type), false, layout};
}
inline DeviceMatrix lhsOf(const DeviceCase &subject) {
  DeviceMatrix matrix = matrixOf(subject.contraction.lhs, subject.contraction.lhsLayout);
  if (subject.patches)
    matrix.isPatches = true, matrix.patches = subject.patches->layout;
  return matrix;
}

template <typename T> Result<Ref<hal::Buffer>> DeviceCheck::upload(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, allocate(values.size_bytes()));
  KILN_RETURN_IF_ERROR(buffer->write(0, std::as_bytes(values)));
  return buffer;
}

template <typename Launch> Result<uint64_t> DeviceCheck::sumOfBlocks(int64_t blocks, Launch launch) {
  // What no block has written is wrong.
  std::vector<uint32_t> counts(size_t(blocks), UINT32_MAX);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> written, upload(std::span<const uint32_t>(counts)));
  KILN_RETURN_IF_ERROR(launch(written.get()));
  KILN_RETURN_IF_ERROR(written->read(0, std::as_writable_bytes(std::span(counts))));
  if (std::ranges::find(counts, UINT32_MAX) != counts.end())
    return internalError("the device {} left out elements that it was to check", device.uri());
  return std::accumulate(counts.begin(), counts.end(), uint64_t(0));
}

template <typename T>
Status DeviceCheck::launch(hal::Executable &of, uint32_t kernel, const T &task,
                           std::initializer_list<hal::Buffer *> buffers) {
  if (task.blocks() == 0)
    return okStatus();
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> description, upload(std::span(&task, 1)));
  std::vector<hal::Buffer *> all = {description.get()};
  all.insert(all.end(), buffers.begin(), buffers.end());
  KILN_ASSIGN_OR_RETURN(hal::Submission work,
                        makeLaunch(device, of, kernel, uint64_t(std::min(task.blocks(), kMostBlocks)), all,
                                   hal::CommandBufferMode::OneShot));
  return runLaunch(device, work);
}

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_DEVICE_DEVICE_CHECK_IMPL_H
