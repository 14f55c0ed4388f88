#include "kiln/compiler/Transforms/LinalgExtLowering.h"
#include "kiln/compiler/Transforms/NameInSource.h"
#include "kiln/compiler/Transforms/Transforms.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace kiln {
#define GEN_PASS_DEF_LOWERLINALGEXTPASS
#include "kiln/compiler/Transforms/TransformsPasses.h.inc"

namespace LinalgExt {

Value extentOf(OpBuilder &b, Location loc, Value tensor, int64_t dimension) {
  return getValueOrCreateConstantIndexOp(b, loc, tensor::getMixedSize(b, loc, tensor, dimension));
}

Value emptyLike(OpBuilder &b, Location loc, Value tensor, Type element) {
  return tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), element);
}

Value constantIndex(OpBuilder &b, Location loc, int64_t number) {
  return arith::ConstantIndexOp::create(b, loc, number);
}

Values inlineBody(OpBuilder &b, Operation *op, ValueRange arguments) {
  Block &body = op->getRegion(0).front();
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &inner : body.without_terminator())
    b.clone(inner, mapping);
  return llvm::map_to_vector(body.getTerminator()->getOperands(),
                             [&](Value value) { return mapping.lookupOrDefault(value); });
}

Values generate(OpBuilder &b, Location loc, ValueRange inits,
                function_ref<Values(OpBuilder &, ValueRange, ValueRange)> element) {
  int64_t rank = cast<RankedTensorType>(inits[0].getType()).getRank();
  SmallVector<AffineMap> maps(inits.size(), b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(b, loc, TypeRange(inits), ValueRange(), inits, maps, loops,
                                      [&](OpBuilder &inner, Location at, ValueRange before) {
                                        Values indices;
                                        for (int64_t dim = 0; dim < rank; ++dim)
                                          indices.push_back(linalg::IndexOp::create(inner, at, dim));
                                        linalg::YieldOp::create(inner, at, element(inner, indices, before));
                                      });
  return Values(op.getResults());
}

//===--- Indices
//----------------------------------------------------------------------------------------------------===//

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Value toIndex(OpBuilder &b, Location loc, Value number) {
  return number.getType().isIndex() ? number : arith::IndexCastOp::create(b, loc, b.getIndexType(), number).getResult();
}

// The places that the indices of one slice say, in the order of the dimension map.
static Values placesOf(OpBuilder &b, Location loc, Value indices, ValueRange batch, int64_t depth) {
  Values places;
  bool hasDepth = tensorType(indices).getRank() > static_cast<int64_t>(batch.size());
  for (int64_t i = 0; i < depth; ++i) {
    Values at(batch);
    if (hasDepth)
      at.push_back(constantIndex(b, loc, i));
    places.push_back(toIndex(b, loc, tensor::ExtractOp::create(b, loc, indices, at)));
  }
  return places;
}

// Indices of the whole tensor: those that were looked up, and those within the slice.
static Values merged(ArrayRef<int64_t> dimensions, ValueRange places, ValueRange within) {
  Values all(places.size() + within.size());
  for (auto [dimension, place] : llvm::zip(dimensions, places))
    all[dimension] = place;
  auto next = within.begin();
  for (Value &index : all)
    if (!index)
      index = *next++;
  return all;
}

Values lower(OpBuilder &b, GatherOp op) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> dimensions = op.getDimensionMap();
  Value source = op.getInputs()[0], mask = op.getInputs().size() == 3 ? op.getInputs()[2] : Value();
  int64_t withinRank = tensorType(source).getRank() - dimensions.size();
  return generate(b, loc, op.getOutput(), [&](OpBuilder &inner, ValueRange indices, ValueRange before) -> Values {
    ValueRange batch = indices.drop_back(withinRank);
    Values places = placesOf(inner, loc, op.getInputs()[1], batch, dimensions.size());
    Value element =
        tensor::ExtractOp::create(inner, loc, source, merged(dimensions, places, indices.take_back(withinRank)));
    if (!mask)
      return {element};
    Value isFetched = tensor::ExtractOp::create(inner, loc, mask, batch);
    return {arith::SelectOp::create(inner, loc, isFetched, element, before[0])};
  });
}

// A slice that is put where its indices say.
static Value putSlice(OpBuilder &b, ScatterOp op, ValueRange batch, Value whole) {
  Location loc = op.getLoc();
  Value slices = op.getInputs()[0];
  ArrayRef<int64_t> dimensions = op.getDimensionMap();
  int64_t batchRank = batch.size();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, slices),
                            withinSizes(sizes.begin() + batchRank, sizes.end());
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
  for (int64_t i = 0; i < batchRank; ++i) {
    offsets[i] = batch[i];
    sizes[i] = b.getIndexAttr(1);
  }
  auto sliceType =
      RankedTensorType::get(tensorType(slices).getShape().drop_front(batchRank), tensorType(slices).getElementType());
  Value slice = tensor::ExtractSliceOp::create(b, loc, sliceType, slices, offsets, sizes, strides);

  Values places = placesOf(b, loc, op.getInputs()[1], batch, dimensions.size());
  int64_t rank = tensorType(whole).getRank();
  SmallVector<OpFoldResult> at(rank, b.getIndexAttr(0)), extents(rank), steps(rank, b.getIndexAttr(1));
  for (auto [dimension, place] : llvm::zip(dimensions, places)) {
    at[dimension] = place;
    extents[dimension] = b.getIndexAttr(1);
  }
  auto next = withinSizes.begin();
  for (OpFoldResult &extent : extents)
    if (!extent)
      extent = *next++;
  auto placeType = RankedTensorType::get(sliceType.getShape(), tensorType(whole).getElementType());
  auto before = tensor::ExtractSliceOp::create(b, loc, placeType, whole, at, extents, steps);
  keepNameInSource(before, op);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(sliceType.getRank()));
  SmallVector<utils::IteratorType> loops(sliceType.getRank(), utils::IteratorType::parallel);
  auto combined = linalg::GenericOp::create(b, loc, placeType, slice, before.getResult(), maps, loops,
                                            [&](OpBuilder &inner, Location where, ValueRange elements) {
                                              linalg::YieldOp::create(inner, where, inlineBody(inner, op, elements));
                                            });
  auto put = tensor::InsertSliceOp::create(b, loc, combined.getResult(0), whole, at, extents, steps);
  keepNameInSource(put, op);
  return put;
}

Values lower(OpBuilder &b, ScatterOp op) {
  Location loc = op.getLoc();
  Value slices = op.getInputs()[0], mask = op.getInputs().size() == 3 ? op.getInputs()[2] : Value();
  int64_t batchRank =
      tensorType(slices).getRank() - (tensorType(op.getOriginal()).getRank() - op.getDimensionMap().size());
  Values starts(batchRank, constantIndex(b, loc, 0)), steps(batchRank, constantIndex(b, loc, 1)), ends;
  for (int64_t i = 0; i < batchRank; ++i)
    ends.push_back(extentOf(b, loc, slices, i));
  auto emitTurn = [&](OpBuilder &inner, Location, ValueRange batch, ValueRange carried) -> scf::ValueVector {
    if (!mask)
      return {putSlice(inner, op, batch, carried[0])};
    Value isPut = tensor::ExtractOp::create(inner, loc, mask, batch);
    auto branch = scf::IfOp::create(
        inner, loc, isPut,
        [&](OpBuilder &then, Location) { scf::YieldOp::create(then, loc, putSlice(then, op, batch, carried[0])); },
        [&](OpBuilder &otherwise, Location) { scf::YieldOp::create(otherwise, loc, carried[0]); });
    return {branch.getResult(0)};
  };
  if (batchRank == 0)
    return Values(emitTurn(b, loc, {}, op.getOriginal()));
  return Values(scf::buildLoopNest(b, loc, starts, ends, steps, op.getOriginal(), emitTurn).results);
}

Values lower(OpBuilder &b, MapLoadOp op) {
  Location loc = op.getLoc();
  Value source = op.getSource();
  Values extents;
  for (int64_t dim = 0; dim < tensorType(source).getRank(); ++dim)
    extents.push_back(extentOf(b, loc, source, dim));
  return generate(b, loc, op.getOutput(), [&](OpBuilder &inner, ValueRange indices, ValueRange) -> Values {
    Values places = inlineBody(inner, op, indices);
    Value otherwise = places.pop_back_val(), isInside = arith::ConstantIntOp::create(inner, loc, 1, 1);
    for (auto [place, extent] : llvm::zip(places, extents)) {
      Value fits = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, place, extent);
      isInside = arith::AndIOp::create(inner, loc, isInside, fits);
    }
    Value element = tensor::ExtractOp::create(inner, loc, source, places);
    return {arith::SelectOp::create(inner, loc, isInside, element, otherwise)};
  });
}

//===--- The best element
//-------------------------------------------------------------------------------------------===//

Values lower(OpBuilder &b, ArgCompareOp op) {
  Location loc = op.getLoc();
  int64_t dimension = op.getDimension(), rank = tensorType(op.getInputs()[0]).getRank();
  AffineMap all = b.getMultiDimIdentityMap(rank), rest = all.dropResult(dimension);
  SmallVector<AffineMap> maps(op.getInputs().size(), all);
  maps.append(2, rest);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops[dimension] = utils::IteratorType::reduction;
  Type indexType = tensorType(op.getOutputs()[1]).getElementType();
  auto emitStep = [&](OpBuilder &inner, Location, ValueRange elements) {
    Value place;
    if (op.getInputs().size() == 2) {
      place = elements[1];
    } else {
      place = linalg::IndexOp::create(inner, loc, dimension);
      if (Value base = op.getIndexBase())
        place = arith::AddIOp::create(inner, loc, place, base);
      if (!indexType.isIndex())
        place = arith::IndexCastOp::create(inner, loc, indexType, place);
    }
    Value element = elements[0], best = elements[elements.size() - 2], bestPlace = elements.back();
    Value isBetter = inlineBody(inner, op, {element, best})[0];
    Values made{arith::SelectOp::create(inner, loc, isBetter, element, best),
                arith::SelectOp::create(inner, loc, isBetter, place, bestPlace)};
    linalg::YieldOp::create(inner, loc, made);
  };
  auto generic = linalg::GenericOp::create(b, loc, TypeRange(op.getOutputs()), op.getInputs(), op.getOutputs(), maps,
                                           loops, emitStep);
  return Values(generic.getResults());
}

//===--- Winograd's transforms
//--------------------------------------------------------------------------------------===//

// F(6, 3) with the points 0, 1, -1, 2, -2, 1/2, -1/2: what a row of 8 elements of the image is multiplied with.
static constexpr float kInputMatrix[8][8] = {
    {1, 0, -5.25F, 0, 5.25F, 0, -1, 0},        {0, 1, 1, -4.25F, -4.25F, 1, 1, 0},
    {0, -1, 1, 4.25F, -4.25F, -1, 1, 0},       {0, 0.5F, 0.25F, -2.5F, -1.25F, 2, 1, 0},
    {0, -0.5F, 0.25F, 2.5F, -1.25F, -2, 1, 0}, {0, 2, 4, -2.5F, -5, 0.5F, 1, 0},
    {0, -2, 4, 2.5F, -5, -0.5F, 1, 0},         {0, -1, 0, 5.25F, 0, -5.25F, 0, 1}};
// What gives the 6 elements of the result from the products.
static constexpr float kOutputMatrix[6][8] = {{1, 1, 1, 1, 1, 1, 1, 0},
                                              {0, 1, -1, 2, -2, 0.5F, -0.5F, 0},
                                              {0, 1, 1, 4, 4, 0.25F, 0.25F, 0},
                                              {0, 1, -1, 8, -8, 0.125F, -0.125F, 0},
                                              {0, 1, 1, 16, 16, 0.0625F, 0.0625F, 0},
                                              {0, 1, -1, 32, -32, 0.03125F, -0.03125F, 1}};

static Value matrix(OpBuilder &b, Location loc, const float *numbers, int64_t rows) {
  auto type = RankedTensorType::get({rows, 8}, b.getF32Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef<float>(numbers, rows * 8)));
}

// The sum over rows and columns of a tile of what `term` gives, in f32, and rounded once to the output's type. `term`
// is given the indices of an element of the output, and of one of the tile.
static Values sumOfTiles(OpBuilder &b, Location loc, Value output,
                         function_ref<Value(OpBuilder &, ValueRange, Value, Value)> term) {
  int64_t rank = tensorType(output).getRank();
  Type f32 = b.getF32Type(), element = tensorType(output).getElementType();
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value empty = emptyLike(b, loc, output, f32);
  Value start = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  // Rows and columns of a tile as loops: an input of that shape, of which nothing is read.
  Value window = tensor::EmptyOp::create(b, loc, ArrayRef<int64_t>{8, 8}, f32);
  AffineMap all = b.getMultiDimIdentityMap(rank + 2);
  SmallVector<AffineMap> maps{all.getMinorSubMap(2), all.getMajorSubMap(rank)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.append(2, utils::IteratorType::reduction);
  auto sum = linalg::GenericOp::create(b, loc, start.getType(), window, start, maps, loops,
                                       [&](OpBuilder &inner, Location at, ValueRange elements) {
                                         Values indices;
                                         for (int64_t dim = 0; dim < rank + 2; ++dim)
                                           indices.push_back(linalg::IndexOp::create(inner, at, dim));
                                         Value column = indices.pop_back_val(), row = indices.pop_back_val();
                                         Value next = term(inner, indices, row, column);
                                         Value total = arith::AddFOp::create(inner, at, elements[1], next);
                                         linalg::YieldOp::create(inner, at, total);
                                       });
  if (element == f32)
    return Values(sum.getResults());
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  loops.truncate(rank);
  auto rounded = linalg::GenericOp::create(
      b, loc, output.getType(), sum.getResult(0), output, ArrayRef<AffineMap>{identity, identity}, loops,
      [&](OpBuilder &inner, Location at, ValueRange elements) {
        linalg::YieldOp::create(inner, at, convertScalarToDtype(inner, at, elements[0], element, false));
      });
  return Values(rounded.getResults());
}

static Value inF32(OpBuilder &b, Location loc, Value number) {
  return convertScalarToDtype(b, loc, number, b.getF32Type(), /*isUnsignedCast=*/false);
}

Values lower(OpBuilder &b, WinogradInputTransformOp op) {
  Location loc = op.getLoc();
  Value input = op.getInput(), numbers = matrix(b, loc, &kInputMatrix[0][0], 8);
  ArrayRef<int64_t> dimensions = op.getImageDimensions();
  Value six = constantIndex(b, loc, 6), zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value height = extentOf(b, loc, input, dimensions[0]), width = extentOf(b, loc, input, dimensions[1]);
  auto emitTerm = [&](OpBuilder &inner, ValueRange at, Value row, Value column) -> Value {
    auto place = [&](Value tile, Value offset) -> Value {
      return arith::AddIOp::create(inner, loc, arith::MulIOp::create(inner, loc, tile, six), offset);
    };
    Value y = place(at[3], row), x = place(at[4], column);
    Value isInside =
        arith::AndIOp::create(inner, loc, arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, y, height),
                              arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, x, width));
    Values from = merged(dimensions, ValueRange{y, x}, ValueRange{at[2], at[5]});
    Value element = inF32(inner, loc, tensor::ExtractOp::create(inner, loc, input, from));
    element = arith::SelectOp::create(inner, loc, isInside, element, zero);
    Value a = tensor::ExtractOp::create(inner, loc, numbers, ValueRange{at[0], row});
    Value c = tensor::ExtractOp::create(inner, loc, numbers, ValueRange{at[1], column});
    return arith::MulFOp::create(inner, loc, arith::MulFOp::create(inner, loc, a, c), element);
  };
  return sumOfTiles(b, loc, op.getOutput(), emitTerm);
}

Values lower(OpBuilder &b, WinogradOutputTransformOp op) {
  Location loc = op.getLoc();
  Value numbers = matrix(b, loc, &kOutputMatrix[0][0], 6), six = constantIndex(b, loc, 6);
  ArrayRef<int64_t> dimensions = op.getImageDimensions();
  int64_t channel = dimensions[0] == 1 ? 3 : 1;
  auto emitTerm = [&](OpBuilder &inner, ValueRange at, Value row, Value column) -> Value {
    Value y = at[dimensions[0]], x = at[dimensions[1]];
    auto tile = [&](Value place) -> Value { return arith::DivUIOp::create(inner, loc, place, six); };
    auto within = [&](Value place) -> Value { return arith::RemUIOp::create(inner, loc, place, six); };
    Value element = tensor::ExtractOp::create(inner, loc, op.getInput(),
                                              ValueRange{row, column, at[0], tile(y), tile(x), at[channel]});
    Value a = tensor::ExtractOp::create(inner, loc, numbers, ValueRange{within(y), row});
    Value c = tensor::ExtractOp::create(inner, loc, numbers, ValueRange{within(x), column});
    return arith::MulFOp::create(inner, loc, arith::MulFOp::create(inner, loc, a, c), inF32(inner, loc, element));
  };
  return sumOfTiles(b, loc, op.getOutput(), emitTerm);
}

} // namespace LinalgExt

namespace {
class LowerLinalgExtPass : public impl::LowerLinalgExtPassBase<LowerLinalgExtPass> {
public:
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<LinalgExt::LinalgExtDialect>(op->getDialect()) && !isa<LinalgExt::YieldOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder b(op);
      LinalgExt::Values values =
          llvm::TypeSwitch<Operation *, LinalgExt::Values>(op)
              .Case([&](LinalgExt::TopkOp topk) {
                return LinalgExt::lowerTopk(b, op, topk.getDimension(), topk.getInputs(), topk.getOutputs());
              })
              .Case([&](LinalgExt::TopkV2Op topk) {
                return LinalgExt::lowerTopk(b, op, topk.getDimension(), topk.getInputs(), topk.getOutputs());
              })
              .Case<LinalgExt::ScanOp, LinalgExt::SortOp, LinalgExt::ArgCompareOp, LinalgExt::ScatterOp,
                    LinalgExt::GatherOp, LinalgExt::MapLoadOp, LinalgExt::MapStoreOp, LinalgExt::AttentionOp,
                    LinalgExt::OnlineAttentionOp, LinalgExt::WinogradInputTransformOp,
                    LinalgExt::WinogradOutputTransformOp>([&](auto typed) { return LinalgExt::lower(b, typed); });
      op->replaceAllUsesWith(values);
      op->erase();
    }
  }
};
} // namespace
} // namespace kiln
