#include "kiln/compiler/Dialect/Check/IR/CheckOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace kiln::Check;

#include "kiln/compiler/Dialect/Check/IR/CheckDialect.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/Check/IR/CheckOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "kiln/compiler/Dialect/Check/IR/CheckOps.cpp.inc"
      >();
}
