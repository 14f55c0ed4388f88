#include "kiln/compiler/Dialect/Encoding/IR/EncodingOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::Encoding;

#include "kiln/compiler/Dialect/Encoding/IR/EncodingDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "kiln/compiler/Dialect/Encoding/IR/EncodingAttrs.cpp.inc"

void EncodingDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "kiln/compiler/Dialect/Encoding/IR/EncodingAttrs.cpp.inc"
      >();
}

bool kiln::Encoding::isPacked(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<PackedStorageAttr>(tensor.getEncoding());
}
