#include "kiln/families/matmul/workload/matmul_spec.h"

#include <span>
#include <tuple>

#include "kiln/base/split.h"
#include "kiln/measure/names.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

static constexpr std::string_view kAccumulatorWord = "accf16";
static constexpr std::string_view kPartialsWord = "part";

std::string Matrix::name() const {
  return fmt::format("{}{}", hal::elementTypeName(type), columnMajor ? 'n' : 't');
}

std::string_view epilogueName(Epilogue epilogue) {
  switch (epilogue) {
  case Epilogue::None: return "";
  case Epilogue::Bias: return "bias";
  case Epilogue::BiasRelu: return "bias_relu";
  case Epilogue::BiasGelu: return "bias_gelu";
  case Epilogue::BiasGeluTanh: return "bias_gelu_tanh";
  }
  return "";
}

std::string_view splitName(SplitK split) {
  return split == SplitK::None ? "" : split == SplitK::Serial ? "serial" : "parallel";
}

std::optional<MatmulSpec> MatmulSpec::ofFamily(std::string_view family) {
  for (auto [batched, epilogue, split] :
       {std::tuple(false, Epilogue::None, SplitK::None), std::tuple(true, Epilogue::None, SplitK::None),
        std::tuple(false, Epilogue::Bias, SplitK::None), std::tuple(false, Epilogue::BiasRelu, SplitK::None),
        std::tuple(false, Epilogue::BiasGelu, SplitK::None), std::tuple(false, Epilogue::BiasGeluTanh, SplitK::None),
        std::tuple(false, Epilogue::None, SplitK::Parallel)}) {
    MatmulSpec spec;
    spec.batched = batched, spec.epilogue = epilogue, spec.split = split;
    if (spec.family() == family)
      return spec;
  }
  return std::nullopt;
}

std::string_view MatmulSpec::family() const {
  if (split != SplitK::None)
    return "matmul_splitk";
  switch (epilogue) {
  case Epilogue::None: break;
  case Epilogue::Bias: return "matmul_bias";
  case Epilogue::BiasRelu: return "matmul_bias_relu";
  case Epilogue::BiasGelu: return "matmul_bias_gelu";
  case Epilogue::BiasGeluTanh: return "matmul_bias_gelu_tanh";
  }
  return batched ? "batch_matmul" : "matmul";
}

std::string MatmulSpec::name() const {
  std::string text(family());
  if (split != SplitK::None)
    text += fmt::format("_{}_{}", splitName(split), slices);
  text += batched ? fmt::format("_{}x", batch) : "_";
  text += fmt::format("{}x{}x{}_{}_{}_{}", m, n, k, lhs.name(), rhs.name(), result.name());
  if (accumulator == ElementType::F16)
    text += fmt::format("_{}", kAccumulatorWord);
  if (split != SplitK::None)
    text += fmt::format("_{}{}", kPartialsWord, hal::elementTypeName(partials));
  return text;
}

uint64_t MatmulSpec::sliceLength() const {
  uint64_t rounded = (k + slices - 1) / slices;
  return (slices - 1) * rounded < k ? rounded : k / slices;
}

ElementType MatmulSpec::promisedAccumulator() const {
  return split != SplitK::None && partials == ElementType::F16 ? partials : accumulator;
}

//===--- Reading --------------------------------------------------------------------------------------------------===//

Result<Matrix> parseMatrix(std::string_view text) {
  std::string_view typeName = text.substr(0, text.empty() ? 0 : text.size() - 1);
  std::optional<ElementType> type = measure::verify::parseMeasuredType(typeName);
  char layout = text.empty() ? '\0' : text.back();
  if (type && (layout == 't' || layout == 'n'))
    return Matrix{*type, layout == 'n'};
  if (measure::verify::parseMeasuredType(text))
    return invalidArgument("'{}' lacks its layout: {}t is row-major, {}n column-major", text, text, text);
  if (type)
    return invalidArgument("'{}' is no layout; t is row-major, n column-major", text.substr(text.size() - 1));
  return invalidArgument("'{}' is no matrix; it is an element type and a layout, like f32t or f16n", text);
}

// "f16t", "f16n", "f32t" and maybe "accf16"; of split-k maybe "partf16".
static Status parseTypes(std::span<const std::string_view> words, MatmulSpec &spec) {
  if (words.size() < 3)
    return invalidArgument("it has {} of its 3 matrices", words.size());
  KILN_ASSIGN_OR_RETURN(spec.lhs, parseMatrix(words[0]));
  KILN_ASSIGN_OR_RETURN(spec.rhs, parseMatrix(words[1]));
  KILN_ASSIGN_OR_RETURN(spec.result, parseMatrix(words[2]));
  spec.accumulator = spec.lhs.type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  spec.partials = spec.accumulator;
  words = words.subspan(3);
  bool isSplit = spec.split != SplitK::None;
  if (isSplit && !words.empty() && words[0].starts_with(kPartialsWord)) {
    std::string_view type = words[0].substr(kPartialsWord.size());
    std::optional<ElementType> known = measure::verify::parseMeasuredType(type);
    if (!known)
      return invalidArgument("'{}' is no type of partial products; like partf32 or partf16 it names one", words[0]);
    spec.partials = *known;
    words = words.subspan(1);
  } else if (!isSplit && !words.empty() && words[0] == kAccumulatorWord) {
    spec.accumulator = ElementType::F16;
    words = words.subspan(1);
  }
  if (!words.empty())
    return invalidArgument("'{}' is out of place; only {} may follow the three matrices", words[0],
                           isSplit ? "the type of partial products, as in partf32," : kAccumulatorWord);
  return okStatus();
}

static Status parseShape(std::string_view text, MatmulSpec &spec) {
  std::vector<std::string_view> words = split(text, 'x');
  std::vector<uint64_t *> extents = {&spec.m, &spec.n, &spec.k};
  if (spec.batched)
    extents.insert(extents.begin(), &spec.batch);
  if (words.size() != extents.size())
    return invalidArgument("its shape '{}' has {} sizes instead of {}", text, words.size(), extents.size());
  for (size_t i = 0; i < words.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(*extents[i], measure::parseNumber(words[i], "size"));
  }
  return okStatus();
}

// "parallel", "4" before the shape.
static Status parseSplit(std::span<const std::string_view> words, MatmulSpec &spec) {
  if (words.empty() || (words[0] != "serial" && words[0] != "parallel"))
    return invalidArgument("'{}' is neither serial nor parallel", words.empty() ? "" : words[0]);
  spec.split = words[0] == "serial" ? SplitK::Serial : SplitK::Parallel;
  if (words.size() < 2)
    return invalidArgument("it lacks its number of slices");
  KILN_ASSIGN_OR_RETURN(spec.slices, measure::parseExtent(words[1]));
  return okStatus();
}

static Status parseWords(std::span<const std::string_view> words, MatmulSpec &spec) {
  if (spec.split != SplitK::None) {
    KILN_RETURN_IF_ERROR(parseSplit(words, spec));
    words = words.subspan(2);
  }
  if (words.empty())
    return invalidArgument("it lacks its shape");
  KILN_RETURN_IF_ERROR(parseShape(words[0], spec));
  words = words.subspan(1);
  KILN_RETURN_IF_ERROR(parseTypes(words, spec));
  if (spec.split != SplitK::None && words.size() == 3)
    return invalidArgument("it does not say what partial products are kept in, as partf32 or partf16");
  return spec.validate();
}

Result<MatmulSpec> MatmulSpec::parse(std::string_view family, std::string_view name) {
  std::optional<MatmulSpec> prototype = ofFamily(family);
  // Other families' names may start like this one's: matmul_splitk_..., matmul_bias_...
  std::string_view rest = prototype && name.starts_with(family) ? name.substr(family.size()) : std::string_view();
  bool isSplit = prototype && prototype->split != SplitK::None;
  if (rest.size() < 2 || rest[0] != '_' || (!isSplit && (rest[1] < '0' || rest[1] > '9')))
    return notFound("'{}' is no name of the family {}", name, family);
  MatmulSpec spec = *prototype;
  Status status = parseWords(kiln::split(rest.substr(1), '_'), spec);
  if (status.ok())
    return spec;
  if (isSplit)
    return invalidArgument(
        "'{}' is no problem: {}; the form is {}_{{serial|parallel}}_S_MxNxK_lhs_rhs_result_part{{type}}, "
        "like {}_parallel_4_128x128x12288_f32t_f32t_f32t_partf32",
        name, status.message(), family, family);
  return invalidArgument("'{}' is no problem: {}; the form is {}_{}MxNxK_lhs_rhs_result[_{}], like "
                         "{}_{}256x512x128_f32t_f32t_f32t",
                         name, status.message(), family, spec.batched ? "Bx" : "", kAccumulatorWord, family,
                         spec.batched ? "16x" : "");
}

Result<MatmulSpec> parseMatmulTypes(std::string_view text, std::string_view family) {
  MatmulSpec spec = MatmulSpec::ofFamily(family).value_or(MatmulSpec());
  std::vector<std::string_view> words = split(text, '_');
  if (std::optional<ElementType> type = measure::verify::parseMeasuredType(text)) {
    spec.lhs.type = spec.rhs.type = spec.result.type = *type;
    if (*type == ElementType::I8)
      spec.result.type = spec.accumulator = ElementType::I32;
    spec.partials = spec.accumulator;
  } else if (Status status = parseTypes(words, spec); !status.ok()) {
    return invalidArgument("'{}' names no types: {}; give an element type like f16, or all three matrices like "
                           "f16t_f16n_f32t",
                           text, status.message());
  }
  KILN_RETURN_IF_ERROR(spec.validate());
  return spec;
}

//===--- Limits ---------------------------------------------------------------------------------------------------===//

static Status validateTypes(const MatmulSpec &spec) {
  using enum ElementType;
  ElementType in = spec.lhs.type, out = spec.result.type;
  if (spec.rhs.type != in)
    return invalidArgument("its operands differ in type, {} and {}", hal::elementTypeName(in),
                           hal::elementTypeName(spec.rhs.type));
  bool known = (in == F32 && out == F32) || (in == F16 && (out == F16 || out == F32)) ||
               (in == BF16 && (out == BF16 || out == F32)) || (in == I8 && out == I32);
  if (!known)
    return unimplemented("products of {} with results of {} are not supported; f32 gives f32, f16 gives f16 or f32, "
                         "bf16 gives bf16 or f32, i8 gives i32",
                         hal::elementTypeName(in), hal::elementTypeName(out));
  if (spec.result.columnMajor)
    return invalidArgument("its result is column-major; only row-major results (t) are supported");
  bool narrow = in == F16 && out == F16;
  if (spec.accumulator != (in == I8 ? I32 : F32) && !(narrow && spec.accumulator == F16))
    return invalidArgument("sums can be kept in f16 only where operands and result are f16");
  if (spec.hasBias() && in == I8)
    return unimplemented("a bias and an activation follow products of floats; {} is not supported",
                         hal::elementTypeName(in));
  return okStatus();
}

static Status validateSplit(const MatmulSpec &spec) {
  using enum ElementType;
  bool narrow = spec.lhs.type == F16 && spec.partials == F16;
  if (spec.partials != (spec.lhs.type == I8 ? I32 : F32) && !narrow)
    return invalidArgument("partial products of {} cannot be kept in {}; f32 is for floats, f16 for f16, i32 for i8",
                           hal::elementTypeName(spec.lhs.type), hal::elementTypeName(spec.partials));
  if (spec.slices == 0 || spec.slices > kMatmulSliceLimit)
    return invalidArgument("{} slices are asked for; there can be 1 to {}", spec.slices, kMatmulSliceLimit);
  if (spec.slices > spec.k)
    return invalidArgument("a reduction of {} cannot be cut into {} slices", spec.k, spec.slices);
  return okStatus();
}

static Status validateSize(std::string_view what, const measure::TensorType &tensor) {
  uint64_t bytes = hal::elementTypeByteSize(tensor.type);
  for (uint64_t extent : tensor.shape) {
    if (extent == 0)
      return invalidArgument("sizes must be positive");
    if (extent > kMatmulExtentLimit)
      return invalidArgument("its {} has a size of {}; sizes are at most 2^31", what, extent);
    if (bytes > kMatmulByteLimit / extent)
      return invalidArgument("its {} would have more than 2^40 bytes", what);
    bytes *= extent;
  }
  return okStatus();
}

Status MatmulSpec::validate() const {
  KILN_RETURN_IF_ERROR(validateTypes(*this));
  if (split != SplitK::None)
    KILN_RETURN_IF_ERROR(validateSplit(*this));
  KILN_RETURN_IF_ERROR(validateSize("lhs", lhsTensor()));
  KILN_RETURN_IF_ERROR(validateSize("rhs", rhsTensor()));
  KILN_RETURN_IF_ERROR(validateSize("result", resultTensor()));
  return validateSize("partial products", {partials, {slices, m, n}});
}

measure::TensorType MatmulSpec::tensor(uint64_t rows, uint64_t columns, const Matrix &matrix) const {
  std::vector<uint64_t> shape = {rows, columns};
  if (matrix.columnMajor)
    std::swap(shape[0], shape[1]);
  if (batched)
    shape.insert(shape.begin(), batch);
  return {matrix.type, std::move(shape)};
}

measure::TensorType MatmulSpec::lhsTensor() const {
  return tensor(m, k, lhs);
}
measure::TensorType MatmulSpec::rhsTensor() const {
  return tensor(k, n, rhs);
}
measure::TensorType MatmulSpec::resultTensor() const {
  return tensor(m, n, result);
}

} // namespace kiln::families
