// Checks of outputs whose elements are each a function of one element of each input.
#include <algorithm>
#include <array>

#include "kiln/measure/verify/device/device_check_impl.h"

namespace kiln::measure::verify {

static std::vector<PatternRange> patternsOf(const std::vector<RightElements> &table) {
  std::vector<PatternRange> patterns;
  for (const RightElements &right : table)
    patterns.push_back({int32_t(right.range.low), int32_t(right.range.high),
                        (right.nan ? PatternRange::kNan : 0) | (right.zero ? PatternRange::kZero : 0) |
                            (right.all ? PatternRange::kAll : 0)});
  return patterns;
}

Result<uint64_t> DeviceCheck::countWrongElements(const DeviceElements &elements, std::span<hal::Buffer *const> inputs,
                                                 hal::Buffer &out) {
  using Rule = DeviceElements::Rule;
  ElementsTask task;
  if (!formatOf(elements.type) || !formatOf(elements.type)->hasInfinity)
    return unimplemented("devices cannot check tensors of type {}", hal::elementTypeName(elements.type));
  task.format = supportedFormat(elements.type);
  task.rule = int32_t(elements.rule);
  task.rank = int32_t(elements.extents.size());
  task.elements = int64_t(elements.elements);
  const uint64_t bytes = elements.elements * hal::elementTypeByteSize(elements.type);
  const size_t wanted = elements.rule == Rule::Add || elements.rule == Rule::Multiply ? 2 : 1;
  auto isShort = [&](hal::Buffer *tensor) { return tensor->byteLength() < bytes; };
  if (inputs.size() != wanted || isShort(&out) || std::ranges::any_of(inputs, isShort))
    return invalidArgument("{} inputs of {} bytes at least are expected", wanted, bytes);
  if (elements.extents.size() > std::size(task.extents) || elements.extents.size() != elements.strides.size() ||
      (elements.rule == Rule::Table && elements.table.size() != size_t(1) << 16))
    return invalidArgument("this is no rule by which a device can check elements");
  std::ranges::copy(elements.extents, task.extents);
  std::ranges::copy(elements.strides, task.strides);
  const std::vector<PatternRange> patterns = patternsOf(elements.table);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> table, upload(std::span<const PatternRange>(patterns)));
  return sumOfBlocks(task.blocks(), [&](hal::Buffer *wrong) {
    return launch(Kernel::Elements, task, {table.get(), inputs.front(), inputs.back(), &out, wrong});
  });
}

// All bits of an element are turned over, which makes another number of it, or all are set, which makes no number of a
// float. Where anything is right, the next element is taken. Where that holds for all elements the host is to check.
Status DeviceCheck::checkPlantedElement(ElementType type, uint64_t elements, uint64_t planted, hal::Buffer &out,
                                        const std::function<Result<uint64_t>()> &count) {
  constexpr uint64_t kTries = 64;
  if (planted >= elements)
    return outOfRange("element {} of {} was to be wrong", planted, elements);
  const uint64_t size = hal::elementTypeByteSize(type);
  using Bits = std::array<std::byte, sizeof(uint64_t)>;
  for (uint64_t tried = 0; tried < std::min(kTries, elements); ++tried) {
    const uint64_t byte = (planted + tried) % elements * size;
    Bits right, turned, set;
    KILN_RETURN_IF_ERROR(out.read(byte, std::span(right).first(size)));
    std::ranges::transform(right, turned.begin(), [](std::byte each) { return ~each; });
    set.fill(std::byte(0xFF));
    for (const Bits &bits : {turned, set}) {
      KILN_RETURN_IF_ERROR(out.write(byte, std::span(bits).first(size)));
      Result<uint64_t> wrong = count();
      KILN_RETURN_IF_ERROR(out.write(byte, std::span(right).first(size)));
      KILN_RETURN_IF_ERROR(wrong.status());
      if (*wrong == 1)
        return okStatus();
      if (*wrong > 1)
        return internalError("the check on {} sees {} wrong elements of the output, where one was made so",
                             device.uri(), *wrong);
    }
  }
  if (elements <= kTries)
    return unimplemented("whatever is planted in the {} elements of the output counts as right", elements);
  return internalError("the check on {} does not see that element {} of the output is wrong, where it was made so",
                       device.uri(), planted);
}

} // namespace kiln::measure::verify
