#include "kiln/targets/cpu/codegen/CpuPasses.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_LOWERCOPIES
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

namespace {

class LowerCopies : public impl::LowerCopiesBase<LowerCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp op) {
      if (!isContiguous(op.getSource()) || !isContiguous(op.getTarget()))
        copies.push_back(op);
    });
    for (memref::CopyOp op : copies) {
      OpBuilder b(op);
      linalg::makeMemRefCopyOp(b, op.getLoc(), op.getSource(), op.getTarget());
      op.erase();
    }
  }

  static bool isContiguous(Value memref) {
    auto type = dyn_cast<MemRefType>(memref.getType());
    return type && type.getLayout().isIdentity();
  }
};

} // namespace
} // namespace kiln
