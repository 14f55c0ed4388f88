#include "kiln/compiler/Transforms/LinalgExtLowering.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::LinalgExt {

static Value convert(OpBuilder &b, Location loc, Value number, Type type) {
  return convertScalarToDtype(b, loc, number, type, /*isUnsignedCast=*/false);
}

namespace {
// The loops of an attention, and operations over some of them. All intermediate tensors are of f32.
class Attention {
public:
  Attention(OpBuilder &b, Operation *op, ArrayAttr indexingMaps, ValueRange inputs, ValueRange outputs)
      : b(b), op(op), loc(op->getLoc()), inputs(inputs), outputs(outputs), f32(b.getF32Type()),
        maps(indexingMaps.getAsValueRange<AffineMapAttr>()) {
    extents.resize(maps[0].getNumDims());
    for (auto [map, operand] : llvm::zip(maps, op->getOperands()))
      for (auto [i, result] : llvm::enumerate(map.getResults())) {
        OpFoldResult &extent = extents[cast<AffineDimExpr>(result).getPosition()];
        if (!extent || isa<Value>(extent))
          extent = tensor::getMixedSize(b, loc, operand, i);
      }
    AffineMap query = maps[0], value = maps[2], output = maps[inputs.size()];
    for (unsigned loop = 0; loop < extents.size(); ++loop) {
      bool isOfResult = output.isFunctionOfDim(loop);
      if (!query.isFunctionOfDim(loop) && value.isFunctionOfDim(loop) && isOfResult && !maps[1].isFunctionOfDim(loop))
        continue; // the columns of the values
      if (!isOfResult && !value.isFunctionOfDim(loop))
        continue; // what scores are summed over
      scoreLoops.push_back(loop);
      if (isOfResult)
        rowLoops.push_back(loop);
    }
  }

  // The scaled scores of each row, as the body and the mask leave them, as powers of two.
  Value scores() {
    Value products = contract({inputs[0], inputs[1]}, {maps[0], maps[1]}, scoreLoops, fill(scoreLoops, 0));
    Values operands{products};
    SmallVector<AffineMap> ways{mapOf(scoreLoops)};
    if (inputs.size() == 5) {
      operands.push_back(inputs[4]);
      ways.push_back(maps[4]);
    }
    bool hasScale = !isa<RankedTensorType>(inputs[3].getType());
    return elementwise(operands, ways, scoreLoops, [&](OpBuilder &inner, ValueRange elements) -> Value {
      Value scale = hasScale ? inputs[3] : tensor::ExtractOp::create(inner, loc, inputs[3], ValueRange()).getResult();
      Value log2e = arith::ConstantOp::create(inner, loc, inner.getF32FloatAttr(1.44269504F));
      Value factor = arith::MulFOp::create(inner, loc, convert(inner, loc, scale, f32), log2e);
      Value score = arith::MulFOp::create(inner, loc, elements[0], factor);
      Type type = op->getRegion(0).front().getArgument(0).getType();
      score = convert(inner, loc, inlineBody(inner, op, convert(inner, loc, score, type))[0], f32);
      if (inputs.size() == 4)
        return score;
      if (isa<FloatType>(elements[1].getType()))
        return arith::AddFOp::create(inner, loc, score,
                                     arith::MulFOp::create(inner, loc, convert(inner, loc, elements[1], f32), log2e));
      return arith::SelectOp::create(inner, loc, elements[1], score, infinity(inner));
    });
  }

  Value largest(Value scores, Value start) {
    return reduce(scores, start, [&](OpBuilder &inner, Value next, Value total) -> Value {
      return arith::MaximumFOp::create(inner, loc, next, total);
    });
  }

  // 2^(score - largest). Where nothing takes part, the largest is -infinity, and the result zero.
  Value exponentials(Value scores, ArrayRef<unsigned> loops, Value largest) {
    return elementwise(
        {scores, largest}, {mapOf(loops), mapOf(rowLoops)}, loops, [&](OpBuilder &inner, ValueRange elements) {
          Value isNothing = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ, elements[1], infinity(inner));
          Value zero = arith::ConstantOp::create(inner, loc, inner.getF32FloatAttr(0));
          Value most = arith::SelectOp::create(inner, loc, isNothing, zero, elements[1]);
          return math::Exp2Op::create(inner, loc, arith::SubFOp::create(inner, loc, elements[0], most)).getResult();
        });
  }

  Value sum(Value numbers, Value start) {
    return reduce(numbers, start, [&](OpBuilder &inner, Value next, Value total) -> Value {
      return arith::AddFOp::create(inner, loc, next, total);
    });
  }

  // The values, each weighed with its exponential.
  Value weighed(Value exponentials, Value start) {
    return contract({exponentials, inputs[2]}, {mapOf(scoreLoops), maps[2]}, outputLoops(), start);
  }

  using Combiner = function_ref<Value(OpBuilder &, Value, Value)>;
  // What `combine` makes of the elements of a tensor, and of the one of its row.
  Value withRows(Value tensor, ArrayRef<unsigned> loops, Value rows, Combiner combine) {
    return elementwise({tensor, rows}, {mapOf(loops), mapOf(rowLoops)}, loops,
                       [&](OpBuilder &inner, ValueRange elements) { return combine(inner, elements[0], elements[1]); });
  }

  // A tensor of these loops as f32, in their order; and back as the op's output.
  Value fromOutput(unsigned number, ArrayRef<unsigned> loops) {
    return elementwise(outputs[number], maps[inputs.size() + number], loops,
                       [&](OpBuilder &inner, ValueRange elements) { return convert(inner, loc, elements[0], f32); });
  }
  Value toOutput(unsigned number, Value tensor, ArrayRef<unsigned> loops) {
    Value output = outputs[number];
    Type type = cast<RankedTensorType>(output.getType()).getElementType();
    return generic(tensor, mapOf(loops), output, maps[inputs.size() + number],
                   [&](OpBuilder &inner, ValueRange elements) { return convert(inner, loc, elements[0], type); });
  }

  Value fill(ArrayRef<unsigned> loops, float number) {
    Value constant = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(number));
    return linalg::FillOp::create(b, loc, constant, empty(loops)).getResult(0);
  }

  // The loops of the result, in their order.
  SmallVector<unsigned> outputLoops() {
    return llvm::filter_to_vector(llvm::seq<unsigned>(0, extents.size()),
                                  [&](unsigned loop) { return maps[inputs.size()].isFunctionOfDim(loop); });
  }

  SmallVector<unsigned> scoreLoops, rowLoops;

private:
  OpBuilder &b;
  Operation *op;
  Location loc;
  ValueRange inputs, outputs;
  Type f32;
  SmallVector<AffineMap> maps; // of inputs and outputs
  SmallVector<OpFoldResult> extents;

  Value infinity(OpBuilder &inner) {
    return arith::ConstantOp::create(inner, loc, inner.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
  }

  Value empty(ArrayRef<unsigned> loops) {
    SmallVector<OpFoldResult> sizes = llvm::map_to_vector(loops, [&](unsigned loop) { return extents[loop]; });
    return tensor::EmptyOp::create(b, loc, sizes, f32);
  }

  AffineMap mapOf(ArrayRef<unsigned> loops) {
    return AffineMap::getMultiDimMapWithTargets(extents.size(), loops, b.getContext());
  }

  // A generic of the loops that its maps use.
  Value generic(ValueRange operands, ArrayRef<AffineMap> ways, Value init, AffineMap result,
                function_ref<Value(OpBuilder &, ValueRange)> body) {
    SmallVector<AffineMap> all(ways);
    all.push_back(result);
    llvm::SmallBitVector unused(extents.size(), true);
    for (AffineMap way : all)
      for (AffineExpr expression : way.getResults())
        unused.reset(cast<AffineDimExpr>(expression).getPosition());
    SmallVector<utils::IteratorType> loops;
    for (unsigned loop = 0; loop < extents.size(); ++loop)
      if (!unused.test(loop))
        loops.push_back(result.isFunctionOfDim(loop) ? utils::IteratorType::parallel : utils::IteratorType::reduction);
    for (AffineMap &way : all)
      way = projectDims(way, unused, /*compressDimsFlag=*/true);
    auto made = linalg::GenericOp::create(b, loc, init.getType(), operands, init, all, loops,
                                          [&](OpBuilder &inner, Location at, ValueRange elements) {
                                            linalg::YieldOp::create(inner, at, body(inner, elements));
                                          });
    return made.getResult(0);
  }

  Value elementwise(ValueRange operands, ArrayRef<AffineMap> ways, ArrayRef<unsigned> loops,
                    function_ref<Value(OpBuilder &, ValueRange)> body) {
    return generic(operands, ways, empty(loops), mapOf(loops), body);
  }

  Value reduce(Value numbers, Value start, Combiner combine) {
    return generic(numbers, mapOf(scoreLoops), start, mapOf(rowLoops),
                   [&](OpBuilder &inner, ValueRange elements) { return combine(inner, elements[0], elements[1]); });
  }

  Value contract(ValueRange operands, ArrayRef<AffineMap> ways, ArrayRef<unsigned> loops, Value start) {
    return generic(operands, ways, start, mapOf(loops), [&](OpBuilder &inner, ValueRange elements) -> Value {
      Value x = convert(inner, loc, elements[0], f32), y = convert(inner, loc, elements[1], f32);
      return arith::AddFOp::create(inner, loc, elements[2], arith::MulFOp::create(inner, loc, x, y));
    });
  }
};
} // namespace

Values lower(OpBuilder &b, AttentionOp op) {
  Attention attention(b, op, op.getIndexingMaps(), op.getInputs(), op.getOutputs());
  Value scores = attention.scores();
  Value largest =
      attention.largest(scores, attention.fill(attention.rowLoops, -std::numeric_limits<float>::infinity()));
  Value exponentials = attention.exponentials(scores, attention.scoreLoops, largest);
  Value sum = attention.sum(exponentials, attention.fill(attention.rowLoops, 0));
  SmallVector<unsigned> loops = attention.outputLoops();
  Value product = attention.weighed(exponentials, attention.fill(loops, 0));
  Value result = attention.withRows(product, loops, sum, [&](OpBuilder &inner, Value x, Value total) -> Value {
    return arith::DivFOp::create(inner, op.getLoc(), x, total);
  });
  return {attention.toOutput(0, result, loops)};
}

Values lower(OpBuilder &b, OnlineAttentionOp op) {
  Attention attention(b, op, op.getIndexingMaps(), op.getInputs(), op.getOutputs());
  ArrayRef<unsigned> rows = attention.rowLoops;
  SmallVector<unsigned> loops = attention.outputLoops();
  Value before = attention.fromOutput(1, rows);
  Value scores = attention.scores();
  Value largest = attention.largest(scores, before);
  // What came before counts less where there is a larger score now.
  Value shrunk = attention.exponentials(before, rows, largest);
  auto multiply = [&](OpBuilder &inner, Value x, Value factor) -> Value {
    return arith::MulFOp::create(inner, op.getLoc(), x, factor);
  };
  Value exponentials = attention.exponentials(scores, attention.scoreLoops, largest);
  Value sum = attention.sum(exponentials, attention.withRows(attention.fromOutput(2, rows), rows, shrunk, multiply));
  Value product =
      attention.weighed(exponentials, attention.withRows(attention.fromOutput(0, loops), loops, shrunk, multiply));
  return {attention.toOutput(0, product, loops), attention.toOutput(1, largest, rows),
          attention.toOutput(2, sum, rows)};
}

} // namespace kiln::LinalgExt
