#include "kiln/runtime/hal/element_type.h"

namespace kiln::hal {

std::string_view elementTypeName(ElementType type) {
  switch (type) {
#define KILN_ELEMENT_TYPE(Name, text, number, bits)                                                                    \
  case ElementType::Name: return text;
#include "kiln/schema/element_type.def"
  }
  return "?";
}

std::optional<ElementType> parseElementType(std::string_view name) {
#define KILN_ELEMENT_TYPE(Name, text, number, bits)                                                                    \
  if (name == text)                                                                                                    \
    return ElementType::Name;
#include "kiln/schema/element_type.def"
  return std::nullopt;
}

std::optional<ElementType> elementTypeFromNumber(uint32_t number) {
  switch (ElementType(number)) {
#define KILN_ELEMENT_TYPE(Name, text, number, bits) case ElementType::Name:
#include "kiln/schema/element_type.def"
    return ElementType(number);
  }
  return std::nullopt;
}

unsigned elementTypeBits(ElementType type) {
  switch (type) {
#define KILN_ELEMENT_TYPE(Name, text, number, bits)                                                                    \
  case ElementType::Name: return bits;
#include "kiln/schema/element_type.def"
  }
  return 0;
}

uint64_t elementTypeByteSize(ElementType type) {
  return (elementTypeBits(type) + 7) / 8;
}

} // namespace kiln::hal
