#include "kiln/measure/verify/contraction.h"

#include "kiln/measure/verify/number.h"

namespace kiln::measure::verify {

namespace {

// Elements that a dimension may have, and that a whole tensor may: so that no product overflows.
constexpr int64_t kLargestExtent = int64_t(1) << 31;
constexpr int64_t kLargestReach = int64_t(1) << 48;

bool isOperandType(ElementType type) {
  switch (type) {
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::I8:
  case ElementType::SI8:
  case ElementType::UI8:
  case ElementType::I16:
  case ElementType::SI16: return true;
  default: return false;
  }
}

bool isResultType(ElementType type) {
  switch (type) {
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::I32:
  case ElementType::SI32: return true;
  default: return false;
  }
}

Status checkExtent(std::string_view name, int64_t extent) {
  if (extent < 0 || extent > kLargestExtent)
    return invalidArgument("{} is {}; a dimension has 0 to {} elements", name, extent, kLargestExtent);
  return okStatus();
}

// Elements from the first to behind the last that the layout reaches; -1 where it cannot be right.
int64_t reach(const Layout &layout, int64_t batch, int64_t rows, int64_t columns) {
  if (batch == 0 || rows == 0 || columns == 0)
    return 0;
  if (layout.groups < 1)
    return -1;
  int64_t outer = (batch + layout.groups - 1) / layout.groups;
  int64_t last = 0;
  for (auto [extent, stride] : {std::pair(outer, layout.batch), std::pair(layout.groups, layout.group),
                                std::pair(rows, layout.row), std::pair(columns, layout.column)}) {
    if (stride < 0 || (extent > 1 && stride > kLargestReach / extent))
      return -1;
    last += (extent - 1) * stride;
  }
  return last < kLargestReach ? last + 1 : -1;
}

Status checkBytes(std::string_view name, ElementType type, int64_t elements, uint64_t bytes) {
  if (elements < 0)
    return invalidArgument("{} has a layout with negative or immense strides", name);
  uint64_t needed = static_cast<uint64_t>(elements) * hal::elementTypeByteSize(type);
  if (bytes < needed)
    return invalidArgument("{} has {} bytes; its layout reaches {}", name, bytes, needed);
  return okStatus();
}

} // namespace

Contraction Contraction::dense(int64_t batch, int64_t m, int64_t n, int64_t k, ElementType operands, ElementType result,
                               ElementType accumulator) {
  return {batch,
          m,
          n,
          k,
          operands,
          operands,
          result,
          accumulator,
          Layout::rowMajor(m, k),
          Layout::rowMajor(k, n),
          Layout::rowMajor(m, n)};
}

int Contraction::operandBits(ElementType type) const {
  return tf32 ? kFormatTF32.significand : exactBits(type);
}

std::string_view Contraction::promiseText() const {
  return tf32 ? "; products in tf32" : cutsSums ? "; sums as tensor cores keep them" : "";
}

Status Contraction::validate() const {
  for (auto [name, extent] : {std::pair("batch", batch), std::pair("m", m), std::pair("n", n), std::pair("k", k)})
    KILN_RETURN_IF_ERROR(checkExtent(name, extent));
  for (ElementType type : {lhs, rhs})
    if (!isOperandType(type))
      return unimplemented("operands of type {} cannot be verified exactly", hal::elementTypeName(type));
  if (!isResultType(result))
    return unimplemented("results of type {} cannot be verified exactly", hal::elementTypeName(result));
  if (!isResultType(accumulator))
    return unimplemented("an accumulator of type {} cannot be verified exactly", hal::elementTypeName(accumulator));
  if (tf32 && (lhs != ElementType::F32 || rhs != ElementType::F32 || accumulator != ElementType::F32))
    return unimplemented("tf32 is for products of f32 that are summed in f32");
  bool integers = isInteger(result);
  if (isInteger(lhs) != integers || isInteger(rhs) != integers || isInteger(accumulator) != integers)
    return invalidArgument("{} x {} summed in {} to {} mixes integers and floating-point numbers",
                           hal::elementTypeName(lhs), hal::elementTypeName(rhs), hal::elementTypeName(accumulator),
                           hal::elementTypeName(result));
  return okStatus();
}

Status Contraction::validate(uint64_t lhsBytes, uint64_t rhsBytes, uint64_t outBytes) const {
  KILN_RETURN_IF_ERROR(validate());
  KILN_RETURN_IF_ERROR(checkBytes("lhs", lhs, reach(lhsLayout, batch, m, k), lhsBytes));
  KILN_RETURN_IF_ERROR(checkBytes("rhs", rhs, reach(rhsLayout, batch, k, n), rhsBytes));
  return checkBytes("the output", result, reach(outLayout, batch, m, n), outBytes);
}

std::string_view passName(Pass pass) {
  switch (pass) {
  case Pass::Sums: return "sums";
  case Pass::WideLhs: return "wide-lhs";
  case Pass::WideRhs: return "wide-rhs";
  }
  return "?";
}

std::span<const Pass> passesOf(const Contraction &contraction) {
  static constexpr Pass all[] = {Pass::Sums, Pass::WideLhs, Pass::WideRhs};
  return isInteger(contraction.lhs) ? std::span(all).first(1) : std::span(all);
}

} // namespace kiln::measure::verify
