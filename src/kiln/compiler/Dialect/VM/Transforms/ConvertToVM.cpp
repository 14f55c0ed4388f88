#include "kiln/compiler/Dialect/VM/Transforms/VMPasses.h"

#include <memory>

#include "kiln/compiler/Dialect/Check/IR/CheckOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"
#include "kiln/compiler/Dialect/VM/IR/VMOps.h"
#include "kiln/compiler/Dialect/VM/Transforms/ExpandHostOps.h"
#include "kiln/compiler/Interfaces/ConvertTypes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace kiln::VM {
#define GEN_PASS_DEF_CONVERTTOVMPASS
#include "kiln/compiler/Dialect/VM/Transforms/VMPasses.h.inc"

// The signature of the import that a hal op or a check becomes, or null.
static const char *importSignature(StringRef opName) {
#define KILN_HAL_IMPORT(Name, name, signature)                                                                         \
  if (opName == name)                                                                                                  \
    return signature;
#include "kiln/schema/hal_imports.def"
#define KILN_CHECK_IMPORT(Name, name, signature)                                                                       \
  if (opName == name)                                                                                                  \
    return signature;
#include "kiln/schema/check_imports.def"
  return nullptr;
}

namespace {
// The VM's types: references in place of objects, and i64 in place of indices.
class VMTypes : public TypeConverter {
public:
  explicit VMTypes(MLIRContext *context) {
    Type ref = RefType::get(context), number = IntegerType::get(context, 64);
    addConversion([ref](Type type) { return isa<HAL::HALDialect>(type.getDialect()) ? ref : type; });
    addConversion([ref](Util::BufferType) { return ref; });
    addConversion([number](IndexType) { return number; });
  }
};

class ConvertToVMPass : public impl::ConvertToVMPassBase<ConvertToVMPass> {
public:
  LogicalResult initialize(MLIRContext *context) override {
    types = std::make_shared<const VMTypes>(context);
    return success();
  }

  void runOnOperation() override {
    Util::gatherRemarks(getOperation()); // Executables keep none.
    mlir::ModuleOp source = getOperation();
    if (failed(expandRoundingDivisions(source)))
      return signalPassFailure();
    for (Operation &op : *source.getBody())
      if (isa<Util::FuncOp, Util::InitializerOp>(op))
        expandHostOps(&op);
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(source.getBody());
    target = ModuleOp::create(builder, source.getLoc(), source.getName().value_or("module"));
    target->setDiscardableAttrs(source->getDiscardableAttrDictionary());
    source->setDiscardableAttrs(DictionaryAttr::get(&getContext()));
    SmallVector<std::string> initializers;

    for (Operation &op : llvm::make_early_inc_range(*source.getBody())) {
      if (&op == target)
        continue;
      LogicalResult ok = success();
      OpBuilder at = OpBuilder::atBlockEnd(&target.getBody().front());
      if (auto executable = dyn_cast<HAL::ExecutableOp>(op)) {
        ok = convertExecutable(executable, at);
      } else if (auto global = dyn_cast<Util::GlobalOp>(op)) {
        GlobalOp::create(at, global.getLoc(), at.getStringAttr("private"), global.getSymNameAttr(),
                         TypeAttr::get(types->convertType(global.getType())));
      } else if (auto initializer = dyn_cast<Util::InitializerOp>(op)) {
        initializers.push_back("__initializer_" + std::to_string(initializers.size()));
        auto func = FuncOp::create(at, op.getLoc(), initializers.back(), at.getFunctionType({}, {}));
        ok = convertBody(initializer.getBody(), func);
      } else if (auto util = dyn_cast<Util::FuncOp>(op)) {
        ok = convertFunction(util, at);
      } else {
        ok = op.emitError() << "'" << op.getName() << "' has no form in the VM";
      }
      if (failed(ok))
        return signalPassFailure();
      op.erase();
    }
    if (!initializers.empty()) {
      OpBuilder at = OpBuilder::atBlockEnd(&target.getBody().front());
      Location loc = source.getLoc();
      auto func = FuncOp::create(at, loc, "__initialize", at.getFunctionType({}, {}));
      func.setPrivate();
      at.setInsertionPointToStart(&func.getBody().emplaceBlock());
      for (const std::string &name : initializers)
        CallOp::create(at, loc, TypeRange(), name, ValueRange());
      ReturnOp::create(at, loc, ValueRange());
    }
  }

private:
  static LogicalResult expandRoundingDivisions(mlir::ModuleOp source) {
    RewritePatternSet patterns(source.getContext());
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (auto func : source.getOps<Util::FuncOp>()) {
      SmallVector<Operation *> divisions;
      func.walk([&](Operation *op) {
        if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
          divisions.push_back(op);
      });
      if (!divisions.empty() && failed(applyOpPatternsGreedily(divisions, frozen)))
        return func.emitError() << "expanding its rounding divisions did not come to an end";
    }
    return success();
  }

  LogicalResult convertExecutable(HAL::ExecutableOp op, OpBuilder &builder) {
    SmallVector<Attribute> variants;
    for (auto binary : op.getBody().front().getOps<HAL::ExecutableBinaryOp>())
      variants.push_back(builder.getDictionaryAttr({
          builder.getNamedAttr("data", binary.getData()),
          builder.getNamedAttr("exports", binary.getExports()),
          builder.getNamedAttr("target", binary.getTarget()),
      }));
    ExecutableOp::create(builder, op.getLoc(), builder.getStringAttr("private"), op.getSymNameAttr(),
                         builder.getArrayAttr(variants));
    return success();
  }

  SmallVector<Type> convertAll(TypeRange all) {
    return llvm::map_to_vector(all, [&](Type type) { return types->convertType(type); });
  }

  LogicalResult convertFunction(Util::FuncOp op, OpBuilder &builder) {
    auto type = builder.getFunctionType(convertAll(op.getArgumentTypes()), convertAll(op.getResultTypes()));
    auto func = FuncOp::create(builder, op.getLoc(), op.getSymName(), type);
    if (op.isPublic()) {
      SmallVector<NamedAttribute> reflection;
      for (NamedAttribute attr : op->getDiscardableAttrs())
        if (isa<StringAttr>(attr.getValue()) && attr.getName().getValue().starts_with("kiln."))
          reflection.push_back(attr);
      ExportOp::create(builder, op.getLoc(), FlatSymbolRefAttr::get(op.getSymNameAttr()), op.getSymNameAttr(),
                       builder.getDictionaryAttr(reflection));
    }
    return convertBody(op.getBody(), func);
  }

  LogicalResult convertBody(Region &from, FuncOp func) {
    func.setPrivate();
    func.getBody().takeBody(from);
    SmallVector<Operation *> ops;
    func.walk([&](Operation *op) {
      if (op != func)
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(convertOp(op)))
        return failure();
    // What is left are upstream's ops; their types follow.
    convertValueTypes(func, *types);
    return success();
  }

  LogicalResult convertOp(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Type ref = RefType::get(&getContext());
    auto replace = [&](Operation *with) {
      for (auto [from, to] : llvm::zip(op->getResults(), with->getResults()))
        from.replaceAllUsesWith(to);
      op->erase();
      return success();
    };
    SmallVector<Type> resultTypes = convertAll(op->getResultTypes());
    if (isa<Util::ReturnOp>(op)) {
      ReturnOp::create(builder, loc, op->getOperands());
      op->erase();
      return success();
    }
    if (auto call = dyn_cast<Util::CallOp>(op))
      return replace(CallOp::create(builder, loc, resultTypes, call.getCallee(), call.getOperands()));
    if (auto load = dyn_cast<Util::GlobalLoadOp>(op))
      return replace(GlobalLoadOp::create(builder, loc, resultTypes[0], load.getGlobal()));
    if (auto store = dyn_cast<Util::GlobalStoreOp>(op))
      return replace(GlobalStoreOp::create(builder, loc, store.getValue(), store.getGlobal()));
    if (auto rodata = dyn_cast<Util::RodataOp>(op))
      return replace(ConstRodataOp::create(builder, loc, ref, addRodata(rodata.getValue(), loc)));
    if (auto check = dyn_cast<cf::AssertOp>(op)) {
      constexpr int32_t failedPrecondition = 9; // StatusCode, which the module format fixes
      CheckOp::create(builder, loc, check.getArg(), builder.getI32IntegerAttr(failedPrecondition),
                      addRodata(check.getMsgAttr(), loc));
      op->erase();
      return success();
    }
    if (isa<Util::NullOp>(op))
      return replace(NullOp::create(builder, loc, ref));
    if (auto constant = dyn_cast<Util::UnfoldableConstantOp>(op)) {
      TypedAttr number = constant.getValue();
      if (number.getType().isIndex())
        number = builder.getI64IntegerAttr(cast<IntegerAttr>(number).getInt());
      Value value = arith::ConstantOp::create(builder, loc, number);
      return replace(BarrierOp::create(builder, loc, value.getType(), value));
    }
    if (auto barrier = dyn_cast<Util::OptimizationBarrierOp>(op)) {
      for (auto [operand, result] : llvm::zip(barrier.getOperands(), barrier.getResults()))
        result.replaceAllUsesWith(BarrierOp::create(builder, loc, operand.getType(), operand).getResult());
      op->erase();
      return success();
    }
    if (isa<HAL::ExecutableCreateOp, HAL::ExecutableVariantIndexOp>(op)) {
      Value source = ConstExecutableOp::create(builder, loc, ref, op->getAttrOfType<FlatSymbolRefAttr>("executable"));
      return replace(callImport(builder, op, resultTypes, {op->getOperand(0), source}));
    }
    if (isa_and_nonnull<HAL::HALDialect>(op->getDialect()) && !importSignature(op->getName().getStringRef()))
      return op->emitOpError("is nothing that the runtime is asked for");
    if (isa_and_nonnull<HAL::HALDialect>(op->getDialect()))
      return replace(callImport(builder, op, resultTypes, op->getOperands()));
    if (isa_and_nonnull<Check::CheckDialect>(op->getDialect())) {
      SmallVector<Value> operands = {ConstRodataOp::create(builder, loc, ref, addRodata(placeOf(loc), loc))};
      llvm::append_range(operands, op->getOperands());
      if (auto almost = dyn_cast<Check::ExpectAlmostEqOp>(op))
        for (const APFloat &tolerance : {almost.getAtol(), almost.getRtol()})
          operands.push_back(
              arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(tolerance.convertToDouble())));
      return replace(callImport(builder, op, resultTypes, operands));
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (constant.getType().isIndex())
        constant.setValueAttr(builder.getI64IntegerAttr(cast<IntegerAttr>(constant.getValue()).getInt()));
      return success();
    }
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
      return convertIndexCast(op, isa<arith::IndexCastOp>(op));
    return success();
  }

  // "file.mlir:12"; empty where the source is not known.
  static StringAttr placeOf(Location loc) {
    auto file = loc->findInstanceOf<FileLineColLoc>();
    return StringAttr::get(loc.getContext(),
                           file ? file.getFilename().getValue() + ":" + Twine(file.getLine()) : Twine());
  }

  // An index is an i64.
  LogicalResult convertIndexCast(Operation *op, bool isSigned) {
    OpBuilder builder(op);
    Value input = op->getOperand(0);
    Type from = types->convertType(input.getType()), to = types->convertType(op->getResult(0).getType());
    Value result = input;
    if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      result = arith::TruncIOp::create(builder, op->getLoc(), to, input);
    else if (from != to)
      result = isSigned ? Value(arith::ExtSIOp::create(builder, op->getLoc(), to, input))
                        : Value(arith::ExtUIOp::create(builder, op->getLoc(), to, input));
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return success();
  }

  Operation *callImport(OpBuilder &builder, Operation *op, TypeRange results, ValueRange operands) {
    StringRef name = op->getName().getStringRef();
    auto import = target.lookupSymbol<ImportOp>(name);
    if (!import) {
      auto at = OpBuilder::atBlockBegin(&target.getBody().front());
      ImportOp::create(at, op->getLoc(), at.getStringAttr("private"), at.getStringAttr(name),
                       at.getStringAttr(importSignature(name)));
    }
    return CallOp::create(builder, op->getLoc(), results, name, operands);
  }

  FlatSymbolRefAttr addRodata(Attribute value, Location loc) {
    auto [it, isNew] = rodata.try_emplace(value);
    if (isNew) {
      auto at = OpBuilder::atBlockBegin(&target.getBody().front());
      it->second = at.getStringAttr("__rodata_" + std::to_string(rodata.size() - 1));
      RodataOp::create(at, loc, at.getStringAttr("private"), it->second, value);
    }
    return FlatSymbolRefAttr::get(it->second);
  }

  std::shared_ptr<const VMTypes> types; // shared with the pass's copies
  ModuleOp target;
  DenseMap<Attribute, StringAttr> rodata;
};
} // namespace
} // namespace kiln::VM
