#include "kiln/compiler/Input/Onnx/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

using enum Emitter::Arithmetic;

FailureOr<Window> Window::read(NodeLowering &n, const Value &image, ArrayRef<OpFoldResult> taps) {
  Emitter &e = n.e;
  const auto space = static_cast<size_t>(image.rank() - 2);
  Window window;
  window.strides = n.integersOr("strides", space, 1);
  window.dilations = n.integersOr("dilations", space, 1);
  SmallVector<int64_t> pads = n.integersOr("pads", 2 * space, 0);
  const std::string_view automatic = n.text("auto_pad", "NOTSET");
  const bool isSame = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  const bool roundsUp = n.integer("ceil_mode", 0) != 0;
  for (size_t dim = 0; dim < space; ++dim) {
    std::optional<int64_t> size = Emitter::known(taps[dim]);
    if (!size || *size < 1 || window.strides[dim] < 1 || window.dilations[dim] < 1)
      return n.refuse("needs a window of known extents, and strides and dilations of at least 1");
    window.taps.push_back(*size);
    OpFoldResult extent = image.dims[2 + dim], stride = e.number(window.strides[dim]);
    const int64_t reach = (*size - 1) * window.dilations[dim] + 1;
    OpFoldResult before = e.number(automatic == "VALID" ? 0 : pads[dim]),
                 behind = e.number(automatic == "VALID" ? 0 : pads[space + dim]), asked = behind, count;
    if (isSame) {
      count = e.compute(DivUp, extent, stride);
      OpFoldResult total = e.sub(e.add(e.mul(e.sub(count, e.number(1)), stride), e.number(reach)), extent);
      total = e.compute(Max, total, e.number(0));
      OpFoldResult half = e.compute(DivTowardsZero, total, e.number(2));
      before = automatic == "SAME_UPPER" ? half : e.sub(total, half);
      asked = behind = e.sub(total, before);
    } else {
      OpFoldResult free = e.sub(e.add(e.add(extent, before), behind), e.number(reach));
      count = e.add(e.compute(roundsUp ? DivUp : DivTowardsZero, free, stride), e.number(1));
      if (roundsUp) {
        // No window starts in the padding behind the image.
        OpFoldResult last = e.mul(e.sub(count, e.number(1)), stride);
        count = e.chosen(arith::CmpIPredicate::sge, last, e.add(extent, before), e.sub(count, e.number(1)), count);
        OpFoldResult needed = e.add(e.mul(e.sub(count, e.number(1)), stride), e.number(reach));
        behind = e.compute(Max, behind, e.sub(e.sub(needed, extent), before));
      }
    }
    if (Emitter::known(count).value_or(1) < 0)
      return n.refuse("has a window that is larger than its image");
    window.low.push_back(before);
    window.high.push_back(behind);
    window.askedHigh.push_back(asked);
    window.outputs.push_back(count);
  }
  return window;
}

void Window::clipTo(const Value &image) {
  for (int64_t dim = 0; dim < space(); ++dim) {
    std::optional<int64_t> extent = Emitter::known(image.dims[2 + dim]), places = Emitter::known(outputs[dim]),
                           before = Emitter::known(low[dim]);
    if (!extent || !places || *places < 1 || !before || *before < 0)
      continue;
    const int64_t lastStart = (*places - 1) * strides[dim];
    const int64_t first = std::max<int64_t>(0, *before - lastStart) / dilations[dim],
                  last = std::min(taps[dim] - 1, (*extent - 1 + *before) / dilations[dim]);
    if (last < first || last - first + 1 == taps[dim])
      continue;
    taps[dim] = last - first + 1;
    strides[dim] = *places == 1 ? 1 : strides[dim];
    const int64_t newLow = *before - first * dilations[dim],
                  end = lastStart + (taps[dim] - 1) * dilations[dim] + 1 - newLow;
    Builder b(image.dims[2 + dim].getContext());
    low[dim] = b.getIndexAttr(newLow);
    high[dim] = b.getIndexAttr(std::max<int64_t>(0, end - *extent));
  }
}

Value Window::pad(NodeLowering &n, const Value &image, mlir::Value scalar) const {
  Dims before(2, n.e.number(0)), behind = before;
  llvm::append_range(before, low);
  llvm::append_range(behind, high);
  return n.e.pad(image, before, behind, scalar);
}

namespace {

// Combines the elements under a window.
Value pool(NodeLowering &n, const Value &padded, const Window &window, DataType type, mlir::Value start,
           function_ref<mlir::Value(Scalars &, mlir::Value, mlir::Value)> combine) {
  Emitter &e = n.e;
  MLIRContext *context = e.b.getContext();
  const int64_t space = window.space(), parallel = 2 + space, count = parallel + space;
  auto loop = [&](int64_t at) { return getAffineDimExpr(at, context); };
  SmallVector<AffineExpr> ofImage = {loop(0), loop(1)}, ofResult = ofImage, ofWindow;
  Dims dims = {padded.dims[0], padded.dims[1]}, taps;
  for (int64_t dim = 0; dim < space; ++dim) {
    ofImage.push_back(loop(2 + dim) * window.strides[dim] + loop(parallel + dim) * window.dilations[dim]);
    ofResult.push_back(loop(2 + dim));
    ofWindow.push_back(loop(parallel + dim));
    dims.push_back(window.outputs[dim]);
    taps.push_back(e.number(window.taps[dim]));
  }
  mlir::Value shape = e.empty(padded.type, taps).tensor, target = e.filled(type, dims, start).tensor;
  SmallVector<AffineMap> maps = {AffineMap::get(count, 0, ofImage, context),
                                 AffineMap::get(count, 0, ofWindow, context),
                                 AffineMap::get(count, 0, ofResult, context)};
  auto generic =
      linalg::GenericOp::create(e.b, e.loc, target.getType(), ValueRange{e.tensorOf(padded), shape}, target, maps,
                                e.loops(parallel, space), [&](OpBuilder &inner, Location at, ValueRange args) {
                                  Scalars s(inner, at, Emitter::isUnsigned(padded.type));
                                  linalg::YieldOp::create(inner, at, combine(s, args[0], args[2]));
                                });
  return e.wrap(generic.getResult(0), type, dims);
}

// Where the largest element under each window lies, counted over the whole image.
Value placesOfLargest(NodeLowering &n, const Value &image, const Value &padded, const Window &window,
                      const Value &largest) {
  Emitter &e = n.e;
  const int64_t space = window.space(), rank = 2 + space;
  const bool columnsFirst = n.integer("storage_order", 0) != 0;
  MLIRContext *context = e.b.getContext();
  SmallVector<AffineExpr> ofResult, ofWindow;
  Dims taps;
  SmallVector<mlir::Value> extents, starts;
  for (int64_t dim = 0; dim < rank; ++dim) {
    ofResult.push_back(getAffineDimExpr(dim, context));
    extents.push_back(e.indexOf(image.dims[dim]));
  }
  for (int64_t dim = 0; dim < space; ++dim) {
    ofWindow.push_back(getAffineDimExpr(rank + dim, context));
    taps.push_back(e.number(window.taps[dim]));
    starts.push_back(e.indexOf(window.low[dim]));
  }
  mlir::Value tensor = e.tensorOf(padded), shape = e.empty(image.type, taps).tensor;
  Value target = e.filled(DataType::I64, largest.dims, e.constantScalar(-1, DataType::I64));
  SmallVector<AffineMap> maps = {AffineMap::get(rank + space, 0, ofWindow, context),
                                 AffineMap::get(rank + space, 0, ofResult, context),
                                 AffineMap::get(rank + space, 0, ofResult, context)};
  auto generic = linalg::GenericOp::create(
      e.b, e.loc, target.tensor.getType(), ValueRange{shape, e.tensorOf(largest)}, target.tensor, maps,
      e.loops(rank, space), [&](OpBuilder &inner, Location at, ValueRange args) {
        Scalars s(inner, at, Emitter::isUnsigned(image.type));
        SmallVector<mlir::Value> from, own;
        mlir::Value isInside = s.constant(1, inner.getI1Type());
        for (int64_t dim = 0; dim < rank; ++dim) {
          mlir::Value index = linalg::IndexOp::create(inner, at, dim);
          if (dim >= 2) {
            mlir::Value tap = linalg::IndexOp::create(inner, at, rank + dim - 2);
            index =
                s.add(s.mul(index, s.index(window.strides[dim - 2])), s.mul(tap, s.index(window.dilations[dim - 2])));
          }
          from.push_back(index);
          mlir::Value place = dim < 2 ? index : s.sub(index, starts[dim - 2]);
          isInside = s.make<arith::AndIOp>(isInside, s.lessOrEqual(s.index(0), place));
          isInside = s.make<arith::AndIOp>(isInside, s.less(place, extents[dim]));
          own.push_back(place);
        }
        mlir::Value flat = s.add(s.mul(own[0], extents[1]), own[1]);
        for (int64_t i = 0; i < space; ++i)
          flat = s.mul(flat, extents[2 + i]);
        mlir::Value inSpace = s.index(0);
        for (int64_t i = 0; i < space; ++i) {
          const int64_t dim = 2 + (columnsFirst ? space - 1 - i : i);
          inSpace = s.add(s.mul(inSpace, extents[dim]), own[dim]);
        }
        flat = s.add(flat, inSpace);
        // The first one is taken.
        mlir::Value isLargest = s.equal(Emitter::load(s, tensor, from), args[1]);
        mlir::Value isFirst = s.less(args[2], s.like(0, args[2]));
        mlir::Value takes = s.make<arith::AndIOp>(isInside, s.make<arith::AndIOp>(isLargest, isFirst));
        mlir::Value place = s.make<arith::IndexCastOp>(inner.getI64Type(), flat);
        linalg::YieldOp::create(inner, at, s.select(takes, place, args[2]));
      });
  return e.wrap(generic.getResult(0), DataType::I64, largest.dims);
}

FailureOr<Window> readPool(NodeLowering &n) {
  const Value &image = n.in(0);
  std::optional<ArrayRef<int64_t>> taps = n.integers("kernel_shape");
  if (image.rank() < 3 || !taps || static_cast<int64_t>(taps->size()) != image.rank() - 2)
    return n.refuse("needs an image of three dimensions at least, and a kernel_shape for its space");
  Dims extents;
  for (int64_t size : *taps)
    extents.push_back(n.e.number(size));
  return Window::read(n, image, extents);
}

LogicalResult lowerMaxPool(NodeLowering &n) {
  const Value &image = n.in(0);
  FailureOr<Window> window = readPool(n);
  if (failed(window))
    return failure();
  window->clipTo(image);
  mlir::Value lowest = n.e.extreme(image.type, /*isLowest=*/true);
  Value padded = window->pad(n, image, lowest);
  Value result = pool(n, padded, *window, image.type, lowest,
                      [](Scalars &s, mlir::Value element, mlir::Value best) { return s.max(best, element); });
  n.results = {result};
  n.ignore({"storage_order"}); // of places
  if (n.wants(1))
    n.results.push_back(placesOfLargest(n, image, padded, *window, result));
  return success();
}

// How many elements are under the window at each place, of one channel: those of the image, and those of its padding
// where that counts. What rounding up added to the padding never counts.
Value elementsUnder(NodeLowering &n, const Value &image, const Window &window, bool countsPadding) {
  Emitter &e = n.e;
  Dims dims(2, e.number(1));
  SmallVector<mlir::Value> starts, ends;
  for (int64_t dim = 0; dim < window.space(); ++dim) {
    dims.push_back(window.outputs[dim]);
    // Counted from the beginning of the padding.
    OpFoldResult end = e.add(image.dims[2 + dim], window.low[dim]);
    starts.push_back(e.indexOf(countsPadding ? e.number(0) : window.low[dim]));
    ends.push_back(e.indexOf(countsPadding ? e.add(end, window.askedHigh[dim]) : end));
  }
  return e.generate(image.type, dims, [&](Scalars &s, ValueRange at) {
    mlir::Value count = s.index(1), zero = s.index(0);
    for (int64_t dim = 0; dim < window.space(); ++dim) {
      mlir::Value place =
          Emitter::known(window.outputs[dim]) == 1 ? zero : s.mul(at[2 + dim], s.index(window.strides[dim]));
      auto tapsBefore = [&](mlir::Value end) {
        mlir::Value reach = s.max(zero, s.sub(end, place));
        return s.min(s.index(window.taps[dim]), s.make<arith::CeilDivUIOp>(reach, s.index(window.dilations[dim])));
      };
      count = s.mul(count, s.sub(tapsBefore(ends[dim]), tapsBefore(starts[dim])));
    }
    return s.toFloat(count, n.e.elementType(image.type));
  });
}

LogicalResult lowerAveragePool(NodeLowering &n) {
  const Value &image = n.in(0);
  FailureOr<Window> window = readPool(n);
  if (failed(window))
    return failure();
  const bool countsPadding = n.integer("count_include_pad", 0) != 0;
  Value count = elementsUnder(n, image, *window, countsPadding);
  window->clipTo(image);
  mlir::Value zero = n.e.constantScalar(0, image.type);
  Value sum = pool(n, window->pad(n, image, zero), *window, image.type, zero,
                   [](Scalars &s, mlir::Value element, mlir::Value sum) { return s.add(sum, element); });
  return n.give(
      n.e.elementwise({&sum, &count}, image.type, [](Scalars &s, ValueRange args) { return s.div(args[0], args[1]); }));
}

// A window over the whole space.
template <bool isMax> LogicalResult lowerGlobalPool(NodeLowering &n) {
  const Value &image = n.in(0);
  SmallVector<int64_t> axes;
  OpFoldResult count = n.e.number(1);
  for (int64_t dim = 2; dim < image.rank(); ++dim) {
    axes.push_back(dim);
    count = n.e.mul(count, image.dims[dim]);
  }
  mlir::Value start = isMax ? n.e.extreme(image.type, /*isLowest=*/true) : n.e.constantScalar(0, image.type);
  Value all = n.e.reduce(image, axes, /*keepsAxes=*/true, start, image.type,
                         [](Scalars &s, mlir::Value element, mlir::Value soFar) {
                           return isMax ? s.max(soFar, element) : s.add(soFar, element);
                         });
  if (isMax)
    return n.give(all);
  mlir::Value extent = n.e.indexOf(count);
  return n.give(n.e.elementwise({&all}, image.type, [&](Scalars &s, ValueRange args) {
    return s.div(args[0], s.toFloat(extent, args[0].getType()));
  }));
}

LogicalResult lowerLpPool(NodeLowering &n) {
  const Value &image = n.in(0);
  FailureOr<Window> window = readPool(n);
  if (failed(window))
    return failure();
  window->clipTo(image);
  const auto p = static_cast<double>(n.integer("p", 2));
  mlir::Value zero = n.e.constantScalar(0, image.type);
  auto power = [](Scalars &s, mlir::Value x, double exponent) -> mlir::Value {
    if (exponent == 2)
      return s.mul(x, x);
    return exponent == 1 ? x : s.make<math::PowFOp>(x, s.like(exponent, x));
  };
  Value sum = pool(n, window->pad(n, image, zero), *window, image.type, zero,
                   [&](Scalars &s, mlir::Value element, mlir::Value soFar) {
                     return s.add(soFar, power(s, s.make<math::AbsFOp>(element), p));
                   });
  return n.give(n.e.elementwise({&sum}, image.type, [&](Scalars &s, ValueRange args) {
    return p == 2 ? s.make<math::SqrtOp>(args[0]) : power(s, args[0], 1 / p);
  }));
}

} // namespace

void registerWindows(Registry &registry) {
  registry["AveragePool"] = {lowerAveragePool, 1, /*adds=*/true};
  registry["GlobalAveragePool"] = {lowerGlobalPool<false>, 1, /*adds=*/true};
  registry["GlobalMaxPool"] = {lowerGlobalPool<true>};
  registry["LpPool"] = {lowerLpPool, 1, /*adds=*/true};
  registry["MaxPool"] = {lowerMaxPool};
}

} // namespace kiln::onnx
