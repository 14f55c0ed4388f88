// The types in a function's "kiln.abi.declaration", "sync func @add(%a: tensor<4xf32>, %b: i32) -> (%c:
// tensor<4xf32>)": what the VM's signature does not say. Read leniently, since the text is for people: where it makes
// no sense, nothing is known.
#ifndef KILN_TOOLS_DECLARATION_H
#define KILN_TOOLS_DECLARATION_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/runtime/hal/element_type.h"
#include "kiln/runtime/vm/session.h"

namespace kiln {

struct Declaration {
  // "tensor<4xf32>", "i32", one for each argument and result; empty where they could not be read.
  std::vector<std::string> arguments, results;
};

Declaration parseDeclaration(std::string_view text);
// That of a function; the lists are empty where their lengths are not those of its signature.
Declaration declarationOf(const vm::Function &function);

// The element type of "f32", "tensor<f32>" or "tensor<?x4xf32>".
std::optional<hal::ElementType> declaredElementType(std::string_view type);

// How a scalar in a register is read and printed: as the declared type where that fits the kind of register, else as
// the kind's own.
hal::ElementType scalarElementType(vm::ValueKind kind, std::optional<hal::ElementType> declared);

// An element in memory as the register that the VM passes it in, and back. Types that are narrower than a register
// travel extended: i8 and i16 by their sign, f16 and bf16 as f32.
uint64_t registerOfElement(hal::ElementType type, const uint8_t *element);
void elementOfRegister(hal::ElementType type, uint64_t bits, uint8_t *element);

// The function as messages show it: its declaration, else its name and signature.
std::string describeFunction(const vm::Function &function);

} // namespace kiln

#endif // KILN_TOOLS_DECLARATION_H
