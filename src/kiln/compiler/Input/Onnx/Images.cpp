// Images that are sampled at places that are computed.
#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// Samples of one place of an image, along one dimension after the other.
class Sampler {
public:
  Sampler(NodeLowering &n, Scalars &s, mlir::Value tensor, DataType type, ArrayRef<mlir::Value> extents)
      : s(s), tensor(tensor), type(type), extents(extents), mode(n.text("mode", n.opset < 20 ? "bilinear" : "linear")),
        padding(n.text("padding_mode", "zeros")), aligns(n.integer("align_corners", 0) != 0) {}

  // `outer` are the indices before the space; coordinates are f32, those of the image's own places.
  mlir::Value sample(ValueRange outer, ArrayRef<mlir::Value> coordinates) {
    from.assign(outer.begin(), outer.end());
    return along(0, coordinates);
  }

  // From -1 to 1 over the image.
  mlir::Value denormalized(mlir::Value g, size_t dim) {
    mlir::Value extent = s.toFloat(extents[dim], g.getType()), one = s.like(1, g), two = s.like(2, g);
    if (aligns)
      return s.mul(s.div(s.add(g, one), two), s.sub(extent, one));
    return s.div(s.sub(s.mul(s.add(g, one), extent), one), two);
  }

private:
  Type f32() { return s.b.getF32Type(); }

  mlir::Value reflected(mlir::Value x, size_t dim) {
    mlir::Value extent = s.toFloat(extents[dim], f32());
    mlir::Value low = s.constant(aligns ? 0 : -0.5, f32()), high = s.sub(extent, s.constant(aligns ? 1 : 0.5, f32()));
    mlir::Value range = s.max(s.sub(high, low), s.constant(1e-30, f32()));
    auto folded = [&](mlir::Value distance, mlir::Value start, mlir::Value end, bool forward) {
      mlir::Value times = s.make<math::FloorOp>(s.div(distance, range));
      mlir::Value rest = s.sub(distance, s.mul(times, range));
      mlir::Value isOdd = s.equal(s.rem(times, s.constant(2, f32()), false), s.constant(1, f32()));
      mlir::Value even = forward ? s.add(start, rest) : s.sub(start, rest),
                  odd = forward ? s.sub(end, rest) : s.add(end, rest);
      return s.select(isOdd, odd, even);
    };
    mlir::Value below = folded(s.sub(low, x), low, high, true), above = folded(s.sub(x, high), high, low, false);
    return s.select(s.less(x, low), below, s.select(s.less(high, x), above, x));
  }
  mlir::Value held(mlir::Value x, size_t dim) {
    mlir::Value last = s.sub(s.toFloat(extents[dim], f32()), s.constant(1, f32()));
    return s.max(s.constant(0, f32()), s.min(x, last));
  }

  // The element at whole places, or what stands for it outside.
  mlir::Value at(size_t dim, mlir::Value place, ArrayRef<mlir::Value> coordinates) {
    mlir::Value isInside;
    if (padding == "reflection")
      place = reflected(place, dim);
    else if (padding == "border")
      place = held(place, dim);
    mlir::Value index = s.toIndex(s.make<arith::FPToSIOp>(s.b.getI64Type(), place)),
                last = s.sub(extents[dim], s.index(1));
    if (padding == "zeros")
      isInside = s.make<arith::AndIOp>(s.lessOrEqual(s.constant(0, f32()), place),
                                       s.lessOrEqual(place, s.toFloat(last, f32())));
    from.push_back(s.max(s.index(0), s.min(index, last)));
    mlir::Value result = along(dim + 1, coordinates);
    from.pop_back();
    return isInside ? s.select(isInside, result, s.constant(0, f32())) : result;
  }

  mlir::Value along(size_t dim, ArrayRef<mlir::Value> coordinates) {
    if (dim == coordinates.size())
      return s.convert(Emitter::load(s, tensor, from), Emitter::isUnsigned(type), f32(), false);
    mlir::Value x = coordinates[dim];
    if (mode == "nearest")
      x = s.make<math::RoundEvenOp>(x);
    if (padding == "border")
      x = held(x, dim);
    else if (padding == "reflection")
      x = reflected(x, dim);
    if (mode == "nearest")
      return at(dim, x, coordinates);
    mlir::Value floor = s.make<math::FloorOp>(x), part = s.sub(x, floor);
    const bool isCubic = mode == "cubic" || mode == "bicubic";
    mlir::Value sum = s.constant(0, f32());
    for (int tap = isCubic ? -1 : 0; tap <= (isCubic ? 2 : 1); ++tap) {
      mlir::Value distance = s.make<math::AbsFOp>(s.sub(part, s.constant(tap, f32())));
      mlir::Value weight = isCubic ? cubicWeight(distance) : s.sub(s.constant(1, f32()), distance);
      sum = s.add(sum, s.mul(weight, at(dim, s.add(floor, s.constant(tap, f32())), coordinates)));
    }
    return sum;
  }

  mlir::Value cubicWeight(mlir::Value x) {
    constexpr double a = -0.75;
    auto number = [&](double value) { return s.constant(value, f32()); };
    mlir::Value x2 = s.mul(x, x), x3 = s.mul(x2, x);
    mlir::Value near = s.add(s.sub(s.mul(number(a + 2), x3), s.mul(number(a + 3), x2)), number(1));
    mlir::Value far =
        s.add(s.sub(s.mul(number(a), x3), s.mul(number(5 * a), x2)), s.sub(s.mul(number(8 * a), x), number(4 * a)));
    return s.select(s.lessOrEqual(x, number(1)), near, far);
  }

  Scalars &s;
  mlir::Value tensor;
  DataType type;
  ArrayRef<mlir::Value> extents;
  std::string_view mode, padding;
  bool aligns;
  SmallVector<mlir::Value> from;
};

LogicalResult lowerGridSample(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &image = n.in(0), &grid = n.in(1);
  const int64_t space = image.rank() - 2;
  if (space < 1 || grid.rank() != image.rank())
    return n.refuse("needs an image and a grid with as many dimensions");
  const std::string_view mode = n.text("mode", "linear");
  if (mode != "linear" && mode != "bilinear" && mode != "nearest" && mode != "cubic" && mode != "bicubic")
    return n.refuse("has the mode '" + Twine(StringRef(mode)) + "'");
  Dims dims = {image.dims[0], image.dims[1]};
  dims.append(grid.dims.begin() + 1, grid.dims.end() - 1);
  mlir::Value tensor = e.tensorOf(image), places = e.tensorOf(grid);
  SmallVector<mlir::Value> extents;
  for (int64_t dim = 0; dim < space; ++dim)
    extents.push_back(e.indexOf(image.dims[2 + dim]));
  Type element = e.elementType(image.type);
  return n.give(e.generate(image.type, dims, [&](Scalars &s, ValueRange at) {
    Sampler sampler(n, s, tensor, image.type, extents);
    SmallVector<mlir::Value> coordinates, place = {at[0]};
    llvm::append_range(place, at.drop_front(2));
    place.emplace_back();
    for (int64_t dim = 0; dim < space; ++dim) {
      place.back() = s.index(space - 1 - dim); // x comes before y
      mlir::Value g = s.convert(Emitter::load(s, places, place), false, s.b.getF32Type(), false);
      coordinates.push_back(sampler.denormalized(g, static_cast<size_t>(dim)));
    }
    return s.convert(sampler.sample(at.take_front(2), coordinates), false, element, Emitter::isUnsigned(image.type));
  }));
}

LogicalResult lowerAffineGrid(NodeLowering &n) {
  Emitter &e = n.e;
  FailureOr<Dims> size = e.elementsOf(n.in(1));
  if (failed(size) || (size->size() != 4 && size->size() != 5))
    return n.refuse("needs the size of images of two or three dimensions");
  const auto space = static_cast<int64_t>(size->size()) - 2;
  const bool aligns = n.integer("align_corners", 0) != 0;
  Dims dims = {(*size)[0]};
  dims.append(size->begin() + 2, size->end());
  dims.push_back(e.number(space));
  SmallVector<mlir::Value> extents;
  for (int64_t dim = 0; dim < space; ++dim)
    extents.push_back(e.indexOf((*size)[2 + dim]));
  mlir::Value theta = e.tensorOf(n.in(0));
  Type element = e.elementType(n.in(0).type);
  return n.give(e.generate(n.in(0).type, dims, [&](Scalars &s, ValueRange at) {
    auto number = [&](double x) { return s.constant(x, element); };
    mlir::Value row = at.back(), sum = Emitter::load(s, theta, {at[0], row, s.index(space)});
    for (int64_t dim = 0; dim < space; ++dim) {
      mlir::Value place = s.toFloat(at[1 + dim], element), extent = s.toFloat(extents[dim], element);
      mlir::Value x;
      if (aligns)
        x = s.sub(s.div(s.mul(number(2), place), s.max(s.sub(extent, number(1)), number(1))), number(1));
      else
        x = s.sub(s.div(s.add(s.mul(number(2), place), number(1)), extent), number(1));
      sum = s.add(sum, s.mul(Emitter::load(s, theta, {at[0], row, s.index(space - 1 - dim)}), x));
    }
    return sum;
  }));
}

// Columns of blocks added up to the image that they are of.
LogicalResult lowerCol2Im(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &columns = n.in(0);
  FailureOr<Dims> shape = e.elementsOf(n.in(1)), block = e.elementsOf(n.in(2));
  if (failed(shape) || failed(block))
    return failure();
  const auto space = static_cast<int64_t>(shape->size());
  SmallVector<int64_t> strides = n.integersOr("strides", space, 1), dilations = n.integersOr("dilations", space, 1),
                       pads = n.integersOr("pads", 2 * space, 0);
  if (columns.rank() != 3 || static_cast<int64_t>(block->size()) != space || space < 1 ||
      llvm::any_of(strides, [](int64_t stride) { return stride < 1; }))
    return n.refuse("needs columns of blocks, and strides of at least 1");
  using enum Emitter::Arithmetic;
  OpFoldResult taps = e.product(*block);
  Dims dims = {columns.dims[0], e.compute(DivTowardsZero, columns.dims[1], e.compute(Max, taps, e.number(1)))};
  SmallVector<mlir::Value> blocks, extents;
  for (int64_t dim = 0; dim < space; ++dim) {
    dims.push_back((*shape)[dim]);
    OpFoldResult reach = e.mul(e.sub((*block)[dim], e.number(1)), e.number(dilations[dim]));
    OpFoldResult free = e.sub(e.add((*shape)[dim], e.number(pads[dim] + pads[space + dim] - 1)), reach);
    blocks.push_back(e.indexOf(e.add(e.compute(DivTowardsZero, free, e.number(strides[dim])), e.number(1))));
    extents.push_back(e.indexOf((*block)[dim]));
  }
  // Of each tap, the block in which the element is under it.
  const int64_t rank = 2 + space;
  MLIRContext *context = e.b.getContext();
  SmallVector<AffineExpr> ofResult;
  for (int64_t dim = 0; dim < rank; ++dim)
    ofResult.push_back(getAffineDimExpr(dim, context));
  mlir::Value tensor = e.tensorOf(columns), window = e.empty(columns.type, {taps}).tensor;
  mlir::Value count = e.indexOf(taps);
  Value target = e.filled(columns.type, dims, e.constantScalar(0, columns.type));
  SmallVector<AffineMap> maps = {AffineMap::get(rank + 1, 0, {getAffineDimExpr(rank, context)}, context),
                                 AffineMap::get(rank + 1, 0, ofResult, context)};
  auto generic = linalg::GenericOp::create(
      e.b, e.loc, target.tensor.getType(), window, target.tensor, maps, e.loops(rank, 1),
      [&](OpBuilder &inner, Location at, ValueRange args) {
        Scalars s(inner, at);
        mlir::Value tap = linalg::IndexOp::create(inner, at, rank), rest = tap, divisor = count;
        mlir::Value isThere = s.constant(1, inner.getI1Type()), which = s.index(0);
        for (int64_t dim = 0; dim < space; ++dim) {
          divisor = s.make<arith::DivUIOp>(divisor, extents[dim]);
          mlir::Value own = s.make<arith::DivUIOp>(rest, divisor);
          rest = s.make<arith::RemUIOp>(rest, divisor);
          mlir::Value place = linalg::IndexOp::create(inner, at, 2 + dim), stride = s.index(strides[dim]);
          place = s.sub(s.add(place, s.index(pads[dim])), s.mul(own, s.index(dilations[dim])));
          mlir::Value whole = s.make<arith::FloorDivSIOp>(place, stride);
          mlir::Value fits = s.equal(s.mul(whole, stride), place);
          fits = s.make<arith::AndIOp>(fits, s.lessOrEqual(s.index(0), whole));
          fits = s.make<arith::AndIOp>(fits, s.less(whole, blocks[dim]));
          isThere = s.make<arith::AndIOp>(isThere, fits);
          which = s.add(s.mul(which, blocks[dim]), s.select(fits, whole, s.index(0)));
        }
        mlir::Value channel = linalg::IndexOp::create(inner, at, 1), row = s.add(s.mul(channel, count), tap);
        mlir::Value element = Emitter::load(s, tensor, {linalg::IndexOp::create(inner, at, 0), row, which});
        linalg::YieldOp::create(inner, at, s.select(isThere, s.add(args[1], element), args[1]));
      });
  return n.give(e.wrap(generic.getResult(0), columns.type, dims));
}

// The middle of each dimension, with zeros around it where it is too small.
LogicalResult lowerCenterCropPad(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  FailureOr<Dims> sizes = e.elementsOf(n.in(1));
  if (failed(sizes))
    return failure();
  SmallVector<int64_t> axes;
  if (std::optional<ArrayRef<int64_t>> given = n.integers("axes")) {
    FailureOr<SmallVector<int64_t>> all = n.dimensions(*given, value.rank());
    if (failed(all))
      return failure();
    axes = *all;
  } else {
    for (int64_t dim = 0; dim < value.rank(); ++dim)
      axes.push_back(dim);
  }
  if (sizes->size() != axes.size())
    return n.refuse("has sizes of another number than dimensions");
  using enum Emitter::Arithmetic;
  Dims dims = value.dims, shifts(value.rank(), e.number(0));
  for (auto [axis, size] : llvm::zip(axes, *sizes)) {
    OpFoldResult extent = value.dims[axis];
    // What is cut starts at half of what is too much, what is padded at half of what lacks.
    OpFoldResult cut = e.compute(DivTowardsZero, e.compute(Max, e.sub(extent, size), e.number(0)), e.number(2));
    OpFoldResult pad = e.compute(DivTowardsZero, e.compute(Max, e.sub(size, extent), e.number(0)), e.number(2));
    shifts[axis] = e.sub(cut, pad);
    dims[axis] = size;
  }
  mlir::Value tensor = e.tensorOf(value);
  SmallVector<mlir::Value> starts, extents;
  for (auto [shift, extent] : llvm::zip(shifts, value.dims)) {
    starts.push_back(e.indexOf(shift));
    extents.push_back(e.indexOf(extent));
  }
  return n.give(e.generate(value.type, dims, [&](Scalars &s, ValueRange at) {
    SmallVector<mlir::Value> from;
    mlir::Value isInside = s.constant(1, s.b.getI1Type());
    for (auto [index, start, extent] : llvm::zip(at, starts, extents)) {
      mlir::Value place = s.add(index, start);
      isInside = s.make<arith::AndIOp>(isInside, s.lessOrEqual(s.index(0), place));
      isInside = s.make<arith::AndIOp>(isInside, s.less(place, extent));
      from.push_back(s.max(s.index(0), s.min(place, s.sub(extent, s.index(1)))));
    }
    mlir::Value element = Emitter::load(s, tensor, from);
    return s.select(isInside, element, s.like(0, element));
  }));
}

} // namespace

void registerImages(Registry &registry) {
  registry["AffineGrid"] = {lowerAffineGrid, 2};
  registry["CenterCropPad"] = {lowerCenterCropPad, 2};
  registry["Col2Im"] = {lowerCol2Im, 3};
  registry["GridSample"] = {lowerGridSample, 2};
}

} // namespace kiln::onnx
