// Types, changed in place: what a pass is left with when it has replaced the ops that mean something by their types,
// and those remain that only pass values on.
#ifndef KILN_COMPILER_INTERFACES_CONVERTTYPES_H
#define KILN_COMPILER_INTERFACES_CONVERTTYPES_H

#include <functional>

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Transforms/DialectConversion.h"

namespace kiln {

// Gives each result and each block argument of `root` and of what is inside of it the type that the converter makes of
// its own. Attributes stay as they are.
void convertValueTypes(mlir::Operation *root, const mlir::TypeConverter &converter);

// Makes integers of elements, in types and in the constants of attributes, which keep their bits. `bitsOf` gives the
// integer for an element's type, at least as wide, or null where it stays.
void addBitsReplacements(mlir::AttrTypeReplacer &replacer, std::function<mlir::IntegerType(mlir::Type)> bitsOf);

} // namespace kiln

#endif // KILN_COMPILER_INTERFACES_CONVERTTYPES_H
