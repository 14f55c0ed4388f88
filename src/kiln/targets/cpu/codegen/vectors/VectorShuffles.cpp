// How VectorSplitter puts vectors together from elements of others.
#include "kiln/targets/cpu/codegen/vectors/VectorSplitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace kiln {

VectorSplitter::Lane VectorSplitter::lane(Value value, int64_t element) {
  auto [index, lane] = layout(value).locate(element);
  return {piece(value, index), lane};
}

static Value shuffle(OpBuilder &b, Location loc, Value first, Value second, ArrayRef<int64_t> mask) {
  return vector::ShuffleOp::create(b, loc, first, second, mask);
}

Value VectorSplitter::assemble(Location loc, Type elementType, ArrayRef<Lane> lanes) {
  int64_t length = static_cast<int64_t>(lanes.size());
  auto type = VectorType::get({length}, elementType);
  SmallVector<Value> sources;
  for (const Lane &lane : lanes)
    if (lane.vector && !llvm::is_contained(sources, lane.vector))
      sources.push_back(lane.vector);
  if (sources.empty())
    return ub::PoisonOp::create(b, loc, type);

  // Lanes of up to two sources of one type, as indices of a shuffle of these; -1 where any value will do.
  auto maskOf = [&](Value first, Value second) {
    int64_t firstLength = cast<VectorType>(first.getType()).getDimSize(0);
    SmallVector<int64_t> mask;
    for (const Lane &lane : lanes)
      mask.push_back(lane.vector == first                   ? lane.index
                     : lane.vector && lane.vector == second ? firstLength + lane.index
                                                            : -1);
    return mask;
  };
  if (sources.size() == 1) {
    SmallVector<int64_t> mask = maskOf(sources[0], sources[0]);
    bool isIdentity = sources[0].getType() == type;
    for (int64_t i = 0; i < length; ++i)
      isIdentity &= mask[i] == i || mask[i] == -1;
    if (isIdentity)
      return sources[0];
    if (length > 1 && llvm::all_equal(mask)) {
      Value element = b.createOrFold<vector::ExtractOp>(loc, sources[0], ArrayRef<int64_t>{mask[0]});
      return splat(element, length);
    }
    return shuffle(b, loc, sources[0], sources[0], mask);
  }
  if (sources.size() == 2 && sources[0].getType() == sources[1].getType())
    return shuffle(b, loc, sources[0], sources[1], maskOf(sources[0], sources[1]));

  // Where many sources give one element each, the elements as scalars are no more work.
  if (static_cast<int64_t>(sources.size()) * 2 > length) {
    SmallVector<Value> elements;
    for (const Lane &lane : lanes) {
      if (lane.vector)
        elements.push_back(b.createOrFold<vector::ExtractOp>(loc, lane.vector, ArrayRef<int64_t>{lane.index}));
      else
        elements.push_back(ub::PoisonOp::create(b, loc, elementType));
    }
    return vector::FromElementsOp::create(b, loc, type, elements);
  }

  // Each source's elements in their places, blended into what is there already.
  Value result;
  SmallVector<bool> filled(length);
  for (Value source : sources) {
    SmallVector<int64_t> place = maskOf(source, source);
    bool inPlace = source.getType() == type;
    for (int64_t i = 0; i < length; ++i)
      inPlace &= place[i] == -1 || place[i] == i;
    Value placed = inPlace ? source : shuffle(b, loc, source, source, place);
    SmallVector<int64_t> blend(length);
    for (int64_t i = 0; i < length; ++i) {
      blend[i] = place[i] >= 0 ? length + i : filled[i] ? i : -1;
      filled[i] = filled[i] || place[i] >= 0;
    }
    result = result ? shuffle(b, loc, result, placed, blend) : placed;
  }
  return result;
}

// A matrix of 2^r rows is transposed by r perfect shuffles: interleave row i with row i + half, halve, repeat. Logical
// rows grow twice as long each time; they are kept as parts that are at most `lanes` long.
SmallVector<Value> VectorSplitter::transpose(Location loc, ArrayRef<Value> rows, int64_t count) {
  auto rowType = cast<VectorType>(rows.front().getType());
  int64_t rowCount = static_cast<int64_t>(rows.size());
  int64_t padded = static_cast<int64_t>(llvm::PowerOf2Ceil(rowCount));
  if (rowCount == 1 || count == 1) {
    SmallVector<Value> columns;
    for (int64_t c = 0; c < count; ++c) {
      SmallVector<Lane> column;
      for (Value row : rows)
        column.push_back({row, c});
      columns.push_back(assemble(loc, rowType.getElementType(), column));
    }
    return columns;
  }

  SmallVector<SmallVector<Value>> logical;
  for (int64_t r = 0; r < padded; ++r)
    logical.push_back({r < rowCount ? rows[r] : Value()});
  int64_t partLength = rowType.getDimSize(0);
  while (logical.size() > 1) {
    size_t half = logical.size() / 2;
    bool doubles = partLength * 2 <= options.lanes;
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < partLength; ++i)
      llvm::append_values(i * 2 < partLength || doubles ? low : high, i, partLength + i);
    // An odd length splits in the middle of a pair.
    if (!doubles && partLength % 2 != 0) {
      high.insert(high.begin(), low.back());
      low.pop_back();
    }
    SmallVector<SmallVector<Value>> next(half);
    for (size_t i = 0; i < half; ++i) {
      for (auto [first, second] : llvm::zip(logical[i], logical[i + half])) {
        if (!first && !second) {
          next[i].append(doubles ? 1 : 2, Value());
          continue;
        }
        Value other = second ? second : first; // its lanes belong to rows that are not there
        next[i].push_back(shuffle(b, loc, first ? first : other, other, low));
        if (!doubles)
          next[i].push_back(shuffle(b, loc, first ? first : other, other, high));
      }
    }
    logical = std::move(next);
    if (doubles)
      partLength *= 2;
  }

  // One logical row is left: all columns, one after the other, each of `padded` elements.
  SmallVector<Value> columns;
  for (int64_t c = 0; c < count; ++c) {
    SmallVector<Lane> column;
    for (int64_t r = 0; r < rowCount; ++r) {
      int64_t element = c * padded + r;
      column.push_back({logical[0][element / partLength], element % partLength});
    }
    columns.push_back(assemble(loc, rowType.getElementType(), column));
  }
  return columns;
}

} // namespace kiln
