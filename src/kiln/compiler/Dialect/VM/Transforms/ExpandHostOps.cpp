#include "kiln/compiler/Dialect/VM/Transforms/ExpandHostOps.h"

#include "kiln/compiler/Interfaces/RoundIntegers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln::VM {

namespace {
// Writes arithmetic on scalars in front of an operation.
class Expansion {
public:
  explicit Expansion(Operation *op) : builder(op), loc(op->getLoc()) {}

  SmallVector<Value> run(Operation *op) {
    SmallVector<Value> results;
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](math::AbsIOp abs) {
          Value x = abs.getOperand();
          results = {make<arith::MaxSIOp>(x, make<arith::SubIOp>(integer(x.getType(), 0), x))};
        })
        .Case([&](math::CtPopOp count) { results = {narrow(countOnes(bits(count.getOperand())), count.getType())}; })
        .Case([&](math::CountLeadingZerosOp count) {
          Value x = bits(count.getOperand());
          for (int64_t step = 1; step < 64; step *= 2)
            x = make<arith::OrIOp>(x, shifted(x, step));
          Value rest = make<arith::SubIOp>(number(widthOf(count.getType())), countOnes(x));
          results = {narrow(rest, count.getType())};
        })
        .Case([&](math::CountTrailingZerosOp count) {
          Value x = bits(count.getOperand());
          Value below = make<arith::AndIOp>(make<arith::XOrIOp>(x, number(-1)), make<arith::SubIOp>(x, number(1)));
          Value zeros = make<arith::MinUIOp>(countOnes(below), number(widthOf(count.getType())));
          results = {narrow(zeros, count.getType())};
        })
        .Case([&](arith::AddUIExtendedOp sum) {
          Value low = make<arith::AddIOp>(sum.getLhs(), sum.getRhs());
          results = {low, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, low, sum.getLhs())};
        })
        .Case([&](arith::MulUIExtendedOp product) {
          results = wideProduct(product.getLhs(), product.getRhs(), bits(product.getLhs()), bits(product.getRhs()));
        })
        .Case([&](arith::MulSIExtendedOp product) {
          Value a = signedBits(product.getLhs()), b = signedBits(product.getRhs());
          results = wideProduct(product.getLhs(), product.getRhs(), a, b, /*isSigned=*/true);
        })
        .Case([&](math::TruncOp round) { results = {truncated(round.getOperand())}; })
        .Case([&](math::RoundOp round) { results = {rounded(round.getOperand())}; })
        .Case([&](math::CopySignOp sign) { results = {withSignOf(sign.getLhs(), sign.getRhs())}; })
        .Case<arith::SIToFPOp, arith::UIToFPOp>([&](auto op) {
          // The VM rounds by way of f64.
          if (op.getType().isBF16())
            results = {rounded<decltype(op)>(op.getIn(), op.getType())};
        })
        .Case<arith::MaxNumFOp, arith::MinNumFOp>([&](auto op) {
          Value a = op.getLhs(), b = op.getRhs();
          Value chosen =
              isa<arith::MaxNumFOp>(op.getOperation()) ? make<arith::MaximumFOp>(a, b) : make<arith::MinimumFOp>(a, b);
          Value orFirst = make<arith::SelectOp>(compare(arith::CmpFPredicate::UNO, b, b), a, chosen);
          results = {make<arith::SelectOp>(compare(arith::CmpFPredicate::UNO, a, a), b, orFirst)};
        });
    return results;
  }

private:
  template <typename Op, typename... Operands> Value make(Operands... operands) {
    return Op::create(builder, loc, operands...)->getResult(0);
  }
  Value integer(Type type, int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  }
  Value number(int64_t value) { return integer(builder.getI64Type(), value); }
  Value real(Type type, double value) {
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, predicate, a, b);
  }
  static int64_t widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

  //===--- Integers, as i64 ---------------------------------------------------------------------------------------===//

  Value bits(Value x) {
    if (x.getType().isIndex())
      return make<arith::IndexCastOp>(builder.getI64Type(), x);
    return x.getType().isInteger(64) ? x : make<arith::ExtUIOp>(builder.getI64Type(), x);
  }
  Value signedBits(Value x) {
    return widthOf(x.getType()) == 64 ? bits(x) : make<arith::ExtSIOp>(builder.getI64Type(), x);
  }
  Value narrow(Value x, Type type) {
    if (type.isIndex())
      return make<arith::IndexCastOp>(type, x);
    return type.isInteger(64) ? x : make<arith::TruncIOp>(type, x);
  }
  Value shifted(Value x, int64_t count) { return make<arith::ShRUIOp>(x, number(count)); }
  Value masked(Value x, int64_t mask) { return make<arith::AndIOp>(x, number(mask)); }

  // Of pairs of bits, then of four, then of all bytes.
  Value countOnes(Value x) {
    x = make<arith::SubIOp>(x, masked(shifted(x, 1), 0x5555555555555555));
    x = make<arith::AddIOp>(masked(x, 0x3333333333333333), masked(shifted(x, 2), 0x3333333333333333));
    x = masked(make<arith::AddIOp>(x, shifted(x, 4)), 0x0f0f0f0f0f0f0f0f);
    return shifted(make<arith::MulIOp>(x, number(0x0101010101010101)), 56);
  }

  // The lower and the upper half of the product of `x` and `y`, which are `a` and `b` as i64.
  SmallVector<Value> wideProduct(Value x, Value y, Value a, Value b, bool isSigned = false) {
    Type type = x.getType();
    Value low = make<arith::MulIOp>(x, y);
    if (int64_t width = widthOf(type); width < 64)
      return {low, narrow(shifted(make<arith::MulIOp>(a, b), width), type)};
    constexpr int64_t lowHalf = 0xffffffff;
    Value al = masked(a, lowHalf), ah = shifted(a, 32), bl = masked(b, lowHalf), bh = shifted(b, 32);
    Value first = shifted(make<arith::MulIOp>(al, bl), 32);
    Value second = make<arith::AddIOp>(make<arith::MulIOp>(ah, bl), first);
    Value third = make<arith::AddIOp>(make<arith::MulIOp>(al, bh), masked(second, lowHalf));
    Value high = make<arith::AddIOp>(make<arith::MulIOp>(ah, bh), shifted(second, 32));
    high = make<arith::AddIOp>(high, shifted(third, 32));
    if (isSigned) {
      // A negative number was taken to be 2^64 more.
      Value aSign = make<arith::ShRSIOp>(a, number(63)), bSign = make<arith::ShRSIOp>(b, number(63));
      high = make<arith::SubIOp>(high, make<arith::AndIOp>(aSign, b));
      high = make<arith::SubIOp>(high, make<arith::AndIOp>(bSign, a));
    }
    return {low, narrow(high, type)};
  }

  //===--- Floats -------------------------------------------------------------------------------------------------===//

  Value truncated(Value x) {
    Value isNegative = compare(arith::CmpFPredicate::OLT, x, real(x.getType(), 0));
    return make<arith::SelectOp>(isNegative, make<math::CeilOp>(x), make<math::FloorOp>(x));
  }

  template <typename Conversion> Value rounded(Value x, Type type) {
    Value exact = fitIntoF64(builder, loc, x, std::is_same_v<Conversion, arith::SIToFPOp>);
    return make<arith::TruncFOp>(type, make<Conversion>(builder.getF64Type(), exact));
  }

  // Halves go away from zero. Zeros keep their sign, as nothing is added to them.
  Value rounded(Value x) {
    Type type = x.getType();
    Value whole = truncated(x);
    Value rest = make<math::AbsFOp>(make<arith::SubFOp>(x, whole));
    Value isNegative = compare(arith::CmpFPredicate::OLT, x, real(type, 0));
    Value step = make<arith::SelectOp>(isNegative, real(type, -1), real(type, 1));
    Value isFar = compare(arith::CmpFPredicate::OGE, rest, real(type, 0.5));
    return make<arith::SelectOp>(isFar, make<arith::AddFOp>(whole, step), whole);
  }

  Value withSignOf(Value x, Value sign) {
    Type type = builder.getIntegerType(widthOf(x.getType()));
    APInt signBit = APInt::getSignMask(type.getIntOrFloatBitWidth());
    auto constant = [&](const APInt &value) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
    };
    Value magnitude = make<arith::AndIOp>(make<arith::BitcastOp>(type, x), constant(~signBit));
    Value taken = make<arith::AndIOp>(make<arith::BitcastOp>(type, sign), constant(signBit));
    return make<arith::BitcastOp>(x.getType(), make<arith::OrIOp>(magnitude, taken));
  }

  OpBuilder builder;
  Location loc;
};
} // namespace

void expandHostOps(Operation *host) {
  SmallVector<Operation *> ops;
  host->walk([&](Operation *op) {
    if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    SmallVector<Value> results = Expansion(op).run(op);
    if (results.empty())
      continue;
    op->replaceAllUsesWith(results);
    op->erase();
  }
}

} // namespace kiln::VM
