// Of iree_linalg_ext what orders elements, and what combines prefixes: each in a number of passes over the tensor that
// grows as the logarithm of the dimension.
#include "kiln/compiler/Transforms/LinalgExtLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::LinalgExt {

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value add(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
static Value sub(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::SubIOp::create(b, loc, x, y);
}
static Value less(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
}
static Value both(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::AndIOp::create(b, loc, x, y);
}
static Value choose(OpBuilder &b, Location loc, Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}
static Value opposite(OpBuilder &b, Location loc, Value condition) {
  return arith::XOrIOp::create(b, loc, condition, arith::ConstantIntOp::create(b, loc, 1, 1));
}
static Value read(OpBuilder &b, Location loc, Value tensor, ValueRange indices) {
  return tensor::ExtractOp::create(b, loc, tensor, indices);
}

static Values withIndex(ValueRange indices, int64_t dimension, Value index) {
  Values changed(indices);
  changed[dimension] = index;
  return changed;
}

// Repeats `pass` while `width`, which starts with 1 and doubles, is less than `extent`. The pass is also given how
// often an interval of `width` elements can be halved, and once more.
static Values repeatDoubling(OpBuilder &b, Location loc, Value extent, ValueRange start,
                             function_ref<Values(OpBuilder &, Value width, Value halvings, ValueRange)> pass) {
  Value one = constantIndex(b, loc, 1);
  Values carried{one, one};
  carried.append(start.begin(), start.end());
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange(ValueRange(carried)), carried,
      [&](OpBuilder &inner, Location, ValueRange now) {
        scf::ConditionOp::create(inner, loc, less(inner, loc, now[0], extent), now);
      },
      [&](OpBuilder &inner, Location, ValueRange now) {
        Values next{add(inner, loc, now[0], now[0]), add(inner, loc, now[1], one)};
        next.append(pass(inner, now[0], now[1], now.drop_front(2)));
        scf::YieldOp::create(inner, loc, next);
      });
  return Values(loop.getResults().drop_front());
}

// The half-open interval that is left after `halvings` steps: each looks at the middle, and goes on behind it or before
// it.
static Value bisect(OpBuilder &b, Location loc, Value low, Value high, Value halvings,
                    function_ref<Value(OpBuilder &, Value middle)> goesBehind) {
  Value zero = constantIndex(b, loc, 0), one = constantIndex(b, loc, 1);
  auto loop = scf::ForOp::create(
      b, loc, zero, halvings, one, ValueRange{low, high}, [&](OpBuilder &inner, Location, Value, ValueRange now) {
        Value isOpen = less(inner, loc, now[0], now[1]);
        Value middle = arith::ShRUIOp::create(inner, loc, add(inner, loc, now[0], now[1]), one);
        Value behind = goesBehind(inner, middle);
        Value isBehind = both(inner, loc, isOpen, behind);
        Value isBefore = both(inner, loc, isOpen, opposite(inner, loc, behind));
        scf::YieldOp::create(inner, loc,
                             ValueRange{choose(inner, loc, isBehind, add(inner, loc, middle, one), now[0]),
                                        choose(inner, loc, isBefore, middle, now[1])});
      });
  return loop.getResult(0);
}

namespace {
struct Order {
  // A tensor of the index that the element at each place had along the dimension.
  Value places;
  // As many steps as it takes to find one of its elements.
  Value halvings;
};
} // namespace

// Whether the element at the first indices goes before the one at the second.
using Comparison = function_ref<Value(OpBuilder &, ValueRange, ValueRange)>;

// Merges neighbouring runs of twice the length in each pass. Each element of a merged run finds by bisection how many
// of the elements before it are from the left run, so that all can be computed at once.
static Order orderAlong(OpBuilder &b, Location loc, Value like, int64_t dimension, Comparison goesBefore) {
  Value extent = extentOf(b, loc, like, dimension);
  Value unordered = generate(b, loc, emptyLike(b, loc, like, b.getIndexType()),
                             [&](OpBuilder &, ValueRange at, ValueRange) { return Values{at[dimension]}; })[0];
  auto merge = [&](OpBuilder &outer, Value width, Value halvings, ValueRange carried) {
    Value places = carried[0];
    Value pairWidth = add(outer, loc, width, width);
    return generate(
        outer, loc, emptyLike(outer, loc, like, b.getIndexType()),
        [&](OpBuilder &inner, ValueRange at, ValueRange) -> Values {
          Value zero = constantIndex(inner, loc, 0), one = constantIndex(inner, loc, 1);
          auto atMost = [&](Value x, Value y) -> Value { return arith::MinSIOp::create(inner, loc, x, y); };
          Value offset = arith::RemUIOp::create(inner, loc, at[dimension], pairWidth);
          Value left = sub(inner, loc, at[dimension], offset);
          Value right = atMost(add(inner, loc, left, width), extent);
          Value end = atMost(add(inner, loc, left, pairWidth), extent);
          Value leftCount = sub(inner, loc, right, left), rightCount = sub(inner, loc, end, right);
          auto whereOf = [&](OpBuilder &where, Value run, Value number) {
            return withIndex(at, dimension,
                             read(where, loc, places, withIndex(at, dimension, add(where, loc, run, number))));
          };
          Value low = arith::MaxSIOp::create(inner, loc, sub(inner, loc, offset, rightCount), zero);
          Value high = atMost(offset, leftCount);
          Value fromLeft = bisect(inner, loc, low, high, halvings, [&](OpBuilder &step, Value middle) -> Value {
            Value other = sub(step, loc, sub(step, loc, offset, middle), one);
            return opposite(step, loc, goesBefore(step, whereOf(step, right, other), whereOf(step, left, middle)));
          });
          Value fromRight = sub(inner, loc, offset, fromLeft);
          Values leftPlace = whereOf(inner, left, fromLeft), rightPlace = whereOf(inner, right, fromRight);
          Value hasLeft = less(inner, loc, fromLeft, leftCount);
          Value hasRight = less(inner, loc, fromRight, rightCount);
          Value isRight = both(inner, loc, hasRight, goesBefore(inner, rightPlace, leftPlace));
          Value isLeft = both(inner, loc, hasLeft, opposite(inner, loc, isRight));
          return {choose(inner, loc, isLeft, leftPlace[dimension], rightPlace[dimension])};
        });
  };
  Values ordered = repeatDoubling(b, loc, extent, unordered, merge);
  return {ordered[1], ordered[0]};
}

// Compares by the op's body, whose arguments are pairs of elements of the tensors.
static Value compareBy(OpBuilder &b, Operation *op, ValueRange tensors, ValueRange first, ValueRange second) {
  Values pairs;
  for (Value tensor : tensors) {
    pairs.push_back(read(b, op->getLoc(), tensor, first));
    pairs.push_back(read(b, op->getLoc(), tensor, second));
  }
  return inlineBody(b, op, pairs)[0];
}

// The first elements in order, as many as `inits` have.
static Values fetchOrdered(OpBuilder &b, Location loc, ValueRange tensors, const Order &order, int64_t dimension,
                           ValueRange inits) {
  return generate(b, loc, inits, [&](OpBuilder &inner, ValueRange at, ValueRange) {
    Values from = withIndex(at, dimension, read(inner, loc, order.places, at));
    return llvm::map_to_vector(tensors, [&](Value tensor) { return read(inner, loc, tensor, from); });
  });
}

Values lower(OpBuilder &b, SortOp op) {
  Location loc = op.getLoc();
  ValueRange tensors = op.getOutputs();
  Order order = orderAlong(b, loc, tensors[0], op.getDimension(), [&](OpBuilder &inner, ValueRange x, ValueRange y) {
    return compareBy(inner, op, tensors, x, y);
  });
  Values inits = llvm::map_to_vector(
      tensors, [&](Value tensor) { return emptyLike(b, loc, tensor, tensorType(tensor).getElementType()); });
  return fetchOrdered(b, loc, tensors, order, op.getDimension(), inits);
}

Values lowerTopk(OpBuilder &b, Operation *op, int64_t dimension, ValueRange inputs, ValueRange outputs) {
  Location loc = op->getLoc();
  Values all(inputs);
  if (outputs.size() > inputs.size()) {
    Type type = tensorType(outputs[1]).getElementType();
    all.push_back(
        generate(b, loc, emptyLike(b, loc, inputs[0], type), [&](OpBuilder &inner, ValueRange at, ValueRange) {
          return Values{type.isIndex() ? at[dimension]
                                       : arith::IndexCastOp::create(inner, loc, type, at[dimension]).getResult()};
        })[0]);
  }
  for (auto [competitors, output] : llvm::zip(all, outputs))
    competitors = tensor::ConcatOp::create(b, loc, dimension, ValueRange{output, competitors});
  Order order = orderAlong(b, loc, all[0], dimension, [&](OpBuilder &inner, ValueRange x, ValueRange y) {
    return compareBy(inner, op, all[0], x, y);
  });
  return fetchOrdered(b, loc, all, order, dimension, outputs);
}

// A tensor of one dimension with the same elements.
static Value flat(OpBuilder &b, Location loc, Value tensor) {
  int64_t rank = tensorType(tensor).getRank();
  if (rank == 1)
    return tensor;
  SmallVector<ReassociationIndices> groups(rank == 0 ? 0 : 1);
  for (int64_t dim = 0; dim < rank; ++dim)
    groups[0].push_back(dim);
  if (rank != 0)
    return tensor::CollapseShapeOp::create(b, loc, tensor, groups);
  auto type = RankedTensorType::get({1}, tensorType(tensor).getElementType());
  return tensor::ExpandShapeOp::create(b, loc, type, tensor, groups);
}

// The elements are ordered by the place where they are put; then each place of the result looks for the last one.
Values lower(OpBuilder &b, MapStoreOp op) {
  Location loc = op.getLoc();
  Value count = constantIndex(b, loc, 1), zero = constantIndex(b, loc, 0), one = count;
  Values extents;
  for (int64_t dim = 0; dim < tensorType(op.getOutput()).getRank(); ++dim) {
    extents.push_back(extentOf(b, loc, op.getOutput(), dim));
    count = arith::MulIOp::create(b, loc, count, extents.back());
  }
  auto linear = [&](OpBuilder &inner, ValueRange indices) {
    Value number = zero;
    for (auto [index, extent] : llvm::zip(indices, extents))
      number = add(inner, loc, arith::MulIOp::create(inner, loc, number, extent), index);
    return number;
  };
  Value target = generate(
      b, loc, emptyLike(b, loc, op.getSource(), b.getIndexType()), [&](OpBuilder &inner, ValueRange at, ValueRange) {
        Values places = inlineBody(inner, op, at);
        Value isPut = places.pop_back_val();
        for (auto [place, extent] : llvm::zip(places, extents))
          isPut = both(inner, loc, isPut, arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, place, extent));
        return Values{choose(inner, loc, isPut, linear(inner, places), count)};
      })[0];
  Value targets = flat(b, loc, target), elements = flat(b, loc, op.getSource());
  Order order = orderAlong(b, loc, targets, 0, [&](OpBuilder &inner, ValueRange x, ValueRange y) {
    return less(inner, loc, read(inner, loc, targets, x), read(inner, loc, targets, y));
  });
  Value elementCount = extentOf(b, loc, elements, 0);
  return generate(b, loc, op.getOutput(), [&](OpBuilder &inner, ValueRange at, ValueRange before) -> Values {
    Value wanted = linear(inner, at);
    auto targetOf = [&](OpBuilder &where, Value number) {
      return read(where, loc, targets, read(where, loc, order.places, number));
    };
    Value behind = bisect(inner, loc, zero, elementCount, order.halvings, [&](OpBuilder &step, Value middle) -> Value {
      return arith::CmpIOp::create(step, loc, arith::CmpIPredicate::sle, targetOf(step, middle), wanted);
    });
    Value last = sub(inner, loc, behind, one);
    Value isThere = both(inner, loc, less(inner, loc, zero, behind),
                         arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, targetOf(inner, last), wanted));
    Value element = read(inner, loc, elements, read(inner, loc, order.places, last));
    return {choose(inner, loc, isThere, element, before[0])};
  });
}

// In each pass every element is combined with the one that lies `width` before it, which stands for as many elements.
Values lower(OpBuilder &b, ScanOp op) {
  Location loc = op.getLoc();
  int64_t dimension = op.getDimension();
  Type element = tensorType(op.getInput()).getElementType();
  auto before = [&](OpBuilder &inner, Value tensor, ValueRange at, Value distance) {
    return read(inner, loc, tensor, withIndex(at, dimension, sub(inner, loc, at[dimension], distance)));
  };
  auto rest = [&](ValueRange at) {
    Values others(at);
    others.erase(others.begin() + dimension);
    return others;
  };
  Value start = op.getInput(), extent = extentOf(b, loc, start, dimension);
  if (!op.getInclusive())
    start = generate(b, loc, emptyLike(b, loc, start, element), [&](OpBuilder &inner, ValueRange at, ValueRange) {
      Value zero = constantIndex(inner, loc, 0), one = constantIndex(inner, loc, 1);
      Value isFirst = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, at[dimension], zero);
      return Values{choose(inner, loc, isFirst, read(inner, loc, op.getAccumulator(), rest(at)),
                           before(inner, op.getInput(), at, one))};
    })[0];
  auto combine = [&](OpBuilder &outer, Value width, Value, ValueRange carried) {
    Value now = carried[0];
    return generate(outer, loc, emptyLike(outer, loc, now, element), [&](OpBuilder &inner, ValueRange at, ValueRange) {
      Value own = read(inner, loc, now, at);
      Value combined = inlineBody(inner, op, {before(inner, now, at, width), own})[0];
      return Values{choose(inner, loc, less(inner, loc, at[dimension], width), own, combined)};
    });
  };
  Value prefixes = repeatDoubling(b, loc, extent, start, combine)[1];
  Value last = sub(b, loc, extent, constantIndex(b, loc, 1));
  Values whole = generate(b, loc, op.getAccumulator(), [&](OpBuilder &inner, ValueRange at, ValueRange) {
    Values from(at);
    from.insert(from.begin() + dimension, last);
    return Values{read(inner, loc, prefixes, from)};
  });
  if (prefixes.getType() != op.getOutput().getType())
    prefixes = tensor::CastOp::create(b, loc, op.getOutput().getType(), prefixes);
  return {prefixes, whole[0]};
}

} // namespace kiln::LinalgExt
