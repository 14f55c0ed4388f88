// The element types of buffer views, from schema/element_type.def.
#ifndef KILN_RUNTIME_HAL_ELEMENT_TYPE_H
#define KILN_RUNTIME_HAL_ELEMENT_TYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::hal {

// The numbers are part of the module format.
enum class ElementType : uint32_t {
#define KILN_ELEMENT_TYPE(Name, text, number, bits) Name = number,
#include "kiln/schema/element_type.def"
};

// "f32", "si8"; "?" for a number that is no element type.
std::string_view elementTypeName(ElementType type);
// The type of that name, if any.
std::optional<ElementType> parseElementType(std::string_view name);
// Nothing where the number, which may come from a module, is no element type.
std::optional<ElementType> elementTypeFromNumber(uint32_t number);
// Bits that one element takes in memory. Elements of less than 8 are packed, the first in the lowest bits of a byte.
unsigned elementTypeBits(ElementType type);
inline bool isPacked(ElementType type) {
  return elementTypeBits(type) < 8;
}
// Bytes that one element takes alone.
uint64_t elementTypeByteSize(ElementType type);

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_ELEMENT_TYPE_H
