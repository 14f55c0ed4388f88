#include "kiln/families/conv/workload/conv_family.h"

#include <array>

#include "kiln/families/conv/workload/conv_configurations.h"
#include "kiln/families/conv/workload/conv_mlir.h"
#include "kiln/families/conv/workload/conv_verification.h"

namespace kiln::families {

using measure::Problem;

//===--- Problem --------------------------------------------------------------------------------------------------===//

measure::Fields ConvProblem::fields() const {
  measure::Fields fields = {{"layout", std::string(own.layout())},
                            {"n", std::to_string(own.n)},
                            {"h", std::to_string(own.h)},
                            {"w", std::to_string(own.w)},
                            {"c", std::to_string(own.c)},
                            {"r", std::to_string(own.r)},
                            {"s", std::to_string(own.s)},
                            {"f", std::to_string(own.f)},
                            {"stride_h", std::to_string(own.strideH)},
                            {"stride_w", std::to_string(own.strideW)},
                            {"dilation_h", std::to_string(own.dilationH)},
                            {"dilation_w", std::to_string(own.dilationW)},
                            {"pad_h", std::to_string(own.padH)},
                            {"pad_w", std::to_string(own.padW)},
                            {"groups", std::to_string(own.groups)},
                            {"input_type", std::string(hal::elementTypeName(own.types.image))},
                            {"filter_type", std::string(hal::elementTypeName(own.types.filter))},
                            {"result_type", std::string(hal::elementTypeName(own.types.result))},
                            {"accumulator", std::string(hal::elementTypeName(own.accumulator()))}};
  if (own.tf32)
    fields.emplace_back("arithmetic", "tf32");
  return fields;
}

std::unique_ptr<Problem> ConvProblem::inTF32() const {
  if (own.types.image != ElementType::F32)
    return nullptr;
  ConvSpec narrow = own;
  narrow.tf32 = true;
  return std::make_unique<ConvProblem>(narrow);
}

double ConvProblem::flops() const {
  double flops = 2;
  for (uint64_t extent : {own.n, own.outputHeight(), own.outputWidth(), own.f, own.r, own.s, own.groupChannels()})
    flops *= static_cast<double>(extent);
  return flops;
}

std::string ConvProblem::mlir(std::string_view function, std::string_view configuration) const {
  return convMlir(own, function, configuration);
}

std::vector<std::string> ConvProblem::passes() const {
  return verificationPasses(own);
}

Status ConvProblem::fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const {
  return families::fillInputs(own, pass, seed, inputs);
}

void ConvProblem::prefillOutputs(size_t pass, measure::MutableTensors outputs) const {
  families::prefillOutputs(own, pass, outputs);
}

measure::verify::Verdict ConvProblem::check(size_t pass, uint64_t seed, measure::Tensors inputs,
                                            measure::Tensors outputs) const {
  return families::check(own, pass, seed, inputs, outputs);
}

Result<measure::verify::DeviceCase> ConvProblem::deviceCase(size_t pass, uint64_t seed) const {
  return families::deviceCase(own, pass, seed);
}

std::unique_ptr<measure::verify::TimedCheck> ConvProblem::timedCheck(measure::Tensors inputs, uint64_t seed) const {
  return families::timedCheck(own, inputs, seed);
}

Status ConvProblem::reference(measure::Tensors inputs, measure::MutableTensors outputs) const {
  return convReference(own, inputs, outputs);
}

//===--- Family ---------------------------------------------------------------------------------------------------===//

namespace {
// As most networks have them: square filters, the same for rows and columns.
struct Shape {
  uint64_t n, h, w, c, r, s, f, stride, dilation, pad, groups;
};
} // namespace

// Layers of ResNet-50, ResNeXt-50 and MobileNet: a 3x3, a 1x1, the stem, a grouped and a depthwise one.
static constexpr std::array<Shape, 5> kShapes = {{
    {1, 56, 56, 64, 3, 3, 64, 1, 1, 1, 1},
    {1, 28, 28, 128, 1, 1, 512, 1, 1, 0, 1},
    {1, 224, 224, 3, 7, 7, 64, 2, 1, 3, 1},
    {1, 28, 28, 256, 3, 3, 256, 1, 1, 1, 32},
    {1, 56, 56, 128, 3, 3, 128, 1, 1, 1, 128},
}};
static constexpr std::array<const char *, 4> kTypes = {"f32", "f16", "bf16", "i8"};

std::string_view ConvFamily::summary() const {
  return "two-dimensional convolution, dense, grouped and depthwise: "
         "conv2d_nhwc_hwcf_NxHxWxC_RxSxF_s1x1_d1x1_p0x0_g1_f32_f32_f32";
}

// Every combination of the values that are given for the dimensions, in which others are what `base` has.
static std::vector<Shape> combine(const measure::ProblemSelection &selection, const Shape &base) {
  static constexpr std::pair<const char *, uint64_t Shape::*> dimensions[] = {
      {"n", &Shape::n},          {"h", &Shape::h},
      {"w", &Shape::w},          {"c", &Shape::c},
      {"r", &Shape::r},          {"s", &Shape::s},
      {"f", &Shape::f},          {"stride", &Shape::stride},
      {"pad", &Shape::pad},      {"dilation", &Shape::dilation},
      {"groups", &Shape::groups}};
  std::vector<Shape> shapes = {base};
  for (auto [name, member] : dimensions) {
    auto found = selection.dimensions.find(name);
    if (found == selection.dimensions.end() || found->second.empty())
      continue;
    std::vector<Shape> more;
    for (Shape shape : shapes)
      for (uint64_t value : found->second) {
        shape.*member = value;
        more.push_back(shape);
      }
    shapes = std::move(more);
  }
  // A filter of which only the height is given is square.
  if (!selection.dimensions.contains("s"))
    for (Shape &shape : shapes)
      shape.s = selection.dimensions.contains("r") ? shape.r : shape.s;
  return shapes;
}

static Result<std::vector<Shape>> selectedShapes(const measure::ProblemSelection &selection) {
  auto given = [&](const char *name) { return selection.dimensions.contains(name); };
  int required = given("h") + given("w") + given("c") + given("f");
  bool others = given("r") || given("s") || given("stride") || given("dilation") || given("pad") || given("groups");
  if (required == 4)
    return combine(selection, {1, 1, 1, 1, 3, 3, 1, 1, 1, 0, 1});
  if (required != 0 || others)
    return invalidArgument("a convolution has four sizes that must be given; give --problem-h, --problem-w, "
                           "--problem-c and --problem-f together");
  std::vector<Shape> shapes;
  // n beside m and k is a matrix product's, and no convolution is asked for.
  if (given("m") || given("k"))
    return shapes;
  for (const Shape &shape : kShapes) {
    std::vector<Shape> more = given("n") ? combine(selection, shape) : std::vector<Shape>{shape};
    shapes.insert(shapes.end(), more.begin(), more.end());
  }
  return shapes;
}

// Types that convolutions have not, such as f64 or those with a matrix's layout, are for other families.
static Result<std::vector<ConvTypes>> selectedTypes(const measure::ProblemSelection &selection) {
  std::vector<ConvTypes> types;
  if (selection.types.empty())
    for (const char *name : kTypes)
      types.push_back(*parseConvTypes(name));
  for (const std::string &name : selection.types) {
    Result<ConvTypes> parsed = parseConvTypes(name);
    bool isOthers = parsed.status().code() == StatusCode::Unimplemented || name.find("t_") != std::string::npos ||
                    name.find("n_") != std::string::npos;
    if (parsed.ok())
      types.push_back(*parsed);
    else if (!isOthers)
      return parsed.status();
  }
  return types;
}

std::span<const measure::Dimension> ConvFamily::dimensions() const {
  static constexpr measure::Dimension kDimensions[] = {
      {"n", "Images."},
      {"h", "Rows of a convolution's image. h, w, c and f are given together."},
      {"w", "Columns of its image."},
      {"c", "Its channels."},
      {"f", "Its filters."},
      {"r", "Rows of a filter; 3 unless given."},
      {"s", "Columns of a filter; as many as rows unless given."},
      {"stride", "Of rows and columns; 1 unless given."},
      {"dilation", "Of rows and columns; 1 unless given."},
      {"pad", "Pixels on each side, which may be 0; 0 unless given.", 0},
      {"groups", "Of channels and filters; 1 unless given."},
  };
  return kDimensions;
}

Result<measure::Problems> ConvFamily::problems(const measure::ProblemSelection &selection) const {
  KILN_ASSIGN_OR_RETURN(std::vector<Shape> shapes, selectedShapes(selection));
  KILN_ASSIGN_OR_RETURN(std::vector<ConvTypes> types, selectedTypes(selection));
  measure::Problems problems;
  for (const Shape &shape : shapes)
    for (const ConvTypes &type : types)
      for (bool channelsFirst : {false, true}) {
        ConvSpec spec{channelsFirst, shape.n,   shape.h,      shape.w,      shape.c,        shape.r,
                      shape.s,       shape.f,   shape.stride, shape.stride, shape.dilation, shape.dilation,
                      shape.pad,     shape.pad, shape.groups, type};
        if (Status status = spec.validate(); !status.ok())
          return std::move(status).withContext(spec.name());
        problems.push_back(std::make_unique<ConvProblem>(spec));
      }
  return problems;
}

// Steps of a window along rows or columns of an image.
namespace {
struct Steps {
  uint64_t stride, dilation, pad;
};
} // namespace

// All that make so many pixels of a result: strides and dilations that networks have, and no more padding than a window
// reaches over.
static std::vector<Steps> stepsFor(uint64_t image, uint64_t filter, uint64_t result) {
  constexpr uint64_t kMost = 4;
  std::vector<Steps> all;
  for (uint64_t dilation = 1; dilation <= (filter > 1 ? kMost : 1); ++dilation)
    for (uint64_t stride = 1; stride <= (result > 1 ? kMost : 1); ++stride)
      for (uint64_t pad = 0, reach = dilation * (filter - 1); pad <= reach; ++pad)
        if (image + 2 * pad > reach && (image + 2 * pad - reach - 1) / stride + 1 == result)
          all.push_back({stride, dilation, pad});
  return all;
}

measure::Problems ConvFamily::problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const {
  measure::Problems problems;
  constexpr size_t kRank = 4;
  if (inputs.size() != 2 || outputs.size() != 1 || inputs[0].shape.size() != kRank || inputs[1].shape.size() != kRank ||
      outputs[0].shape.size() != kRank)
    return problems;
  for (bool channelsFirst : {false, true}) {
    const std::vector<uint64_t> &image = inputs[0].shape, &filter = inputs[1].shape, &result = outputs[0].shape;
    const size_t rows = channelsFirst ? 2 : 1, window = channelsFirst ? 2 : 0;
    ConvSpec spec;
    spec.channelsFirst = channelsFirst;
    spec.n = image[0], spec.h = image[rows], spec.w = image[rows + 1], spec.c = image[channelsFirst ? 1 : 3];
    spec.r = filter[window], spec.s = filter[window + 1], spec.f = filter[channelsFirst ? 0 : 3];
    uint64_t groupChannels = filter[channelsFirst ? 1 : 2];
    if (spec.r == 0 || spec.s == 0 || groupChannels == 0)
      continue;
    spec.groups = spec.c / groupChannels;
    spec.types = {inputs[0].type, inputs[1].type, outputs[0].type};
    for (const Steps &down : stepsFor(spec.h, spec.r, result[rows]))
      for (const Steps &across : stepsFor(spec.w, spec.s, result[rows + 1])) {
        spec.strideH = down.stride, spec.dilationH = down.dilation, spec.padH = down.pad;
        spec.strideW = across.stride, spec.dilationW = across.dilation, spec.padW = across.pad;
        addIfValid(problems, spec);
      }
  }
  return problems;
}

std::vector<std::string> ConvFamily::configurations(const Problem &problem, std::string_view target) const {
  const ConvSpec *spec = specFor(problem, target);
  return spec ? convConfigurations(*spec, CpuShape::host(), kConfigurationCount) : std::vector<std::string>();
}

std::vector<std::string> ConvFamily::configurationSpace(const Problem &problem, std::string_view target) const {
  const ConvSpec *spec = specFor(problem, target);
  return spec ? measure::namesOf(convConfigurationSpace(*spec, CpuShape::host())) : std::vector<std::string>();
}

void registerConvFamily(measure::FamilyRegistry &registry) {
  registry.add(std::make_unique<ConvFamily>());
}

} // namespace kiln::families
