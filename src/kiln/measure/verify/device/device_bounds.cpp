// Checks that are no projections: of sums of real numbers, and of what follows an activation.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "kiln/measure/verify/device/device_check_impl.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"
#include "kiln/runtime/io/element_text.h"

namespace kiln::measure::verify {

// Of launches that take places as three numbers each.
static std::vector<int64_t> flattened(std::span<const SamplePlace> places) {
  std::vector<int64_t> numbers;
  for (const SamplePlace &place : places)
    numbers.insert(numbers.end(), {place.b, place.i, place.j});
  return numbers;
}

//===--- Real numbers ---------------------------------------------------------------------------------------------===//

Result<hal::Buffer *> DeviceCheck::listOf(ElementType type, int range) {
  auto known =
      std::ranges::find_if(lists, [&](const NumberList &list) { return list.type == type && list.range == range; });
  if (known != lists.end())
    return known->numbers.get();
  const std::vector<uint8_t> numbers = scaledNumbers(type, range);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> list, upload(std::span<const uint8_t>(numbers)));
  return lists.emplace_back(type, range, std::move(list)).numbers.get();
}

Status DeviceCheck::fillScaled(const DeviceCase &subject, const ScaledOperand &operand, hal::Buffer &tensor) {
  ScaledFillTask task;
  task.format = supportedFormat(operand.type);
  task.scalesRows = operand.scalesRows;
  task.isNarrow = operand.type != ElementType::F32;
  if (operand.tf32)
    task.keptBits = ~((1U << (kFormatF32.significand - kFormatTF32.significand)) - 1);
  task.range = operand.range;
  task.narrowNumbers = kNarrowNumbers;
  task.partBits = kNormalPartBits;
  task.key = operand.key, task.scalesKey = kScalesKey;
  task.batch = operand.batch, task.rows = operand.rows, task.columns = operand.columns;
  task.batchStride = operand.batchStride;
  KILN_ASSIGN_OR_RETURN(hal::Buffer * list, listOf(operand.type, operand.range));
  KILN_RETURN_IF_ERROR(launch(Kernel::FillScaled, task, {list, &tensor}));
  const int64_t matrix = operand.rows * operand.columns;
  const uint64_t size = hal::elementTypeByteSize(operand.type);
  for (uint64_t sample = 0; sample < kSamples && operand.batch * matrix > 0; ++sample) {
    const int64_t b = placeOf(subject, sample, operand.batch), element = placeOf(subject, sample + kSamples, matrix);
    std::array<uint8_t, sizeof(uint64_t)> expected;
    storeScaled(operand, b, element, expected.data());
    KILN_RETURN_IF_ERROR(compareBytes("a matrix of real numbers", tensor, b * operand.batchStride + element,
                                      std::span(expected).first(size)));
  }
  return okStatus();
}

Status DeviceCheck::fillReal(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs) {
  const ScaledOperands operands =
      subject.patches ? subject.patches->scaled : realOperands(subject.contraction, subject.seed);
  KILN_RETURN_IF_ERROR(fillScaled(subject, operands.lhs, lhs));
  return fillScaled(subject, operands.rhs, rhs);
}

Result<std::vector<SampledSum>> DeviceCheck::expectSums(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs) {
  const Contraction &c = subject.contraction;
  KILN_RETURN_IF_ERROR(matches(subject, lhs, rhs));
  const std::vector<SamplePlace> places = samplePlaces(c, realSamples(c, subject.seed));
  DotTask task;
  task.lhs = lhsOf(subject);
  task.rhs = matrixOf(c.rhs, c.rhsLayout);
  task.samples = std::ssize(places);
  task.k = c.k;
  // What no block has written is no number.
  std::vector<double> results(3 * places.size(), std::numeric_limits<double>::quiet_NaN());
  const std::vector<int64_t> flat = flattened(places);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> wanted, upload(std::span<const int64_t>(flat)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> written, upload(std::span<const double>(results)));
  KILN_RETURN_IF_ERROR(launch(Kernel::Dot, task, {wanted.get(), &lhs, &rhs, written.get()}));
  KILN_RETURN_IF_ERROR(written->read(0, std::as_writable_bytes(std::span(results))));
  std::vector<SampledSum> sums;
  for (size_t at = 0; at < places.size(); ++at) {
    sums.push_back({results[3 * at], results[3 * at + 1], results[3 * at + 2], 0});
    if (std::isnan(sums.back().sum))
      return internalError("the device {} left out sums that it was to add up", device.uri());
  }
  return sums;
}

Result<Verdict> DeviceCheck::judgeSums(const DeviceCase &subject, std::vector<SampledSum> sums, hal::Buffer &out) {
  const Contraction &c = subject.contraction;
  KILN_RETURN_IF_ERROR(supports(c));
  const SampleOptions options = realSamples(c, subject.seed);
  const std::vector<SamplePlace> places = samplePlaces(c, options);
  if (places.size() != sums.size())
    return invalidArgument("{} sums are expected of an output of which {} elements are looked at", sums.size(),
                           places.size());
  PickTask task;
  task.out = matrixOf(c.result, c.outLayout);
  task.samples = std::ssize(places);
  std::vector<double> actual(places.size(), std::numeric_limits<double>::quiet_NaN());
  const std::vector<int64_t> flat = flattened(places);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> wanted, upload(std::span<const int64_t>(flat)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> picked, upload(std::span<const double>(actual)));
  KILN_RETURN_IF_ERROR(launch(Kernel::Pick, task, {wanted.get(), &out, picked.get()}));
  KILN_RETURN_IF_ERROR(picked->read(0, std::as_writable_bytes(std::span(actual))));
  for (size_t at = 0; at < sums.size(); ++at)
    sums[at].actual = actual[at];
  return verify::judgeSums(c, places, sums, options);
}

//===--- Planted elements -----------------------------------------------------------------------------------------===//

template <typename IsFound>
Status DeviceCheck::plant(const DeviceCase &subject, int64_t b, int64_t row, int64_t column, hal::Buffer &out,
                          IsFound isFound) {
  const Contraction &c = subject.contraction;
  const uint64_t size = hal::elementTypeByteSize(c.result);
  const uint64_t byte = uint64_t(c.outLayout.offset(b, row, column)) * size;
  std::array<std::byte, sizeof(uint64_t)> right, planted;
  planted.fill(std::byte(0xFF));
  KILN_RETURN_IF_ERROR(out.read(byte, std::span(right).first(size)));
  KILN_RETURN_IF_ERROR(out.write(byte, std::span(planted).first(size)));
  Result<bool> found = isFound();
  KILN_RETURN_IF_ERROR(out.write(byte, std::span(right).first(size)));
  KILN_RETURN_IF_ERROR(found.status());
  return *found ? okStatus()
                : internalError("the check on {} does not see that element [{}, {}, {}] of the output is wrong, where "
                                "it was made so",
                                device.uri(), b, row, column);
}

Status DeviceCheck::checkPlantedSum(const DeviceCase &subject, const std::vector<SampledSum> &sums, uint64_t planted,
                                    hal::Buffer &out) {
  const Contraction &c = subject.contraction;
  const std::vector<SamplePlace> places = samplePlaces(c, realSamples(c, subject.seed));
  if (places.empty())
    return okStatus();
  const SamplePlace place = places[planted % places.size()];
  return plant(subject, place.b, place.i, place.j, out, [&]() -> Result<bool> {
    KILN_ASSIGN_OR_RETURN(const Verdict verdict, judgeSums(subject, sums, out));
    const std::vector<uint64_t> index = {uint64_t(place.b), uint64_t(place.i), uint64_t(place.j)};
    return verdict.examples.size() == 1 && verdict.examples.front().index == index;
  });
}

Status DeviceCheck::checkPlantedActivation(const DeviceCase &subject, uint64_t element, hal::Buffer &out) {
  const Contraction &c = subject.contraction;
  if (element >= c.outputCount())
    return outOfRange("element {} of {} was to be wrong", element, c.outputCount());
  const auto row = int64_t(element) / c.n, column = int64_t(element) % c.n;
  return plant(subject, 0, row, column, out, [&]() -> Result<bool> {
    KILN_ASSIGN_OR_RETURN(const std::vector<WrongLines> wrong, findWrongActivations(subject, out));
    return wrong.size() == 1 && wrong.front().rows == std::vector(1, row);
  });
}

//===--- Activations ----------------------------------------------------------------------------------------------===//

static UnitNumbers unitsOf(const DeviceActivation &activation) {
  return {activation.key, activation.lhs, activation.fractionBits, activation.largest};
}

Status DeviceCheck::fillActivation(const DeviceCase &subject, hal::Buffer &lhs, hal::Buffer &rhs) {
  const Contraction &c = subject.contraction;
  const DeviceActivation &activation = subject.activation;
  UnitFillTask units;
  units.numbers = unitsOf(activation);
  units.format = supportedFormat(c.lhs);
  units.elements = c.m * c.k;
  KILN_RETURN_IF_ERROR(launch(Kernel::FillUnits, units, {&lhs}));
  const uint64_t size = hal::elementTypeByteSize(c.lhs);
  for (uint64_t sample = 0; sample < kSamples && units.elements > 0; ++sample) {
    const int64_t element = placeOf(subject, sample, units.elements);
    std::array<uint8_t, sizeof(uint64_t)> expected;
    io::storeFloat(c.lhs, std::ldexp(units.numbers.unitAt(element), -activation.fractionBits), expected.data());
    KILN_RETURN_IF_ERROR(compareBytes("lhs", lhs, element, std::span(expected).first(size)));
  }
  PrefillTask zeros;
  zeros.format = supportedFormat(c.rhs);
  zeros.zeros = true;
  zeros.elements = c.k * c.n;
  KILN_RETURN_IF_ERROR(launch(Kernel::Prefill, zeros, {&rhs}));
  std::vector<int64_t> places;
  std::vector<int32_t> values;
  for (int64_t j = 0; j < c.n; ++j)
    for (int64_t term = 0; term < activation.termsOfColumn; ++term) {
      const DeviceActivation::Term &of = activation.terms[size_t(j * activation.termsOfColumn + term)];
      places.push_back(c.rhsLayout.offset(0, activation.places[of.place], j));
      values.push_back(of.sign);
    }
  ScatterTask scatter;
  scatter.format = zeros.format;
  scatter.count = std::ssize(places);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> where, upload(std::span<const int64_t>(places)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> what, upload(std::span<const int32_t>(values)));
  KILN_RETURN_IF_ERROR(launch(Kernel::Scatter, scatter, {where.get(), what.get(), &rhs}));
  for (uint64_t sample = 0; sample < kSamples && !places.empty(); ++sample) {
    const auto at = size_t(placeOf(subject, sample, std::ssize(places)));
    KILN_RETURN_IF_ERROR(compareElement("rhs", rhs, places[at], c.rhs, values[at]));
  }
  return okStatus();
}

Result<std::vector<WrongLines>> DeviceCheck::findWrongActivations(const DeviceCase &subject, hal::Buffer &out) {
  const Contraction &c = subject.contraction;
  KILN_RETURN_IF_ERROR(supports(c));
  const DeviceActivation &activation = subject.activation;
  RangeTask task;
  task.numbers = unitsOf(activation);
  task.lhs = matrixOf(c.lhs, c.lhsLayout);
  task.out = matrixOf(c.result, c.outLayout);
  task.rows = c.m, task.columns = c.n, task.terms = activation.termsOfColumn;
  std::vector<uint32_t> termPlaces;
  std::vector<int32_t> termSigns;
  for (const DeviceActivation::Term &term : activation.terms) {
    termPlaces.push_back(term.place);
    termSigns.push_back(term.sign);
  }
  std::vector<int64_t> ranges;
  for (const ElementRange &range : activation.results)
    ranges.insert(ranges.end(), {range.low, range.high});
  // What no block has written is wrong.
  std::vector<uint32_t> bad(size_t(c.m), UINT32_MAX);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> places, upload(std::span<const int64_t>(activation.places)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> ofTerms, upload(std::span<const uint32_t>(termPlaces)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> signs, upload(std::span<const int32_t>(termSigns)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> biases, upload(std::span<const int32_t>(activation.biases)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> ends, upload(std::span<const int64_t>(ranges)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> flags, upload(std::span<const uint32_t>(bad)));
  KILN_RETURN_IF_ERROR(launch(Kernel::Ranges, task,
                              {places.get(), ofTerms.get(), signs.get(), biases.get(), ends.get(), &out, flags.get()}));
  KILN_RETURN_IF_ERROR(flags->read(0, std::as_writable_bytes(std::span(bad))));
  WrongLines wrong;
  for (int64_t i = 0; i < c.m; ++i)
    if (bad[size_t(i)] == UINT32_MAX)
      return internalError("the device {} left out rows that it was to check", device.uri());
    else if (bad[size_t(i)])
      wrong.rows.push_back(i);
  return wrong.rows.empty() ? std::vector<WrongLines>() : std::vector{wrong};
}

} // namespace kiln::measure::verify
