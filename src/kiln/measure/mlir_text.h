// Pieces of programs, as MLIR text: what the programs of families share.
#ifndef KILN_MEASURE_MLIR_TEXT_H
#define KILN_MEASURE_MLIR_TEXT_H

#include <span>
#include <string>
#include <string_view>

#include "kiln/measure/workload.h"

namespace kiln::measure {

using hal::ElementType;

// As programs have it: 8 bits of a problem's ui8 are i8 in its program, and so with other sizes.
ElementType signlessType(ElementType type);

// "tensor<256x128xf32>", without sign.
std::string tensorTypeText(const TensorType &tensor);

// A value and its type: {"%lhs", "tensor<2x3xf32>"}.
struct TypedValue {
  std::string name, type;
};

// An operand of a linalg.generic: its value, its type, and the results of its indexing map: "m, k".
struct GenericOperand {
  TypedValue value;
  std::string indices;
};

// One linalg.generic with one result. `dims` names all loops, "m, n, k", of which the last `reductions` are reductions.
// `body` is the block, from its arguments on; `attribute` may be empty.
struct GenericText {
  std::string dims;
  size_t reductions;
  std::span<const GenericOperand> inputs;
  GenericOperand output;
  std::string body;
  std::string attribute = {};
};
std::string genericText(std::string_view result, const GenericText &generic);

// "  %name = tensor.empty() : type"
std::string emptyText(std::string_view name, const TensorType &tensor);
// A tensor %<name> of zeros, from the constant %<zero> of its element type, and %<name>_empty.
std::string zerosText(std::string_view name, const TensorType &tensor, std::string_view zero = "zero");
// The constant %<zero>.
std::string zeroText(ElementType type, std::string_view zero = "zero");

// The body of a product: ^bb0(%a, %b, and %before of type `sum`) with the arithmetic in the type `wide`. Where `window`
// is not empty, a third input of that type is there for its extent alone.
std::string productBody(ElementType operands, ElementType wide, ElementType sum, std::string_view window);

// A line that makes %<result> of type `to` out of %<value> of type `from`; empty where they are the same. Then %<value>
// is the one to use.
std::string convertText(std::string_view result, std::string_view value, ElementType from, ElementType to);

// {kiln.configuration = "..."}; empty for none.
std::string configurationText(std::string_view configuration);

} // namespace kiln::measure

#endif // KILN_MEASURE_MLIR_TEXT_H
