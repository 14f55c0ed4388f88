#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h"

using namespace mlir;

namespace kiln::HAL {
#define GEN_PASS_DEF_SERIALIZEEXECUTABLESPASS
#include "kiln/compiler/Dialect/HAL/Transforms/HALPasses.h.inc"

namespace {
class SerializeExecutablesPass : public impl::SerializeExecutablesPassBase<SerializeExecutablesPass> {
public:
  explicit SerializeExecutablesPass(const CompilerContext &context) : context(&context) {}

  // Executables are compiled at the same time, and none of them may be the first to load a dialect.
  void getDependentDialects(DialectRegistry &registry) const override {
    for (const std::unique_ptr<TargetBackend> &backend : context->backends.backends())
      backend->registerDialects(registry);
  }

  void runOnOperation() override {
    auto variants = llvm::to_vector(getOperation().getBody().front().getOps<ExecutableVariantOp>());
    for (ExecutableVariantOp variant : variants)
      if (failed(serialize(variant)))
        return signalPassFailure();
  }

private:
  LogicalResult serialize(ExecutableVariantOp variant) {
    TargetBackend *backend = context->backends.find(variant.getTarget().getBackend().getValue());
    if (!backend)
      return variant.emitError() << "needs the target backend '" << variant.getTarget().getBackend().getValue()
                                 << "', which this build does not have";
    auto module = getOperation()->getParentOfType<mlir::ModuleOp>();
    const DumpOptions &dump = context->options.dump;
    SerializationOptions options;
    options.intermediatesPath = dump.intermediates.empty() ? dump.files : dump.intermediates;
    options.binariesPath = dump.binaries.empty() ? dump.files : dump.binaries;
    options.baseName =
        (module.getName().value_or("module") + "_" + getOperation().getSymName() + "_" + variant.getSymName()).str();
    options.optimizationLevel = context->options.optimizationLevel;
    SmallVector<char> bytes;
    if (failed(backend->serialize(variant, options, bytes)))
      return failure();

    OpBuilder builder(variant);
    SmallVector<Attribute> exports;
    for (auto exportOp : variant.getBody().front().getOps<ExecutableExportOp>()) {
      NamedAttrList entry(llvm::to_vector(exportOp->getDiscardableAttrs()));
      entry.append("layout", exportOp.getLayout());
      entry.append("name", exportOp.getSymNameAttr());
      exports.push_back(entry.getDictionary(&getContext()));
    }
    auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())}, builder.getI8Type());
    auto data = DenseElementsAttr::getFromRawBuffer(type, bytes);
    ExecutableBinaryOp::create(builder, variant.getLoc(), builder.getStringAttr("public"), variant.getSymNameAttr(),
                               variant.getTarget(), builder.getArrayAttr(exports), data);
    variant.erase();
    return success();
  }

  const CompilerContext *context;
};
} // namespace

std::unique_ptr<Pass> createSerializeExecutablesPass(const CompilerContext &context) {
  return std::make_unique<SerializeExecutablesPass>(context);
}

} // namespace kiln::HAL
