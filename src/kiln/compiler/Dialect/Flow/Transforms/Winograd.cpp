#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h"

#include "kiln/compiler/Dialect/Flow/Transforms/SameInEachCall.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;

namespace kiln::Flow {
#define GEN_PASS_DEF_WINOGRADPASS
#include "kiln/compiler/Dialect/Flow/Transforms/FlowPasses.h.inc"

namespace {

constexpr int64_t kTaps = 3; // of a filter, along each side

// A tile of `width` results of a filter of three taps, from width + 2 inputs by as many products: polynomials through
// what the factors are at some points and at infinity. A tile of an image is one of such tiles, in the other direction.
struct TileTransform {
  int64_t width, inputs;
  std::vector<double> input;  // [inputs][inputs]: products' left sides from an image's elements
  std::vector<double> filter; // [inputs][kTaps]: their right sides from a filter's
  std::vector<double> output; // [width][inputs]: results from products

  static TileTransform of(int64_t width) {
    // With these points of wider tiles sums stay as exact as they can; 0, 1, -1, 2, -2 lose twice as much.
    const std::vector<double> points =
        width == 2 ? std::vector<double>{0, 1, -1} : std::vector<double>{0, 0.75, -0.75, 1.5, -1.5};
    const int64_t n = width + kTaps - 1;
    TileTransform made{width, n, std::vector<double>(n * n), std::vector<double>(n * kTaps),
                       std::vector<double>(width * n)};
    for (int64_t i = 0; i < n; ++i) {
      const bool isInfinity = i == n - 1;
      // The product of (x - point) of all others.
      std::vector<double> polynomial{1};
      double differences = 1;
      for (int64_t j = 0; j < n - 1; ++j) {
        if (j == i)
          continue;
        polynomial.push_back(0);
        for (size_t k = polynomial.size() - 1; k > 0; --k)
          polynomial[k] = polynomial[k - 1] - points[j] * polynomial[k];
        polynomial[0] *= -points[j];
        if (!isInfinity)
          differences *= points[i] - points[j];
      }
      double inputSize = 0, filterSize = 0;
      for (int64_t k = 0; k < kTaps; ++k) {
        made.filter[i * kTaps + k] = isInfinity ? double(k == kTaps - 1) : std::pow(points[i], k) / differences;
        filterSize += std::abs(made.filter[i * kTaps + k]);
      }
      for (double coefficient : polynomial)
        inputSize += std::abs(coefficient);
      // Neither side much larger than the other, by a power of two, which changes no digit.
      const double scale = std::exp2(std::round(std::log2(filterSize / inputSize) / 2));
      for (int64_t k = 0; k < kTaps; ++k)
        made.filter[i * kTaps + k] /= scale;
      for (size_t k = 0; k < polynomial.size(); ++k)
        made.input[i * n + k] = polynomial[k] * scale;
      for (int64_t k = 0; k < width; ++k)
        made.output[k * n + i] = isInfinity ? double(k == width - 1) : std::pow(points[i], k);
    }
    return made;
  }
};

// The products of two such matrices' elements, as a tensor: [rows1 * rows2][columns1][columns2] where `rowsFirst`,
// [rows1][rows2][columns1 * columns2] else.
Value constantOf(OpBuilder &b, Location loc, ArrayRef<double> matrix, int64_t rows, int64_t columns, bool rowsFirst) {
  std::vector<float> values;
  for (int64_t r1 = 0; r1 < rows; ++r1)
    for (int64_t r2 = 0; r2 < rows; ++r2)
      for (int64_t c1 = 0; c1 < columns; ++c1)
        for (int64_t c2 = 0; c2 < columns; ++c2)
          values.push_back(float(matrix[r1 * columns + c1] * matrix[r2 * columns + c2]));
  const SmallVector<int64_t> shape = rowsFirst ? SmallVector<int64_t>{rows * rows, columns, columns}
                                               : SmallVector<int64_t>{rows, rows, columns * columns};
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(RankedTensorType::get(shape, b.getF32Type()), ArrayRef<float>(values)));
}

// The sum of products of two tensors, of which `maps` say where they and the result have the elements of `loops` loops;
// the last ones are summed up.
Value sumOfProducts(OpBuilder &b, Location loc, Value left, Value right, ArrayRef<int64_t> shape,
                    ArrayRef<ArrayRef<AffineExpr>> exprs, unsigned loops, unsigned sums) {
  auto empty = tensor::EmptyOp::create(b, loc, shape, b.getF32Type());
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value start = linalg::FillOp::create(b, loc, zero, empty.getResult()).getResult(0);
  SmallVector<utils::IteratorType> kinds(loops - sums, utils::IteratorType::parallel);
  kinds.append(sums, utils::IteratorType::reduction);
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> each : exprs)
    maps.push_back(AffineMap::get(loops, 0, each, b.getContext()));
  return linalg::GenericOp::create(b, loc, start.getType(), {left, right}, start, maps, kinds,
                                   [](OpBuilder &body, Location at, ValueRange values) {
                                     Value product = arith::MulFOp::create(body, at, values[0], values[1]);
                                     Value sum = arith::AddFOp::create(body, at, values[2], product);
                                     linalg::YieldOp::create(body, at, sum);
                                   })
      .getResult(0);
}

class WinogradPass : public impl::WinogradPassBase<WinogradPass> {
public:
  explicit WinogradPass(const CompilerContext &context) : context(&context) {}

  void runOnOperation() override {
    FailureOr<DispatchLimits> limits = context->dispatchLimits(getOperation().getLoc());
    if (failed(limits))
      return signalPassFailure();
    panel = limits->panelBytes / 4;
    if (panel == 0 || !context->options.winograd || !context->options.evaluateConstants ||
        !context->options.dataTiling || context->options.widenFloats)
      return;
    SmallVector<std::pair<linalg::Conv2DNhwcHwcfOp, int64_t>> found;
    getOperation().walk([&](linalg::Conv2DNhwcHwcfOp op) {
      if (int64_t width = tileWidth(op))
        found.push_back({op, width});
    });
    IRRewriter rewriter(&getContext());
    for (auto [op, width] : found)
      rewrite(rewriter, op, TileTransform::of(width));
  }

private:
  // How wide tiles of the result save most, or 0 where none saves enough.
  int64_t tileWidth(linalg::Conv2DNhwcHwcfOp op) const {
    if (op.hasDynamicShape() || !op.hasPureTensorSemantics() || op->hasAttr("kiln.configuration") ||
        !llvm::all_of(op->getOperandTypes(), [](Type type) { return getElementTypeOrSelf(type).isF32(); }))
      return 0;
    const auto areOnes = [](DenseIntElementsAttr values) {
      return llvm::all_of(values.getValues<int64_t>(), [](int64_t value) { return value == 1; });
    };
    Value filter = op.getDpsInputs()[1];
    ArrayRef<int64_t> taps = cast<RankedTensorType>(filter.getType()).getShape();
    ArrayRef<int64_t> result = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    if (!areOnes(op.getStrides()) || !areOnes(op.getDilations()) || taps[0] != kTaps || taps[1] != kTaps || !fill ||
        !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) || !isComputedOnce(filter))
      return 0;
    const double channels = taps[2], filters = taps[3];
    constexpr double fewest = 32;
    if (channels < fewest || filters < fewest || taps[3] % panel != 0)
      return 0;
    // In multiplications. Those that make tiles and results of tiles are done less well, and weights that few tiles use
    // take the time that memory takes.
    constexpr double transforms = 1.5, least = 1.25, tilesOfMemory = 32;
    int64_t best = 0;
    double most = least;
    for (int64_t width : {4, 2}) {
      const double products = double(width + kTaps - 1) * (width + kTaps - 1), results = width * width;
      const double tiles = double(result[0]) * llvm::divideCeil(result[1], width) * llvm::divideCeil(result[2], width);
      const double weightBytes = products * channels * filters * sizeof(float);
      if (weightBytes > mostBytesKept(int64_t(channels * filters * kTaps * kTaps * sizeof(float))))
        continue;
      const double direct = kTaps * kTaps * channels * filters * result[0] * result[1] * result[2];
      const double made = products * channels * filters * std::max(tiles, tilesOfMemory) +
                          tiles * transforms * products * (products * channels + results * filters);
      if (direct / made > most) {
        most = direct / made;
        best = width;
      }
    }
    return best;
  }

  void rewrite(IRRewriter &b, linalg::Conv2DNhwcHwcfOp op, const TileTransform &tile) const {
    b.setInsertionPoint(op);
    Location loc = op.getLoc();
    Value image = op.getDpsInputs()[0], filter = op.getDpsInputs()[1];
    ArrayRef<int64_t> taps = cast<RankedTensorType>(filter.getType()).getShape();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    const int64_t width = tile.width, products = tile.inputs * tile.inputs;
    const int64_t images = type.getDimSize(0), rows = llvm::divideCeil(type.getDimSize(1), width),
                  columns = llvm::divideCeil(type.getDimSize(2), width), channels = taps[2], filters = taps[3],
                  panels = filters / panel, tiles = images * rows * columns;
    SmallVector<AffineExpr> d(7);
    bindDimsList<AffineExpr>(b.getContext(), d);

    const int64_t below = rows * width - type.getDimSize(1), beside = columns * width - type.getDimSize(2);
    if (below != 0 || beside != 0)
      image = padded(b, image, below, beside);

    // Filters, once, in panels: [products, panels, channels, panel].
    Value cut = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get({kTaps, kTaps, channels, panels, panel}, b.getF32Type()), filter,
        ArrayRef<ReassociationIndices>{{0}, {1}, {2}, {3, 4}});
    Value weights = sumOfProducts(
        b, loc, constantOf(b, loc, tile.filter, tile.inputs, kTaps, true), cut, {products, panels, channels, panel},
        {{d[0], d[4], d[5]}, {d[4], d[5], d[2], d[1], d[3]}, {d[0], d[1], d[2], d[3]}}, /*loops=*/6, /*sums=*/2);
    // Tiles of the image: [products, images, rows, columns, channels].
    Value parts = sumOfProducts(
        b, loc, constantOf(b, loc, tile.input, tile.inputs, tile.inputs, true), image,
        {products, images, rows, columns, channels},
        {{d[0], d[5], d[6]}, {d[1], d[2] * width + d[5], d[3] * width + d[6], d[4]}, {d[0], d[1], d[2], d[3], d[4]}},
        /*loops=*/7, /*sums=*/2);
    parts = tensor::CollapseShapeOp::create(b, loc, parts, ArrayRef<ReassociationIndices>{{0}, {1, 2, 3}, {4}});
    Value multiplied = sumOfProducts(b, loc, parts, weights, {products, tiles, panels, panel},
                                     {{d[0], d[1], d[4]}, {d[0], d[2], d[4], d[3]}, {d[0], d[1], d[2], d[3]}},
                                     /*loops=*/5, /*sums=*/1);
    multiplied = tensor::CollapseShapeOp::create(b, loc, multiplied, ArrayRef<ReassociationIndices>{{0}, {1}, {2, 3}});
    multiplied = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get({products, images, rows, columns, filters}, b.getF32Type()), multiplied,
        ArrayRef<ReassociationIndices>{{0}, {1, 2, 3}, {4}});
    // What tiles of the result are: [images, rows, width, columns, width, filters].
    Value results =
        sumOfProducts(b, loc, constantOf(b, loc, tile.output, width, tile.inputs, false), multiplied,
                      {images, rows, width, columns, width, filters},
                      {{d[2], d[4], d[6]}, {d[6], d[0], d[1], d[3], d[5]}, {d[0], d[1], d[2], d[3], d[4], d[5]}},
                      /*loops=*/7, /*sums=*/1);
    results =
        tensor::CollapseShapeOp::create(b, loc, results, ArrayRef<ReassociationIndices>{{0}, {1, 2}, {3, 4}, {5}});
    if (below != 0 || beside != 0)
      results = tensor::ExtractSliceOp::create(b, loc, type, results, SmallVector<OpFoldResult>(4, b.getIndexAttr(0)),
                                               tensor::getMixedSizes(b, loc, op->getResult(0)),
                                               SmallVector<OpFoldResult>(4, b.getIndexAttr(1)));
    b.replaceOp(op, results);
  }

  // The image with zeros below and beside it, for tiles that reach over its end; its own border of zeros grows.
  static Value padded(OpBuilder &b, Value image, int64_t below, int64_t beside) {
    SmallVector<int64_t> low(4, 0), high{0, below, beside, 0};
    auto pad = image.getDefiningOp<tensor::PadOp>();
    if (pad && pad->hasOneUse() && pad.getConstantPaddingValue() &&
        matchPattern(pad.getConstantPaddingValue(), m_AnyZeroFloat()) && pad.getSourceType().hasStaticShape() &&
        pad.getResultType().hasStaticShape()) {
      image = pad.getSource();
      for (int64_t i = 0; i < 4; ++i) {
        low[i] += pad.getStaticLow()[i];
        high[i] += pad.getStaticHigh()[i];
      }
    }
    SmallVector<int64_t> shape(cast<RankedTensorType>(image.getType()).getShape());
    for (int64_t i = 0; i < 4; ++i)
      shape[i] += low[i] + high[i];
    Value zero = arith::ConstantOp::create(b, image.getLoc(), b.getF32FloatAttr(0));
    return tensor::PadOp::create(b, image.getLoc(), RankedTensorType::get(shape, b.getF32Type()), image,
                                 getAsIndexOpFoldResult(b.getContext(), low),
                                 getAsIndexOpFoldResult(b.getContext(), high), zero);
  }

  const CompilerContext *context;
  int64_t panel = 0;
};
} // namespace

std::unique_ptr<Pass> createWinogradPass(const CompilerContext &context) {
  return std::make_unique<WinogradPass>(context);
}

} // namespace kiln::Flow
