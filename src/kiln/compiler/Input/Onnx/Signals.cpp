// Windows of signals, and their spectra.
#include <numbers>

#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N)
LogicalResult lowerWindow(NodeLowering &n, double a0, double a1, double a2) {
  Emitter &e = n.e;
  FailureOr<Dims> size = e.elementsOf(n.in(0));
  if (failed(size) || size->size() != 1)
    return failure();
  const auto type = static_cast<DataType>(n.integer("output_datatype", int64_t(DataType::F32)));
  if (!Emitter::isFloat(type))
    return n.refuse("gives a tensor of " + Twine(StringRef(dataTypeName(type))));
  Type element = e.elementType(type);
  mlir::Value count = e.indexOf(size->front());
  if (!n.integer("periodic", 1))
    count = e.indexOf(e.compute(Emitter::Arithmetic::Max, e.sub(size->front(), e.number(1)), e.number(1)));
  return n.give(e.generate(type, {size->front()}, [&](Scalars &s, ValueRange at) {
    mlir::Value angle =
        s.div(s.mul(s.toFloat(at[0], element), s.constant(2 * std::numbers::pi, element)), s.toFloat(count, element));
    mlir::Value first = s.mul(s.constant(a1, element), s.make<math::CosOp>(angle));
    mlir::Value second = s.mul(s.constant(a2, element), s.make<math::CosOp>(s.mul(angle, s.constant(2, element))));
    return s.add(s.sub(s.constant(a0, element), first), second);
  }));
}
LogicalResult lowerHann(NodeLowering &n) {
  return lowerWindow(n, 0.5, 0.5, 0);
}
LogicalResult lowerHamming(NodeLowering &n) {
  return lowerWindow(n, 25.0 / 46, 21.0 / 46, 0);
}
LogicalResult lowerBlackman(NodeLowering &n) {
  return lowerWindow(n, 0.42, 0.5, 0.08);
}

// Of signals (..., length, 1 or 2), the last of which are parts of complex numbers, as sums.
LogicalResult lowerDFT(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const bool isInverse = n.integer("inverse", 0) != 0, isOneSided = n.integer("onesided", 0) != 0;
  Dims axis = {e.number(n.integer("axis", n.opset < 20 ? 1 : -2))};
  if (n.opset >= 20 && n.has(2)) {
    FailureOr<Dims> given = e.elementsOf(n.in(2));
    if (failed(given) || given->size() != 1)
      return failure();
    axis = *given;
  }
  std::optional<int64_t> parts = value.rank() < 2 ? std::nullopt : Emitter::known(value.dims.back());
  if (std::optional<int64_t> known = Emitter::known(axis[0]); known && failed(n.dimension(*known, value.rank())))
    return failure();
  if (!parts || *parts < 1 || *parts > 2)
    return n.refuse("needs real or complex numbers as its last dimension");
  using enum Emitter::Arithmetic;
  // Half of a spectrum comes from real numbers; they come back from it.
  const bool givesReal = isOneSided && isInverse;
  const Dims isAxis = e.flags(axis, value.rank());
  auto ofAxis = [&](OpFoldResult flag, OpFoldResult ifAxis, OpFoldResult otherwise) {
    return e.chosen(arith::CmpIPredicate::eq, flag, e.number(1), ifAxis, otherwise);
  };
  OpFoldResult extent = e.number(1);
  for (auto [flag, own] : llvm::zip(isAxis, value.dims))
    extent = ofAxis(flag, own, extent);
  OpFoldResult length = extent;
  if (givesReal)
    length = e.mul(e.sub(extent, e.number(1)), e.number(2));
  if (n.has(1)) {
    FailureOr<Dims> given = e.elementsOf(n.in(1));
    if (failed(given) || given->size() != 1)
      return failure();
    length = given->front();
  }
  Dims dims = value.dims;
  OpFoldResult size =
      isOneSided && !isInverse ? e.add(e.compute(DivTowardsZero, length, e.number(2)), e.number(1)) : length;
  SmallVector<mlir::Value> flags;
  for (auto [own, flag] : llvm::zip(dims, isAxis)) {
    own = ofAxis(flag, size, own);
    flags.push_back(e.indexOf(flag));
  }
  dims.back() = e.number(givesReal ? 1 : 2);
  const int64_t rank = value.rank();
  MLIRContext *context = e.b.getContext();
  SmallVector<AffineExpr> ofResult;
  for (int64_t d = 0; d < rank; ++d)
    ofResult.push_back(getAffineDimExpr(d, context));
  mlir::Value tensor = e.tensorOf(value), count = e.indexOf(length), there = e.indexOf(extent);
  mlir::Value shape = e.empty(value.type, {length}).tensor;
  // Sums are of f64: parts that cancel are to be zero as far as the result's type can tell.
  Type element = e.b.getF64Type();
  Value target = e.filled(DataType::F64, dims, e.constantScalar(0, DataType::F64));
  SmallVector<AffineMap> maps = {AffineMap::get(rank + 1, 0, {getAffineDimExpr(rank, context)}, context),
                                 AffineMap::get(rank + 1, 0, ofResult, context)};
  auto generic = linalg::GenericOp::create(
      e.b, e.loc, target.tensor.getType(), shape, target.tensor, maps, e.loops(rank, 1),
      [&](OpBuilder &inner, Location at, ValueRange args) {
        Scalars s(inner, at);
        SmallVector<mlir::Value> from;
        for (int64_t d = 0; d < rank; ++d)
          from.push_back(linalg::IndexOp::create(inner, at, d));
        mlir::Value k = s.index(0), part = from.back(), t = linalg::IndexOp::create(inner, at, rank);
        for (auto [index, flag] : llvm::zip(from, flags))
          k = s.select(s.equal(flag, s.index(1)), index, k);
        // Behind the signal's end are zeros; the other half of a spectrum is its mirror image.
        mlir::Value isMirrored = s.constant(0, inner.getI1Type()), place = t;
        if (givesReal) {
          isMirrored = s.lessOrEqual(there, t);
          place = s.select(isMirrored, s.sub(count, t), t);
        }
        mlir::Value isThere = s.less(place, there);
        for (auto [index, flag] : llvm::zip(from, flags))
          index = s.select(s.equal(flag, s.index(1)), s.select(isThere, place, s.index(0)), index);
        from.back() = s.index(0);
        mlir::Value real = s.convert(Emitter::load(s, tensor, from), false, element, false),
                    imaginary = s.constant(0, element);
        if (*parts == 2) {
          from.back() = s.index(1);
          imaginary = s.convert(Emitter::load(s, tensor, from), false, element, false);
          imaginary = s.select(isMirrored, s.neg(imaginary), imaginary);
        }
        // The angle's multiple of a whole turn is left out first.
        mlir::Value turn = s.make<arith::RemUIOp>(s.mul(k, t), count);
        mlir::Value angle =
            s.div(s.mul(s.toFloat(turn, element), s.constant((isInverse ? 2 : -2) * std::numbers::pi, element)),
                  s.toFloat(count, element));
        mlir::Value cosine = s.make<math::CosOp>(angle), sine = s.make<math::SinOp>(angle);
        mlir::Value x = s.sub(s.mul(real, cosine), s.mul(imaginary, sine)),
                    y = s.add(s.mul(real, sine), s.mul(imaginary, cosine));
        mlir::Value term = s.select(s.equal(part, s.index(0)), x, y);
        if (isInverse)
          term = s.div(term, s.toFloat(count, element));
        linalg::YieldOp::create(inner, at, s.select(isThere, s.add(args[1], term), args[1]));
      });
  return n.give(e.cast(e.wrap(generic.getResult(0), DataType::F64, dims), value.type));
}

} // namespace

void registerSignals(Registry &registry) {
  registry["BlackmanWindow"] = {lowerBlackman};
  registry["DFT"] = {lowerDFT};
  registry["HammingWindow"] = {lowerHamming};
  registry["HannWindow"] = {lowerHann};
}

} // namespace kiln::onnx
