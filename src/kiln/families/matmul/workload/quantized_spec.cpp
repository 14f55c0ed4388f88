#include "kiln/families/matmul/workload/quantized_spec.h"

#include <span>

#include "kiln/base/split.h"
#include "kiln/measure/names.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

static constexpr std::string_view kPerTensor = "pertensor", kPerColumn = "percolumn";

static std::string zeroText(std::string_view prefix, int32_t zero) {
  return fmt::format("_{}{}{}", prefix, zero < 0 ? "m" : "", zero < 0 ? -zero : zero);
}

std::string QuantizedSpec::name() const {
  std::string text =
      fmt::format("{}_{}x{}x{}_{}_{}_{}", kQuantizedFamily, m, n, k, lhs.name(), rhs.name(), result.name()) +
      zeroText("za", lhsZero) + zeroText("zb", rhsZero);
  if (requantizes())
    text += fmt::format("{}_{}", zeroText("zc", resultZero), perColumn ? kPerColumn : kPerTensor);
  return text;
}

//===--- Reading --------------------------------------------------------------------------------------------------===//

// "za3", "zbm5"
static Result<int32_t> parseZero(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return invalidArgument("'{}' stands where its zero point {} belongs", text, prefix);
  std::string_view digits = text.substr(prefix.size());
  bool negative = digits.starts_with('m');
  KILN_ASSIGN_OR_RETURN(uint64_t magnitude, measure::parseNumber(digits.substr(negative ? 1 : 0), "zero point"));
  if (magnitude > 255)
    return invalidArgument("'{}' is no zero point; they are numbers of 8 bits", text);
  if (negative && magnitude == 0)
    return invalidArgument("'{}' is written {}0", text, prefix);
  return static_cast<int32_t>(magnitude) * (negative ? -1 : 1);
}

static Status parseWords(std::span<const std::string_view> words, QuantizedSpec &spec) {
  if (words.size() < 3)
    return invalidArgument("it has {} of its 3 matrices", words.size());
  KILN_ASSIGN_OR_RETURN(spec.lhs, parseMatrix(words[0]));
  KILN_ASSIGN_OR_RETURN(spec.rhs, parseMatrix(words[1]));
  KILN_ASSIGN_OR_RETURN(spec.result, parseMatrix(words[2]));
  words = words.subspan(3);
  size_t wanted = spec.requantizes() ? 4 : 2;
  if (words.size() != wanted)
    return invalidArgument("{} words follow its matrices instead of {}", words.size(), wanted);
  KILN_ASSIGN_OR_RETURN(spec.lhsZero, parseZero(words[0], "za"));
  KILN_ASSIGN_OR_RETURN(spec.rhsZero, parseZero(words[1], "zb"));
  if (!spec.requantizes())
    return spec.validate();
  KILN_ASSIGN_OR_RETURN(spec.resultZero, parseZero(words[2], "zc"));
  if (words[3] != kPerTensor && words[3] != kPerColumn)
    return invalidArgument("'{}' is neither {} nor {}", words[3], kPerTensor, kPerColumn);
  spec.perColumn = words[3] == kPerColumn;
  return spec.validate();
}

static Status parseRest(std::string_view rest, QuantizedSpec &spec) {
  std::vector<std::string_view> words = split(rest, '_');
  KILN_ASSIGN_OR_RETURN(std::vector<uint64_t> shape, measure::parseShape(words[0]));
  if (shape.size() != 3)
    return invalidArgument("its shape '{}' has {} sizes instead of 3", words[0], shape.size());
  spec.m = shape[0], spec.n = shape[1], spec.k = shape[2];
  return parseWords(std::span(words).subspan(1), spec);
}

Result<QuantizedSpec> QuantizedSpec::parse(std::string_view name) {
  std::string_view rest = name.starts_with(kQuantizedFamily) ? name.substr(kQuantizedFamily.size()) : "";
  if (!rest.starts_with('_'))
    return notFound("'{}' is no name of the family {}", name, kQuantizedFamily);
  QuantizedSpec spec;
  if (Status status = parseRest(rest.substr(1), spec); !status.ok())
    return invalidArgument("'{0}' is no problem: {1}; the form is {2}_MxNxK_lhs_rhs_i32t_za{{z}}_zb{{z}}, like "
                           "{2}_256x512x128_i8t_i8n_i32t_za3_zbm5 with m for minus, or requantized "
                           "{2}_256x512x128_i8t_i8n_i8t_za3_zbm5_zc7_percolumn",
                           name, status.message(), kQuantizedFamily);
  return spec;
}

Result<QuantizedSpec> parseQuantizedTypes(std::string_view text) {
  QuantizedSpec spec;
  KILN_RETURN_IF_ERROR(parseWords(split(text, '_'), spec));
  return spec;
}

//===--- Limits ---------------------------------------------------------------------------------------------------===//

static Status checkZero(std::string_view what, int32_t zero, ElementType type) {
  int64_t low = measure::verify::smallestInteger(type), high = measure::verify::largestInteger(type);
  if (zero < low || zero > high)
    return invalidArgument("the zero point of {} is {}; {} has {} to {}", what, zero, hal::elementTypeName(type), low,
                           high);
  return okStatus();
}

Status QuantizedSpec::validate() const {
  using enum ElementType;
  if ((lhs.type != I8 && lhs.type != UI8) || rhs.type != I8)
    return unimplemented("products of {} and {} are not supported; lhs is i8 or ui8, rhs is i8",
                         hal::elementTypeName(lhs.type), hal::elementTypeName(rhs.type));
  if (result.type != I32 && result.type != lhs.type)
    return unimplemented("results of {} are not supported; they are i32, or requantized to {}, the type of lhs",
                         hal::elementTypeName(result.type), hal::elementTypeName(lhs.type));
  if (result.columnMajor)
    return invalidArgument("its result is column-major; only row-major results (t) are supported");
  KILN_RETURN_IF_ERROR(checkZero("lhs", lhsZero, lhs.type));
  KILN_RETURN_IF_ERROR(checkZero("rhs", rhsZero, rhs.type));
  if (requantizes())
    KILN_RETURN_IF_ERROR(checkZero("the result", resultZero, result.type));
  // Sums are in i32, whatever becomes of them.
  for (const measure::TensorType &tensor : {lhsTensor(), rhsTensor(), measure::TensorType{I32, {m, n}}})
    KILN_RETURN_IF_ERROR(measure::checkShape(tensor.shape, tensor.type));
  return okStatus();
}

//===--- Tensors --------------------------------------------------------------------------------------------------===//

MatmulSpec QuantizedSpec::plain() const {
  MatmulSpec spec;
  spec.m = m, spec.n = n, spec.k = k;
  spec.lhs = {ElementType::I8, lhs.columnMajor};
  spec.rhs = rhs;
  spec.result = {ElementType::I32};
  spec.accumulator = spec.partials = ElementType::I32;
  return spec;
}

measure::TensorType QuantizedSpec::scaleTensor() const {
  return {ElementType::F32, perColumn ? std::vector<uint64_t>{n} : std::vector<uint64_t>{}};
}

std::vector<measure::TensorType> QuantizedSpec::inputs() const {
  std::vector<measure::TensorType> tensors = {lhsTensor(), rhsTensor()};
  if (requantizes())
    tensors.push_back(scaleTensor());
  return tensors;
}

} // namespace kiln::families
