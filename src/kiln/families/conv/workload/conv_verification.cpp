#include "kiln/families/conv/workload/conv_verification.h"

#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/real.h"
#include "kiln/measure/verify/timed_contraction.h"

namespace kiln::families {

using measure::verify::Cause;
using measure::verify::Contraction;
using measure::verify::ContractionCase;
using measure::verify::InputPlan;
using measure::verify::Layout;
using measure::verify::Pass;
using measure::verify::PatchLayout;
using measure::verify::PatchOperand;
using measure::verify::TensorOperand;
using measure::verify::Verdict;

//===--- As a contraction -----------------------------------------------------------------------------------------===//

namespace {
// The numbers of a problem, signed as measure/verify wants them. Channels and filters are those of one group.
struct Extents {
  int64_t images, groups, height, width, channels, filters, filterHeight, filterWidth, outputHeight, outputWidth;

  explicit Extents(const ConvSpec &spec)
      : images(signedOf(spec.n)), groups(signedOf(spec.groups)), height(signedOf(spec.h)), width(signedOf(spec.w)),
        channels(signedOf(spec.groupChannels())), filters(signedOf(spec.groupFilters())),
        filterHeight(signedOf(spec.r)), filterWidth(signedOf(spec.s)), outputHeight(signedOf(spec.outputHeight())),
        outputWidth(signedOf(spec.outputWidth())) {}

  int64_t taps() const { return filterHeight * filterWidth; }
  int64_t pixels() const { return outputHeight * outputWidth; }

  static int64_t signedOf(uint64_t value) { return static_cast<int64_t>(value); }
};

// A matrix of a patch for each output pixel times one of a filter for each column, with the two ways in which either
// operand may lie in memory.
struct Reading {
  bool imageChannelsFirst, filterChannelsFirst;
  bool padded = true;
};
} // namespace

// A batch index is an image and a group. Extents only, no layouts: those are the operands' own.
static Contraction contractionOf(const ConvSpec &spec) {
  Extents e(spec);
  Contraction contraction = Contraction::dense(e.images * e.groups, e.pixels(), e.filters, e.taps() * e.channels,
                                               spec.types.image, spec.types.result, spec.accumulator());
  contraction.tf32 = spec.tf32;
  contraction.cutsSums = spec.tf32 || spec.cutsSums;
  return contraction;
}

static PatchLayout patchesOf(const ConvSpec &spec, const Reading &reading) {
  Extents e(spec);
  int64_t all = e.groups * e.channels;
  bool first = reading.imageChannelsFirst;
  return {.height = e.height,
          .width = e.width,
          .channels = e.channels,
          .filterHeight = e.filterHeight,
          .filterWidth = e.filterWidth,
          .outputWidth = e.outputWidth,
          .strideY = Extents::signedOf(spec.strideH),
          .strideX = Extents::signedOf(spec.strideW),
          .dilationY = Extents::signedOf(spec.dilationH),
          .dilationX = Extents::signedOf(spec.dilationW),
          .padTop = reading.padded ? Extents::signedOf(spec.padH) : 0,
          .padLeft = reading.padded ? Extents::signedOf(spec.padW) : 0,
          // The reduction goes through the filter as that lies in memory.
          .channelsFirst = reading.filterChannelsFirst,
          .imageStride = e.height * e.width * all,
          .groupStride = first ? e.channels * e.height * e.width : e.channels,
          .groups = e.groups,
          .rowStride = first ? e.width : e.width * all,
          .columnStride = first ? 1 : all,
          .channelStride = first ? e.height * e.width : 1};
}

// All images have the same filters.
static Layout filterLayout(const ConvSpec &spec, bool channelsFirst) {
  Extents e(spec);
  int64_t reduction = e.taps() * e.channels;
  if (channelsFirst)
    return {0, 1, reduction, e.filters * reduction, e.groups};
  return {0, e.groups * e.filters, 1, e.filters, e.groups};
}

static Layout resultLayout(const ConvSpec &spec) {
  Extents e(spec);
  int64_t all = e.groups * e.filters;
  if (spec.channelsFirst)
    return {e.pixels() * all, 1, e.pixels(), e.filters * e.pixels(), e.groups};
  return {e.pixels() * all, all, 1, e.filters, e.groups};
}

//===--- Tensors --------------------------------------------------------------------------------------------------===//

static Status matches(std::string_view what, const measure::TensorType &wanted, ElementType type,
                      std::span<const uint64_t> shape, size_t bytes) {
  uint64_t size = hal::elementTypeByteSize(wanted.type);
  for (uint64_t extent : wanted.shape)
    size *= extent;
  if (type == wanted.type && std::ranges::equal(shape, wanted.shape) && bytes == size)
    return okStatus();
  return invalidArgument("the {} is {} bytes of type {} and shape [{}]; {} bytes of type {} and shape [{}] are needed",
                         what, bytes, hal::elementTypeName(type), fmt::join(shape, ", "), size,
                         hal::elementTypeName(wanted.type), fmt::join(wanted.shape, ", "));
}

Status matchTensors(const ConvSpec &spec, measure::Tensors inputs) {
  if (inputs.size() != 2)
    return invalidArgument("{} has 2 inputs, image and filter, not {}", spec.name(), inputs.size());
  KILN_RETURN_IF_ERROR(matches("image", spec.imageTensor(), inputs[0].type, inputs[0].shape, inputs[0].bytes.size()));
  return matches("filter", spec.filterTensor(), inputs[1].type, inputs[1].shape, inputs[1].bytes.size());
}

Status matchOutput(const ConvSpec &spec, measure::Tensors outputs) {
  if (outputs.size() != 1)
    return invalidArgument("{} has 1 output, not {}", spec.name(), outputs.size());
  return matches("output", spec.resultTensor(), outputs[0].type, outputs[0].shape, outputs[0].bytes.size());
}

//===--- Inputs ---------------------------------------------------------------------------------------------------===//

namespace {
struct PassPlan {
  bool real;
  Pass exact; // what outputs hold before it, too
  std::string_view name;
};
} // namespace

// Real numbers come before the last of the exact passes, which is repeated after timing.
static std::vector<PassPlan> passPlans(const ConvSpec &spec) {
  Contraction contraction = contractionOf(spec);
  std::vector<PassPlan> plans;
  for (Pass pass : passesOf(contraction))
    plans.push_back({false, pass, passName(pass)});
  if (measure::verify::hasRealPass(contraction))
    plans.insert(plans.end() - 1, {true, Pass::WideRhs, measure::verify::kRealPass});
  return plans;
}

static Result<PassPlan> passOf(const ConvSpec &spec, size_t index) {
  std::vector<PassPlan> plans = passPlans(spec);
  if (index >= plans.size())
    return invalidArgument("pass {} was asked for; there are {}", index, plans.size());
  return plans[index];
}

std::vector<std::string> verificationPasses(const ConvSpec &spec) {
  std::vector<std::string> names;
  for (const PassPlan &plan : passPlans(spec))
    names.emplace_back(plan.name);
  return names;
}

// Images and filters are what is scaled: patches overlap, so that pixels of an image have one scale.
static measure::verify::ScaledOperands scaledOperands(const ConvSpec &spec, uint64_t seed) {
  Extents e(spec);
  const int range = measure::verify::realScaleRange(contractionOf(spec));
  const int64_t filters = e.groups * e.filters, weights = e.taps() * e.channels;
  return {{.type = spec.types.image,
           .rows = e.images,
           .columns = e.height * e.width * e.groups * e.channels,
           .range = range,
           .key = randomBits(seed, 1),
           .tf32 = spec.tf32},
          {.type = spec.types.filter,
           .rows = spec.channelsFirst ? filters : weights,
           .columns = spec.channelsFirst ? weights : filters,
           .scalesRows = spec.channelsFirst,
           .range = range,
           .key = randomBits(seed, 2),
           .tf32 = spec.tf32}};
}

static void fillReal(const ConvSpec &spec, uint64_t seed, measure::MutableTensors inputs) {
  const measure::verify::ScaledOperands operands = scaledOperands(spec, seed);
  measure::verify::fillScaled(operands.lhs, inputs[0].bytes);
  measure::verify::fillScaled(operands.rhs, inputs[1].bytes);
}

static void fillImage(const ConvSpec &spec, const InputPlan &plan, std::span<uint8_t> bytes) {
  Extents e(spec);
  PatchLayout layout = patchesOf(spec, {spec.channelsFirst, spec.channelsFirst});
  auto elementBytes = static_cast<int64_t>(hal::elementTypeByteSize(spec.types.image));
  for (int64_t b = 0; b < e.images * e.groups; ++b)
    for (int64_t y = 0; y < e.height; ++y)
      for (int64_t x = 0; x < e.width; ++x) {
        uint64_t line = plan.lhsLine(b, y * e.width + x);
        int64_t start = b / e.groups * layout.imageStride + b % e.groups * layout.groupStride + y * layout.rowStride +
                        x * layout.columnStride;
        for (int64_t c = 0; c < e.channels; ++c)
          measure::verify::storeInteger(spec.types.image, plan.lhsOf(line, c),
                                        bytes.data() + (start + c * layout.channelStride) * elementBytes);
      }
}

static void fillFilter(const ConvSpec &spec, const InputPlan &plan, std::span<uint8_t> bytes) {
  Extents e(spec);
  Layout layout = filterLayout(spec, spec.channelsFirst);
  auto elementBytes = static_cast<int64_t>(hal::elementTypeByteSize(spec.types.filter));
  for (int64_t group = 0; group < e.groups; ++group)
    for (int64_t f = 0; f < e.filters; ++f) {
      uint64_t line = plan.rhsLine(group, f);
      for (int64_t tap = 0; tap < e.taps(); ++tap)
        for (int64_t c = 0; c < e.channels; ++c) {
          int64_t position = spec.channelsFirst ? c * e.taps() + tap : tap * e.channels + c;
          measure::verify::storeInteger(spec.types.filter, plan.rhsOf(line, tap, c),
                                        bytes.data() + layout.offset(group, position, f) * elementBytes);
        }
    }
}

Status fillInputs(const ConvSpec &spec, size_t pass, uint64_t seed, measure::MutableTensors inputs) {
  KILN_ASSIGN_OR_RETURN(PassPlan chosen, passOf(spec, pass));
  std::vector<io::TensorSpan> spans;
  for (const measure::MutableTensor &input : inputs)
    spans.push_back(input.span());
  KILN_RETURN_IF_ERROR(matchTensors(spec, spans));
  if (chosen.real) {
    fillReal(spec, seed, inputs);
    return okStatus();
  }
  InputPlan plan = InputPlan::make(contractionOf(spec), chosen.exact, seed, Extents(spec).taps());
  fillImage(spec, plan, inputs[0].bytes);
  fillFilter(spec, plan, inputs[1].bytes);
  return okStatus();
}

void prefillOutputs(const ConvSpec &spec, size_t pass, measure::MutableTensors outputs) {
  Result<PassPlan> chosen = passOf(spec, pass);
  for (const measure::MutableTensor &output : outputs)
    if (chosen.ok())
      measure::verify::prefillOutput(output.type, chosen->exact, output.bytes);
}

//===--- Check ----------------------------------------------------------------------------------------------------===//

namespace {
// The operands in one reading. Kept together, because cases point at them.
struct Operands {
  Operands(const ConvSpec &spec, const Reading &reading, measure::Tensors inputs)
      : patches(spec.types.image, patchesOf(spec, reading), inputs[0].bytes),
        filters(spec.types.filter, filterLayout(spec, reading.filterChannelsFirst), inputs[1].bytes) {}

  PatchOperand patches;
  TensorOperand filters;
};

// The filter with two of its dimensions, of the same extent, taken for each other.
class SwappedFilter : public measure::verify::Operand {
public:
  static constexpr int kDims = 5; // rows, columns, channels, filters, groups
  using Dims = std::array<int64_t, kDims>;

  SwappedFilter(const ConvSpec &spec, int a, int b, std::span<const uint8_t> bytes)
      : tensor(spec.types.filter, {0, 0, 1}, bytes), extents(extentsOf(spec)), first(spec.channelsFirst) {
    const auto [height, width, channels, filters, groups] = extents;
    strides =
        first ? Dims{width, 1, height * width, channels * height * width, filters * channels * height * width}
              : Dims{width * channels * filters * groups, channels * filters * groups, filters * groups, 1, filters};
    std::swap(strides[a], strides[b]);
  }

  static Dims extentsOf(const ConvSpec &spec) {
    Extents e(spec);
    return {e.filterHeight, e.filterWidth, e.channels, e.filters, e.groups};
  }

  bool loadAlong(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const override {
    bool good = true;
    for (int64_t i = 0; i < count; ++i)
      good &= tensor.loadAlong(0, 0, offset(b, row, column + i), 1, out + i);
    return good;
  }
  bool loadDown(int64_t b, int64_t row, int64_t column, int64_t count, int32_t *out) const override {
    bool good = true;
    for (int64_t i = 0; i < count; ++i)
      good &= tensor.loadAlong(0, 0, offset(b, row + i, column), 1, out + i);
    return good;
  }
  bool runsDown() const override { return false; }

private:
  int64_t offset(int64_t b, int64_t position, int64_t filter) const {
    const auto [height, width, channels, filters, groups] = extents;
    int64_t tap = first ? position % (height * width) : position / channels;
    int64_t channel = first ? position / (height * width) : position % channels;
    return tap / width * strides[0] + tap % width * strides[1] + channel * strides[2] + filter * strides[3] +
           b % groups * strides[4];
  }

  TensorOperand tensor;
  Dims extents, strides{};
  bool first;
};

// All filters in which a swap of dimensions would not show in the shape.
std::vector<std::pair<std::string, SwappedFilter>> swappedFilters(const ConvSpec &spec,
                                                                  std::span<const uint8_t> bytes) {
  static constexpr const char *names[] = {"rows", "columns", "channels", "filters", "groups"};
  std::vector<std::pair<std::string, SwappedFilter>> swapped;
  SwappedFilter::Dims extents = SwappedFilter::extentsOf(spec);
  for (int b = 1; b < SwappedFilter::kDims; ++b)
    for (int a = 0; a < b; ++a)
      if (extents[a] == extents[b] && extents[a] > 1)
        swapped.emplace_back(fmt::format("the filter, its {} and {} swapped,", names[a], names[b]),
                             SwappedFilter(spec, a, b, bytes));
  return swapped;
}
} // namespace

// Where results lie, for pictures and for tiles along any of their dimensions.
static void describeOutput(const ConvSpec &spec, ContractionCase &subject) {
  Extents e(spec);
  bool first = spec.channelsFirst;
  subject.outShape = spec.resultTensor().shape;
  subject.coordinates = [e, first](int64_t b, int64_t i, int64_t j) {
    auto image = static_cast<uint64_t>(b / e.groups), f = static_cast<uint64_t>(b % e.groups * e.filters + j);
    auto y = static_cast<uint64_t>(i / e.outputWidth), x = static_cast<uint64_t>(i % e.outputWidth);
    return first ? std::vector<uint64_t>{image, f, y, x} : std::vector<uint64_t>{image, y, x, f};
  };
  subject.placeOf = [e, first](std::span<const uint64_t> at) {
    std::array<int64_t, 4> c;
    std::ranges::copy(at, c.begin());
    auto [f, y, x] = first ? std::array{c[1], c[2], c[3]} : std::array{c[3], c[1], c[2]};
    return measure::verify::OutputPlace{c[0] * e.groups + f / e.filters, y * e.outputWidth + x, f % e.filters};
  };
}

static Result<Verdict> checkOutputs(const ConvSpec &spec, size_t pass, uint64_t seed, measure::Tensors inputs,
                                    measure::Tensors outputs) {
  KILN_ASSIGN_OR_RETURN(PassPlan chosen, passOf(spec, pass));
  KILN_RETURN_IF_ERROR(matchTensors(spec, inputs));
  KILN_RETURN_IF_ERROR(matchOutput(spec, outputs));
  bool first = spec.channelsFirst;
  Operands right(spec, {first, first}, inputs), otherImage(spec, {!first, first}, inputs),
      otherFilter(spec, {first, !first}, inputs), otherBoth(spec, {!first, !first}, inputs),
      unpadded(spec, {first, first, /*padded=*/false}, inputs);
  Contraction c = contractionOf(spec);
  if (chosen.real) {
    c.outLayout = resultLayout(spec);
    return checkReal(c, seed, right.patches, right.filters, outputs[0].bytes);
  }
  ContractionCase subject = {c.batch,
                             c.m,
                             c.n,
                             c.k,
                             c.lhs,
                             c.rhs,
                             c.result,
                             c.accumulator,
                             &right.patches,
                             &right.filters,
                             outputs[0].bytes,
                             resultLayout(spec),
                             {},
                             {}};
  // One channel, or one pixel, is the same in both layouts.
  bool imageHasTwo = spec.c > 1 && spec.h * spec.w > 1;
  bool filterHasTwo = spec.f > 1 && spec.r * spec.s * spec.groupChannels() > 1;
  if (spec.padH + spec.padW > 0)
    subject.swaps.push_back(
        {"the image", &unpadded.patches, &unpadded.filters, Cause::DroppedPadding, "without its padding"});
  auto addSwap = [&](bool differs, const char *what, const Operands &operands) {
    if (differs)
      subject.swaps.push_back({what, &operands.patches, &operands.filters});
  };
  addSwap(imageHasTwo, "the image", otherImage);
  addSwap(filterHasTwo, "the filter", otherFilter);
  addSwap(imageHasTwo && filterHasTwo, "image and filter", otherBoth);
  const auto swapped = swappedFilters(spec, inputs[1].bytes);
  for (const auto &[what, filter] : swapped)
    subject.swaps.push_back({what, &right.patches, &filter});
  describeOutput(spec, subject);
  Extents e(spec);
  subject.innerLoops =
      first ? std::vector{e.filterWidth, e.taps()} : std::vector{e.channels, e.filterWidth * e.channels};
  KILN_ASSIGN_OR_RETURN(Verdict verdict, checkCase(subject, chosen.exact, seed));
  verdict.method += measure::verify::unusedNote(c, chosen.exact, seed, e.taps(), /*hasBias=*/false);
  return verdict;
}

Verdict check(const ConvSpec &spec, size_t pass, uint64_t seed, measure::Tensors inputs, measure::Tensors outputs) {
  Result<Verdict> verdict = checkOutputs(spec, pass, seed, inputs, outputs);
  if (verdict.ok())
    verdict->method += contractionOf(spec).promiseText();
  return measure::verify::verdictOf(std::move(verdict));
}

Result<measure::verify::DeviceCase> deviceCase(const ConvSpec &spec, size_t pass, uint64_t seed) {
  KILN_ASSIGN_OR_RETURN(PassPlan chosen, passOf(spec, pass));
  using measure::verify::DeviceCase;
  DeviceCase subject{contractionOf(spec), chosen.exact, seed};
  subject.contraction.rhsLayout = filterLayout(spec, spec.channelsFirst);
  subject.contraction.outLayout = resultLayout(spec);
  subject.patches = {patchesOf(spec, {spec.channelsFirst, spec.channelsFirst}), scaledOperands(spec, seed)};
  subject.check = chosen.real ? DeviceCase::Check::Real : DeviceCase::Check::Exact;
  subject.right = chosen.real ? measure::verify::rightRealVerdict(subject.contraction, seed)
                              : measure::verify::rightVerdict(subject.contraction, chosen.exact, seed,
                                                              /*hasBias=*/false, Extents(spec).taps());
  subject.right.method += subject.contraction.promiseText();
  return subject;
}

//===--- Timed calls ----------------------------------------------------------------------------------------------===//

namespace {
using measure::verify::LineCase;

// Lines are what lies together in memory: the filters of a pixel, or the pixels of a filter. All groups are taken at
// once: a patch has the channels of all of them, and a group's filters are zero for the others' channels.
template <typename Sum> class TimedConv {
public:
  TimedConv(const ConvSpec &spec, measure::Tensors inputs, uint64_t seed)
      : spec(spec), e(spec), patches(spec.types.image, wholePatches(spec), inputs[0].bytes),
        filters(spec.types.filter, filterRows(), inputs[1].bytes) {
    subject.type = spec.types.result;
    subject.shape = spec.resultTensor().shape;
    subject.length = subject.block = spec.channelsFirst ? e.pixels() : e.groups * e.filters;
    subject.weights = measure::verify::randomWeights<Sum>(seed, subject.length);
    if (spec.channelsFirst)
      projectPixels();
    else
      projectFilters();
    if constexpr (std::is_same_v<Sum, double>) {
      double results = static_cast<double>(e.taps() * e.channels) * measure::verify::meanSquare(inputs[0]) *
                       measure::verify::meanSquare(inputs[1]);
      subject.deviations.assign(subject.expected.size(),
                                measure::verify::deviationOf(spec.accumulator(), spec.types.result,
                                                             e.taps() * e.channels, results, subject.weights,
                                                             measure::verify::deviationOfCuts(contractionOf(spec))));
    }
  }

  std::unique_ptr<measure::verify::TimedCheck> make() && { return checkOfLines(std::move(subject)); }

private:
  static PatchLayout wholePatches(const ConvSpec &spec) {
    PatchLayout layout = patchesOf(spec, {spec.channelsFirst, spec.channelsFirst});
    layout.channels *= layout.groups;
    layout.groups = 1;
    layout.groupStride = 0;
    return layout;
  }
  // The filters as they lie in memory: a row for each weight, or for each filter.
  Layout filterRows() const {
    int64_t weights = e.taps() * e.channels, all = e.groups * e.filters;
    return spec.channelsFirst ? Layout::rowMajor(all, weights) : Layout::rowMajor(weights, all);
  }

  void projectFilters() {
    int64_t channels = e.groups * e.channels;
    std::vector<Sum> projected(e.taps() * channels);
    for (int64_t g = 0; g < e.groups; ++g) {
      auto weights = subject.weights.begin() + g * e.filters;
      std::vector<Sum> ofGroup = measure::verify::product<Sum, 1>(
          {filters, 0, e.taps() * e.channels, e.filters, false, 0, g * e.filters}, {weights, weights + e.filters});
      for (int64_t tap = 0; tap < e.taps(); ++tap)
        std::copy_n(ofGroup.begin() + tap * e.channels, e.channels,
                    projected.begin() + tap * channels + g * e.channels);
    }
    for (int64_t image = 0; image < e.images; ++image)
      append(measure::verify::product<Sum, 1>({patches, image, e.pixels(), e.taps() * channels}, projected));
  }

  void projectPixels() {
    int64_t reduction = e.channels * e.taps();
    std::vector<Sum> weights(subject.weights.begin(), subject.weights.end());
    for (int64_t image = 0; image < e.images; ++image) {
      std::vector<Sum> projected = measure::verify::product<Sum, 1>(
          {patches, image, e.groups * reduction, e.pixels(), /*transposed=*/true}, weights);
      for (int64_t g = 0; g < e.groups; ++g)
        append(measure::verify::product<Sum, 1>(
            {filters, 0, e.filters, reduction, false, g * e.filters},
            {projected.begin() + g * reduction, projected.begin() + (g + 1) * reduction}));
    }
  }

  void append(const std::vector<Sum> &sums) {
    subject.expected.insert(subject.expected.end(), sums.begin(), sums.end());
  }

  const ConvSpec &spec;
  Extents e;
  PatchOperand patches;
  TensorOperand filters;
  LineCase<Sum> subject;
};
} // namespace

std::unique_ptr<measure::verify::TimedCheck> timedCheck(const ConvSpec &spec, measure::Tensors inputs, uint64_t seed) {
  if (!matchTensors(spec, inputs).ok())
    return nullptr;
  if (spec.accumulator() == ElementType::I32)
    return TimedConv<uint32_t>(spec, inputs, seed).make();
  return TimedConv<double>(spec, inputs, seed).make();
}

} // namespace kiln::families
