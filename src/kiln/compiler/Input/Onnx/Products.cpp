// Products of matrices, and convolutions.
#include "kiln/compiler/Input/Onnx/Products.h"

#include "kiln/compiler/Input/Onnx/Windows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

FailureOr<Value> matmul(NodeLowering &n, const Value &lhs, const Value &rhs, DataType type) {
  if (lhs.rank() == 0 || rhs.rank() == 0)
    return n.refuse("multiplies a scalar");
  // A vector is a row on the left, and a column on the right.
  Value left = lhs.rank() == 1 ? n.e.unsqueeze(lhs, {0}) : lhs, right = rhs.rank() == 1 ? n.e.unsqueeze(rhs, {1}) : rhs;
  FailureOr<Value> product = n.e.multiply(left, right, type);
  if (failed(product))
    return failure();
  Dims dims = product->dims;
  if (rhs.rank() == 1)
    dims.pop_back();
  if (lhs.rank() == 1)
    dims.erase(dims.end() - (rhs.rank() == 1 ? 1 : 2));
  return n.e.reshape(*product, dims);
}

FailureOr<Value> withoutZeroPoint(NodeLowering &n, const Value &value, size_t zeroPoint, int64_t axis) {
  Value wide = n.e.cast(value, DataType::I32);
  if (!n.has(zeroPoint))
    return wide;
  Value zero = n.e.cast(n.in(zeroPoint), DataType::I32);
  if (zero.rank() == 1 && Emitter::known(zero.dims[0]) != 1) {
    Dims dims(value.rank(), n.e.number(1));
    dims[axis] = zero.dims[0];
    FailureOr<Value> spread = n.e.reshape(zero, dims);
    if (failed(spread))
      return failure();
    zero = *spread;
  }
  return n.e.elementwise({&wide, &zero}, DataType::I32,
                         [](Scalars &s, ValueRange args) { return s.sub(args[0], args[1]); });
}

namespace {

LogicalResult lowerMatMul(NodeLowering &n) {
  const DataType type = n.in(0).type;
  return n.give(matmul(n, n.in(0), n.in(1), type));
}

LogicalResult lowerMatMulInteger(NodeLowering &n) {
  FailureOr<Value> lhs = withoutZeroPoint(n, n.in(0), 2, std::max<int64_t>(n.in(0).rank() - 2, 0)),
                   rhs = withoutZeroPoint(n, n.in(1), 3, n.in(1).rank() - 1);
  if (failed(lhs) || failed(rhs))
    return failure();
  return n.give(matmul(n, *lhs, *rhs, DataType::I32));
}

LogicalResult lowerGemm(NodeLowering &n) {
  if (n.in(0).rank() != 2 || n.in(1).rank() != 2)
    return n.refuse("needs matrices");
  Value lhs = n.in(0), rhs = n.in(1);
  if (n.integer("transA", 0))
    lhs = n.e.transpose(lhs, {1, 0});
  if (n.integer("transB", 0))
    rhs = n.e.transpose(rhs, {1, 0});
  FailureOr<Value> product = n.e.multiply(lhs, rhs, lhs.type);
  if (failed(product))
    return failure();
  const double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  auto scaled = [](Scalars &s, mlir::Value x, double factor) {
    return factor == 1 ? x : isa<FloatType>(x.getType()) ? s.mul(x, s.like(factor, x)) : s.mul(x, s.like(factor, x));
  };
  if (!n.has(2) || beta == 0) {
    if (alpha == 1)
      return n.give(*product);
    return n.give(
        n.e.elementwise({&*product}, lhs.type, [&](Scalars &s, ValueRange args) { return scaled(s, args[0], alpha); }));
  }
  return n.give(n.e.elementwise({&*product, &n.in(2)}, lhs.type, [&](Scalars &s, ValueRange args) {
    return s.add(scaled(s, args[0], alpha), scaled(s, args[1], beta));
  }));
}

//===--- Convolutions ---------------------------------------------------------------------------------------------===//

// Of an image (batch, channels, space...) and a filter (filters, channels of a group, space...), padded already.
FailureOr<Value> convolve(NodeLowering &n, const Value &image, const Value &filter, const Window &window,
                          int64_t groups, DataType type) {
  Emitter &e = n.e;
  const int64_t space = window.space();
  const std::optional<int64_t> filters = Emitter::known(filter.dims[0]);
  if (groups < 1 || !filters || *filters % groups != 0)
    return n.refuse("has a number of filters that its groups do not divide");
  Dims dims = {image.dims[0], filter.dims[0]};
  for (int64_t dim = 0; dim < space; ++dim)
    dims.push_back(window.outputs[dim]);
  MLIRContext *context = e.b.getContext();
  if (groups == 1 && space >= 1 && space <= 3 && image.type == filter.type && image.type == type) {
    mlir::Value target = e.filled(type, dims, e.constantScalar(0, type)).tensor;
    auto of = [&](auto op) {
      auto conv = decltype(op)::create(e.b, e.loc, target.getType(), ValueRange{e.tensorOf(image), e.tensorOf(filter)},
                                       ValueRange{target}, e.b.getI64TensorAttr(window.strides),
                                       e.b.getI64TensorAttr(window.dilations));
      return e.wrap(conv.getResult(0), type, dims);
    };
    return space == 1   ? of(linalg::Conv1DNcwFcwOp())
           : space == 2 ? of(linalg::Conv2DNchwFchwOp())
                        : of(linalg::Conv3DNcdhwFcdhwOp());
  }
  const std::optional<int64_t> channels = Emitter::known(image.dims[1]);
  if (space == 2 && channels && groups == *channels && *filters == groups && image.type == type) {
    // One filter for each channel: (channels, height, width).
    FailureOr<Value> flat = e.reshape(filter, {filter.dims[0], filter.dims[2], filter.dims[3]});
    if (failed(flat))
      return failure();
    mlir::Value target = e.filled(type, dims, e.constantScalar(0, type)).tensor;
    auto conv = linalg::DepthwiseConv2DNchwChwOp::create(
        e.b, e.loc, target.getType(), ValueRange{e.tensorOf(image), e.tensorOf(*flat)}, ValueRange{target},
        e.b.getI64TensorAttr(window.strides), e.b.getI64TensorAttr(window.dilations));
    return e.wrap(conv.getResult(0), type, dims);
  }
  // With groups as a dimension of their own: (n, g, c, space) * (g, f, c, window) -> (n, g, f, space).
  OpFoldResult group = e.number(groups);
  Dims imageDims = {image.dims[0], group, filter.dims[1]},
       filterDims = {group, e.number(*filters / groups), filter.dims[1]},
       resultDims = {image.dims[0], group, e.number(*filters / groups)};
  for (int64_t dim = 0; dim < space; ++dim) {
    imageDims.push_back(image.dims[2 + dim]);
    filterDims.push_back(filter.dims[2 + dim]);
    resultDims.push_back(window.outputs[dim]);
  }
  FailureOr<Value> x = e.reshape(image, imageDims), w = e.reshape(filter, filterDims);
  if (failed(x) || failed(w))
    return failure();
  // Loops: n, g, f, space | c, window.
  const int64_t parallel = 3 + space, count = parallel + 1 + space;
  auto loop = [&](int64_t at) { return getAffineDimExpr(at, context); };
  SmallVector<AffineExpr> ofImage = {loop(0), loop(1), loop(parallel)}, ofFilter = {loop(1), loop(2), loop(parallel)},
                          ofResult = {loop(0), loop(1), loop(2)};
  for (int64_t dim = 0; dim < space; ++dim) {
    AffineExpr tap = loop(parallel + 1 + dim);
    ofImage.push_back(loop(3 + dim) * window.strides[dim] + tap * window.dilations[dim]);
    ofFilter.push_back(tap);
    ofResult.push_back(loop(3 + dim));
  }
  mlir::Value target = e.filled(type, resultDims, e.constantScalar(0, type)).tensor;
  SmallVector<AffineMap> maps = {AffineMap::get(count, 0, ofImage, context),
                                 AffineMap::get(count, 0, ofFilter, context),
                                 AffineMap::get(count, 0, ofResult, context)};
  auto generic =
      linalg::GenericOp::create(e.b, e.loc, target.getType(), ValueRange{e.tensorOf(*x), e.tensorOf(*w)}, target, maps,
                                e.loops(parallel, 1 + space), [&](OpBuilder &inner, Location at, ValueRange args) {
                                  Scalars s(inner, at);
                                  linalg::YieldOp::create(inner, at, s.add(args[2], s.mul(args[0], args[1])));
                                });
  return e.reshape(e.wrap(generic.getResult(0), type, resultDims), dims);
}

} // namespace

FailureOr<Value> withBias(NodeLowering &n, const Value &value, const Value &bias) {
  if (bias.rank() != 1)
    return n.refuse("has a bias of " + Twine(bias.rank()) + " dimensions");
  Dims dims(value.rank(), n.e.number(1));
  dims[1] = bias.dims[0];
  FailureOr<Value> spread = n.e.reshape(bias, dims);
  if (failed(spread))
    return failure();
  return n.e.elementwise({&value, &*spread}, value.type,
                         [](Scalars &s, ValueRange args) { return s.add(args[0], args[1]); });
}

// What the node says of its filters' extents, if anything, is what they have.
static LogicalResult checkKernelShape(NodeLowering &n, const Value &filter) {
  std::optional<ArrayRef<int64_t>> said = n.integers("kernel_shape");
  ArrayRef<OpFoldResult> taps = ArrayRef(filter.dims).drop_front(2);
  if (said && (said->size() != taps.size() || llvm::any_of(llvm::zip(*said, taps), [](auto pair) {
                 return Emitter::known(std::get<1>(pair)).value_or(std::get<0>(pair)) != std::get<0>(pair);
               })))
    return n.refuse("says another kernel_shape than its filters have");
  return success();
}

FailureOr<Value> convolve(NodeLowering &n, const Value &image, const Value &filter, DataType type) {
  if (image.rank() < 3 || filter.rank() != image.rank())
    return n.refuse("needs an image and filters with as many dimensions, three at least");
  FailureOr<Window> window = Window::read(n, image, ArrayRef(filter.dims).drop_front(2));
  if (failed(window) || failed(checkKernelShape(n, filter)))
    return failure();
  Value padded = window->pad(n, image, n.e.constantScalar(0, image.type));
  return convolve(n, padded, filter, *window, n.integer("group", 1), type);
}

namespace {

LogicalResult lowerConv(NodeLowering &n) {
  FailureOr<Value> result = convolve(n, n.in(0), n.in(1), n.in(0).type);
  if (succeeded(result) && n.has(2))
    result = withBias(n, *result, n.in(2));
  return n.give(result);
}

LogicalResult lowerConvInteger(NodeLowering &n) {
  FailureOr<Value> image = withoutZeroPoint(n, n.in(0), 2, 1), filter = withoutZeroPoint(n, n.in(1), 3, 0);
  if (failed(image) || failed(filter))
    return failure();
  return n.give(convolve(n, *image, *filter, DataType::I32));
}

// As a convolution of the image with zeros between its elements, and the filter turned around.
LogicalResult lowerConvTranspose(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &image = n.in(0), &filter = n.in(1);
  const int64_t space = image.rank() - 2, groups = n.integer("group", 1);
  if (std::optional<ArrayRef<int64_t>> given = n.integers("output_shape");
      given && static_cast<int64_t>(given->size()) < space)
    return n.refuse("has an output_shape of " + Twine(given->size()) + " dimensions");
  if (space < 1 || filter.rank() != image.rank())
    return n.refuse("needs an image and filters with as many dimensions, three at least");
  if (failed(checkKernelShape(n, filter)))
    return failure();
  SmallVector<int64_t> strides = n.integersOr("strides", space, 1), dilations = n.integersOr("dilations", space, 1),
                       outputPadding = n.integersOr("output_padding", space, 0),
                       pads = n.integersOr("pads", 2 * space, 0);
  const std::string_view automatic = n.text("auto_pad", "NOTSET");
  std::optional<ArrayRef<int64_t>> shape = n.integers("output_shape");
  Window window;
  window.strides.assign(space, 1);
  window.dilations = dilations;
  Dims offsets(2, e.number(0)), spread = {image.dims[0], image.dims[1]};
  using enum Emitter::Arithmetic;
  const bool isSame = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  for (int64_t dim = 0; dim < space; ++dim) {
    std::optional<int64_t> taps = Emitter::known(filter.dims[2 + dim]);
    if (!taps || *taps < 1 || strides[dim] < 1 || dilations[dim] < 1)
      return n.refuse("needs filters of known extents, and strides and dilations of at least 1");
    const int64_t reach = (*taps - 1) * dilations[dim];
    OpFoldResult stretched = e.add(e.mul(e.sub(image.dims[2 + dim], e.number(1)), e.number(strides[dim])), e.number(1));
    OpFoldResult full = e.add(stretched, e.number(reach + outputPadding[dim]));
    OpFoldResult before = e.number(pads[dim]), size = e.sub(full, e.number(pads[dim] + pads[space + dim]));
    if (shape || isSame) {
      size =
          shape ? e.number((*shape)[shape->size() - space + dim]) : e.mul(image.dims[2 + dim], e.number(strides[dim]));
      // What is left out, more of it behind unless said otherwise.
      OpFoldResult total = e.compute(Max, e.sub(full, size), e.number(0));
      OpFoldResult half = e.compute(DivTowardsZero, total, e.number(2));
      before = automatic == "SAME_LOWER" ? e.sub(total, half) : half;
    }
    // The window moves over what is stretched, with zeros on both sides.
    spread.push_back(e.add(size, e.number(reach)));
    offsets.push_back(e.sub(e.number(reach), before));
    window.outputs.push_back(size);
  }
  // Elements of the image at every stride-th place, zeros elsewhere.
  mlir::Value tensor = e.tensorOf(image);
  SmallVector<mlir::Value> starts, extents;
  for (int64_t dim = 0; dim < space; ++dim) {
    starts.push_back(e.indexOf(offsets[2 + dim]));
    extents.push_back(e.indexOf(image.dims[2 + dim]));
  }
  Value stretched = e.generate(image.type, spread, [&](Scalars &s, ValueRange at) {
    SmallVector<mlir::Value> from(at.take_front(2));
    mlir::Value isThere = s.constant(1, s.b.getI1Type());
    for (int64_t dim = 0; dim < space; ++dim) {
      mlir::Value place = s.sub(at[2 + dim], starts[dim]), stride = s.index(strides[dim]);
      mlir::Value whole = s.make<arith::FloorDivSIOp>(place, stride);
      mlir::Value fits = s.equal(s.mul(whole, stride), place);
      fits = s.make<arith::AndIOp>(fits, s.lessOrEqual(s.index(0), whole));
      fits = s.make<arith::AndIOp>(fits, s.less(whole, extents[dim]));
      isThere = s.make<arith::AndIOp>(isThere, fits);
      from.push_back(s.select(fits, whole, s.index(0)));
    }
    mlir::Value element = Emitter::load(s, tensor, from);
    return s.select(isThere, element, s.like(0, element));
  });
  // (channels, filters of a group, space) to (filters, channels of a group, space), turned around.
  std::optional<int64_t> channels = Emitter::known(filter.dims[0]), filters = Emitter::known(filter.dims[1]);
  if (!channels || !filters || groups < 1 || *channels % groups != 0)
    return n.refuse("has a number of channels that its groups do not divide");
  Dims turnedDims = {e.number(*filters * groups), e.number(*channels / groups)};
  turnedDims.append(filter.dims.begin() + 2, filter.dims.end());
  mlir::Value weights = e.tensorOf(filter);
  Value turned = e.generate(filter.type, turnedDims, [&](Scalars &s, ValueRange at) {
    mlir::Value ofGroup = s.index(*filters), group = s.make<arith::DivUIOp>(at[0], ofGroup);
    SmallVector<mlir::Value> from = {s.add(s.mul(group, s.index(*channels / groups)), at[1]),
                                     s.make<arith::RemUIOp>(at[0], ofGroup)};
    for (int64_t dim = 0; dim < space; ++dim)
      from.push_back(s.sub(s.index(*Emitter::known(filter.dims[2 + dim]) - 1), at[2 + dim]));
    return Emitter::load(s, weights, from);
  });
  FailureOr<Value> result = convolve(n, stretched, turned, window, groups, image.type);
  if (succeeded(result) && n.has(2))
    result = withBias(n, *result, n.in(2));
  return n.give(result);
}

// Of each matrix by elimination, with the largest element of a column as its pivot; all of it in registers.
LogicalResult lowerDet(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  constexpr int64_t kMostRows = 8;
  std::optional<int64_t> rows = value.rank() < 2 ? std::nullopt : Emitter::known(value.dims.back());
  if (!rows || rows != Emitter::known(value.dims[value.rank() - 2]) || *rows > kMostRows)
    return n.refuse("needs square matrices of a known size of at most " + Twine(kMostRows));
  mlir::Value tensor = e.tensorOf(value);
  Dims batch(value.dims.begin(), value.dims.end() - 2);
  return n.give(e.generate(value.type, batch, [&](Scalars &s, ValueRange at) {
    SmallVector<SmallVector<mlir::Value>> matrix(*rows);
    for (int64_t row = 0; row < *rows; ++row)
      for (int64_t column = 0; column < *rows; ++column) {
        SmallVector<mlir::Value> from(at);
        from.append({s.index(row), s.index(column)});
        matrix[row].push_back(Emitter::load(s, tensor, from));
      }
    mlir::Value result = s.constant(1, e.elementType(value.type));
    for (int64_t pivot = 0; pivot < *rows; ++pivot) {
      for (int64_t row = pivot + 1; row < *rows; ++row) {
        mlir::Value swaps =
            s.less(s.make<math::AbsFOp>(matrix[pivot][pivot]), s.make<math::AbsFOp>(matrix[row][pivot]));
        result = s.select(swaps, s.neg(result), result);
        for (int64_t column = pivot; column < *rows; ++column) {
          mlir::Value upper = matrix[pivot][column], lower = matrix[row][column];
          matrix[pivot][column] = s.select(swaps, lower, upper);
          matrix[row][column] = s.select(swaps, upper, lower);
        }
      }
      mlir::Value divisor = matrix[pivot][pivot];
      result = s.mul(result, divisor);
      // Zeros alone have no factor, and need none.
      divisor = s.select(s.equal(divisor, s.like(0, divisor)), s.like(1, divisor), divisor);
      for (int64_t row = pivot + 1; row < *rows; ++row) {
        mlir::Value factor = s.div(matrix[row][pivot], divisor);
        for (int64_t column = pivot + 1; column < *rows; ++column)
          matrix[row][column] = s.sub(matrix[row][column], s.mul(factor, matrix[pivot][column]));
      }
    }
    return result;
  }));
}

} // namespace

void registerProducts(Registry &registry) {
  registry["Conv"] = {lowerConv, 2};
  registry["ConvInteger"] = {lowerConvInteger, 2};
  registry["ConvTranspose"] = {lowerConvTranspose, 2};
  registry["Det"] = {lowerDet, 1, /*adds=*/true};
  registry["Gemm"] = {lowerGemm, 2};
  registry["MatMul"] = {lowerMatMul, 2};
  registry["MatMulInteger"] = {lowerMatMulInteger, 2};
}

} // namespace kiln::onnx
