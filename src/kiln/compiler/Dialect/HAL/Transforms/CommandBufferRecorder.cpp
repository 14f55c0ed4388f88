#include "kiln/compiler/Dialect/HAL/Transforms/CommandBufferRecorder.h"

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

using namespace mlir;

namespace kiln::HAL {

std::string executableGlobal(StringRef executable, int64_t device) {
  return ("__executable_" + executable).str() + (device == 0 ? "" : "_device_" + std::to_string(device));
}

std::string variantGlobal(StringRef executable, int64_t device) {
  return executableGlobal(executable, device) + "_variant";
}

SmallVector<ExecutableVariantOp> variantsOf(ExecutableOp executable) {
  return llvm::to_vector(executable.getBody().front().getOps<ExecutableVariantOp>());
}

Value CommandBufferRecorder::i32(OpBuilder &builder, int64_t value) {
  return arith::ConstantIntOp::create(builder, execute.getLoc(), builder.getI32Type(), value);
}

Value CommandBufferRecorder::slot(OpBuilder &builder, Value resource) {
  return i32(builder, cast<BlockArgument>(resource).getArgNumber());
}

FailureOr<Value> CommandBufferRecorder::record(OpBuilder &builder, Value device, int mode) {
  Location loc = execute.getLoc();
  Block &body = execute.getBody().front();
  unsigned resources = execute.getResources().size();
  for (auto [i, scalar] : llvm::enumerate(execute.getScalars()))
    mapping.map(body.getArgument(resources + i), scalar);
  commands = CommandBufferCreateOp::create(builder, loc, CommandBufferType::get(builder.getContext()), device,
                                           i32(builder, mode), i32(builder, resources));
  bool first = true;
  for (Operation &op : body) {
    if (!isa_and_nonnull<Stream::StreamDialect>(op.getDialect())) {
      builder.clone(op, mapping);
      continue;
    }
    if (!first)
      CommandBufferBarrierOp::create(builder, loc, commands);
    first = false;
    if (auto concurrent = dyn_cast<Stream::CmdConcurrentOp>(op)) {
      for (Operation &inner : concurrent.getBody().front())
        if (failed(recordCommand(builder, &inner)))
          return failure();
    } else if (failed(recordCommand(builder, &op))) {
      return failure();
    }
  }
  CommandBufferFinalizeOp::create(builder, loc, commands);
  return commands;
}

LogicalResult CommandBufferRecorder::recordCommand(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  auto mapped = [&](Value value) { return mapping.lookupOrDefault(value); };
  if (auto dispatch = dyn_cast<Stream::CmdDispatchOp>(op))
    return recordDispatch(builder, dispatch);
  if (auto fill = dyn_cast<Stream::CmdFillOp>(op)) {
    CommandBufferFillOp::create(builder, loc, commands, slot(builder, fill.getTarget()), mapped(fill.getOffset()),
                                mapped(fill.getLength()), mapped(fill.getPattern()), i32(builder, fill.getWidth()));
    return success();
  }
  if (auto copy = dyn_cast<Stream::CmdCopyOp>(op)) {
    CommandBufferCopyOp::create(builder, loc, commands, slot(builder, copy.getSource()), mapped(copy.getSourceOffset()),
                                slot(builder, copy.getTarget()), mapped(copy.getTargetOffset()),
                                mapped(copy.getLength()));
    return success();
  }
  builder.clone(*op, mapping);
  return success();
}

static ExecutableExportOp findExport(ExecutableVariantOp variant, Stream::CmdDispatchOp op) {
  for (auto candidate : variant.getBody().front().getOps<ExecutableExportOp>())
    if (candidate.getSymNameAttr() == op.getEntry().getLeafReference())
      return candidate;
  return {};
}

SmallVector<Value> CommandBufferRecorder::workgroupCount(OpBuilder &builder, Stream::CmdDispatchOp op,
                                                         ExecutableVariantOp variant) {
  ExecutableExportOp exportOp = findExport(variant, op);
  if (!exportOp || exportOp.getWorkgroupCount().empty()) {
    op.emitError() << "launches " << op.getEntry() << ", which code generation for " << variant.getSymName()
                   << " has not given a workgroup count";
    return {};
  }
  // The count is computed from the constants, where the command is recorded.
  IRMapping countMapping;
  Block &count = exportOp.getWorkgroupCount().front();
  for (auto [arg, constant] : llvm::zip(count.getArguments(), op.getConstants())) {
    Value value = mapping.lookupOrDefault(constant);
    if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(builder, op.getLoc(), builder.getIndexType(), value);
    countMapping.map(arg, value);
  }
  for (Operation &inner : count.without_terminator())
    builder.clone(inner, countMapping);
  SmallVector<Value> grid;
  for (Value value : count.getTerminator()->getOperands())
    grid.push_back(countMapping.lookupOrDefault(value));
  return grid;
}

LogicalResult CommandBufferRecorder::recordDispatch(OpBuilder &builder, Stream::CmdDispatchOp op) {
  Location loc = op.getLoc();
  auto mapped = [&](Value value) { return mapping.lookupOrDefault(value); };
  auto module = op->getParentOfType<mlir::ModuleOp>();
  auto executable = module.lookupSymbol<ExecutableOp>(op.getEntry().getRootReference());
  if (!executable)
    return op.emitError() << "launches " << op.getEntry() << ", which is not an executable of the module";
  SmallVector<ExecutableVariantOp> variants = variantsOf(executable);
  SmallVector<Value> grid;
  Value chosen;
  for (auto [i, variant] : llvm::enumerate(variants)) {
    SmallVector<Value> ofVariant = workgroupCount(builder, op, variant);
    if (ofVariant.empty())
      return failure();
    if (grid.empty()) {
      grid = ofVariant;
      continue;
    }
    if (!chosen)
      chosen = Util::GlobalLoadOp::create(builder, loc, builder.getI32Type(),
                                          variantGlobal(executable.getSymName(), deviceNumber));
    Value isThis = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, chosen, i32(builder, i));
    for (auto [count, other] : llvm::zip(grid, ofVariant))
      count = arith::SelectOp::create(builder, loc, isThis, other, count);
  }
  if (grid.empty())
    return executable.emitError() << "has no variant";
  // The exports of all variants are the same ones in the same order.
  ExecutableExportOp exportOp = findExport(variants.front(), op);

  SmallVector<Value> rest;
  for (Value constant : op.getConstants())
    rest.push_back(mapped(constant));
  for (auto [resource, offset, length] : llvm::zip(op.getResources(), op.getOffsets(), op.getLengths())) {
    rest.push_back(arith::ConstantIndexOp::create(builder, loc, cast<BlockArgument>(resource).getArgNumber()));
    rest.push_back(mapped(offset));
    rest.push_back(mapped(length));
  }
  Value loaded = Util::GlobalLoadOp::create(builder, loc, ExecutableType::get(builder.getContext()),
                                            executableGlobal(executable.getSymName(), deviceNumber));
  for (int64_t i = 0; i < repeat; ++i) {
    if (i > 0)
      CommandBufferBarrierOp::create(builder, loc, commands);
    CommandBufferDispatchOp::create(builder, loc, commands, loaded, i32(builder, exportOp.getOrdinal()), grid[0],
                                    grid[1], grid[2], i32(builder, op.getConstants().size()), rest);
  }
  return success();
}

} // namespace kiln::HAL
