// Inputs of reductions, softmax and norms, and checks of each of their results.
#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "kiln/measure/verify/device/device_check_impl.h"
#include "kiln/measure/verify/device/kernels_ptx.h"
#include "kiln/measure/verify/number.h"

namespace kiln::measure::verify {

Result<hal::Executable *> DeviceCheck::rowExecutable() {
  // In the order of RowKernel.
  static constexpr hal::ExpectedExport kKernels[] = {
      {"fill_rows", 2, 0}, {"check_rows", 6, 0}, {"sum_values", 4, 0}, {"check_attention", 9, 0}};
  if (!ofRows) {
    KILN_ASSIGN_OR_RETURN(ofRows,
                          loadDeviceCode(device, "verification of rows", rowKernels(), kKernels, kCheckThreads));
  }
  return ofRows.get();
}

static Status haveRows(const DeviceRows &rows, std::span<hal::Buffer *const> inputs) {
  for (ElementType type : {rows.type, rows.result})
    if (!formatOf(type) || !formatOf(type)->hasInfinity)
      return unimplemented("devices cannot check tensors of type {}", hal::elementTypeName(type));
  if (rows.rows < 0 || rows.columns < 1 || rows.inner < 1 || inputs.empty() || inputs.size() != rows.inputs.size())
    return invalidArgument("{} inputs are expected, of {} rows of {} columns", rows.inputs.size(), rows.rows,
                           rows.columns);
  const uint64_t size = hal::elementTypeByteSize(rows.type);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]->byteLength() < uint64_t(rows.elementsOf(i)) * size)
      return invalidArgument("input {} has {} bytes, and {} elements are expected", i, inputs[i]->byteLength(),
                             rows.elementsOf(i));
  return okStatus();
}

Status DeviceCheck::fillRows(const DeviceCase &subject, std::span<hal::Buffer *const> inputs) {
  const DeviceRows &rows = subject.rows;
  KILN_RETURN_IF_ERROR(haveRows(rows, inputs));
  KILN_ASSIGN_OR_RETURN(hal::Executable * kernels, rowExecutable());
  const uint64_t size = hal::elementTypeByteSize(rows.type);
  for (size_t i = 0; i < inputs.size(); ++i) {
    RowFillTask task;
    task.numbers = rows.inputs[i];
    task.format = supportedFormat(rows.type);
    task.elements = rows.elementsOf(i);
    task.inner = i == 0 ? rows.inner : 1;
    KILN_RETURN_IF_ERROR(launch(*kernels, uint32_t(RowKernel::Fill), task, {inputs[i]}));
    for (uint64_t sample = 0; sample < kSamples && task.elements > 0; ++sample) {
      const int64_t at = placeOf(subject, sample, task.elements), row = at / (task.inner * rows.columns) * task.inner;
      std::array<uint8_t, sizeof(uint64_t)> expected;
      writeElement(rows.type,
                   task.numbers.at(uint64_t(row + at % task.inner), uint64_t(at / task.inner % rows.columns)),
                   expected.data());
      KILN_RETURN_IF_ERROR(compareBytes("an input", *inputs[i], at, std::span(expected).first(size)));
    }
  }
  return okStatus();
}

Result<uint64_t> DeviceCheck::countWrongElements(const DeviceRows &rows, std::span<hal::Buffer *const> inputs,
                                                 hal::Buffer &out) {
  KILN_RETURN_IF_ERROR(haveRows(rows, inputs));
  if (out.byteLength() < uint64_t(rows.results()) * hal::elementTypeByteSize(rows.result))
    return invalidArgument("the output has {} bytes, and {} elements are expected", out.byteLength(), rows.results());
  KILN_ASSIGN_OR_RETURN(hal::Executable * kernels, rowExecutable());
  RowsTask task;
  task.format = supportedFormat(rows.type);
  task.resultFormat = supportedFormat(rows.result);
  task.rule = int32_t(rows.rule);
  task.rowsPerBlock = rowsOfBlock(rows.columns, /*rowsAreInner=*/rows.inner > 1);
  task.width = widthOf(rows.result);
  task.largest = isInteger(rows.result) ? double(largestInteger(rows.result)) : task.width.largest;
  task.epsilon = rows.epsilon;
  task.mayFlush = !rows.isReduction();
  task.rows = rows.rows, task.columns = rows.columns, task.inner = rows.inner;
  return sumOfBlocks(task.blocks(), [&](hal::Buffer *wrong) {
    return launch(*kernels, uint32_t(RowKernel::Check), task,
                  {inputs.front(), inputs[std::min<size_t>(1, inputs.size() - 1)], inputs.back(), &out, wrong});
  });
}

Result<uint64_t> DeviceCheck::countWrongElements(const DeviceAttention &attention, std::span<hal::Buffer *const> inputs,
                                                 hal::Buffer &out) {
  const DeviceAttention &a = attention;
  if (!formatOf(a.type))
    return unimplemented("devices cannot check tensors of type {}", hal::elementTypeName(a.type));
  const uint64_t size = hal::elementTypeByteSize(a.type);
  const int64_t rows = a.heads * a.queries,
                elements[] = {rows * a.depth, a.heads * a.keys * a.depth, a.heads * a.keys * a.valueDepth};
  bool fits = inputs.size() == std::size(elements) && out.byteLength() >= uint64_t(rows * a.valueDepth) * size &&
              std::ssize(a.keysOf) == 2 * rows;
  for (size_t i = 0; fits && i < inputs.size(); ++i)
    fits = inputs[i]->byteLength() >= uint64_t(elements[i]) * size;
  if (!fits)
    return invalidArgument("queries, keys and values of {} x {} x {}, {} x {} are expected", a.heads, a.queries,
                           a.depth, a.keys, a.valueDepth);
  KILN_ASSIGN_OR_RETURN(hal::Executable * kernels, rowExecutable());
  AttentionTask task;
  task.format = supportedFormat(a.type);
  task.weighs = a.weighs;
  task.width = widthOf(a.type);
  task.heads = a.heads, task.queries = a.queries, task.keys = a.keys, task.depth = a.depth, task.columns = a.valueDepth;
  task.scale = a.scale;
  for (size_t i = 0; i < a.keysOf.size(); i += 2) {
    const int64_t first = a.keysOf[i], end = a.keysOf[i + 1];
    if (first >= end || end > a.keys)
      return invalidArgument("keys {} to {} of {} are no range", first, end, a.keys);
    if (a.weighs && end - first > AttentionTask::kMostKeys)
      return unimplemented("devices weigh {} keys at most, not {}", AttentionTask::kMostKeys, end - first);
  }
  // Sums of the values before each key, and the largest magnitude of each column.
  ValueSumsTask sums{task.format, a.heads, a.keys, a.valueDepth};
  const uint64_t columns = uint64_t(a.heads * a.valueDepth);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> before,
                        allocate(a.weighs ? 0 : columns * uint64_t(a.keys + 1) * sizeof(double)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> largest, allocate(columns * sizeof(double)));
  if (!a.weighs)
    KILN_RETURN_IF_ERROR(
        launch(*kernels, uint32_t(RowKernel::SumValues), sums, {inputs[2], before.get(), largest.get()}));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> keysOf, upload(std::span<const uint32_t>(a.keysOf)));
  return sumOfBlocks(task.blocks(), [&](hal::Buffer *wrong) {
    return launch(*kernels, uint32_t(RowKernel::CheckAttention), task,
                  {keysOf.get(), inputs[0], inputs[1], inputs[2], before.get(), largest.get(), &out, wrong});
  });
}

Result<uint64_t> DeviceCheck::countWrongElements(const DeviceCase &subject, std::span<hal::Buffer *const> inputs,
                                                 hal::Buffer &out) {
  switch (subject.check) {
  case DeviceCase::Check::Elements: return countWrongElements(subject.elements, inputs, out);
  case DeviceCase::Check::Rows: return countWrongElements(subject.rows, inputs, out);
  case DeviceCase::Check::Attention: return countWrongElements(subject.attention, inputs, out);
  default: return internalError("a contraction is checked by its rows");
  }
}

} // namespace kiln::measure::verify
