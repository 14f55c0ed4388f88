// Images of another size: Resize, Upsample.
#include <cmath>

#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// One dimension of it.
struct Axis {
  int64_t dim = 0;
  OpFoldResult size; // of the result
  mlir::Value scale; // f32: size of the result over that of the input
  std::optional<double> knownScale;
  mlir::Value roiStart, roiEnd; // f32; null without tf_crop_and_resize
};

class Resizer {
public:
  explicit Resizer(NodeLowering &n)
      : n(n), e(n.e), mode(n.text("mode", "nearest")),
        transformation(n.text("coordinate_transformation_mode", n.opset < 11 ? "asymmetric" : "half_pixel")),
        rounding(n.text("nearest_mode", n.opset < 11 ? "floor" : "round_prefer_floor")),
        antialias(n.integer("antialias", 0) != 0), excludesOutside(n.integer("exclude_outside", 0) != 0),
        cubic(n.real("cubic_coeff_a", -0.75)), extrapolation(n.real("extrapolation_value", 0)) {}

  FailureOr<Value> resize(Value value, ArrayRef<Axis> axes) {
    if (mode != "nearest" && mode != "linear" && mode != "bilinear" && mode != "cubic")
      return n.refuse("has the mode '" + Twine(StringRef(mode)) + "'");
    for (const Axis &axis : axes) {
      FailureOr<Value> next = along(value, axis);
      if (failed(next))
        return failure();
      value = *next;
    }
    return value;
  }

private:
  // Where the result's place `at` lies in the input, as f32.
  mlir::Value coordinate(Scalars &s, mlir::Value at, const Axis &axis, mlir::Value extent, mlir::Value size) {
    Type f32 = s.b.getF32Type();
    auto real = [&](mlir::Value index) { return s.toFloat(index, f32); };
    auto number = [&](double x) { return s.constant(x, f32); };
    mlir::Value x = real(at);
    if (transformation == "asymmetric")
      return s.div(x, axis.scale);
    // Between the corners, with the size that the scale gives, which may not be whole.
    mlir::Value from = real(s.sub(extent, s.index(1))), last = s.sub(s.mul(axis.scale, real(extent)), number(1));
    mlir::Value isOne = s.equal(size, s.index(1)), divisor = s.select(isOne, number(1), last);
    if (transformation == "align_corners")
      return s.select(isOne, number(0), s.div(s.mul(x, from), divisor));
    if (transformation == "tf_crop_and_resize") {
      mlir::Value length = s.sub(axis.roiEnd, axis.roiStart);
      mlir::Value moved = s.add(s.mul(axis.roiStart, from), s.div(s.mul(s.mul(x, length), from), divisor));
      mlir::Value middle = s.mul(number(0.5), s.mul(s.add(axis.roiStart, axis.roiEnd), from));
      return s.select(isOne, middle, moved);
    }
    mlir::Value half = s.sub(s.div(s.add(x, number(0.5)), axis.scale), number(0.5));
    if (transformation == "half_pixel_symmetric") {
      // The middles of both lie upon each other though sizes are whole.
      mlir::Value exact = s.mul(axis.scale, real(extent));
      mlir::Value adjustment = s.div(real(size), exact), center = s.div(real(extent), number(2));
      return s.add(s.mul(center, s.sub(number(1), adjustment)), half);
    }
    if (transformation == "pytorch_half_pixel")
      return s.select(s.equal(size, s.index(1)), number(0), half);
    return half;
  }

  mlir::Value nearest(Scalars &s, mlir::Value x) {
    auto number = [&](double value) { return s.constant(value, s.b.getF32Type()); };
    if (rounding == "floor")
      return s.make<math::FloorOp>(x);
    if (rounding == "ceil")
      return s.make<math::CeilOp>(x);
    if (rounding == "round_prefer_ceil")
      return s.make<math::FloorOp>(s.add(x, number(0.5)));
    return s.make<math::CeilOp>(s.sub(x, number(0.5)));
  }

  // Of a place that is `distance` away.
  mlir::Value weight(Scalars &s, mlir::Value distance) {
    Type f32 = s.b.getF32Type();
    auto number = [&](double x) { return s.constant(x, f32); };
    mlir::Value x = s.make<math::AbsFOp>(distance);
    if (mode != "cubic")
      return s.max(number(0), s.sub(number(1), x));
    mlir::Value x2 = s.mul(x, x), x3 = s.mul(x2, x);
    auto polynomial = [&](double a3, double a2, double a1, double a0) {
      mlir::Value sum = s.add(s.mul(number(a3), x3), s.mul(number(a2), x2));
      return s.add(s.add(sum, s.mul(number(a1), x)), number(a0));
    };
    mlir::Value near = polynomial(cubic + 2, -(cubic + 3), 0, 1),
                far = polynomial(cubic, -5 * cubic, 8 * cubic, -4 * cubic);
    mlir::Value outer = s.select(s.less(x, number(2)), far, number(0));
    return s.select(s.lessOrEqual(x, number(1)), near, outer);
  }

  FailureOr<Value> along(const Value &value, const Axis &axis) {
    Dims dims = value.dims;
    dims[axis.dim] = axis.size;
    mlir::Value tensor = e.tensorOf(value), extent = e.indexOf(value.dims[axis.dim]), size = e.indexOf(axis.size);
    if (antialias && mode != "nearest")
      return smoothedAlong(value, axis);
    return e.generate(value.type, dims, [&](Scalars &s, ValueRange at) {
      Type f32 = s.b.getF32Type();
      mlir::Value x = coordinate(s, at[axis.dim], axis, extent, size), zero = s.index(0);
      mlir::Value last = s.sub(extent, s.index(1));
      auto held = [&](mlir::Value index) { return s.max(zero, s.min(index, last)); };
      auto whole = [&](mlir::Value real) { return s.toIndex(s.make<arith::FPToSIOp>(s.b.getI64Type(), real)); };
      SmallVector<mlir::Value> from(at);
      mlir::Value result;
      if (mode == "nearest") {
        from[axis.dim] = held(whole(nearest(s, x)));
        result = Emitter::load(s, tensor, from);
      } else {
        mlir::Value floor = s.make<math::FloorOp>(x), first = whole(floor);
        mlir::Value sum = s.constant(0, f32), weights = s.constant(0, f32);
        for (int64_t tap = 1 - reach(); tap <= reach(); ++tap) {
          mlir::Value place = s.add(first, s.index(tap));
          mlir::Value own = weightOf(s, place, s.sub(x, s.toFloat(place, f32)), last);
          from[axis.dim] = held(place);
          mlir::Value loaded = s.convert(Emitter::load(s, tensor, from), Emitter::isUnsigned(value.type), f32, false);
          sum = s.add(sum, s.mul(own, loaded));
          weights = s.add(weights, own);
        }
        if (excludesOutside)
          sum = s.div(sum, weights);
        result = rounded(s, sum, value.type);
      }
      return whereInside(s, x, last, result);
    });
  }

  // With weights that are as wide as the places of the result are apart, in places of the input. How many count is
  // found when the program runs.
  FailureOr<Value> smoothedAlong(const Value &value, const Axis &axis) {
    MLIRContext *context = e.b.getContext();
    Type f32 = e.b.getF32Type();
    Scalars outer(e.b, e.loc);
    mlir::Value one = outer.constant(1, f32), stretch = outer.max(one, outer.div(one, axis.scale)),
                side = outer.make<math::CeilOp>(outer.mul(outer.constant(double(reach()), f32), stretch)),
                reachIndex = outer.toIndex(outer.make<arith::FPToSIOp>(e.b.getI64Type(), side));
    OpFoldResult taps = outer.mul(outer.index(2), reachIndex);
    constexpr double kLeastScale = 1e-6; // below which the number of taps is no constant
    if (axis.knownScale && *axis.knownScale > kLeastScale)
      taps = e.number(2 * static_cast<int64_t>(std::ceil(double(reach()) * std::max(1.0, 1 / *axis.knownScale))));
    mlir::Value tensor = e.tensorOf(value), extent = e.indexOf(value.dims[axis.dim]), size = e.indexOf(axis.size),
                before = outer.sub(outer.make<arith::DivUIOp>(e.indexOf(taps), outer.index(2)), outer.index(1));
    Dims dims = value.dims;
    dims[axis.dim] = axis.size;
    const int64_t rank = value.rank();
    SmallVector<AffineMap> maps = {AffineMap::get(rank + 1, 0, {getAffineDimExpr(rank, context)}, context)};
    maps.append(2, AffineMap::getMultiDimIdentityMap(rank + 1, context).getMajorSubMap(rank));
    Value sums = e.filled(DataType::F32, dims, e.constantScalar(0, DataType::F32));
    mlir::Value window = e.empty(DataType::F32, {taps}).tensor;
    // Weighted elements and their weights, added up.
    auto generic = linalg::GenericOp::create(
        e.b, e.loc, TypeRange{sums.tensor.getType(), sums.tensor.getType()}, window,
        ValueRange{sums.tensor, sums.tensor}, maps, e.loops(rank, 1),
        [&](OpBuilder &inner, Location loc, ValueRange args) {
          Scalars s(inner, loc);
          SmallVector<mlir::Value> from;
          for (int64_t dim = 0; dim < rank; ++dim)
            from.push_back(linalg::IndexOp::create(inner, loc, dim));
          mlir::Value x = coordinate(s, from[axis.dim], axis, extent, size), last = s.sub(extent, s.index(1)),
                      first = s.toIndex(s.make<arith::FPToSIOp>(inner.getI64Type(), s.make<math::FloorOp>(x))),
                      tap = linalg::IndexOp::create(inner, loc, rank), place = s.sub(s.add(first, tap), before);
          mlir::Value own = weightOf(s, place, s.div(s.sub(x, s.toFloat(place, f32)), stretch), last);
          from[axis.dim] = s.max(s.index(0), s.min(place, last));
          mlir::Value loaded = s.convert(Emitter::load(s, tensor, from), Emitter::isUnsigned(value.type), f32, false);
          linalg::YieldOp::create(inner, loc, ValueRange{s.add(args[1], s.mul(own, loaded)), s.add(args[2], own)});
        });
    mlir::Value weighted = generic.getResult(0), weights = generic.getResult(1);
    return e.generate(value.type, dims, [&](Scalars &s, ValueRange at) {
      mlir::Value x = coordinate(s, at[axis.dim], axis, extent, size), last = s.sub(extent, s.index(1));
      mlir::Value mean = s.div(Emitter::load(s, weighted, at), Emitter::load(s, weights, at));
      return whereInside(s, x, last, rounded(s, mean, value.type));
    });
  }

  // How far the places lie that count, on each side.
  int64_t reach() const { return mode == "cubic" ? 2 : 1; }

  mlir::Value weightOf(Scalars &s, mlir::Value place, mlir::Value distance, mlir::Value last) {
    mlir::Value own = weight(s, distance);
    if (!excludesOutside)
      return own;
    mlir::Value isInside = s.make<arith::AndIOp>(s.lessOrEqual(s.index(0), place), s.lessOrEqual(place, last));
    return s.select(isInside, own, s.like(0, own));
  }

  mlir::Value rounded(Scalars &s, mlir::Value x, DataType type) {
    if (!Emitter::isFloat(type))
      x = s.make<math::RoundEvenOp>(x);
    return s.convert(x, false, e.elementType(type), Emitter::isUnsigned(type));
  }

  mlir::Value whereInside(Scalars &s, mlir::Value x, mlir::Value last, mlir::Value result) {
    if (transformation != "tf_crop_and_resize")
      return result;
    mlir::Value isOutside = s.make<arith::OrIOp>(s.less(x, s.like(0, x)), s.less(s.toFloat(last, x.getType()), x));
    return s.select(isOutside, s.like(extrapolation, result), result);
  }

  NodeLowering &n;
  Emitter &e;
  std::string_view mode, transformation, rounding;
  bool antialias, excludesOutside;
  double cubic, extrapolation;
};

// The numbers of a list of floats: constants where they are known, and else read when the program runs.
FailureOr<SmallVector<mlir::Value>> floatsOf(NodeLowering &n, const Value &value) {
  std::optional<int64_t> count = value.rank() == 1 ? Emitter::known(value.dims[0]) : std::nullopt;
  constexpr int64_t kMostNumbers = 64;
  if (!count || *count > kMostNumbers || !Emitter::isFloat(value.type))
    return n.refuse("needs a list of floats whose length is known");
  Emitter &e = n.e;
  Scalars s(e.b, e.loc);
  SmallVector<mlir::Value> numbers;
  mlir::Value tensor = e.tensorOf(value);
  DenseElementsAttr constant;
  const bool isConstant = matchPattern(tensor, m_Constant(&constant));
  for (int64_t i = 0; i < *count; ++i) {
    if (isConstant)
      numbers.push_back(s.constant(constant.getValues<APFloat>()[i].convertToDouble(), e.elementType(value.type)));
    else
      numbers.push_back(Emitter::load(s, tensor, s.index(i)));
    numbers.back() = s.convert(numbers.back(), false, e.b.getF32Type(), false);
  }
  return numbers;
}

std::optional<double> knownFloat(mlir::Value number) {
  FloatAttr attribute;
  if (matchPattern(number, m_Constant(&attribute)))
    return attribute.getValueAsDouble();
  return std::nullopt;
}

LogicalResult lowerResize(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const size_t scalesAt = n.node.op == "Upsample" || n.opset < 11 ? 1 : 2;
  auto isGiven = [&](size_t input) {
    return n.has(input) && !(n.in(input).rank() == 1 && Emitter::known(n.in(input).dims[0]) == 0);
  };
  SmallVector<int64_t> dims;
  for (int64_t axis : n.integers("axes").value_or(ArrayRef<int64_t>())) {
    FailureOr<int64_t> dim = n.dimension(axis, value.rank());
    if (failed(dim))
      return failure();
    dims.push_back(*dim);
  }
  if (dims.empty())
    for (int64_t dim = 0; dim < value.rank(); ++dim)
      dims.push_back(dim);
  Scalars s(e.b, e.loc);
  Type f32 = e.b.getF32Type();
  SmallVector<Axis> axes;
  const Attribute *scaleAttribute = n.attribute("scales");
  const std::string_view policy = n.text("keep_aspect_ratio_policy", "stretch"); // of sizes
  if (isGiven(scalesAt) || scaleAttribute) {
    SmallVector<mlir::Value> scales;
    if (scaleAttribute) {
      for (float scale : scaleAttribute->floats)
        scales.push_back(s.constant(scale, f32));
    } else {
      FailureOr<SmallVector<mlir::Value>> numbers = floatsOf(n, n.in(scalesAt));
      if (failed(numbers))
        return failure();
      scales = *numbers;
    }
    if (scales.size() != dims.size())
      return n.refuse("has " + Twine(scales.size()) + " scales for " + Twine(dims.size()) + " dimensions");
    for (auto [dim, scale] : llvm::zip(dims, scales)) {
      std::optional<double> known = knownFloat(scale);
      if (known == 1)
        continue;
      Axis axis{dim, {}, scale, known, {}, {}};
      std::optional<int64_t> extent = Emitter::known(value.dims[dim]);
      if (known && extent) {
        axis.size = e.number(static_cast<int64_t>(std::floor(float(*extent) * float(*known))));
      } else {
        mlir::Value product = s.mul(s.toFloat(e.indexOf(value.dims[dim]), f32), scale);
        axis.size = s.toIndex(s.make<arith::FPToSIOp>(e.b.getI64Type(), s.make<math::FloorOp>(product)));
      }
      axes.push_back(axis);
    }
  } else if (isGiven(3)) {
    FailureOr<Dims> sizes = e.elementsOf(n.in(3));
    if (failed(sizes) || sizes->size() != dims.size())
      return n.refuse("has sizes of another number than dimensions");
    std::optional<double> common;
    for (auto [dim, size] : llvm::zip(dims, *sizes)) {
      std::optional<int64_t> extent = Emitter::known(value.dims[dim]), known = Emitter::known(size);
      Axis axis{dim, size, {}, {}, {}, {}};
      if (extent && known) {
        axis.knownScale = double(*known) / double(*extent);
        axis.scale = s.constant(*axis.knownScale, f32);
        if (!common || (policy == "not_larger" ? *axis.knownScale < *common : *axis.knownScale > *common))
          common = axis.knownScale;
      } else {
        axis.scale = s.div(s.toFloat(e.indexOf(size), f32), s.toFloat(e.indexOf(value.dims[dim]), f32));
      }
      axes.push_back(axis);
    }
    if (policy != "stretch") {
      mlir::Value shared;
      for (Axis &axis : axes) {
        mlir::Value own = axis.scale;
        if (!shared)
          shared = own;
        else
          shared = policy == "not_larger" ? s.min(shared, own) : s.max(shared, own);
      }
      for (Axis &axis : axes) {
        axis.scale = shared;
        std::optional<int64_t> extent = Emitter::known(value.dims[axis.dim]);
        if (axis.knownScale && extent) {
          axis.knownScale = common;
          axis.scale = s.constant(*common, f32);
          axis.size = e.number(static_cast<int64_t>(std::floor(double(*extent) * *common + 0.5)));
        } else {
          mlir::Value product = s.mul(s.toFloat(e.indexOf(value.dims[axis.dim]), f32), shared);
          mlir::Value rounded = s.make<math::FloorOp>(s.add(product, s.constant(0.5, f32)));
          axis.size = s.toIndex(s.make<arith::FPToSIOp>(e.b.getI64Type(), rounded));
        }
      }
    }
    llvm::erase_if(axes, [&](const Axis &axis) { return axis.knownScale == 1; });
  } else {
    return n.refuse("has neither scales nor sizes");
  }
  if (n.text("coordinate_transformation_mode", "") == "tf_crop_and_resize") {
    FailureOr<SmallVector<mlir::Value>> roi = failure();
    if (n.has(1))
      roi = floatsOf(n, n.in(1));
    if (failed(roi) || roi->size() != 2 * dims.size())
      return n.refuse("has no region for each dimension");
    for (Axis &axis : axes) {
      const auto place = llvm::find(dims, axis.dim) - dims.begin();
      axis.roiStart = (*roi)[place];
      axis.roiEnd = (*roi)[dims.size() + place];
    }
  }
  return n.give(Resizer(n).resize(value, axes));
}

} // namespace

void registerResize(Registry &registry) {
  registry["Resize"] = {lowerResize};
  registry["Upsample"] = {lowerResize};
}

} // namespace kiln::onnx
