#include "kiln/compiler/Codegen/LoopBody.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {

SmallVector<Value> cloneLoopBody(OpBuilder &b, linalg::LinalgOp op, ArrayRef<Value> elements,
                                 llvm::function_ref<Value(unsigned)> indexOf) {
  IRMapping mapping;
  Block &body = *op.getBlock();
  for (auto [argument, element] : llvm::zip(body.getArguments(), elements))
    if (element)
      mapping.map(argument, element);
  for (Operation &inner : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), indexOf(index.getDim()));
      continue;
    }
    Operation *clone = b.clone(inner, mapping);
    SmallVector<linalg::IndexOp> nested;
    clone->walk([&](linalg::IndexOp index) { nested.push_back(index); });
    for (linalg::IndexOp index : nested) {
      index.replaceAllUsesWith(indexOf(index.getDim()));
      index.erase();
    }
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

Value cloneCombiner(OpBuilder &b, Operation *combiner, Value x, Value y) {
  Operation *clone = b.clone(*combiner);
  clone->setOperands({x, y});
  return clone->getResult(0);
}

} // namespace kiln
