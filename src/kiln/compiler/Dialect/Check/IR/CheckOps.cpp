#include "kiln/compiler/Dialect/Check/IR/CheckOps.h"

#include "kiln/compiler/Dialect/Util/IR/InlineAll.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace kiln::Check;

// ", atol 1.0e-2, rtol 1.0e-3": each may be left out.
static ParseResult parseTolerances(OpAsmParser &parser, FloatAttr &atol, FloatAttr &rtol) {
  Builder &builder = parser.getBuilder();
  atol = builder.getF64FloatAttr(1.0e-4);
  rtol = builder.getF64FloatAttr(0);
  while (succeeded(parser.parseOptionalComma())) {
    bool isRelative = succeeded(parser.parseOptionalKeyword("rtol"));
    double value = 0;
    if ((!isRelative && parser.parseKeyword("atol")) || parser.parseFloat(value))
      return failure();
    if (!(value >= 0))
      return parser.emitError(parser.getCurrentLocation(), "a tolerance is not negative");
    (isRelative ? rtol : atol) = builder.getF64FloatAttr(value);
  }
  return success();
}

static void printTolerances(OpAsmPrinter &printer, Operation *, FloatAttr atol, FloatAttr rtol) {
  if (atol && atol.getValueAsDouble() != 1.0e-4)
    printer << ", atol " << atol.getValue();
  if (rtol && rtol.getValueAsDouble() != 0)
    printer << ", rtol " << rtol.getValue();
}

#include "kiln/compiler/Dialect/Check/IR/CheckDialect.cpp.inc"
#define GET_OP_CLASSES
#include "kiln/compiler/Dialect/Check/IR/CheckOps.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "kiln/compiler/Dialect/Check/IR/CheckOps.cpp.inc"
      >();
  addInterface<kiln::Util::InlineAll>();
}
