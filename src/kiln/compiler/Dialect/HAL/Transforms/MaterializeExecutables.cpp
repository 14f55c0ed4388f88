#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

#include "kiln/compiler/Dialect/Stream/IR/StreamOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace kiln::HAL {
#define GEN_PASS_DEF_MATERIALIZEEXECUTABLESPASS
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h.inc"

static SmallVector<BindingAccess> accessOf(func::FuncOp func) {
  SmallVector<BindingAccess> access;
  if (auto names = func->getAttrOfType<ArrayAttr>("access"))
    for (StringAttr name : names.getAsRange<StringAttr>())
      access.push_back(*symbolizeBindingAccess(name.getValue()));
  return access;
}

// Arguments become hal.interface ops, bindings in the descriptor's memory space.
static void convertFunction(func::FuncOp func, ArrayRef<BindingAccess> access) {
  Block &body = func.getBody().front();
  auto builder = OpBuilder::atBlockBegin(&body);
  auto space = DescriptorTypeAttr::get(func.getContext(), DescriptorKind::StorageBuffer);
  int32_t constants = 0;
  for (BlockArgument arg : body.getArguments()) {
    if (isa<Stream::BindingType>(arg.getType()))
      continue;
    arg.replaceAllUsesWith(InterfaceConstantLoadOp::create(builder, arg.getLoc(), arg.getType(), constants++));
  }
  for (BlockArgument arg : body.getArguments()) {
    for (Operation *user : llvm::make_early_inc_range(arg.getUsers())) {
      auto span = cast<Stream::BindingSubspanOp>(user);
      auto type = cast<MemRefType>(span.getType());
      OpBuilder at(span);
      unsigned binding = arg.getArgNumber(); // bindings are the first arguments
      auto subspan = InterfaceBindingSubspanOp::create(
          at, span.getLoc(),
          MemRefType::get(type.getShape(), type.getElementType(), MemRefLayoutAttrInterface(), space), binding,
          access[binding], span.getDynamicDims());
      span.replaceAllUsesWith(subspan.getResult());
      span.erase();
    }
  }
  body.eraseArguments(0, body.getNumArguments());
  func.setFunctionType(builder.getFunctionType({}, {}));
  func->removeAttr("access");
}

namespace {
class MaterializeExecutablesPass : public impl::MaterializeExecutablesPassBase<MaterializeExecutablesPass> {
public:
  explicit MaterializeExecutablesPass(const CompilerContext &context) : context(&context) {}

  // Files that options name are read where they are used, for each executable; a program without any reads them too.
  LogicalResult initialize(MLIRContext *mlirContext) override {
    FailureOr<SmallVector<TargetBackend *>> backends = failure();
    {
      ScopedDiagnosticHandler toldLater(mlirContext, [](Diagnostic &) { return success(); });
      backends = context->selectedBackends(UnknownLoc::get(mlirContext));
    }
    return success(failed(backends) || llvm::all_of(*backends, [&](TargetBackend *backend) {
                     return succeeded(backend->checkFiles(mlirContext));
                   }));
  }

  void runOnOperation() override {
    auto executables = llvm::to_vector(getOperation().getOps<Stream::ExecutableOp>());
    const CompilerOptions &options = context->options;
    if (executables.empty() && options.targetBackends.empty() && options.targetDevices.empty())
      return;
    FailureOr<SmallVector<TargetBackend *>> backends = context->selectedBackends(getOperation().getLoc());
    if (failed(backends))
      return signalPassFailure();
    SmallVector<ExecutableTargetAttr> targets;
    for (TargetBackend *backend : *backends) {
      FailureOr<SmallVector<ExecutableTargetAttr>> described =
          backend->getTargets(&getContext(), getOperation().getLoc());
      if (failed(described))
        return signalPassFailure();
      llvm::append_range(targets, *described);
    }
    for (Stream::ExecutableOp source : executables)
      materialize(source, targets);
  }

private:
  static void materialize(Stream::ExecutableOp source, ArrayRef<ExecutableTargetAttr> targets) {
    OpBuilder builder(source);
    Location loc = source.getLoc();
    auto func = *source.getInnerModule().getOps<func::FuncOp>().begin();
    SmallVector<BindingAccess> access = accessOf(func);
    int64_t constants = func.getNumArguments() - access.size();
    auto layout = PipelineLayoutAttr::get(builder.getContext(), constants, access);
    convertFunction(func, access);
    const Attribute nodes = func->removeDiscardableAttr("kiln.nodes"), work = func->removeDiscardableAttr("kiln.work");
    auto executable = ExecutableOp::create(builder, loc, source.getSymName());
    builder.setInsertionPointToStart(&executable.getBody().front());
    llvm::StringSet<> names;
    for (ExecutableTargetAttr target : targets) {
      std::string name = target.getSymbolName();
      // A backend's second target is told apart by what it is for: cuda_sm_80.
      if (!names.insert(name).second)
        name += ("_" + target.getString("cpu")).str();
      auto variant = ExecutableVariantOp::create(builder, loc, name, target);
      auto inner = OpBuilder::atBlockBegin(&variant.getBody().front());
      auto exportOp = ExecutableExportOp::create(inner, loc, builder.getStringAttr("public"), func.getSymNameAttr(),
                                                 builder.getI32IntegerAttr(0), layout);
      if (nodes)
        exportOp->setAttr("kiln.nodes", nodes);
      if (work)
        exportOp->setAttr("kiln.work", work);
      inner.clone(*source.getInnerModule());
    }
    source.erase();
  }

  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createMaterializeExecutablesPass(const CompilerContext &context) {
  return std::make_unique<MaterializeExecutablesPass>(context);
}

} // namespace kiln::HAL
