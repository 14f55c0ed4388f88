// What one thread computes of an operation of linalg on memory: some steps of its loops at a time, whose elements it
// loads and stores as vectors where they lie beside each other.
#ifndef KILN_TARGETS_CUDA_CODEGEN_LANES_H
#define KILN_TARGETS_CUDA_CODEGEN_LANES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

// Bytes that a thread loads or stores at once.
inline constexpr int64_t accessBytes = 16;

// How an operand's elements lie along a loop.
enum class Along {
  Nothing, // it is the same one at all steps
  Vector,  // beside each other in memory
  Other,
};

Along alongLoop(mlir::linalg::LinalgOp op, mlir::OpOperand &operand, unsigned loop);

// The last loop of a map that has more than one step.
std::optional<unsigned> innermostLoop(mlir::AffineMap map, llvm::ArrayRef<int64_t> extents);

// Bytes of an element in memory; 0 for a type that vectors cannot have.
int64_t bytesOfElement(mlir::Type element);

// The largest power of two, at most `most`, of elements that each row of the memory starts at a multiple of.
int64_t alignedElements(mlir::Value memory, int64_t most);

// The constant that an extent does not exceed.
std::optional<int64_t> boundOf(mlir::OpFoldResult extent);

// The loops of an operation as they are in all workgroups but the last ones.
struct FullTile {
  llvm::SmallVector<int64_t> extents; // kDynamic for a reduction's that is not constant
  // Whether this workgroup has such a tile; null where all have.
  mlir::Value isFull;

  // nullopt where the extent of a parallel loop has no bound, or one is zero.
  static std::optional<FullTile> of(mlir::OpBuilder &b, mlir::linalg::LinalgOp op);
};

class LaneEmitter {
public:
  LaneEmitter(mlir::OpBuilder &b, mlir::linalg::LinalgOp op) : b(b), loc(op.getLoc()), op(op) {}

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value multiply(mlir::Value x, int64_t y);
  // Quotient and remainder of a number that is below `bound`, in 32 bits where that is enough.
  std::pair<mlir::Value, mlir::Value> divide(mlir::Value number, int64_t divisor, int64_t bound);
  // The indices of a box of these extents, of which the last varies fastest.
  llvm::SmallVector<mlir::Value> decode(mlir::Value number, llvm::ArrayRef<int64_t> extents);

  // The operand's elements at `count` steps of the loop `along`, from `ivs` on; a null index stands for one that does
  // not matter. Where they are loaded as a vector, the first is at a multiple of `count`.
  llvm::SmallVector<mlir::Value> load(mlir::OpOperand &operand, llvm::ArrayRef<mlir::Value> ivs, unsigned along,
                                      int64_t count);
  void store(mlir::OpOperand &init, llvm::ArrayRef<mlir::Value> values, llvm::ArrayRef<mlir::Value> ivs,
             unsigned along);
  // `count` elements of contiguous memory, as a vector. The first is at a multiple of `count`.
  llvm::SmallVector<mlir::Value> loadAt(mlir::Value memory, llvm::ArrayRef<mlir::Value> indices, int64_t count);
  void storeAt(mlir::Value memory, llvm::ArrayRef<mlir::Value> indices, llvm::ArrayRef<mlir::Value> values);
  // The body for one step, from a value for each operand; a null one is not used.
  llvm::SmallVector<mlir::Value> emitBody(llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::Value> ivs);
  // The body for step `lane` of the loop `along`.
  llvm::SmallVector<mlir::Value> emitLane(llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::Value> ivs,
                                          unsigned along, int64_t lane);
  // The other lane's value; `distance` is a power of two below 32, and all threads of the warp are here.
  mlir::Value shuffle(mlir::Value value, int64_t distance);
  // Combines the values of lanes `from`, 2 `from`, ... below `to` apart: all of them get the result.
  mlir::Value combineLanes(mlir::Operation *combiner, mlir::Value value, int64_t from, int64_t to);
  void where(mlir::Value condition, llvm::function_ref<void()> emit);
  // null is true.
  mlir::Value both(mlir::Value x, mlir::Value y);

  // Ops of one step, which bound how many steps are written out.
  int64_t bodySize();

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::linalg::LinalgOp op;

private:
  llvm::SmallVector<mlir::Value> place(mlir::AffineMap map, llvm::ArrayRef<mlir::Value> ivs);
  bool isVector(mlir::OpOperand &operand, unsigned along, int64_t count);
};

} // namespace kiln

#endif // KILN_TARGETS_CUDA_CODEGEN_LANES_H
