#include "kiln/targets/cpu/codegen/strategy/PayloadEmitter.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace kiln {

// The block argument that a sum starts from, also where it is kept in a narrower type than it is computed in.
static BlockArgument sumBefore(Value sum) {
  if (auto extend = sum.getDefiningOp<arith::ExtFOp>())
    sum = extend.getIn();
  return dyn_cast<BlockArgument>(sum);
}

PayloadEmitter::PayloadEmitter(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<Operation *> rowLoads, bool fma)
    : builder(builder), op(op), rowLoads(rowLoads) {
  if (!fma)
    return;
  Block *body = op.getBlock();
  for (auto add : body->getOps<arith::AddFOp>()) {
    if (!add.getType().isF32() && !add.getType().isF64())
      continue; // Narrow floats are rounded after each operation.
    for (auto [sum, product] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
      BlockArgument init = sumBefore(sum);
      auto multiply = product.getDefiningOp<arith::MulFOp>();
      if (init && init.getOwner() == body && init.getArgNumber() >= op.getNumDpsInputs() && multiply &&
          multiply->hasOneUse() && multiply->getBlock() == body)
        fused[add] = multiply;
    }
  }
}

Value PayloadEmitter::broadcast(Value value, int64_t lanes) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  auto &known = computed[{nullptr, {value.getAsOpaquePointer(), reinterpret_cast<void *>(lanes)}}];
  if (known.empty())
    known.push_back(vector::BroadcastOp::create(builder, op.getLoc(), VectorType::get(lanes, value.getType()), value));
  return known.front();
}

Value PayloadEmitter::combine(Operation *combiner, Value a, Value b) {
  IRMapping operands;
  operands.map(combiner->getOperand(0), a);
  operands.map(combiner->getOperand(1), b);
  Operation *copy = builder.clone(*combiner, operands);
  copy->getResult(0).setType(a.getType());
  return copy->getResult(0);
}

// A load of neighbours, of which the first lane says where they are.
Value PayloadEmitter::loadRow(Operation *load, ArrayRef<Value> operands, int64_t lanes) {
  SmallVector<Value> indices(operands.drop_front());
  indices.back() = vector::ExtractOp::create(builder, load->getLoc(), indices.back(), int64_t(0));
  auto type = VectorType::get(lanes, load->getResult(0).getType());
  return vector::LoadOp::create(builder, load->getLoc(), type, operands[0], indices);
}

// A load from somewhere in memory, lane by lane.
Value PayloadEmitter::loadLanes(Operation *load, ArrayRef<Value> operands, int64_t lanes) {
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    SmallVector<Value> indices;
    for (Value index : operands.drop_front())
      indices.push_back(isa<VectorType>(index.getType())
                            ? vector::ExtractOp::create(builder, load->getLoc(), index, lane).getResult()
                            : index);
    elements.push_back(memref::LoadOp::create(builder, load->getLoc(), operands[0], indices));
  }
  return vector::FromElementsOp::create(builder, load->getLoc(), VectorType::get(lanes, elements[0].getType()),
                                        elements);
}

SmallVector<Value> PayloadEmitter::computeOp(Operation *inner, ArrayRef<Value> operands, int64_t lanes) {
  std::vector<void *> key;
  for (Value operand : operands)
    key.push_back(operand.getAsOpaquePointer());
  auto [entry, isNew] = computed.try_emplace({inner, key});
  SmallVector<Value> &results = entry->second;
  if (!isNew)
    return results;

  // What was copied for the kernel may have been widened by that.
  if (isa<arith::ExtFOp>(inner) && getElementTypeOrSelf(operands[0].getType()) == inner->getResult(0).getType()) {
    results.push_back(operands[0]);
    return results;
  }
  bool anyVector = llvm::any_of(operands, [](Value operand) { return isa<VectorType>(operand.getType()); });
  if (anyVector && isa<memref::LoadOp>(inner)) {
    results.push_back(llvm::is_contained(rowLoads, inner) ? loadRow(inner, operands, lanes)
                                                          : loadLanes(inner, operands, lanes));
    return results;
  }
  if (auto check = dyn_cast<cf::AssertOp>(inner); check && anyVector) {
    Value all = vector::ReductionOp::create(builder, inner->getLoc(), vector::CombiningKind::AND, operands[0]);
    cf::AssertOp::create(builder, inner->getLoc(), all, check.getMsgAttr());
    return results;
  }
  SmallVector<Value> values(operands);
  if (anyVector)
    for (Value &value : values)
      value = broadcast(value, lanes);
  if (auto multiply = dyn_cast_or_null<arith::MulFOp>(fused.lookup(inner))) {
    // The operands are those of the multiplication, then the sum so far.
    results.push_back(math::FmaOp::create(builder, inner->getLoc(), values[0], values[1], values[2]));
    return results;
  }
  IRMapping mapping;
  for (auto [operand, value] : llvm::zip(inner->getOperands(), values))
    mapping.map(operand, value);
  Operation *copy = builder.clone(*inner, mapping);
  if (anyVector)
    for (OpResult result : copy->getResults())
      result.setType(VectorType::get(lanes, result.getType()));
  llvm::append_range(results, copy->getResults());
  return results;
}

SmallVector<Value> PayloadEmitter::compute(ArrayRef<Value> arguments, int64_t lanes,
                                           llvm::function_ref<Value(unsigned)> index) {
  Block *body = op.getBlock();
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip(body->getArguments(), arguments))
    if (value)
      mapping.map(argument, value);
  auto isFused = [&](Operation &inner) {
    return llvm::any_of(fused, [&](auto &pair) { return pair.second == &inner; });
  };
  for (Operation &inner : body->without_terminator()) {
    if (isFused(inner))
      continue;
    if (auto position = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(position.getResult(), index(position.getDim()));
      continue;
    }
    if (inner.getNumRegions() != 0) { // Only where all is scalar.
      Operation *copy = builder.clone(inner, mapping);
      copy->walk([&](linalg::IndexOp position) {
        position.replaceAllUsesWith(index(position.getDim()));
        position.erase();
      });
      continue;
    }
    SmallVector<Value> operands;
    if (Operation *multiply = fused.lookup(&inner)) {
      Value sum = inner.getOperand(inner.getOperand(0) == multiply->getResult(0) ? 1 : 0);
      for (Value operand : {multiply->getOperand(0), multiply->getOperand(1), sum})
        operands.push_back(mapping.lookupOrDefault(operand));
    } else {
      for (Value operand : inner.getOperands())
        operands.push_back(mapping.lookupOrDefault(operand));
    }
    mapping.map(inner.getResults(), computeOp(&inner, operands, lanes));
  }
  SmallVector<Value> yielded;
  for (Value value : body->getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  return yielded;
}

} // namespace kiln
