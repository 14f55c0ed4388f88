#include "kiln/compiler/TransformOps/SubgraphOps.h"

#include "kiln/compiler/Dialect/Util/IR/UtilOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace kiln::TransformOps;
using transform::TransformResults;
using transform::TransformRewriter;
using transform::TransformState;

#define GET_OP_CLASSES
#include "kiln/compiler/TransformOps/SubgraphOps.cpp.inc"

//===--- Matching -------------------------------------------------------------------------------------------------===//

// Whether a type is one of those that `pattern` stands for.
static bool isOneOf(Type type, Type pattern) {
  auto tensor = dyn_cast<RankedTensorType>(type), wanted = dyn_cast<RankedTensorType>(pattern);
  if (!tensor || !wanted)
    return type == pattern;
  return tensor.getElementType() == wanted.getElementType() && tensor.getEncoding() == wanted.getEncoding() &&
         tensor.getRank() == wanted.getRank() &&
         llvm::all_of(llvm::zip(tensor.getShape(), wanted.getShape()), [](auto extents) {
           return ShapedType::isDynamic(std::get<1>(extents)) || std::get<0>(extents) == std::get<1>(extents);
         });
}

DiagnosedSilenceableFailure MatchCastCompatibleTypeOp::matchValue(Value current, TransformResults &, TransformState &) {
  if (!isOneOf(current.getType(), getTargetType()))
    return emitSilenceableError() << "type " << current.getType() << " is none of " << getTargetType();
  return DiagnosedSilenceableFailure::success();
}

LogicalResult MatchCastCompatibleDagFromRootOp::verify() {
  if (getTargetDag().front().empty())
    return emitOpError("has no operations to compare with");
  return success();
}

namespace {
// Compares operations of a program with those of a region, and remembers which value is which.
class DagMatch {
public:
  bool matches(Operation *op, Operation *pattern) {
    auto [known, isNew] = ops.try_emplace(pattern, op);
    if (!isNew)
      return known->second == op;
    if (op->getName() != pattern->getName() || op->getNumOperands() != pattern->getNumOperands() ||
        op->getNumResults() != pattern->getNumResults() || op->getNumRegions() != pattern->getNumRegions() ||
        !hasAttributesOf(op, pattern))
      return false;
    for (auto [value, wanted] : llvm::zip(op->getOperands(), pattern->getOperands()))
      if (!matches(value, wanted))
        return false;
    for (auto [value, wanted] : llvm::zip(op->getResults(), pattern->getResults())) {
      if (!isOneOf(value.getType(), wanted.getType()))
        return false;
      values[wanted] = value;
    }
    return llvm::all_of(llvm::zip(op->getRegions(), pattern->getRegions()), [&](auto regions) {
      // What bodies take from outside is compared, too.
      return OperationEquivalence::isRegionEquivalentTo(
          &std::get<0>(regions), &std::get<1>(regions),
          [&](Value value, Value wanted) { return success(matches(value, wanted)); },
          [&](Value value, Value wanted) { values[wanted] = value; }, OperationEquivalence::IgnoreLocations);
    });
  }

  Value of(Value pattern) const { return values.lookup(pattern); }

private:
  bool matches(Value value, Value pattern) {
    if (auto known = values.find(pattern); known != values.end())
      return known->second == value;
    if (!isOneOf(value.getType(), pattern.getType()))
      return false;
    if (isa<BlockArgument>(pattern)) {
      values[pattern] = value;
      return true;
    }
    auto result = dyn_cast<OpResult>(value);
    return result && result.getResultNumber() == cast<OpResult>(pattern).getResultNumber() &&
           matches(result.getOwner(), pattern.getDefiningOp());
  }

  // The program may say more than the pattern, such as where an operation runs, but nothing of what the op means.
  static bool hasAttributesOf(Operation *op, Operation *pattern) {
    for (NamedAttribute attribute : pattern->getDiscardableAttrs())
      if (attribute.getName() != linalg::LinalgDialect::kMemoizedIndexingMapsAttrName &&
          op->getDiscardableAttr(attribute.getName()) != attribute.getValue())
        return false;
    auto loops = dyn_cast<linalg::LinalgOp>(op), wanted = dyn_cast<linalg::LinalgOp>(pattern);
    if (!loops || !wanted)
      return op->getPropertiesAsAttribute() == pattern->getPropertiesAsAttribute();
    // What a named operation says of strides, or leaves out as they are 1, is in its maps; the rest is in its body.
    return loops.getNumDpsInputs() == wanted.getNumDpsInputs() &&
           loops.getIndexingMapsArray() == wanted.getIndexingMapsArray() &&
           loops.getIteratorTypesArray() == wanted.getIteratorTypesArray();
  }

  DenseMap<Operation *, Operation *> ops; // of the program, by those of the pattern
  DenseMap<Value, Value> values;
};
} // namespace

DiagnosedSilenceableFailure
MatchCastCompatibleDagFromRootOp::matchOperation(Operation *current, TransformResults &results, TransformState &) {
  Block &dag = getTargetDag().front();
  DagMatch match;
  if (!match.matches(current, &dag.back()))
    return emitSilenceableError() << "'" << current->getName() << "' computes something else";
  SmallVector<Value> inputs;
  for (BlockArgument argument : dag.getArguments()) {
    inputs.push_back(match.of(argument));
    if (!inputs.back())
      return emitDefiniteFailure() << "argument " << argument.getArgNumber()
                                   << " of the region is needed by none of the operations that the last one needs";
  }
  results.setValues(cast<OpResult>(getInputs()), inputs);
  results.setValues(cast<OpResult>(getOutputs()), current->getResults());
  return DiagnosedSilenceableFailure::success();
}

//===--- Replacing ------------------------------------------------------------------------------------------------===//

static Operation *onlyPayload(TransformState &state, Value handle) {
  auto ops = state.getPayloadOps(handle);
  return llvm::hasSingleElement(ops) ? *ops.begin() : nullptr;
}

DiagnosedSilenceableFailure GetNearestSymbolTableOp::apply(TransformRewriter &, TransformResults &results,
                                                           TransformState &state) {
  SmallVector<Operation *> tables;
  for (Operation *op : state.getPayloadOps(getTarget())) {
    Operation *table = SymbolTable::getNearestSymbolTable(op);
    if (!table)
      return emitDefiniteFailure() << "'" << op->getName() << "' is in no module";
    tables.push_back(table);
  }
  results.set(cast<OpResult>(getSymbolTable()), tables);
  return DiagnosedSilenceableFailure::success();
}

void GetNearestSymbolTableOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::onlyReadsPayload(effects);
}

namespace {
// Copies a symbol of the spec, those that it refers to, and what gives globals their first values.
class Import {
public:
  explicit Import(SymbolTable &to) : to(to) {}

  // Null where a symbol is in the program under another meaning, or in none of both; `problem` says which.
  Operation *copy(Operation *from, StringAttr name) {
    Operation *known = to.lookup(name);
    if (known && known->hasAttr(kiln::kImportedAttr))
      return known;
    Operation *original = SymbolTable::lookupNearestSymbolFrom(from, name);
    if (!original || known) {
      problem = "'@" + name.str() +
                (known ? "' is something of the program's; give the spec's another name"
                       : "' is referred to, and not in the spec");
      return nullptr;
    }
    Operation *made = original->clone();
    made->setAttr(kiln::kImportedAttr, UnitAttr::get(name.getContext()));
    SymbolTable::setSymbolVisibility(made, SymbolTable::Visibility::Private);
    to.insert(made);
    if (!copySymbolsOf(original))
      return nullptr;
    if (isa<kiln::Util::GlobalOp>(original))
      for (auto initializer : original->getParentOp()->getRegion(0).getOps<kiln::Util::InitializerOp>())
        if (SymbolTable::getSymbolUses(name, initializer) && !SymbolTable::symbolKnownUseEmpty(name, initializer) &&
            initializers.insert(initializer).second) {
          OpBuilder::atBlockEnd(&to.getOp()->getRegion(0).front()).clone(*initializer);
          if (!copySymbolsOf(initializer))
            return nullptr;
        }
    return made;
  }

  std::string problem;

private:
  bool copySymbolsOf(Operation *original) {
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(original);
    return !uses || llvm::all_of(*uses, [&](SymbolTable::SymbolUse use) {
      return copy(original, use.getSymbolRef().getRootReference()) != nullptr;
    });
  }

  SymbolTable &to;
  llvm::SmallPtrSet<Operation *, 4> initializers;
};
} // namespace

DiagnosedSilenceableFailure ImportSymbolOp::apply(TransformRewriter &, TransformResults &results,
                                                  TransformState &state) {
  Operation *table = onlyPayload(state, getSymbolTable());
  if (!table || !table->hasTrait<OpTrait::SymbolTable>())
    return emitDefiniteFailure()
           << "needs one module to copy into; transform.util.get_nearest_symbol_table gives that of "
              "an operation";
  SymbolTable symbols(table);
  StringAttr name = getSymbol().getRootReference();
  Operation *known = symbols.lookup(name);
  if (known && getIfUndefined()) {
    results.set(cast<OpResult>(getImported()), {known});
    return DiagnosedSilenceableFailure::success();
  }
  if (known)
    return emitDefiniteFailure() << "the program has a '@" << name.getValue()
                                 << "' already; write 'if undefined' to take that one";
  Import import(symbols);
  Operation *imported = import.copy(getOperation(), name);
  if (!imported)
    return emitDefiniteFailure() << "cannot import '@" << name.getValue() << "': " << import.problem;
  results.set(cast<OpResult>(getImported()), {imported});
  return DiagnosedSilenceableFailure::success();
}

void ImportSymbolOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getSymbolTableMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::modifiesPayload(effects);
}

LogicalResult CastAndCallOp::verify() {
  if (static_cast<bool>(getFunction()) == getFunctionName().has_value())
    return emitOpError("names the function, or is given a handle to it, and not both");
  for (Operation &op : getConversions().getOps())
    if (!isa<transform::TypeConverterBuilderOpInterface>(op))
      return emitOpError("has a region for conversions of types, in which '") << op.getName() << "' is none";
  return success();
}

DiagnosedSilenceableFailure CastAndCallOp::apply(TransformRewriter &rewriter, TransformResults &results,
                                                 TransformState &state) {
  Operation *place = onlyPayload(state, getInsertionPoint());
  if (!place)
    return emitSilenceableError() << "needs one operation to stand beside";
  Operation *callee = getFunction() ? onlyPayload(state, getFunction())
                                    : SymbolTable::lookupNearestSymbolFrom(place, *getFunctionName());
  auto function = dyn_cast_or_null<FunctionOpInterface>(callee);
  if (!function)
    return emitDefiniteFailure() << "finds no function to call";
  SmallVector<Value> inputs, outputs;
  if (getInputs())
    llvm::append_range(inputs, state.getPayloadValues(getInputs()));
  if (getOutputs())
    llvm::append_range(outputs, state.getPayloadValues(getOutputs()));
  if (inputs.size() != function.getNumArguments() || outputs.size() != function.getNumResults())
    return emitSilenceableError() << "'@" << function.getName() << "' takes " << function.getNumArguments()
                                  << " values and gives " << function.getNumResults() << ", and is given "
                                  << inputs.size() << " for " << outputs.size();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  for (Operation &op : getConversions().getOps())
    cast<transform::TypeConverterBuilderOpInterface>(op).populateTypeMaterializations(converter);

  DominanceInfo dominance;
  const bool isAfter = getInsertAfter();
  for (Value input : inputs)
    if (!(isAfter ? dominance.dominates(input, place) || input.getDefiningOp() == place
                  : dominance.properlyDominates(input, place)))
      return emitSilenceableError() << "an input is computed behind the call";
  for (Value output : outputs)
    for (Operation *user : output.getUsers())
      if (user != place && !dominance.properlyDominates(place, user))
        return emitSilenceableError() << "an output is used before the call";

  OpBuilder::InsertionGuard guard(rewriter);
  isAfter ? rewriter.setInsertionPointAfter(place) : rewriter.setInsertionPoint(place);
  const auto cast = [&](Value value, Type type, bool isInput) -> Value {
    if (value.getType() == type)
      return value;
    return isInput ? converter.materializeTargetConversion(rewriter, value.getLoc(), type, value)
                   : converter.materializeSourceConversion(rewriter, value.getLoc(), type, value);
  };
  for (auto [input, type] : llvm::zip(inputs, function.getArgumentTypes())) {
    Value converted = cast(input, type, true);
    if (!converted)
      return emitDefiniteFailure() << "cannot make a " << type << ", which '@" << function.getName() << "' takes, of a "
                                   << input.getType();
    input = converted;
  }
  auto call =
      kiln::Util::CallOp::create(rewriter, place->getLoc(), function.getResultTypes(),
                                 SymbolTable::getSymbolName(function).getValue(), inputs, ArrayAttr(), ArrayAttr());
  for (auto [output, result] : llvm::zip(outputs, call.getResults())) {
    Value converted = cast(result, output.getType(), false);
    if (!converted)
      return emitDefiniteFailure() << "cannot make a " << output.getType() << " of a " << result.getType()
                                   << ", which '@" << function.getName() << "' gives";
    // What the call is made of may be what it replaces.
    rewriter.replaceUsesWithIf(output, converted, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return user != call && user != converted.getDefiningOp() && dominance.properlyDominates(converted, user);
    });
  }
  results.set(llvm::cast<OpResult>(getResult()), {call.getOperation()});
  return DiagnosedSilenceableFailure::success();
}

void CastAndCallOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getInsertionPointMutable(), effects);
  transform::onlyReadsHandle(getInputsMutable(), effects);
  transform::onlyReadsHandle(getOutputsMutable(), effects);
  transform::onlyReadsHandle(getFunctionMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::modifiesPayload(effects);
}

namespace {
class SubgraphExtension : public transform::TransformDialectExtension<SubgraphExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SubgraphExtension)
  void init() {
    declareGeneratedDialect<tensor::TensorDialect>();
    declareGeneratedDialect<kiln::Util::UtilDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "kiln/compiler/TransformOps/SubgraphOps.cpp.inc"
        >();
  }
};
} // namespace

void kiln::registerSubgraphOps(DialectRegistry &registry) {
  registry.addExtensions<SubgraphExtension>();
}
