// How a vector value is divided into pieces: one-dimensional vectors of at most a register.
#ifndef KILN_TARGETS_CPU_CODEGEN_VECTORS_PIECELAYOUT_H
#define KILN_TARGETS_CPU_CODEGEN_VECTORS_PIECELAYOUT_H

#include <cstdint>

#include "mlir/IR/BuiltinTypes.h"

namespace kiln {

// Dimensions of extent 1 do not count: vector<16x1xf32> is laid out like vector<16xf32>. The last dimension that does
// is cut into chunks of `lanes` elements, the last one shorter where it does not divide; every row, that is every index
// of the other dimensions, has these chunks. Pieces are numbered in row-major order, and so cover ascending ranges of
// the elements, numbered in row-major order too. The number of lanes is the same for all types of a function, so that
// operations that change the element type keep the layout.
class PieceLayout {
public:
  PieceLayout(mlir::VectorType type, int64_t lanes) : type(type), lanes(lanes) {
    for (int64_t extent : type.getShape()) {
      elements *= extent;
      if (extent != 1)
        last = extent;
    }
  }

  int64_t elementCount() const { return elements; }
  int64_t rowLength() const { return last; } // extent of the last dimension that counts; 1 for a single element
  int64_t rowCount() const { return elements / last; }
  int64_t chunkCount() const { return (last + lanes - 1) / lanes; } // of a row
  int64_t pieceCount() const { return rowCount() * chunkCount(); }

  int64_t pieceStart(int64_t piece) const { return piece / chunkCount() * last + piece % chunkCount() * lanes; }
  int64_t pieceLength(int64_t piece) const { return std::min(lanes, last - piece % chunkCount() * lanes); }
  mlir::VectorType pieceType(int64_t piece) const {
    return mlir::VectorType::get({pieceLength(piece)}, type.getElementType());
  }
  // The piece that holds an element, and its place in it.
  std::pair<int64_t, int64_t> locate(int64_t element) const {
    int64_t column = element % last;
    return {element / last * chunkCount() + column / lanes, column % lanes};
  }

  // Whether values of this type are their own only piece.
  bool isNative() const { return type.getRank() == 1 && pieceCount() == 1; }

private:
  mlir::VectorType type;
  int64_t lanes;
  int64_t elements = 1, last = 1;
};

// Row-major numbers of elements.
inline llvm::SmallVector<int64_t> delinearize(int64_t element, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> position(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    position[d] = element % shape[d];
    element /= shape[d];
  }
  return position;
}
inline int64_t linearize(llvm::ArrayRef<int64_t> position, llvm::ArrayRef<int64_t> shape) {
  int64_t element = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    element = element * shape[d] + position[d];
  return element;
}
// The index of the last dimension that counts, or -1.
inline int64_t lastLongDimension(llvm::ArrayRef<int64_t> shape) {
  for (size_t d = shape.size(); d-- > 0;)
    if (shape[d] != 1)
      return static_cast<int64_t>(d);
  return -1;
}

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_VECTORS_PIECELAYOUT_H
