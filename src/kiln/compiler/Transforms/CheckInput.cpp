#include "kiln/compiler/Transforms/Transforms.h"

#include "kiln/compiler/Dialect/Check/IR/CheckOps.h"
#include "kiln/compiler/Dialect/Encoding/IR/EncodingOps.h"
#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/schema/tensor_limits.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_CHECKINPUTPASS
#define GEN_PASS_DEF_REJECTRECURSIONPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

static bool isSupportedElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type); integer && !integer.isSignless())
    return false;
  return type.isIntOrIndexOrFloat() && HAL::elementTypeNumber(type) != 0;
}

static bool isSupportedType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return isSupportedElement(tensor.getElementType()) && (!tensor.getEncoding() || Encoding::isPacked(type));
  return isSupportedElement(type);
}

// What a user should know of a type that is not taken.
static const char *reasonAgainst(Type type) {
  if (isa<UnrankedTensorType>(type))
    return "tensors need a rank";
  if (isa<MemRefType, UnrankedMemRefType>(type))
    return "programs are written on tensors; Kiln decides about memory";
  if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getEncoding())
    return "tensors with an encoding are not supported";
  if (!isa<RankedTensorType>(type) && !type.isIntOrIndexOrFloat())
    return "values are ranked tensors and scalars, of i1, i2, i4, i8, i16, i32, i64, index, f4E2M1FN, f8E4M3FN and "
           "other "
           "floats of 8 bits, f16, bf16, f32 and f64";
  return "element types are i1, i2, i4, i8, i16, i32, i64, index, f4E2M1FN, f8E4M3FN and other floats of 8 bits, f16, "
         "bf16, f32 and f64";
}

namespace {
class CheckInputPass : public impl::CheckInputPassBase<CheckInputPass> {
public:
  void runOnOperation() override {
    isPastInput = !getOperation().getOps<Flow::ExecutableOp>().empty();
    if (failed(checkBlock(getOperation())))
      return signalPassFailure();
    // Whatever a call says: all are inlined.
    getOperation()->walk([](Operation *op) {
      if (isa<func::FuncOp, func::CallOp>(op))
        op->removeAttr("no_inline");
    });
  }

private:
  LogicalResult checkBlock(Operation *parent) {
    for (Region &region : parent->getRegions()) {
      if (!region.empty() && !region.hasOneBlock())
        return parent->emitError() << "has control flow between blocks, which Kiln does not compile; write it with scf";
      for (Block &block : region) {
        for (BlockArgument arg : block.getArguments())
          if (failed(checkType(parent, arg.getType())))
            return failure();
        for (Operation &op : block)
          if (failed(checkOp(&op)))
            return failure();
      }
    }
    return success();
  }

  // Of a program behind this phase, which may hold what later phases bring: the types of MLIR's own.
  LogicalResult checkValues(Operation *holder) {
    auto check = [&](Operation *op, TypeRange types) {
      return llvm::all_of(
          types, [&](Type type) { return !isa<BuiltinDialect>(type.getDialect()) || succeeded(checkType(op, type)); });
    };
    WalkResult result = holder->walk<WalkOrder::PreOrder>([&](Operation *op) {
      bool isFine = check(op, op->getResultTypes());
      if (auto func = dyn_cast<FunctionOpInterface>(op))
        isFine = isFine && check(op, func.getArgumentTypes()) && check(op, func.getResultTypes());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          isFine = isFine && check(op, block.getArgumentTypes());
      return isFine ? WalkResult::advance() : WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult checkType(Operation *op, Type type) {
    return checkType(op->getLoc(), "'" + op->getName().getStringRef() + "'", type);
  }

  // `holder` says in an error what has the type.
  LogicalResult checkType(Location loc, const Twine &holder, Type type) {
    if (isSupportedType(type))
      return checkSize(loc, holder, type);
    return emitError(loc) << holder << " has the type " << type
                          << ", which Kiln does not compile: " << reasonAgainst(type);
  }

  // Sizes in bytes are 64-bit numbers everywhere.
  LogicalResult checkSize(Location loc, const Twine &holder, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    int64_t bytes = 8; // of the largest element
    for (int64_t extent : tensor.getShape())
      if (!ShapedType::isDynamic(extent) && extent != 0 && llvm::MulOverflow(bytes, extent, bytes))
        return emitError(loc) << holder << " has the type " << type << ", whose size in bytes is no 64-bit number";
    return success();
  }

  // Results have no places of their own in the source.
  LogicalResult checkBoundary(func::FuncOp func) {
    for (BlockArgument argument : func.getArguments())
      if (failed(checkType(argument.getLoc(),
                           "argument " + Twine(argument.getArgNumber()) + " of '" + func.getSymName() + "'",
                           argument.getType())))
        return failure();
    for (auto [number, type] : llvm::enumerate(func.getResultTypes()))
      if (failed(checkType(func.getLoc(), "result " + Twine(number) + " of '" + func.getSymName() + "'", type)))
        return failure();
    return success();
  }

  // Of a tensor that leaves or enters the program as a buffer view.
  static LogicalResult checkRank(Operation *op, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() <= schema::kMaxViewRank)
      return success();
    return op->emitError() << "'" << op->getName() << "' has a tensor of rank " << tensor.getRank()
                           << " at the program's boundary, where at most " << schema::kMaxViewRank
                           << " dimensions are possible; pass fewer, and use tensor.expand_shape inside";
  }

  LogicalResult checkOp(Operation *op) {
    // These have verifiers of their own.
    if (isPastInput && isa<Flow::ExecutableOp, Util::GlobalOp>(op))
      return success();
    if (isPastInput && isa<Util::FuncOp, Util::InitializerOp>(op))
      return checkValues(op);
    if (auto global = dyn_cast<Util::GlobalOp>(op))
      return checkType(op, global.getType());
    Dialect *dialect = op->getDialect();
    bool known = isa_and_nonnull<BuiltinDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect,
                                 tensor::TensorDialect, linalg::LinalgDialect, scf::SCFDialect, Util::UtilDialect,
                                 Check::CheckDialect, affine::AffineDialect>(dialect);
    if (isa<affine::AffineForOp, affine::AffineIfOp, affine::AffineParallelOp, scf::ParallelOp, scf::ForallOp,
            scf::InParallelOp, UnrealizedConversionCastOp, func::CallIndirectOp, tensor::GatherOp, tensor::ScatterOp>(
            op))
      known = false;
    if (!known && !isa<cf::AssertOp, Flow::TensorReshapeOp, Flow::TensorTieShapeOp, Flow::TensorBitcastOp,
                       Flow::TensorTransferOp, Flow::TensorParameterOp>(op))
      return op->emitError() << "'" << op->getName()
                             << "' is not an op that Kiln compiles; programs consist of func, arith, math, tensor, "
                                "linalg, and scf.for, scf.while, scf.if and, on tensors, scf.forall on the host";
    if (auto func = dyn_cast<func::FuncOp>(op)) {
      if (func.isExternal())
        return func.emitError() << "'" << func.getSymName()
                                << "' has no body, and imports from the embedding program are not supported yet";
      if (failed(checkBoundary(func)))
        return failure();
      for (Type type : llvm::concat<const Type>(func.getArgumentTypes(), func.getResultTypes())) {
        if (func.isPublic() && failed(checkRank(func, type)))
          return failure();
        if (func.isPublic() && Encoding::isPacked(type))
          return func.emitError() << "'" << func.getSymName() << "' has the type " << type
                                  << " at its boundary, where Kiln packs no truth values; give bytes, and use "
                                     "flow.tensor.bitcast inside";
      }
    }
    if (isa_and_nonnull<Check::CheckDialect>(dialect))
      for (Type type : op->getOperandTypes())
        if (failed(checkRank(op, type)))
          return failure();
    for (Type type : op->getResultTypes())
      if (failed(checkType(op, type)))
        return failure();
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto elements = dyn_cast<ElementsAttr>(constant.getValue()))
        if (std::string problem = HAL::problemOfBytes(elements); !problem.empty())
          return op->emitError() << "'arith.constant' cannot be used: " << problem;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op); linalgOp && failed(checkReductions(linalgOp)))
      return failure();
    if (auto pad = dyn_cast<tensor::PadOp>(op); pad && (failed(checkPadding(pad, pad.getStaticLow(), pad.getLow())) ||
                                                        failed(checkPadding(pad, pad.getStaticHigh(), pad.getHigh()))))
      return failure();
    return checkBlock(op);
  }

  // Amounts that only the call knows are checked when it runs.
  static LogicalResult checkPadding(tensor::PadOp op, ArrayRef<int64_t> amounts, ValueRange values) {
    // The smallest integer stands for a value; written as a number it has none.
    bool isNegative = llvm::count(amounts, ShapedType::kDynamic) != static_cast<int64_t>(values.size());
    for (int64_t amount : amounts)
      isNegative |= amount < 0 && !ShapedType::isDynamic(amount);
    if (isNegative)
      return op.emitError() << "'tensor.pad' has a negative amount of padding; cut with tensor.extract_slice";
    return success();
  }

  // Linalg's own verifier takes an output that a reduction walks along.
  static LogicalResult checkReductions(linalg::LinalgOp op) {
    SmallVector<unsigned> reductions;
    op.getReductionDims(reductions);
    for (OpOperand &init : op.getDpsInitsMutable())
      for (unsigned loop : reductions)
        if (op.getMatchingIndexingMap(&init).isFunctionOfDim(loop))
          return op.emitError() << "'" << op->getName() << "' has an output whose place depends on loop " << loop
                                << ", which is a reduction; make the loop parallel";
    return success();
  }

  // A program that was written behind this phase, such as a dumped benchmark.
  bool isPastInput = false;
};

class RejectRecursionPass : public impl::RejectRecursionPassBase<RejectRecursionPass> {
public:
  void runOnOperation() override {
    if (failed(inlineInInitializers()))
      return signalPassFailure();
    WalkResult result = getOperation()->walk([](func::CallOp call) {
      call.emitError() << "calls '" << call.getCallee()
                       << "' in a recursion, which Kiln does not compile; write it as a loop (scf.while)";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  // MLIR's inliner goes through functions only, whose own calls are inlined by now.
  LogicalResult inlineInInitializers() {
    InlinerInterface interface(&getContext());
    InlinerConfig config;
    SymbolTable symbols(getOperation());
    for (auto initializer : getOperation().getOps<Util::InitializerOp>()) {
      SmallVector<func::CallOp> calls;
      initializer->walk([&](func::CallOp call) { calls.push_back(call); });
      for (func::CallOp call : calls) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        bool calls = callee.walk([](func::CallOp) { return WalkResult::interrupt(); }).wasInterrupted();
        if (calls || failed(inlineCall(interface, config.getCloneCallback(), call, callee, &callee.getFunctionBody())))
          continue; // A recursion.
        call.erase();
      }
    }
    // What nothing calls any more has become part of what called it.
    for (auto func : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (func.isPrivate() && SymbolTable::symbolKnownUseEmpty(func, getOperation()))
        func.erase();
    return success();
  }
};
} // namespace
} // namespace kiln
