// Parts of images that are sampled where other tensors say: RoiAlign, DeformConv.
#include "kiln/compiler/Input/Onnx/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// The two places of one dimension that a coordinate lies between, and their weights.
struct Between {
  mlir::Value places[2], weights[2];
};

mlir::Value indexOfReal(Scalars &s, mlir::Value real) {
  return s.toIndex(s.make<arith::FPToSIOp>(s.b.getI64Type(), real));
}

// Of a coordinate from 0 to the last place.
Between betweenHeld(Scalars &s, mlir::Value x, mlir::Value extent) {
  mlir::Value last = s.sub(extent, s.index(1)), floor = s.make<math::FloorOp>(x), first = indexOfReal(s, floor),
              rest = s.sub(x, floor);
  return {{first, s.min(s.add(first, s.index(1)), last)}, {s.sub(s.like(1, x), rest), rest}};
}

// Of any coordinate: places outside have no weight, and 0 stands for them.
Between betweenAny(Scalars &s, mlir::Value x, mlir::Value extent) {
  mlir::Value limit = s.toFloat(extent, x.getType()), floor = s.make<math::FloorOp>(x), rest = s.sub(x, floor);
  Between between;
  for (int side = 0; side < 2; ++side) {
    mlir::Value real = s.add(floor, s.like(side, x)), weight = side ? rest : s.sub(s.like(1, x), rest);
    mlir::Value isInside = s.make<arith::AndIOp>(s.lessOrEqual(s.like(0, x), real), s.less(real, limit));
    between.weights[side] = s.select(isInside, weight, s.like(0, x));
    between.places[side] = indexOfReal(s, s.select(isInside, real, s.like(0, x)));
  }
  return between;
}

// Elements of four corners times their weights.
SmallVector<mlir::Value> corners(Scalars &s, mlir::Value image, mlir::Value batch, mlir::Value channel,
                                 const Between &rows, const Between &columns) {
  SmallVector<mlir::Value> terms;
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 2; ++column) {
      mlir::Value element = Emitter::load(s, image, {batch, channel, rows.places[row], columns.places[column]});
      terms.push_back(s.mul(s.mul(rows.weights[row], columns.weights[column]), element));
    }
  return terms;
}

mlir::Value joined(Scalars &s, ArrayRef<mlir::Value> terms, bool isMax) {
  mlir::Value all = terms.front();
  for (mlir::Value term : terms.drop_front())
    all = isMax ? s.max(all, term) : s.add(all, term);
  return all;
}

// Each region as an image of one size, whose elements are means or maxima of samples.
LogicalResult lowerRoiAlign(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &image = n.in(0), &rois = n.in(1);
  const std::string_view mode = n.text("mode", "avg"),
                         transformation = n.text("coordinate_transformation_mode",
                                                 n.opset < 16 ? "output_half_pixel" : "half_pixel");
  const int64_t sizes[] = {n.integer("output_height", 1), n.integer("output_width", 1)},
                ratio = n.integer("sampling_ratio", 0);
  const double scale = n.real("spatial_scale", 1);
  if (image.rank() != 4 || rois.rank() != 2 || n.in(2).rank() != 1 || Emitter::known(rois.dims[1]).value_or(4) != 4 ||
      !Emitter::isFloat(image.type) || rois.type != image.type || sizes[0] < 1 || sizes[1] < 1)
    return n.refuse("needs images of two dimensions and a list of regions, of one type of floats");
  const bool isMax = mode == "max", isHalf = transformation == "half_pixel";
  mlir::Value tensor = e.tensorOf(image), regions = e.tensorOf(rois), batches = e.tensorOf(n.in(2));
  Type element = e.elementType(image.type);
  // Along rows or columns: where a region begins, how large an element of the result is, and how many samples it has.
  struct Side {
    mlir::Value start, bin, samples;
  };
  auto sideOf = [&](Scalars &s, mlir::Value region, int which) {
    auto edge = [&](int64_t at) {
      mlir::Value raw = s.mul(Emitter::load(s, regions, {region, s.index(at)}), s.constant(scale, element));
      return isHalf ? s.sub(raw, s.constant(0.5, element)) : raw;
    };
    mlir::Value start = edge(1 - which), length = s.sub(edge(3 - which), start);
    if (!isHalf) // regions of no extent have one of 1
      length = s.max(length, s.constant(1, element));
    mlir::Value bin = s.div(length, s.constant(double(sizes[which]), element));
    return Side{start, bin, ratio > 0 ? s.index(ratio) : indexOfReal(s, s.make<math::CeilOp>(bin))};
  };
  // As many samples as the largest region needs; others leave some out.
  Dims taps(2, e.number(ratio));
  for (int which = 0; which < 2 && ratio <= 0; ++which) {
    Value own = e.generate(DataType::I64, {rois.dims[0]}, [&](Scalars &s, ValueRange at) -> mlir::Value {
      return s.make<arith::IndexCastOp>(s.b.getI64Type(), sideOf(s, at[0], which).samples);
    });
    Value most = e.reduce(own, {0}, false, e.constantScalar(0, DataType::I64), DataType::I64,
                          [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.max(soFar, x); });
    FailureOr<Dims> count = e.elementsOf(most);
    if (failed(count))
      return failure();
    taps[which] = count->front();
  }
  constexpr int64_t kParallel = 4;
  MLIRContext *context = e.b.getContext();
  const Dims dims = {rois.dims[0], image.dims[1], e.number(sizes[0]), e.number(sizes[1])};
  mlir::Value extents[] = {e.indexOf(image.dims[2]), e.indexOf(image.dims[3])},
              lastBatch = e.indexOf(e.sub(image.dims[0], e.number(1)));
  mlir::Value start = isMax ? e.extreme(image.type, /*isLowest=*/true) : e.constantScalar(0, image.type);
  mlir::Value target = e.filled(image.type, dims, start).tensor, window = e.empty(image.type, taps).tensor;
  SmallVector<AffineMap> maps = {AffineMap::getMultiDimIdentityMap(kParallel + 2, context).getMinorSubMap(2),
                                 AffineMap::getMultiDimIdentityMap(kParallel + 2, context).getMajorSubMap(kParallel)};
  auto generic = linalg::GenericOp::create(
      e.b, e.loc, target.getType(), window, target, maps, e.loops(kParallel, 2),
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        Scalars s(inner, loc);
        SmallVector<mlir::Value> at;
        for (int64_t dim = 0; dim < kParallel + 2; ++dim)
          at.push_back(linalg::IndexOp::create(inner, loc, dim));
        Between between[2];
        mlir::Value isInside = s.constant(1, inner.getI1Type()), counts = isInside;
        for (int which = 0; which < 2; ++which) {
          Side side = sideOf(s, at[0], which);
          mlir::Value tap = at[kParallel + which], limit = s.toFloat(extents[which], element);
          auto real = [&](mlir::Value index) { return s.toFloat(index, element); };
          mlir::Value part = s.div(s.mul(s.add(real(tap), s.constant(0.5, element)), side.bin), real(side.samples));
          mlir::Value x = s.add(s.add(side.start, s.mul(real(at[2 + which]), side.bin)), part);
          isInside = s.make<arith::AndIOp>(isInside, s.lessOrEqual(s.constant(-1, element), x));
          isInside = s.make<arith::AndIOp>(isInside, s.lessOrEqual(x, limit));
          counts = s.make<arith::AndIOp>(counts, s.less(tap, side.samples));
          mlir::Value last = s.sub(limit, s.constant(1, element));
          // What is left out may be no number.
          x = s.select(isInside, x, s.like(0, x));
          between[which] = betweenHeld(s, s.max(s.like(0, x), s.min(x, last)), extents[which]);
        }
        mlir::Value batch = s.toIndex(Emitter::load(s, batches, at[0]));
        batch = s.max(s.index(0), s.min(batch, lastBatch));
        mlir::Value sample = joined(s, corners(s, tensor, batch, at[1], between[0], between[1]), isMax);
        sample = s.select(isInside, sample, s.like(0, sample));
        mlir::Value next = isMax ? s.max(args[1], sample) : s.add(args[1], sample);
        linalg::YieldOp::create(inner, loc, s.select(counts, next, args[1]));
      });
  mlir::Value all = generic.getResult(0);
  return n.give(e.generate(image.type, dims, [&](Scalars &s, ValueRange at) {
    mlir::Value count = s.max(s.index(1), s.mul(sideOf(s, at[0], 0).samples, sideOf(s, at[0], 1).samples)),
                value = Emitter::load(s, all, at);
    if (!isMax)
      return s.div(value, s.toFloat(count, element));
    return s.select(s.equal(value, start), s.like(0, value), value); // of no sample
  }));
}

// A convolution whose taps are moved: all samples first, and their product with the filters then.
LogicalResult lowerDeformConv(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &image = n.in(0), &filter = n.in(1), &offsets = n.in(2);
  if (image.rank() != 4 || filter.rank() != 4 || offsets.rank() != 4 || !Emitter::isFloat(image.type))
    return n.refuse("needs images of two dimensions");
  const int64_t groups = n.integer("group", 1), offsetGroups = n.integer("offset_group", 1);
  SmallVector<int64_t> strides = n.integersOr("strides", 2, 1), dilations = n.integersOr("dilations", 2, 1),
                       pads = n.integersOr("pads", 4, 0);
  n.ignore({"kernel_shape"}); // the filters have it
  std::optional<int64_t> channels = Emitter::known(image.dims[1]), filters = Emitter::known(filter.dims[0]),
                         rows = Emitter::known(filter.dims[2]), columns = Emitter::known(filter.dims[3]);
  if (!channels || !filters || !rows || !columns || groups < 1 || offsetGroups < 1 || *channels % groups != 0 ||
      *filters % groups != 0 || *channels % offsetGroups != 0)
    return n.refuse("needs known channels and filters that its groups divide");
  if (std::optional<int64_t> given = Emitter::known(offsets.dims[1]);
      given && given != 2 * offsetGroups * *rows * *columns)
    return n.refuse("has " + Twine(*given) + " offsets for each place");
  if (n.has(4) && (n.in(4).rank() != 4 || Emitter::known(n.in(4).dims[1]).value_or(offsetGroups * *rows * *columns) !=
                                              offsetGroups * *rows * *columns))
    return n.refuse("has another number of masks than taps");
  OpFoldResult height = offsets.dims[2], width = offsets.dims[3];
  mlir::Value tensor = e.tensorOf(image), moves = e.tensorOf(offsets), mask,
              extents[] = {e.indexOf(image.dims[2]), e.indexOf(image.dims[3])};
  if (n.has(4))
    mask = e.tensorOf(n.in(4));
  Type element = e.elementType(image.type);
  const Dims dims = {image.dims[0], image.dims[1], filter.dims[2], filter.dims[3], height, width};
  Value samples = e.generate(image.type, dims, [&](Scalars &s, ValueRange at) {
    mlir::Value group = s.make<arith::DivUIOp>(at[1], s.index(*channels / offsetGroups));
    mlir::Value tap = s.add(s.mul(s.add(s.mul(group, s.index(*rows)), at[2]), s.index(*columns)), at[3]);
    Between between[2];
    for (int64_t dim = 0; dim < 2; ++dim) {
      mlir::Value place = s.add(s.mul(at[4 + dim], s.index(strides[dim])), s.mul(at[2 + dim], s.index(dilations[dim])));
      mlir::Value which = s.add(s.mul(tap, s.index(2)), s.index(dim));
      mlir::Value x = s.sub(s.toFloat(place, element), s.constant(double(pads[dim]), element));
      x = s.add(x, Emitter::load(s, moves, {at[0], which, at[4], at[5]}));
      between[dim] = betweenAny(s, x, extents[dim]);
    }
    mlir::Value sample = joined(s, corners(s, tensor, at[0], at[1], between[0], between[1]), /*isMax=*/false);
    return mask ? s.mul(sample, Emitter::load(s, mask, {at[0], tap, at[4], at[5]})) : sample;
  });
  OpFoldResult depth = e.number(*channels / groups * *rows * *columns), perGroup = e.number(*filters / groups);
  FailureOr<Value> right = e.reshape(samples, {image.dims[0], e.number(groups), depth, e.mul(height, width)}),
                   left = e.reshape(filter, {e.number(1), e.number(groups), perGroup, depth});
  if (failed(right) || failed(left))
    return failure();
  FailureOr<Value> product = e.multiply(*left, *right, image.type);
  if (failed(product))
    return failure();
  FailureOr<Value> result = e.reshape(*product, {image.dims[0], filter.dims[0], height, width});
  if (succeeded(result) && n.has(3))
    result = withBias(n, *result, n.in(3));
  return n.give(result);
}

} // namespace

void registerRegions(Registry &registry) {
  registry["DeformConv"] = {lowerDeformConv, 3, /*adds=*/true};
  registry["RoiAlign"] = {lowerRoiAlign, 3, /*adds=*/true};
}

} // namespace kiln::onnx
