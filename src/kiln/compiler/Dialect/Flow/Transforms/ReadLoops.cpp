#include "kiln/compiler/Dialect/Flow/Transforms/ReadLoops.h"

#include <numeric>

using namespace mlir;

namespace kiln::Flow {

linalg::GenericOp readInLoops(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> shape,
                              ArrayRef<AffineExpr> from) {
  const unsigned rank = shape.size();
  Value empty = tensor::EmptyOp::create(b, loc, shape, getElementTypeOrSelf(tensor.getType()));
  return linalg::GenericOp::create(
      b, loc, empty.getType(), tensor, empty,
      ArrayRef{AffineMap::get(rank, 0, from, b.getContext()), b.getMultiDimIdentityMap(rank)},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &inner, Location at, ValueRange args) { linalg::YieldOp::create(inner, at, args[0]); });
}

Operation *inLoops(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType(), result = slice.getType();
  const auto isStatic = [](ArrayRef<int64_t> numbers) { return llvm::none_of(numbers, ShapedType::isDynamic); };
  if (source.getRank() != result.getRank() || source.getRank() == 0 || !source.hasStaticShape() ||
      !result.hasStaticShape() || !isStatic(slice.getStaticOffsets()) || !isStatic(slice.getStaticStrides()))
    return slice;
  OpBuilder b(slice);
  Location loc = slice.getLoc();
  const int64_t last = source.getRank() - 1;
  SmallVector<int64_t> from(source.getShape()), to(result.getShape()), offsets(slice.getStaticOffsets()),
      strides(slice.getStaticStrides());
  SmallVector<ReassociationIndices> pieces;
  const int64_t piece = std::gcd(std::gcd(from[last], to[last]), offsets[last]);
  if (strides[last] == 1 && piece > 1) {
    for (int64_t dim = 0; dim < last; ++dim)
      pieces.push_back({dim});
    pieces.push_back({last, last + 1});
    for (SmallVector<int64_t> *shape : {&from, &to}) {
      shape->back() /= piece;
      shape->push_back(piece);
    }
    offsets.back() /= piece;
    offsets.push_back(0);
    strides.push_back(1);
  }
  // Of loops over the front of a dimension, linalg takes the whole dimension for their extent.
  for (size_t dim = 0; dim < to.size(); ++dim)
    if (to[dim] != from[dim] && to[dim] != 1 && offsets[dim] == 0 && strides[dim] == 1)
      return slice;
  Value tensor = slice.getSource();
  if (!pieces.empty())
    tensor =
        tensor::ExpandShapeOp::create(b, loc, RankedTensorType::get(from, source.getElementType()), tensor, pieces);
  // Of one piece, the loop over pieces is none.
  const bool isOnePiece = !pieces.empty() && to[last] == 1;
  if (isOnePiece) {
    SmallVector<AffineExpr> places(b.getMultiDimIdentityMap(last + 1).getResults());
    for (int64_t dim = 0; dim < last; ++dim)
      places[dim] = to[dim] == 1 ? b.getAffineConstantExpr(offsets[dim]) : places[dim] * strides[dim] + offsets[dim];
    places.insert(places.begin() + last, b.getAffineConstantExpr(offsets[last]));
    linalg::GenericOp loops = readInLoops(b, loc, tensor, result.getShape(), places);
    slice.replaceAllUsesWith(loops.getResult(0));
    slice.erase();
    return loops;
  }
  SmallVector<AffineExpr> places;
  for (auto [dim, offset] : llvm::enumerate(offsets))
    places.push_back(to[dim] == 1 ? b.getAffineConstantExpr(offset) : b.getAffineDimExpr(dim) * strides[dim] + offset);
  linalg::GenericOp loops = readInLoops(b, loc, tensor, to, places);
  Value whole = loops.getResult(0);
  if (!pieces.empty())
    whole = tensor::CollapseShapeOp::create(b, loc, result, whole, pieces);
  slice.replaceAllUsesWith(whole);
  slice.erase();
  return loops;
}

Operation *loadedInLoops(tensor::InsertSliceOp insert) {
  RankedTensorType type = insert.getSourceType();
  const int64_t rank = type.getRank();
  constexpr int64_t least = 4096; // elements that are worth sharing
  if (rank == 0 || !type.hasStaticShape() || type.getNumElements() < least || insert.getDestType().getRank() != rank)
    return nullptr;
  OpBuilder b(insert);
  Location loc = insert.getLoc();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (int64_t dim = 1; dim < rank; ++dim)
    groups.push_back({dim + 1});
  Value source = tensor::ExpandShapeOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()),
                                               insert.getSource(), groups);
  SmallVector<AffineExpr> places(b.getMultiDimIdentityMap(rank).getResults());
  places.insert(places.begin(), b.getAffineConstantExpr(0));
  linalg::GenericOp loops = readInLoops(b, loc, source, type.getShape(), places);
  insert.getSourceMutable().assign(loops.getResult(0));
  return loops;
}

} // namespace kiln::Flow
