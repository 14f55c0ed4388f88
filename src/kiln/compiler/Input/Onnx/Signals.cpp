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

// Spectra of overlapping parts of a signal (batch, length, 1 or 2): the parts as rows, and their product with waves.
LogicalResult lowerSTFT(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &signal = n.in(0);
  const bool isOneSided = n.integer("onesided", 1) != 0;
  using enum Emitter::Arithmetic;
  std::optional<int64_t> parts = signal.rank() == 3 ? Emitter::known(signal.dims[2]) : std::nullopt;
  if (!parts || *parts < 1 || *parts > 2)
    return n.refuse("needs real or complex numbers as its last dimension");
  FailureOr<Dims> step = e.elementsOf(n.in(1));
  if (failed(step) || step->size() != 1)
    return n.refuse("needs one step between frames");
  if (n.has(2) && n.in(2).rank() != 1)
    return n.refuse("has a window of " + Twine(n.in(2).rank()) + " dimensions");
  OpFoldResult length;
  if (n.has(3)) {
    FailureOr<Dims> given = e.elementsOf(n.in(3));
    if (failed(given) || given->size() != 1)
      return n.refuse("needs one length of frames");
    length = given->front();
  } else if (n.has(2)) {
    length = n.in(2).dims[0];
  } else {
    return n.refuse("has no length of frames");
  }
  if (Emitter::known(step->front()).value_or(1) < 1 || Emitter::known(length).value_or(1) < 1 ||
      Emitter::known(e.sub(signal.dims[1], length)).value_or(0) < 0)
    return n.refuse("has no step, or frames of no length, or ones that are longer than the signal");
  if (n.has(2) && Emitter::known(e.sub(n.in(2).dims[0], length)).value_or(0) != 0)
    return n.refuse("has a window of another length than frames");
  const DataType type = signal.type;
  Type element = e.elementType(type);
  OpFoldResult frames = e.add(e.compute(DivTowardsZero, e.sub(signal.dims[1], length), step->front()), e.number(1)),
               bins = isOneSided ? e.add(e.compute(DivTowardsZero, length, e.number(2)), e.number(1)) : length;
  mlir::Value tensor = e.tensorOf(signal), window = n.has(2) ? e.tensorOf(n.in(2)) : mlir::Value(),
              stepIndex = e.indexOf(step->front()), count = e.indexOf(length);
  // A row has its real numbers and then its imaginary ones, and a column is a real or an imaginary part of a wave.
  OpFoldResult columns = e.mul(length, e.number(*parts));
  Value rows = e.generate(type, {signal.dims[0], frames, columns}, [&](Scalars &s, ValueRange at) {
    mlir::Value place = s.make<arith::RemUIOp>(at[2], count), part = s.make<arith::DivUIOp>(at[2], count);
    mlir::Value from = s.add(s.mul(at[1], stepIndex), place), x = Emitter::load(s, tensor, {at[0], from, part});
    return window ? s.mul(x, Emitter::load(s, window, place)) : x;
  });
  Value waves = e.generate(type, {columns, e.mul(bins, e.number(2))}, [&](Scalars &s, ValueRange at) {
    Type f64 = s.b.getF64Type();
    mlir::Value place = s.make<arith::RemUIOp>(at[0], count), isImaginary = s.lessOrEqual(count, at[0]);
    mlir::Value bin = s.make<arith::DivUIOp>(at[1], s.index(2)), part = s.make<arith::RemUIOp>(at[1], s.index(2));
    mlir::Value turn = s.make<arith::RemUIOp>(s.mul(bin, place), count);
    mlir::Value angle =
        s.div(s.mul(s.toFloat(turn, f64), s.constant(-2 * std::numbers::pi, f64)), s.toFloat(count, f64));
    mlir::Value cosine = s.make<math::CosOp>(angle), sine = s.make<math::SinOp>(angle);
    mlir::Value isReal = s.equal(part, s.index(0));
    mlir::Value ofReal = s.select(isReal, cosine, sine), ofImaginary = s.select(isReal, s.neg(sine), cosine);
    return s.convert(s.select(isImaginary, ofImaginary, ofReal), false, element, false);
  });
  FailureOr<Value> product = e.multiply(rows, waves, type);
  if (failed(product))
    return failure();
  return n.give(e.reshape(*product, {signal.dims[0], frames, bins, e.number(2)}));
}

// Triangles over the bins of a spectrum, whose corners are as far apart in mels.
LogicalResult lowerMelWeights(NodeLowering &n) {
  Emitter &e = n.e;
  using enum Emitter::Arithmetic;
  FailureOr<DataType> type = n.dataType("output_datatype", DataType::F32);
  FailureOr<Dims> count = e.elementsOf(n.in(0)), length = e.elementsOf(n.in(1)), rate = e.elementsOf(n.in(2));
  if (failed(type) || failed(count) || failed(length) || failed(rate))
    return failure();
  if (count->size() != 1 || length->size() != 1 || rate->size() != 1 || !Emitter::isFloat(*type))
    return n.refuse("needs single numbers");
  if (Emitter::known(count->front()).value_or(1) < 1 || Emitter::known(length->front()).value_or(1) < 1)
    return n.refuse("needs a number of bins and a length of at least 1");
  Type f64 = e.b.getF64Type();
  constexpr double kMels = 2595, kHertz = 700;
  mlir::Value edges[2], points = e.indexOf(e.add(count->front(), e.number(2))),
                        size = e.indexOf(e.add(length->front(), e.number(1))), sampleRate = e.indexOf(rate->front());
  for (size_t i = 0; i < 2; ++i) {
    FailureOr<Value> edge = e.reshape(e.cast(n.in(3 + i), DataType::F64), {});
    if (failed(edge))
      return failure();
    edges[i] = e.tensorOf(*edge);
  }
  const Dims dims = {e.add(e.compute(DivTowardsZero, length->front(), e.number(2)), e.number(1)), count->front()};
  return n.give(e.generate(*type, dims, [&](Scalars &s, ValueRange at) {
    auto number = [&](double x) { return s.constant(x, f64); };
    auto real = [&](mlir::Value index) { return s.toFloat(index, f64); };
    auto melsOf = [&](mlir::Value edge) {
      mlir::Value log = s.make<math::Log1pOp>(s.div(Emitter::load(s, edge, {}), number(kHertz)));
      return s.mul(log, number(kMels / std::numbers::ln10));
    };
    mlir::Value lowest = melsOf(edges[0]), step = s.div(s.sub(melsOf(edges[1]), lowest), real(points)), corners[3];
    for (int64_t i = 0; i < 3; ++i) {
      mlir::Value mels = s.add(s.mul(real(s.add(at[1], s.index(i))), step), lowest);
      mlir::Value power = s.make<math::ExpM1Op>(s.mul(mels, number(std::numbers::ln10 / kMels)));
      mlir::Value hertz = s.mul(power, number(kHertz));
      corners[i] = s.make<math::FloorOp>(s.div(s.mul(real(size), hertz), real(sampleRate)));
    }
    mlir::Value bin = real(at[0]), zero = number(0);
    mlir::Value rising = s.div(s.sub(bin, corners[0]), s.sub(corners[1], corners[0])),
                falling = s.div(s.sub(corners[2], bin), s.sub(corners[2], corners[1]));
    mlir::Value result = s.select(s.less(bin, corners[1]), s.select(s.less(bin, corners[0]), zero, rising),
                                  s.select(s.less(bin, corners[2]), falling, zero));
    result = s.select(s.equal(bin, corners[1]), number(1), result);
    return s.convert(result, false, e.elementType(*type), false);
  }));
}

} // namespace

void registerSignals(Registry &registry) {
  registry["BlackmanWindow"] = {lowerBlackman};
  registry["DFT"] = {lowerDFT};
  registry["HammingWindow"] = {lowerHamming};
  registry["HannWindow"] = {lowerHann};
  registry["MelWeightMatrix"] = {lowerMelWeights, 5};
  registry["STFT"] = {lowerSTFT, 2, /*adds=*/true};
}

} // namespace kiln::onnx
