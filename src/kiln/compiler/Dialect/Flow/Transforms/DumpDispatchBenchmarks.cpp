#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Interfaces/DumpFiles.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_DUMPDISPATCHBENCHMARKSPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

// A value of `type` that depends on `bits` (i32) as if at random: floats in [-1, 1), small integers.
static Value randomElement(OpBuilder &builder, Location loc, Value bits, Type type) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), value);
  };
  auto mix = [&](int64_t factor, int64_t shift) {
    bits = arith::MulIOp::create(builder, loc, bits, constant(static_cast<int32_t>(factor)));
    bits = arith::XOrIOp::create(builder, loc, bits, arith::ShRUIOp::create(builder, loc, bits, constant(shift)));
  };
  mix(0x9E3779B1, 15);
  mix(0x85EBCA77, 13);
  mix(0xC2B2AE3D, 16);
  if (isa<FloatType>(type)) {
    Value real = arith::SIToFPOp::create(builder, loc, builder.getF32Type(), bits);
    Value scale = arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0x1p-31f));
    real = arith::MulFOp::create(builder, loc, real, scale);
    if (type.isF32())
      return real;
    return type.isF64() ? arith::ExtFOp::create(builder, loc, type, real).getResult()
                        : arith::TruncFOp::create(builder, loc, type, real).getResult();
  }
  Value small = arith::ShRSIOp::create(builder, loc, bits, constant(28));
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, small);
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 32)
    return small;
  return width < 32 ? arith::TruncIOp::create(builder, loc, type, small).getResult()
                    : arith::ExtSIOp::create(builder, loc, type, small).getResult();
}

static Value randomTensor(OpBuilder &builder, Location loc, RankedTensorType type, int64_t seed) {
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto map = builder.getMultiDimIdentityMap(type.getRank());
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
    Value position = arith::ConstantIndexOp::create(inner, loc, seed);
    for (int64_t i = 0; i < type.getRank(); ++i) {
      Value extent = arith::ConstantIndexOp::create(inner, loc, type.getDimSize(i));
      position = arith::AddIOp::create(inner, loc, arith::MulIOp::create(inner, loc, position, extent),
                                       linalg::IndexOp::create(inner, loc, i));
    }
    Value bits = arith::IndexCastOp::create(inner, loc, inner.getI32Type(), position);
    linalg::YieldOp::create(inner, loc, randomElement(inner, loc, bits, type.getElementType()));
  };
  return linalg::GenericOp::create(builder, loc, TypeRange{type}, ValueRange(), empty, ArrayRef<AffineMap>{map},
                                   iterators, body)
      .getResult(0);
}

namespace {
class DumpDispatchBenchmarksPass : public impl::DumpDispatchBenchmarksPassBase<DumpDispatchBenchmarksPass> {
public:
  explicit DumpDispatchBenchmarksPass(const CompilerContext &context) : context(&context) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<Util::UtilDialect, linalg::LinalgDialect, tensor::TensorDialect, arith::ArithDialect>();
  }

  void runOnOperation() override {
    const DumpOptions &dump = context->options.dump;
    folder = dump.benchmarks.empty() ? dump.files : dump.benchmarks;
    if (folder.empty())
      return;
    FailureOr<SmallVector<TargetBackend *>> selected = context->selectedBackends(getOperation().getLoc());
    if (failed(selected) || failed(makeDumpFolder(getOperation(), folder)))
      return signalPassFailure();
    targets = *std::move(selected);
    llvm::StringSet<> done;
    WalkResult result = getOperation().walk([&](DispatchOp dispatch) {
      if (!done.insert(dispatch.getEntry().getRootReference().getValue()).second)
        return WalkResult::advance();
      return failed(dumpDispatch(dispatch)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult dumpDispatch(DispatchOp dispatch) {
    // What is not a tensor must be known now: the benchmark has no caller who would give it.
    for (Value arg : dispatch.getArgs()) {
      auto tensor = dyn_cast<RankedTensorType>(arg.getType());
      if (tensor ? !tensor.hasStaticShape() : !matchPattern(arg, m_Constant())) {
        dispatch.emitRemark() << "has no benchmark of its own, since its extents or scalars are known at run time only";
        return success();
      }
    }
    OwningOpRef<mlir::ModuleOp> benchmark = build(dispatch);
    StringRef module = getOperation().getName().value_or("module");
    for (TargetBackend *backend : targets) {
      std::string target = backend->name().str();
      llvm::replace(target, '-', '_');
      std::string path = dumpPath(folder, module + "_" + dispatch.getEntry().getRootReference().getValue() + "_" +
                                              target + "_benchmark.mlir");
      if (failed(writeDump(dispatch, path, [&](llvm::raw_ostream &os) {
            benchmark->print(os);
            os << "\n";
          })))
        return failure();
    }
    return success();
  }

  OwningOpRef<mlir::ModuleOp> build(DispatchOp dispatch) {
    MLIRContext *ctx = dispatch.getContext();
    Location loc = UnknownLoc::get(ctx);
    OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
    auto executable =
        cast<ExecutableOp>(SymbolTable::lookupSymbolIn(getOperation(), dispatch.getEntry().getRootReference()));
    builder.clone(*executable);

    // The inputs are globals that an initializer fills.
    SmallVector<Util::GlobalOp> globals;
    for (auto [i, arg] : llvm::enumerate(dispatch.getArgs())) {
      globals.emplace_back();
      if (auto type = dyn_cast<RankedTensorType>(arg.getType()))
        globals.back() = Util::GlobalOp::create(builder, loc, ("input" + Twine(i)).str(), type);
    }
    auto initializer = Util::InitializerOp::create(builder, loc);
    OpBuilder fill = OpBuilder::atBlockEnd(&initializer.getBody().emplaceBlock());
    for (auto [i, global] : llvm::enumerate(globals))
      if (global)
        Util::GlobalStoreOp::create(fill, loc, randomTensor(fill, loc, cast<RankedTensorType>(global.getType()), i + 1),
                                    global.getSymName());
    Util::ReturnOp::create(fill, loc);

    StringRef descriptive = dispatch.getEntry().getLeafReference().getValue();
    addFunction(builder, dispatch, globals, descriptive, /*aliasOf=*/"");
    if (auto host = dispatch->getParentOfType<Util::FuncOp>())
      addFunction(builder, dispatch, globals, host.getSymName(), descriptive);
    return module;
  }

  static void addFunction(OpBuilder &builder, DispatchOp dispatch, MutableArrayRef<Util::GlobalOp> globals,
                          StringRef name, StringRef aliasOf) {
    Location loc = builder.getUnknownLoc();
    auto func = Util::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
    func->setAttr("kiln.abi.declaration", builder.getStringAttr(("sync func @" + name + "() -> ()").str()));
    func->setAttr("kiln.benchmark", builder.getStringAttr("dispatch"));
    if (!aliasOf.empty())
      func->setAttr("kiln.alias", builder.getStringAttr(aliasOf));
    OpBuilder body = OpBuilder::atBlockEnd(&func.getBody().emplaceBlock());
    SmallVector<Value> args;
    for (auto [arg, global] : llvm::zip(dispatch.getArgs(), globals)) {
      if (global)
        args.push_back(Util::GlobalLoadOp::create(body, loc, global.getType(), global.getSymName()));
      else
        args.push_back(body.clone(*arg.getDefiningOp())->getResult(0));
    }
    auto launch = DispatchOp::create(body, loc, dispatch.getResultTypes(), dispatch.getEntry(), args, ValueRange(),
                                     dispatch.getTied());
    Util::OptimizationBarrierOp::create(body, loc, launch.getResultTypes(), launch.getResults());
    Util::ReturnOp::create(body, loc);
  }

  const CompilerContext *context;
  std::string folder;
  SmallVector<TargetBackend *> targets;
};
} // namespace

std::unique_ptr<Pass> createDumpDispatchBenchmarksPass(const CompilerContext &context) {
  return std::make_unique<DumpDispatchBenchmarksPass>(context);
}

} // namespace kiln::Flow
