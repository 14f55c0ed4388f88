#include "kiln/measure/verify/device/device_check.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "kiln/measure/verify/device/device_check_impl.h"
#include "kiln/measure/verify/device/kernels_ptx.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"

namespace kiln::measure::verify {

// In the order of DeviceCheck::Kernel; none has constants.
static constexpr hal::ExpectedExport kKernels[] = {
    {"fill_operand", 2, 0}, {"prefill_output", 2, 0}, {"project", 4, 0},         {"fill_scaled", 3, 0},
    {"fill_units", 2, 0},   {"scatter", 4, 0},        {"dot_samples", 5, 0},     {"pick_samples", 4, 0},
    {"check_ranges", 8, 0}, {"check_elements", 6, 0}, {"project_patches", 4, 0},
};

Result<std::unique_ptr<DeviceCheck>> DeviceCheck::create(hal::Device &device) {
  static_assert(std::size(kKernels) == size_t(Kernel::ProjectPatches) + 1);
  auto check = std::unique_ptr<DeviceCheck>(new DeviceCheck(device));
  KILN_ASSIGN_OR_RETURN(check->executable,
                        loadDeviceCode(device, "verification", checkKernels(), kKernels, kCheckThreads));
  return check;
}

Status DeviceCheck::supports(const Contraction &contraction) {
  KILN_RETURN_IF_ERROR(contraction.validate());
  for (ElementType type : {contraction.lhs, contraction.rhs, contraction.result})
    if (!formatOf(type))
      return unimplemented("devices cannot check tensors of type {}", hal::elementTypeName(type));
  return okStatus();
}

Status DeviceCheck::matches(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs) {
  Contraction c = subject.contraction;
  KILN_RETURN_IF_ERROR(supports(c));
  c.outLayout = {}; // an element that every buffer has room for
  if (subject.patches) {
    const PatchLayout &image = subject.patches->layout;
    const uint64_t bytes = uint64_t(c.batch / image.groups * image.imageStride) * hal::elementTypeByteSize(c.lhs);
    if (lhs.byteLength() < bytes)
      return invalidArgument("the image has {} bytes, and {} are read", lhs.byteLength(), bytes);
    c.lhsLayout = {};
    return c.validate(sizeof(uint64_t), rhs.byteLength(), sizeof(uint64_t));
  }
  return c.validate(lhs.byteLength(), rhs.byteLength(), sizeof(uint64_t));
}

Result<Ref<hal::Buffer>> DeviceCheck::allocate(uint64_t bytes) {
  return device.allocator().allocate(hal::BufferUsage::Transient, std::max<uint64_t>(bytes, sizeof(uint64_t)));
}

// All bits are set where there is no value.
Status DeviceCheck::compareElement(std::string_view what, hal::Buffer &tensor, int64_t element, ElementType type,
                                   std::optional<int32_t> value) {
  const uint64_t size = hal::elementTypeByteSize(type);
  std::array<uint8_t, sizeof(uint64_t)> expected;
  expected.fill(0xFF);
  if (value)
    storeInteger(type, *value, expected.data());
  return compareBytes(what, tensor, element, std::span(expected).first(size));
}

Status DeviceCheck::compareBytes(std::string_view what, hal::Buffer &tensor, int64_t element,
                                 std::span<const uint8_t> expected) {
  std::array<uint8_t, sizeof(uint64_t)> found;
  const std::span<uint8_t> bytes = std::span(found).first(expected.size());
  KILN_RETURN_IF_ERROR(tensor.read(uint64_t(element) * bytes.size(), std::as_writable_bytes(bytes)));
  if (std::ranges::equal(bytes, expected))
    return okStatus();
  return internalError("the device {} made another element {} of {} than the host", device.uri(), element, what);
}

Status DeviceCheck::fill(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs) {
  KILN_RETURN_IF_ERROR(matches(subject, lhs, rhs));
  switch (subject.check) {
  case DeviceCase::Check::Exact: return fillExact(subject, lhs, rhs);
  case DeviceCase::Check::Real: return fillReal(subject, lhs, rhs);
  case DeviceCase::Check::Activation: return fillActivation(subject, lhs, rhs);
  case DeviceCase::Check::Elements: // by the host
  case DeviceCase::Check::Attention:
  case DeviceCase::Check::Rows: break; // see fillRows
  }
  return okStatus();
}

Status DeviceCheck::fillExact(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs) {
  const Contraction &c = subject.contraction;
  const int64_t taps = subject.patches ? subject.patches->layout.taps() : 1;
  FillTask task;
  task.numbers = InputPlan::make(c, subject.pass, subject.seed, taps, subject.roomForBias).numbers();
  task.batch = c.batch;
  task.tapsAreInner = subject.patches && subject.patches->layout.channelsFirst;
  auto fillWith = [&](bool isLhs, ElementType type, int64_t lines, int64_t positions, const Layout &layout,
                      hal::Buffer &tensor) {
    task.isLhs = isLhs;
    task.format = supportedFormat(type);
    task.lines = lines, task.positions = positions;
    task.taps = isLhs ? 1 : taps;
    task.layout = layout;
    task.linesAreInner = layout.row < layout.column;
    KILN_RETURN_IF_ERROR(launch(Kernel::Fill, task, {&tensor}));
    if (task.blocks() == 0)
      return okStatus();
    for (uint64_t sample = 0; sample < kSamples; ++sample) {
      const int64_t b = placeOf(subject, sample, task.batch), line = placeOf(subject, sample + kSamples, lines),
                    position = placeOf(subject, sample + 2 * kSamples, positions);
      const int32_t value =
          isLhs ? task.numbers.lhs(b, line, position) : task.rhsAt(task.numbers.rhsLine(b, line), position);
      KILN_RETURN_IF_ERROR(
          compareElement(isLhs ? "lhs" : "rhs", tensor, layout.offset(b, line, position), type, value));
    }
    return okStatus();
  };
  if (!subject.patches) {
    KILN_RETURN_IF_ERROR(fillWith(true, c.lhs, c.m, c.k, c.lhsLayout, lhs));
    return fillWith(false, c.rhs, c.n, c.k, c.rhsLayout.transposed(), rhs);
  }
  const PatchLayout &image = subject.patches->layout;
  KILN_RETURN_IF_ERROR(fillWith(true, c.lhs, image.height * image.width, image.channels, image.pixels(), lhs));
  // All images have the same filters, which are those of the first.
  task.batch = image.groups;
  return fillWith(false, c.rhs, c.n, c.k, c.rhsLayout.transposed(), rhs);
}

Status DeviceCheck::prefill(const DeviceCase &subject, hal::Buffer &out) {
  const ElementType type = subject.result();
  if (!formatOf(type))
    return unimplemented("devices cannot fill tensors of type {}", hal::elementTypeName(type));
  PrefillTask task;
  task.format = supportedFormat(type);
  task.allBits = subject.pass == Pass::WideRhs && !isInteger(type);
  task.elements = static_cast<int64_t>(out.byteLength() / hal::elementTypeByteSize(type));
  KILN_RETURN_IF_ERROR(launch(Kernel::Prefill, task, {&out}));
  for (uint64_t sample = 0; sample < kSamples && task.elements > 0; ++sample) {
    const int64_t element = placeOf(subject, sample, task.elements);
    const std::optional<int32_t> value =
        task.allBits ? std::nullopt : std::optional(InputNumbers::prefill(static_cast<uint64_t>(element)));
    KILN_RETURN_IF_ERROR(compareElement("the output", out, element, type, value));
  }
  return okStatus();
}

Result<RowSums> DeviceCheck::project(const DeviceMatrix &matrix, int64_t batch, int64_t rows, int64_t columns,
                                     std::span<const int64_t> vector, int64_t vectorStride, hal::Buffer &tensor) {
  ProjectTask task;
  task.matrix = matrix;
  const Layout layout = matrix.isPatches ? matrix.patches.pixels() : matrix.layout;
  task.rowsPerBlock = rowsOfBlock(columns, /*rowsAreInner=*/layout.row < layout.column);
  task.batch = batch, task.rows = rows, task.columns = columns;
  task.vectorStride = vectorStride;
  RowSums projected(size_t(batch * rows), ProjectTask::kUnwritten);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> weights, upload(vector));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> elements, upload(std::span<const int64_t>(projected)));
  KILN_RETURN_IF_ERROR(launch(matrix.isPatches ? Kernel::ProjectPatches : Kernel::Project, task,
                              {&tensor, weights.get(), elements.get()}));
  KILN_RETURN_IF_ERROR(elements->read(0, std::as_writable_bytes(std::span(projected))));
  if (std::ranges::find(projected, ProjectTask::kUnwritten) != projected.end())
    return internalError("the device {} left out rows that it was to check", device.uri());
  return projected;
}

Result<RowSums> DeviceCheck::expect(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs) {
  const Contraction &c = subject.contraction;
  KILN_RETURN_IF_ERROR(matches(subject, lhs, rhs));
  const RowWeights weights = rowWeights(subject.columns, subject.seed, c.n);
  KILN_ASSIGN_OR_RETURN(RowSums ofRhs,
                        project(matrixOf(c.rhs, c.rhsLayout), c.batch, c.k, c.n, weights.ofSums, 0, rhs));
  KILN_ASSIGN_OR_RETURN(RowSums ofLhs, project(lhsOf(subject), c.batch, c.m, c.k, ofRhs, c.k, lhs));
  auto holdsOthers = [](const RowSums &operand) {
    return std::ranges::find(operand, ProjectTask::kBad) != operand.end();
  };
  if (holdsOthers(ofRhs) || holdsOthers(ofLhs))
    return invalidArgument("{} holds something else than integers after the run; exact verification needs the inputs "
                           "that it makes",
                           holdsOthers(ofLhs) ? "lhs" : "rhs");
  for (int64_t &element : ofLhs)
    element = reduce(weights.bias + element);
  return ofLhs;
}

Result<std::vector<WrongLines>> DeviceCheck::findWrongRows(const DeviceCase &subject, const RowSums &expected,
                                                           hal::Buffer &out) {
  const Contraction &c = subject.contraction;
  KILN_RETURN_IF_ERROR(supports(c));
  Contraction outputAlone = c;
  outputAlone.lhsLayout = outputAlone.rhsLayout = {};
  KILN_RETURN_IF_ERROR(outputAlone.validate(sizeof(uint64_t), sizeof(uint64_t), out.byteLength()));
  const RowWeights weights = rowWeights(subject.columns, subject.seed, c.n);
  KILN_ASSIGN_OR_RETURN(const RowSums actual,
                        project(matrixOf(c.result, c.outLayout), c.batch, c.m, c.n, weights.ofOutputs, 0, out));
  if (expected.size() != actual.size())
    return invalidArgument("{} rows are expected of an output with {}", expected.size(), actual.size());
  std::vector<WrongLines> wrong;
  for (int64_t b = 0; b < c.batch; ++b) {
    WrongLines lines{b, {}, {}};
    for (int64_t i = 0; i < c.m; ++i)
      if (const int64_t row = b * c.m + i; actual[row] != expected[row])
        lines.rows.push_back(i);
    if (!lines.rows.empty())
      wrong.push_back(std::move(lines));
  }
  return wrong;
}

Status DeviceCheck::checkPlanted(const DeviceCase &subject, const RowSums &expected, uint64_t element,
                                 hal::Buffer &out) {
  const Contraction &c = subject.contraction;
  if (element >= c.outputCount())
    return outOfRange("element {} of {} was to be wrong", element, c.outputCount());
  const auto rowNumber = static_cast<int64_t>(element) / c.n;
  const int64_t b = rowNumber / c.m, row = rowNumber % c.m;
  const uint64_t place = c.outLayout.offset(b, row, static_cast<int64_t>(element) % c.n);
  // Another lowest bit makes another number of it.
  const uint64_t byte = place * hal::elementTypeByteSize(c.result);
  std::array<std::byte, 1> lowest;
  auto flip = [&] {
    lowest[0] ^= std::byte(1);
    return out.write(byte, lowest);
  };
  KILN_RETURN_IF_ERROR(out.read(byte, lowest));
  KILN_RETURN_IF_ERROR(flip());
  Result<std::vector<WrongLines>> found = findWrongRows(subject, expected, out);
  KILN_RETURN_IF_ERROR(flip());
  KILN_RETURN_IF_ERROR(found.status());
  if (found->size() == 1 && found->front().b == b && found->front().rows == std::vector(1, row))
    return okStatus();
  return internalError("the check on {} does not see that element {} of the output is wrong, where it was made so",
                       device.uri(), element);
}

} // namespace kiln::measure::verify
