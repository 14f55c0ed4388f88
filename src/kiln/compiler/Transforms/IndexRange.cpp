#include "kiln/compiler/Transforms/IndexRange.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace kiln {

namespace {
struct Bounds {
  int64_t least, largest;
};
} // namespace

// What the numbers of a node of the expression lie between; nullopt where one of them may be no 64-bit number.
static std::optional<Bounds> boundsOf(AffineExpr expr, ArrayRef<int64_t> extents) {
  if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
    int64_t extent = extents[loop.getPosition()];
    return Bounds{0, std::max<int64_t>(1, ShapedType::isDynamic(extent) ? kLargestExtent : extent) - 1};
  }
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return Bounds{number.getValue(), number.getValue()};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Bounds> a = boundsOf(binary.getLHS(), extents), b = boundsOf(binary.getRHS(), extents);
  if (!a || !b)
    return std::nullopt;
  Bounds result;
  bool wraps = false;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    wraps = llvm::AddOverflow(a->least, b->least, result.least) ||
            llvm::AddOverflow(a->largest, b->largest, result.largest);
    break;
  case AffineExprKind::Mul:
    if (b->least < 0)
      std::swap(a->least, a->largest);
    wraps =
        llvm::MulOverflow(a->least, b->least, result.least) || llvm::MulOverflow(a->largest, b->least, result.largest);
    break;
  case AffineExprKind::FloorDiv:
    result = {llvm::divideFloorSigned(a->least, b->least), llvm::divideFloorSigned(a->largest, b->least)};
    break;
  case AffineExprKind::CeilDiv:
    wraps = llvm::AddOverflow(a->least, b->least - 1, result.least) ||
            llvm::AddOverflow(a->largest, b->least - 1, result.largest);
    result = {llvm::divideFloorSigned(result.least, b->least), llvm::divideFloorSigned(result.largest, b->least)};
    break;
  default: // A remainder.
    result = {0, b->least - 1};
    break;
  }
  return wraps ? std::nullopt : std::optional(result);
}

// The value of an expression of one loop; nullopt where it is no 64-bit number.
static std::optional<int64_t> valueAt(AffineExpr expr, unsigned loop, int64_t index) {
  SmallVector<int64_t> extents(loop + 1, 1);
  AffineExpr replaced =
      expr.replace(getAffineDimExpr(loop, expr.getContext()), getAffineConstantExpr(index, expr.getContext()));
  std::optional<Bounds> bounds = boundsOf(replaced, extents);
  auto number = dyn_cast<AffineConstantExpr>(replaced);
  return bounds && number ? std::optional(number.getValue()) : std::nullopt;
}

// The number of steps after which the expression's differences repeat; nullopt where that is too many to try.
static std::optional<int64_t> periodOf(AffineExpr expr) {
  constexpr int64_t mostSteps = 1024;
  int64_t period = 1;
  expr.walk([&](AffineExpr node) {
    if (node.getKind() != AffineExprKind::FloorDiv && node.getKind() != AffineExprKind::CeilDiv &&
        node.getKind() != AffineExprKind::Mod)
      return;
    int64_t divisor = cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(node).getRHS()).getValue();
    period = divisor > 0 && divisor <= mostSteps && period <= mostSteps ? period * divisor : mostSteps + 1;
  });
  return period <= mostSteps ? std::optional(period) : std::nullopt;
}

// Whether an expression of one loop never falls; whether it never rises; or neither.
static std::optional<bool> isRising(AffineExpr expr, unsigned loop) {
  std::optional<int64_t> period = periodOf(expr), before = valueAt(expr, loop, 0);
  if (!period || !before)
    return std::nullopt;
  bool rises = false, falls = false;
  for (int64_t index = 1; index <= *period; ++index) {
    std::optional<int64_t> value = valueAt(expr, loop, index);
    if (!value)
      return std::nullopt;
    rises |= *value > *before;
    falls |= *value < *before;
    before = value;
  }
  return rises && falls ? std::nullopt : std::optional(!falls);
}

static llvm::SmallBitVector loopsOf(AffineExpr expr, unsigned count) {
  llvm::SmallBitVector loops(count);
  expr.walk([&](AffineExpr node) {
    if (auto loop = dyn_cast<AffineDimExpr>(node))
      loops.set(loop.getPosition());
  });
  return loops;
}

static void appendTerms(AffineExpr expr, SmallVectorImpl<AffineExpr> &terms) {
  if (expr.getKind() != AffineExprKind::Add)
    return terms.push_back(expr);
  appendTerms(cast<AffineBinaryOpExpr>(expr).getLHS(), terms);
  appendTerms(cast<AffineBinaryOpExpr>(expr).getRHS(), terms);
}

namespace {
class RangeBuilder {
public:
  RangeBuilder(OpBuilder &builder, Location loc, ArrayRef<int64_t> extents, function_ref<Value(unsigned)> extentOf)
      : builder(builder), loc(loc), extents(extents), extentOf(extentOf) {}

  IndexRange rangeOf(AffineExpr expr) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      return {constant(0), lastOf(loop.getPosition()), {}, true};
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return {constant(number.getValue()), constant(number.getValue()), {}, true};
    if (std::optional<IndexRange> range = ofOneLoop(expr))
      return *range;
    if (expr.getKind() == AffineExprKind::Add)
      return ofSum(expr);
    auto binary = cast<AffineBinaryOpExpr>(expr);
    IndexRange range = rangeOf(binary.getLHS());
    int64_t number = cast<AffineConstantExpr>(binary.getRHS()).getValue();
    bool wraps = !boundsOf(expr, extents) && boundsOf(binary.getLHS(), extents);
    Value operand = constant(number);
    switch (expr.getKind()) {
    case AffineExprKind::Mul: {
      int64_t most = std::numeric_limits<int64_t>::max();
      if (wraps || range.fits)
        hold(range, number == 0 ? most : most / std::max<int64_t>(1, std::abs(std::max(number, -most))));
      if (number < 0)
        std::swap(range.least, range.largest);
      range.least = arith::MulIOp::create(builder, loc, range.least, operand);
      range.largest = arith::MulIOp::create(builder, loc, range.largest, operand);
      return range;
    }
    case AffineExprKind::CeilDiv: {
      if (wraps || range.fits)
        hold(range, std::numeric_limits<int64_t>::max() - number);
      Value up = constant(number - 1);
      range.least = add(range.least, up);
      range.largest = add(range.largest, up);
      [[fallthrough]];
    }
    case AffineExprKind::FloorDiv:
      range.least = divide(range.least, operand);
      range.largest = divide(range.largest, operand);
      return range;
    default: break;
    }
    // A remainder takes all values where the number passes a multiple.
    Value first = divide(range.least, operand), last = divide(range.largest, operand);
    Value isOnePeriod = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, first, last);
    Value start = arith::MulIOp::create(builder, loc, first, operand);
    auto inPeriod = [&](Value number, Value otherwise) {
      Value rest = arith::SubIOp::create(builder, loc, number, start);
      return arith::SelectOp::create(builder, loc, isOnePeriod, rest, otherwise).getResult();
    };
    range.least = inPeriod(range.least, constant(0));
    range.largest = inPeriod(range.largest, constant(number - 1));
    range.isExact &= isa<AffineDimExpr>(binary.getLHS());
    return range;
  }

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value divide(Value a, Value b) { return arith::FloorDivSIOp::create(builder, loc, a, b); }
  Value lastOf(unsigned loop) { return add(extentOf(loop), constant(-1)); }

  // The range's numbers must lie between -`most` and `most`, so that what is computed of them does not wrap.
  void hold(IndexRange &range, int64_t most) {
    auto isAtMost = [&](Value a, Value b) {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, a, b).getResult();
    };
    Value fits = arith::AndIOp::create(builder, loc, isAtMost(constant(-most), range.least),
                                       isAtMost(range.largest, constant(most)));
    range.fits = range.fits ? arith::AndIOp::create(builder, loc, range.fits, fits).getResult() : fits;
  }

  // What only rises or only falls along its loop is at its ends there.
  std::optional<IndexRange> ofOneLoop(AffineExpr expr) {
    llvm::SmallBitVector loops = loopsOf(expr, extents.size());
    if (loops.count() != 1 || !boundsOf(expr, extents))
      return std::nullopt;
    unsigned loop = loops.find_first();
    std::optional<bool> rises = isRising(expr, loop);
    if (!rises)
      return std::nullopt;
    SmallVector<Value> places(extents.size());
    for (Value &place : places)
      place = constant(0);
    places[loop] = lastOf(loop);
    IndexRange range;
    range.least = constant(*valueAt(expr, loop, 0));
    range.largest = affine::expandAffineExpr(builder, loc, expr, places, {});
    if (!*rises)
      std::swap(range.least, range.largest);
    return range;
  }

  // Terms that share no loop take their largest values at once, and are bounded one by one.
  IndexRange ofSum(AffineExpr expr) {
    SmallVector<AffineExpr> terms, groups;
    appendTerms(expr, terms);
    for (AffineExpr term : terms) {
      llvm::SmallBitVector loops = loopsOf(term, extents.size());
      auto shares = [&](AffineExpr group) { return loops.count() == 1 && loopsOf(group, extents.size()) == loops; };
      auto found = llvm::find_if(groups, shares);
      if (found == groups.end())
        groups.push_back(term);
      else
        *found = *found + term;
    }
    // A sum of one loop that neither rises nor falls is bounded term by term.
    SmallVector<IndexRange> parts;
    llvm::SmallBitVector seen(extents.size());
    bool isExact = true;
    for (AffineExpr group : groups) {
      llvm::SmallBitVector loops = loopsOf(group, extents.size());
      isExact &= !seen.anyCommon(loops);
      seen |= loops;
      if (group.getKind() != AffineExprKind::Add) {
        parts.push_back(rangeOf(group));
      } else if (std::optional<IndexRange> range = ofOneLoop(group)) {
        parts.push_back(*range);
      } else {
        isExact = false;
        SmallVector<AffineExpr> members;
        appendTerms(group, members);
        for (AffineExpr member : members)
          parts.push_back(rangeOf(member));
      }
    }
    bool wraps = !boundsOf(expr, extents);
    IndexRange sum = parts.front();
    auto limit = [&](IndexRange &range) {
      constexpr int64_t most = int64_t(1) << 61;
      if (wraps)
        hold(range, most);
    };
    limit(sum);
    for (IndexRange &part : llvm::drop_begin(parts)) {
      limit(part);
      sum.least = add(sum.least, part.least);
      sum.largest = add(sum.largest, part.largest);
      if (sum.fits && part.fits)
        sum.fits = arith::AndIOp::create(builder, loc, sum.fits, part.fits);
      else if (part.fits)
        sum.fits = part.fits;
      sum.isExact &= part.isExact;
      limit(sum);
    }
    sum.isExact &= isExact;
    return sum;
  }

  OpBuilder &builder;
  Location loc;
  ArrayRef<int64_t> extents;
  function_ref<Value(unsigned)> extentOf;
};
} // namespace

bool fitsIn64Bits(AffineExpr expr, ArrayRef<int64_t> extents) {
  return boundsOf(expr, extents).has_value();
}

IndexRange rangeOf(OpBuilder &builder, Location loc, AffineExpr expr, ArrayRef<int64_t> extents,
                   function_ref<Value(unsigned)> extentOf) {
  return RangeBuilder(builder, loc, extents, extentOf).rangeOf(expr);
}

} // namespace kiln
