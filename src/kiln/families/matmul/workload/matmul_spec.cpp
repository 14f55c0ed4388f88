#include "kiln/families/matmul/workload/matmul_spec.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

namespace kiln::families {

static constexpr std::string_view kAccumulatorWord = "accf16";

std::string Matrix::name() const {
  return fmt::format("{}{}", hal::elementTypeName(type), columnMajor ? 'n' : 't');
}

static bool isDefaultAccumulator(const MatmulSpec &spec) {
  return spec.accumulator != ElementType::F16;
}

std::string MatmulSpec::name() const {
  std::string shape = batched ? fmt::format("{}x", batch) : std::string();
  return fmt::format("{}_{}{}x{}x{}_{}_{}_{}{}{}", family(), shape, m, n, k, lhs.name(), rhs.name(), result.name(),
                     isDefaultAccumulator(*this) ? "" : "_", isDefaultAccumulator(*this) ? "" : kAccumulatorWord);
}

//===--- Reading --------------------------------------------------------------------------------------------------===//

static std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (true) {
    size_t end = std::min(text.find(separator), text.size());
    words.push_back(text.substr(0, end));
    if (end == text.size())
      return words;
    text.remove_prefix(end + 1);
  }
}

// A number as `name` writes it: no sign, no leading zero. Anything else would not come back as it was.
static Result<uint64_t> parseExtent(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return invalidArgument("'{}' is too large for a size", text);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return invalidArgument("'{}' is no size", text);
  if (value == 0)
    return invalidArgument("sizes must be positive");
  if (text.front() == '0')
    return invalidArgument("'{}' has a leading zero", text);
  return value;
}

static Result<Matrix> parseMatrix(std::string_view text) {
  std::string_view typeName = text.substr(0, text.empty() ? 0 : text.size() - 1);
  std::optional<ElementType> type = hal::parseElementType(typeName);
  char layout = text.empty() ? '\0' : text.back();
  if (type && (layout == 't' || layout == 'n'))
    return Matrix{*type, layout == 'n'};
  if (hal::parseElementType(text))
    return invalidArgument("'{}' lacks its layout: {}t is row-major, {}n column-major", text, text, text);
  if (type)
    return invalidArgument("'{}' is no layout; t is row-major, n column-major", text.substr(text.size() - 1));
  return invalidArgument("'{}' is no matrix; it is an element type and a layout, like f32t or f16n", text);
}

// "f16t", "f16n", "f32t" and maybe "accf16".
static Status parseTypes(std::span<const std::string_view> words, MatmulSpec &spec) {
  if (words.size() < 3)
    return invalidArgument("it has {} of its 3 matrices", words.size());
  KILN_ASSIGN_OR_RETURN(spec.lhs, parseMatrix(words[0]));
  KILN_ASSIGN_OR_RETURN(spec.rhs, parseMatrix(words[1]));
  KILN_ASSIGN_OR_RETURN(spec.result, parseMatrix(words[2]));
  spec.accumulator = spec.lhs.type == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  words = words.subspan(3);
  if (!words.empty() && words[0] == kAccumulatorWord) {
    spec.accumulator = ElementType::F16;
    words = words.subspan(1);
  }
  if (!words.empty())
    return invalidArgument("'{}' is out of place; only {} may follow the three matrices", words[0], kAccumulatorWord);
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
    KILN_ASSIGN_OR_RETURN(*extents[i], parseExtent(words[i]));
  }
  return okStatus();
}

Result<MatmulSpec> MatmulSpec::parse(std::string_view family, std::string_view name) {
  MatmulSpec spec;
  spec.batched = family == "batch_matmul";
  // Other families' names may start like this one's: matmul_splitk_...
  std::string_view rest = name.starts_with(family) ? name.substr(family.size()) : std::string_view();
  if (rest.size() < 2 || rest[0] != '_' || rest[1] < '0' || rest[1] > '9')
    return notFound("'{}' is no name of the family {}", name, family);
  std::vector<std::string_view> words = split(rest.substr(1), '_');
  Status status = parseShape(words[0], spec);
  if (status.ok())
    status = parseTypes(std::span(words).subspan(1), spec);
  if (status.ok())
    status = spec.validate();
  if (!status.ok())
    return invalidArgument("'{}' is no problem: {}; the form is {}_{}MxNxK_lhs_rhs_result[_{}], like "
                           "{}_{}256x512x128_f32t_f32t_f32t",
                           name, status.message(), family, spec.batched ? "Bx" : "", kAccumulatorWord, family,
                           spec.batched ? "16x" : "");
  return spec;
}

Result<MatmulSpec> parseMatmulTypes(std::string_view text) {
  MatmulSpec spec;
  std::vector<std::string_view> words = split(text, '_');
  if (std::optional<ElementType> type = hal::parseElementType(text)) {
    spec.lhs.type = spec.rhs.type = spec.result.type = *type;
    if (*type == ElementType::I8)
      spec.result.type = spec.accumulator = ElementType::I32;
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
  KILN_RETURN_IF_ERROR(validateSize("lhs", lhsTensor()));
  KILN_RETURN_IF_ERROR(validateSize("rhs", rhsTensor()));
  return validateSize("result", resultTensor());
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
