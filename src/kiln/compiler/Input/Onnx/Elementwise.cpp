// Operators that compute each element from one of each operand.

#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln::onnx {

double largestOfNarrow(DataType type) {
  switch (type) {
  case DataType::F8E4M3FN: return 448;
  case DataType::F8E4M3FNUZ: return 240;
  case DataType::F8E5M2:
  case DataType::F8E5M2FNUZ: return 57344;
  default: return 0;
  }
}

namespace {

//===--- One operand ----------------------------------------------------------------------------------------------===//

using Unary = mlir::Value (*)(Scalars &, mlir::Value);

template <Unary function> LogicalResult lowerUnary(NodeLowering &n) {
  return n.give(
      n.e.elementwise({&n.in(0)}, n.in(0).type, [](Scalars &s, ValueRange args) { return function(s, args[0]); }));
}
LogicalResult lowerNeg(NodeLowering &n) {
  if (std::optional<Value> folded = n.e.fold({&n.in(0)}, n.in(0).type, [&](ArrayRef<OpFoldResult> x) {
        return std::optional(n.e.sub(n.e.number(0), x[0]));
      }))
    return n.give(*folded);
  return lowerUnary<[](Scalars &s, mlir::Value x) { return s.neg(x); }>(n);
}
template <typename Op> mlir::Value call(Scalars &s, mlir::Value x) {
  return s.make<Op>(x);
}

mlir::Value relu(Scalars &s, mlir::Value x) {
  return s.max(x, s.like(0, x));
}
mlir::Value magnitude(Scalars &s, mlir::Value x) {
  return isa<FloatType>(x.getType()) ? s.make<math::AbsFOp>(x) : s.make<math::AbsIOp>(x);
}
mlir::Value sign(Scalars &s, mlir::Value x) {
  mlir::Value zero = s.like(0, x), one = s.like(1, x);
  mlir::Value negative = s.select(s.less(x, zero), s.neg(one), zero);
  return s.select(s.less(zero, x), one, negative);
}
mlir::Value reciprocal(Scalars &s, mlir::Value x) {
  return s.div(s.like(1, x), x);
}
mlir::Value sigmoid(Scalars &s, mlir::Value x) {
  return s.sigmoid(x);
}
mlir::Value softplus(Scalars &s, mlir::Value x) {
  return s.softplus(x);
}
mlir::Value softsign(Scalars &s, mlir::Value x) {
  return s.div(x, s.add(s.like(1, x), s.make<math::AbsFOp>(x)));
}
mlir::Value mish(Scalars &s, mlir::Value x) {
  return s.mul(x, s.make<math::TanhOp>(s.softplus(x)));
}
mlir::Value hardSwish(Scalars &s, mlir::Value x) {
  mlir::Value gate = s.add(s.mul(x, s.like(1.0 / 6, x)), s.like(0.5, x));
  return s.mul(x, s.max(s.like(0, x), s.min(s.like(1, x), gate)));
}
mlir::Value bitwiseNot(Scalars &s, mlir::Value x) {
  return s.make<arith::XOrIOp>(x, s.constant(-1, x.getType()));
}

// Of attributes.
using Gated = mlir::Value (*)(Scalars &, mlir::Value x, double alpha, double beta);
template <Gated function> LogicalResult lowerGated(NodeLowering &n, double alpha, double beta) {
  alpha = n.real("alpha", alpha);
  beta = n.real(n.node.op == "Selu" ? "gamma" : "beta", beta);
  return n.give(n.e.elementwise({&n.in(0)}, n.in(0).type,
                                [&](Scalars &s, ValueRange args) { return function(s, args[0], alpha, beta); }));
}
mlir::Value exponentialBelow(Scalars &s, mlir::Value x, mlir::Value scale) {
  mlir::Value below = s.mul(scale, s.make<math::ExpM1Op>(s.min(x, s.like(0, x))));
  return s.select(s.lessOrEqual(x, s.like(0, x)), below, x);
}
LogicalResult lowerElu(NodeLowering &n) {
  return lowerGated<[](Scalars &s, mlir::Value x, double alpha, double) {
    return exponentialBelow(s, x, s.like(alpha, x));
  }>(n, 1, 0);
}
LogicalResult lowerCelu(NodeLowering &n) {
  return lowerGated<[](Scalars &s, mlir::Value x, double alpha, double) {
    mlir::Value zero = s.like(0, x), scale = s.like(alpha, x);
    mlir::Value below = s.mul(scale, s.make<math::ExpM1Op>(s.div(s.min(x, zero), scale)));
    return s.add(s.max(x, zero), below);
  }>(n, 1, 0);
}
LogicalResult lowerSelu(NodeLowering &n) {
  return lowerGated<[](Scalars &s, mlir::Value x, double alpha, double gamma) {
    return s.mul(s.like(gamma, x), exponentialBelow(s, x, s.like(alpha, x)));
  }>(n, 1.67326319217681884765625, 1.05070102214813232421875);
}
LogicalResult lowerLeakyRelu(NodeLowering &n) {
  return lowerGated<[](Scalars &s, mlir::Value x, double alpha, double) {
    return s.select(s.less(x, s.like(0, x)), s.mul(x, s.like(alpha, x)), x);
  }>(n, 0.01, 0);
}
LogicalResult lowerThresholdedRelu(NodeLowering &n) {
  return lowerGated<[](Scalars &s, mlir::Value x, double alpha, double) {
    return s.select(s.less(s.like(alpha, x), x), x, s.like(0, x));
  }>(n, 1, 0);
}
LogicalResult lowerHardSigmoid(NodeLowering &n) {
  return lowerGated<[](Scalars &s, mlir::Value x, double alpha, double beta) {
    mlir::Value line = s.add(s.mul(x, s.like(alpha, x)), s.like(beta, x));
    return s.max(s.like(0, x), s.min(s.like(1, x), line));
  }>(n, 0.2, 0.5);
}
LogicalResult lowerSwish(NodeLowering &n) {
  return lowerGated<[](Scalars &s, mlir::Value x, double alpha, double) {
    return s.mul(x, s.sigmoid(s.mul(x, s.like(alpha, x))));
  }>(n, 1, 0);
}
LogicalResult lowerShrink(NodeLowering &n) {
  const double bias = n.real("bias", 0), limit = n.real("lambd", 0.5);
  return n.give(n.e.elementwise({&n.in(0)}, n.in(0).type, [&](Scalars &s, ValueRange args) {
    mlir::Value x = args[0];
    mlir::Value below = s.select(s.less(x, s.like(-limit, x)), s.add(x, s.like(bias, x)), s.like(0, x));
    return s.select(s.less(s.like(limit, x), x), s.sub(x, s.like(bias, x)), below);
  }));
}
LogicalResult lowerSwiGLU(NodeLowering &n) {
  const double alpha = n.real("alpha", 1);
  return n.give(n.e.elementwise({&n.in(0), &n.in(1)}, n.in(0).type, [&](Scalars &s, ValueRange args) {
    return s.mul(s.mul(args[0], s.sigmoid(s.mul(args[0], s.like(alpha, args[0])))), args[1]);
  }));
}
LogicalResult lowerGelu(NodeLowering &n) {
  const bool isTanh = n.text("approximate", "none") == "tanh";
  return n.give(
      n.e.elementwise({&n.in(0)}, n.in(0).type, [&](Scalars &s, ValueRange args) { return s.gelu(args[0], isTanh); }));
}

//===--- Two operands ---------------------------------------------------------------------------------------------===//

using Binary = mlir::Value (*)(Scalars &, mlir::Value, mlir::Value);

// Extents are computed as such.
template <Binary function, int what> LogicalResult lowerArithmetic(NodeLowering &n) {
  const Value &x = n.in(0), &y = n.in(1);
  if (what >= 0)
    if (std::optional<Value> folded = n.e.fold({&x, &y}, x.type, [&](ArrayRef<OpFoldResult> args) {
          return std::optional(n.e.compute(static_cast<Emitter::Arithmetic>(what), args[0], args[1]));
        }))
      return n.give(*folded);
  return n.give(
      n.e.elementwise({&x, &y}, x.type, [](Scalars &s, ValueRange args) { return function(s, args[0], args[1]); }));
}
// Of numbers that are known the result is, too.
template <Binary function, bool (*known)(int64_t, int64_t)> LogicalResult lowerComparison(NodeLowering &n) {
  const Value &x = n.in(0), &y = n.in(1);
  if (std::optional<Value> folded =
          n.e.fold({&x, &y}, DataType::Bool, [&](ArrayRef<OpFoldResult> args) -> std::optional<OpFoldResult> {
            std::optional<int64_t> left = Emitter::known(args[0]), right = Emitter::known(args[1]);
            if (!left || !right)
              return std::nullopt;
            return n.e.number(known(*left, *right) ? 1 : 0);
          }))
    return n.give(*folded);
  return n.give(n.e.elementwise({&x, &y}, DataType::Bool,
                                [](Scalars &s, ValueRange args) { return function(s, args[0], args[1]); }));
}

mlir::Value plus(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.add(x, y);
}
mlir::Value minus(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.sub(x, y);
}
mlir::Value times(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.mul(x, y);
}
mlir::Value over(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.div(x, y);
}
mlir::Value largest(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.max(x, y);
}
mlir::Value smallest(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.min(x, y);
}
mlir::Value isLess(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.less(x, y);
}
mlir::Value isLessOrEqual(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.lessOrEqual(x, y);
}
mlir::Value isGreater(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.less(y, x);
}
mlir::Value isGreaterOrEqual(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.lessOrEqual(y, x);
}
mlir::Value isEqual(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.equal(x, y);
}
template <typename Op> mlir::Value combine(Scalars &s, mlir::Value x, mlir::Value y) {
  return s.make<Op>(x, y);
}
mlir::Value prelu(Scalars &s, mlir::Value x, mlir::Value slope) {
  return s.select(s.less(x, s.like(0, x)), s.mul(x, slope), x);
}

// 2 or 3 where that is what everything is raised to: a few products in place of a function.
static std::optional<int> smallPower(const Value &exponent) {
  DenseFPElementsAttr constant;
  if (!exponent.tensor || !matchPattern(exponent.tensor, m_Constant(&constant)) || !constant.isSplat())
    return std::nullopt;
  for (int power : {2, 3})
    if (constant.getSplatValue<APFloat>().compare(APFloat(constant.getSplatValue<APFloat>().getSemantics(), power)) ==
        APFloat::cmpEqual)
      return power;
  return std::nullopt;
}

LogicalResult lowerPow(NodeLowering &n) {
  const Value &x = n.in(0);
  // The exponent may have another type.
  const bool integers = !Emitter::isFloat(x.type);
  const DataType computed = integers ? DataType::F64 : x.type;
  Value base = n.e.cast(x, computed), exponent = n.e.cast(n.in(1), computed);
  const std::optional<int> power = smallPower(n.in(1));
  FailureOr<Value> result =
      n.e.elementwise({&base, &exponent}, computed, [&](Scalars &s, ValueRange args) -> mlir::Value {
        if (!power)
          return s.make<math::PowFOp>(args[0], args[1]);
        mlir::Value square = s.mul(args[0], args[0]);
        return *power == 2 ? square : s.mul(square, args[0]);
      });
  if (failed(result))
    return failure();
  return n.give(n.e.cast(*result, x.type));
}

LogicalResult lowerMod(NodeLowering &n) {
  const bool hasSignOfDividend = n.integer("fmod", 0) != 0;
  if (!hasSignOfDividend && n.in(0).elements && n.in(1).elements)
    return lowerArithmetic<times, static_cast<int>(Emitter::Arithmetic::Mod)>(n);
  return n.give(n.e.elementwise({&n.in(0), &n.in(1)}, n.in(0).type, [&](Scalars &s, ValueRange args) {
    return s.rem(args[0], args[1], !hasSignOfDividend);
  }));
}

LogicalResult lowerBitShift(NodeLowering &n) {
  const std::string_view direction = n.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return n.refuse("has the direction '" + Twine(StringRef(direction)) + "'");
  return n.give(n.e.elementwise({&n.in(0), &n.in(1)}, n.in(0).type, [&](Scalars &s, ValueRange args) -> mlir::Value {
    // By as many bits as there are or more nothing but the sign is left.
    const unsigned bits = args[0].getType().getIntOrFloatBitWidth();
    mlir::Value last = s.like(bits - 1, args[0]);
    mlir::Value fits = s.make<arith::CmpIOp>(arith::CmpIPredicate::ule, args[1], last);
    if (direction == "RIGHT" && !Emitter::isUnsigned(n.in(0).type))
      return s.make<arith::ShRSIOp>(args[0], s.select(fits, args[1], last));
    mlir::Value by = s.select(fits, args[1], s.like(0, args[0]));
    mlir::Value shifted =
        direction == "LEFT" ? s.make<arith::ShLIOp>(args[0], by) : s.make<arith::ShRUIOp>(args[0], by);
    return s.select(fits, shifted, s.like(0, args[0]));
  }));
}

// Any number of operands, one after the other.
template <Binary function, int what = -1> LogicalResult lowerMany(NodeLowering &n) {
  if (llvm::is_contained(n.inputs, nullptr))
    return n.refuse("leaves out an input");
  Value all = n.in(0);
  for (const Value *next : ArrayRef(n.inputs).drop_front()) {
    if (what >= 0)
      if (std::optional<Value> folded = n.e.fold({&all, next}, all.type, [&](ArrayRef<OpFoldResult> args) {
            return std::optional(n.e.compute(static_cast<Emitter::Arithmetic>(what), args[0], args[1]));
          })) {
        all = *folded;
        continue;
      }
    FailureOr<Value> both = n.e.elementwise({&all, next}, all.type,
                                            [](Scalars &s, ValueRange args) { return function(s, args[0], args[1]); });
    if (failed(both))
      return failure();
    all = *both;
  }
  if (n.node.op == "Mean") {
    Value count = n.e.filled(all.type, {}, n.e.constantScalar(double(n.inputs.size()), all.type));
    return n.give(
        n.e.elementwise({&all, &count}, all.type, [](Scalars &s, ValueRange args) { return s.div(args[0], args[1]); }));
  }
  return n.give(all);
}

//===--- Others ---------------------------------------------------------------------------------------------------===//

LogicalResult lowerWhere(NodeLowering &n) {
  const Value &condition = n.in(0), &x = n.in(1), &y = n.in(2);
  if (std::optional<Value> folded =
          n.e.fold({&condition, &x, &y}, x.type, [&](ArrayRef<OpFoldResult> args) -> std::optional<OpFoldResult> {
            std::optional<int64_t> which = Emitter::known(args[0]);
            if (!which)
              return std::nullopt;
            return *which ? args[1] : args[2];
          }))
    return n.give(*folded);
  return n.give(n.e.elementwise({&condition, &x, &y}, x.type,
                                [](Scalars &s, ValueRange args) { return s.select(args[0], args[1], args[2]); }));
}

// As float8e8m0, which has the exponent of a float and nothing else. What is negative or NaN is NaN.
Value asPowerOfTwo(Emitter &e, const Value &value, std::string_view rounding, bool saturates) {
  Value real = e.cast(value, DataType::F32);
  Type element = e.elementType(DataType::F8E8M0);
  return *e.elementwise({&real}, DataType::F8E8M0, [&](Scalars &s, ValueRange args) -> mlir::Value {
    constexpr int64_t kMantissaBits = 23, kNaN = 255;
    Type i32 = s.b.getI32Type();
    auto number = [&](int64_t x) { return s.constant(double(x), i32); };
    mlir::Value bits = s.make<arith::BitcastOp>(i32, s.make<math::AbsFOp>(args[0])),
                half = number(int64_t(1) << (kMantissaBits - 1)),
                exponent = s.make<arith::ShRUIOp>(bits, number(kMantissaBits)),
                mantissa = s.make<arith::AndIOp>(bits, number((int64_t(1) << kMantissaBits) - 1));
    mlir::Value rounds = s.constant(0, s.b.getI1Type());
    if (rounding == "up") // the least exponent has a mantissa of its own, as a float without a leading 1
      rounds = s.less(s.select(s.equal(exponent, number(0)), half, number(0)), mantissa);
    else if (rounding == "nearest")
      rounds = s.lessOrEqual(half, mantissa);
    mlir::Value rounded = s.add(exponent, s.make<arith::ExtUIOp>(i32, rounds)), nan = number(kNaN);
    rounded = s.min(rounded, number(saturates ? kNaN - 1 : kNaN));
    mlir::Value isNaN = s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, args[0], args[0]);
    rounded = s.select(s.make<arith::OrIOp>(isNaN, s.less(args[0], s.like(0, args[0]))), nan, rounded);
    return s.make<arith::BitcastOp>(element, s.make<arith::TruncIOp>(s.b.getI8Type(), rounded));
  });
}

LogicalResult lowerCast(NodeLowering &n) {
  const auto type = n.node.op == "CastLike" ? n.in(1).type : static_cast<DataType>(n.integer("to", 0));
  if (!n.e.elementType(type))
    return n.refuse("gives a tensor of " + Twine(StringRef(dataTypeName(type))));
  const bool saturates = n.integer("saturate", 1) != 0;
  const std::string_view rounding = n.text("round_mode", "up"); // of powers of two alone
  if (type == DataType::F8E8M0 && n.in(0).type != type)
    return n.give(asPowerOfTwo(n.e, n.in(0), rounding, saturates));
  // Numbers that a float of 8 bits cannot hold are the largest that it can, unless said otherwise.
  if (const double largest = largestOfNarrow(type); largest > 0 && saturates && bitsOf(n.in(0).type) > 8) {
    FailureOr<Value> held = n.e.elementwise({&n.in(0)}, n.in(0).type, [&](Scalars &s, ValueRange args) {
      return s.max(s.like(-largest, args[0]), s.min(s.like(largest, args[0]), args[0]));
    });
    return failed(held) ? failure() : n.give(n.e.cast(*held, type));
  }
  if (type == DataType::F4E2M1 && Emitter::isFloat(n.in(0).type)) { // which has no NaN
    FailureOr<Value> number = n.e.elementwise({&n.in(0)}, n.in(0).type, [](Scalars &s, ValueRange args) {
      mlir::Value isNaN = s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, args[0], args[0]);
      return s.select(isNaN, s.like(-0.0, args[0]), args[0]);
    });
    return failed(number) ? failure() : n.give(n.e.cast(*number, type));
  }
  return n.give(n.e.cast(n.in(0), type));
}

LogicalResult lowerBitCast(NodeLowering &n) {
  const auto type = static_cast<DataType>(n.integer("to", 0));
  // A boolean takes a byte.
  auto bits = [](DataType type) { return type == DataType::Bool ? 8 : bitsOf(type); };
  if (!n.e.elementType(type) || bits(type) != bits(n.in(0).type))
    return n.refuse("gives elements of another size");
  if (type == DataType::Bool || n.in(0).type == DataType::Bool) {
    Value byte = n.e.cast(n.in(0), type == DataType::Bool ? type : DataType::U8);
    if (Emitter::isFloat(type) || Emitter::isFloat(n.in(0).type))
      return n.refuse("makes floats of booleans, or booleans of floats");
    byte.type = type;
    return n.give(byte);
  }
  Type element = n.e.elementType(type);
  return n.give(n.e.elementwise({&n.in(0)}, type, [&](Scalars &s, ValueRange args) {
    return args[0].getType() == element ? args[0] : s.make<arith::BitcastOp>(element, args[0]);
  }));
}

LogicalResult lowerClip(NodeLowering &n) {
  const Value &x = n.in(0);
  if (n.opset < 11) {
    const Attribute *low = n.attribute("min"), *high = n.attribute("max");
    return n.give(n.e.elementwise({&x}, x.type, [&](Scalars &s, ValueRange args) {
      mlir::Value result = args[0];
      if (low)
        result = s.max(result, s.like(n.real("min", 0), result));
      if (high)
        result = s.min(result, s.like(n.real("max", 0), result));
      return result;
    }));
  }
  Value result = x;
  for (size_t input : {1, 2})
    if (n.has(input)) {
      FailureOr<Value> next = n.e.elementwise({&result, &n.in(input)}, x.type, [&](Scalars &s, ValueRange args) {
        return input == 1 ? s.max(args[0], args[1]) : s.min(args[0], args[1]);
      });
      if (failed(next))
        return failure();
      result = *next;
    }
  return n.give(result);
}

LogicalResult lowerNot(NodeLowering &n) {
  if (std::optional<Value> folded =
          n.e.fold({&n.in(0)}, DataType::Bool, [&](ArrayRef<OpFoldResult> x) -> std::optional<OpFoldResult> {
            std::optional<int64_t> number = Emitter::known(x[0]);
            return number ? std::optional<OpFoldResult>(n.e.number(*number ? 0 : 1)) : std::nullopt;
          }))
    return n.give(*folded);
  return n.give(
      n.e.elementwise({&n.in(0)}, DataType::Bool, [](Scalars &s, ValueRange args) { return s.logicalNot(args[0]); }));
}

LogicalResult lowerIsNaN(NodeLowering &n) {
  return n.give(n.e.elementwise({&n.in(0)}, DataType::Bool, [](Scalars &s, ValueRange args) -> mlir::Value {
    return s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, args[0], args[0]);
  }));
}

LogicalResult lowerIsInf(NodeLowering &n) {
  const bool positive = n.integer("detect_positive", 1) != 0, negative = n.integer("detect_negative", 1) != 0;
  return n.give(n.e.elementwise({&n.in(0)}, DataType::Bool, [&](Scalars &s, ValueRange args) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    mlir::Value result = s.constant(0, s.b.getI1Type());
    if (positive)
      result = s.make<arith::OrIOp>(result, s.equal(args[0], s.like(kInfinity, args[0])));
    if (negative)
      result = s.make<arith::OrIOp>(result, s.equal(args[0], s.like(-kInfinity, args[0])));
    return result;
  }));
}

LogicalResult lowerDropout(NodeLowering &n) {
  n.ignore({"seed", "ratio"}); // of training
  if (n.has(2)) {
    FailureOr<Value> flag = n.e.reshape(n.in(2), {});
    const bool mayTrain = failed(flag) || !flag->elements || Emitter::known((*flag->elements)[0]) != 0;
    if (mayTrain)
      return n.refuse("may be in training mode");
  }
  n.results.push_back(n.in(0));
  if (n.wants(1))
    n.results.push_back(
        n.opset < 10 ? *n.e.expand(n.e.filled(n.in(0).type, {}, n.e.constantScalar(1, n.in(0).type)), n.in(0).dims)
                     : n.e.filled(DataType::Bool, n.in(0).dims, n.e.constantScalar(1, DataType::Bool)));
  return success();
}

LogicalResult lowerIdentity(NodeLowering &n) {
  return n.give(n.in(0));
}

} // namespace

void registerElementwise(Registry &registry) {
  registry["Abs"] = {lowerUnary<magnitude>};
  registry["Acos"] = {lowerUnary<call<math::AcosOp>>};
  registry["Acosh"] = {lowerUnary<call<math::AcoshOp>>};
  registry["Asin"] = {lowerUnary<call<math::AsinOp>>};
  registry["Asinh"] = {lowerUnary<call<math::AsinhOp>>};
  registry["Atan"] = {lowerUnary<call<math::AtanOp>>};
  registry["Atanh"] = {lowerUnary<call<math::AtanhOp>>};
  registry["BitwiseNot"] = {lowerUnary<bitwiseNot>};
  registry["Ceil"] = {lowerUnary<call<math::CeilOp>>};
  registry["Cos"] = {lowerUnary<call<math::CosOp>>};
  registry["Cosh"] = {lowerUnary<call<math::CoshOp>>};
  registry["Erf"] = {lowerUnary<call<math::ErfOp>>};
  registry["Exp"] = {lowerUnary<call<math::ExpOp>>};
  registry["Floor"] = {lowerUnary<call<math::FloorOp>>};
  registry["HardSwish"] = {lowerUnary<hardSwish>};
  registry["Log"] = {lowerUnary<call<math::LogOp>>};
  registry["Mish"] = {lowerUnary<mish>};
  registry["Neg"] = {lowerNeg};
  registry["Reciprocal"] = {lowerUnary<reciprocal>};
  registry["Relu"] = {lowerUnary<relu>};
  registry["Round"] = {lowerUnary<call<math::RoundEvenOp>>};
  registry["Sigmoid"] = {lowerUnary<sigmoid>};
  registry["Sign"] = {lowerUnary<sign>};
  registry["Sin"] = {lowerUnary<call<math::SinOp>>};
  registry["Sinh"] = {lowerUnary<call<math::SinhOp>>};
  registry["Softplus"] = {lowerUnary<softplus>};
  registry["Softsign"] = {lowerUnary<softsign>};
  registry["Sqrt"] = {lowerUnary<call<math::SqrtOp>>};
  registry["Tan"] = {lowerUnary<call<math::TanOp>>};
  registry["Tanh"] = {lowerUnary<call<math::TanhOp>>};
  registry["Celu"] = {lowerCelu};
  registry["Elu"] = {lowerElu};
  registry["Gelu"] = {lowerGelu};
  registry["HardSigmoid"] = {lowerHardSigmoid};
  registry["LeakyRelu"] = {lowerLeakyRelu};
  registry["Selu"] = {lowerSelu};
  registry["Shrink"] = {lowerShrink};
  registry["SwiGLU"] = {lowerSwiGLU, 2};
  registry["Swish"] = {lowerSwish};
  registry["ThresholdedRelu"] = {lowerThresholdedRelu};

  registry["Add"] = {lowerArithmetic<plus, static_cast<int>(Emitter::Arithmetic::Add)>, 2};
  registry["Sub"] = {lowerArithmetic<minus, static_cast<int>(Emitter::Arithmetic::Sub)>, 2};
  registry["Mul"] = {lowerArithmetic<times, static_cast<int>(Emitter::Arithmetic::Mul)>, 2};
  registry["Div"] = {lowerArithmetic<over, static_cast<int>(Emitter::Arithmetic::DivTowardsZero)>, 2};
  registry["PRelu"] = {lowerArithmetic<prelu, -1>, 2};
  registry["BitwiseAnd"] = {lowerArithmetic<combine<arith::AndIOp>, -1>, 2};
  registry["BitwiseOr"] = {lowerArithmetic<combine<arith::OrIOp>, -1>, 2};
  registry["BitwiseXor"] = {lowerArithmetic<combine<arith::XOrIOp>, -1>, 2};
  registry["And"] = {lowerComparison<combine<arith::AndIOp>, [](int64_t x, int64_t y) { return x && y; }>, 2};
  registry["Or"] = {lowerComparison<combine<arith::OrIOp>, [](int64_t x, int64_t y) { return x || y; }>, 2};
  registry["Xor"] = {lowerComparison<combine<arith::XOrIOp>, [](int64_t x, int64_t y) { return x != y; }>, 2};
  registry["Equal"] = {lowerComparison<isEqual, [](int64_t x, int64_t y) { return x == y; }>, 2};
  registry["Greater"] = {lowerComparison<isGreater, [](int64_t x, int64_t y) { return x > y; }>, 2};
  registry["GreaterOrEqual"] = {lowerComparison<isGreaterOrEqual, [](int64_t x, int64_t y) { return x >= y; }>, 2};
  registry["Less"] = {lowerComparison<isLess, [](int64_t x, int64_t y) { return x < y; }>, 2};
  registry["LessOrEqual"] = {lowerComparison<isLessOrEqual, [](int64_t x, int64_t y) { return x <= y; }>, 2};
  registry["Max"] = {lowerMany<largest, static_cast<int>(Emitter::Arithmetic::Max)>};
  registry["Mean"] = {lowerMany<plus>};
  registry["Min"] = {lowerMany<smallest, static_cast<int>(Emitter::Arithmetic::Min)>};
  registry["Sum"] = {lowerMany<plus>};
  registry["BitShift"] = {lowerBitShift, 2};
  registry["Mod"] = {lowerMod, 2};
  registry["Pow"] = {lowerPow, 2};

  registry["BitCast"] = {lowerBitCast};
  registry["Cast"] = {lowerCast};
  registry["CastLike"] = {lowerCast, 2};
  registry["Clip"] = {lowerClip};
  registry["Dropout"] = {lowerDropout};
  registry["Identity"] = {lowerIdentity, 1, /*adds=*/false, /*takesSequences=*/true};
  registry["IsInf"] = {lowerIsInf};
  registry["IsNaN"] = {lowerIsNaN};
  registry["Not"] = {lowerNot};
  registry["Where"] = {lowerWhere, 3};
}

} // namespace kiln::onnx
