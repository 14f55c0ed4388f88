#include "kiln/targets/cpu/codegen/math/LibraryFunctions.h"

#include "kiln/targets/cpu/codegen/CpuTarget.h"

#include "llvm/ADT/STLExtras.h"

using llvm::StringRef;

namespace kiln {

static constexpr struct {
  llvm::StringLiteral op, name;
} functions[] = {
    {"math.acos", "acos"},   {"math.acosh", "acosh"}, {"math.asin", "asin"},   {"math.asinh", "asinh"},
    {"math.atan", "atan"},   {"math.atan2", "atan2"}, {"math.atanh", "atanh"}, {"math.cbrt", "cbrt"},
    {"math.cos", "cos"},     {"math.cosh", "cosh"},   {"math.erf", "erf"},     {"math.erfc", "erfc"},
    {"math.exp", "exp"},     {"math.exp2", "exp2"},   {"math.expm1", "expm1"}, {"math.log", "log"},
    {"math.log10", "log10"}, {"math.log1p", "log1p"}, {"math.log2", "log2"},   {"math.powf", "pow"},
    {"math.sin", "sin"},     {"math.sinh", "sinh"},   {"math.tan", "tan"},     {"math.tanh", "tanh"},
};

StringRef libraryFunctionOf(StringRef op) {
  for (const auto &function : functions)
    if (function.op == op)
      return function.name;
  return "";
}

bool hasVectorFunctions(const CpuTarget &target) {
  return StringRef(target.triple).starts_with("x86_64");
}

static constexpr StringRef kVectorPrefix = "_ZGV";

std::string vectorFunctionName(StringRef function, unsigned operands, int64_t bits, int64_t lanes,
                               const CpuTarget &target) {
  char isa = bits == 512 ? 'e' : bits == 128 ? 'b' : target.has("avx2") ? 'd' : 'c';
  return kVectorPrefix.str() + isa + "N" + std::to_string(lanes) + std::string(operands, 'v') + "_" + function.str();
}

bool isLibraryFunction(StringRef name) {
  if (name.starts_with(kVectorPrefix))
    name = name.split("v_").second;
  return llvm::any_of(functions, [&](const auto &function) {
    return name == function.name || (name.ends_with("f") && name.drop_back() == function.name);
  });
}

} // namespace kiln
