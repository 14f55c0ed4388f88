#include "kiln/targets/cpu/codegen/math/LibraryFunctions.h"

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

bool isLibraryFunction(StringRef name) {
  return llvm::any_of(functions, [&](const auto &function) {
    return name == function.name || (name.ends_with("f") && name.drop_back() == function.name);
  });
}

} // namespace kiln
