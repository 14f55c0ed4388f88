// The state of writing one kernel; what KernelEmitter.cpp, KernelMemory.cpp and KernelPacking.cpp share.
#ifndef KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELBUILDER_H
#define KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELBUILDER_H

#include <map>
#include <tuple>

#include "kiln/targets/cpu/codegen/strategy/KernelEpilogue.h"
#include "kiln/targets/cpu/codegen/strategy/KernelPlan.h"
#include "kiln/targets/cpu/codegen/strategy/PayloadEmitter.h"

#include "mlir/IR/PatternMatch.h"

namespace kiln {

class KernelBuilder {
public:
  KernelBuilder(mlir::RewriterBase &builder, mlir::linalg::LinalgOp op, const KernelPlan &plan,
                const KernelTarget &target, llvm::ArrayRef<mlir::Value> initialValues, const Epilogue &epilogue);

  // Writes the loops before the operation, and erases it.
  void run();

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  // A place in the register tile.
  struct Point {
    int64_t row = 0, vector = 0, step = 0;
  };
  // What the loops around the current place have settled about one loop of the operation: where the tile starts, and
  // how many rows or vectors it has.
  struct Dimension {
    Value base;
    int64_t count = 1;
  };
  // A run of iterations of the vector loop that are treated alike.
  struct Segment {
    Value end;
    int64_t vectors, lanes;
    bool masked;
  };

  //===--- Index arithmetic, with constants folded --------------------------------------------------------------===//

  Value constant(int64_t value);
  Value extent(unsigned dim);
  Value add(Value a, int64_t b);
  Value subtract(Value a, Value b);
  Value multiply(Value a, int64_t b);
  Value minimum(Value a, Value b);
  Value divide(Value a, int64_t b);
  // The last multiple of `step`, counted from `lower`, that is not beyond `upper`.
  Value fullEnd(Value lower, Value upper, int64_t step);

  // A loop; only its body where it runs once, nothing where it does not run. What is remembered inside is forgotten.
  using Body = llvm::function_ref<Values(Value iv, mlir::ValueRange args)>;
  Values loop(Value lower, Value upper, int64_t step, mlir::ValueRange init, Body body);

  //===--- Loops ------------------------------------------------------------------------------------------------===//

  void emitParallel(unsigned level);
  void emitRowSegments(unsigned dim, llvm::function_ref<void()> inner);
  // Cuts the vector loop into segments, whole tiles first.
  llvm::SmallVector<Segment> vectorSegments(bool allowMaskedTile);
  void emitVectorSegments(llvm::function_ref<void()> inner);
  void setMasks(Value base, Value upper, int64_t vectors);

  //===--- Blocks of a reduction (KernelPacking.cpp) ------------------------------------------------------------===//

  bool startsBlocks(unsigned level);
  void emitBlocks(unsigned level);
  void pack(Value blockStart);
  llvm::SmallVector<unsigned> tapLoops() const;
  void packTaps(mlir::OpOperand &operand, llvm::ArrayRef<unsigned> taps);
  void packStraight(mlir::OpOperand &operand, Value blockStart);
  void packTurned(mlir::OpOperand &operand, Value blockStart);
  Values packedIndices(Point point);
  Value blockPosition(); // of the blocked loop, from the block's start
  void widenRows();
  Value widen(Value value, mlir::OpOperand &operand);
  int64_t panelWidth() const { return plan.vectors * plan.lanes; }

  //===--- Tiles ------------------------------------------------------------------------------------------------===//

  int64_t rowCount() const { return plan.rowLoop >= 0 ? dims[plan.rowLoop].count : 1; }
  llvm::SmallVector<Point> tilePoints() const;
  void emitTile();
  // What follows, of the result at a point.
  void emitEpilogue(Point point, Value result);
  void emitElements(Point point);
  Values emitReductions(unsigned level, unsigned count, mlir::ValueRange sums,
                        llvm::function_ref<Values(mlir::ValueRange)> body);
  // The body at a point; `sums` stand for the inits, or are empty where these are loaded.
  Values computeBody(Point point, mlir::ValueRange sums);
  Value initialValue(unsigned index, Point point);
  Value indexValue(unsigned dim, Point point);
  void emitLaneReduction();
  Values emitScaledSegments(mlir::ValueRange carried, llvm::ArrayRef<mlir::Operation *> combiners);
  Values emitLaneSegments(mlir::ValueRange carried, llvm::ArrayRef<mlir::Operation *> combiners);
  Values emitLaneBlocks(mlir::Value &lower, const Segment &segment, mlir::ValueRange carried,
                        llvm::ArrayRef<mlir::Operation *> combiners);
  Values emitLaneLoop(mlir::Value lower, mlir::Value end, const Segment &segment, mlir::Value upper,
                      mlir::ValueRange carried);
  mlir::Value neutralVector(mlir::Operation *combiner);

  //===--- Memory (KernelMemory.cpp) ----------------------------------------------------------------------------===//

  bool isVectorLoop(unsigned dim) const { return static_cast<int>(dim) == plan.vectorLoop; }
  bool isRowLoop(unsigned dim) const { return static_cast<int>(dim) == plan.rowLoop; }
  bool isStepLoop(unsigned dim) const { return static_cast<int>(dim) == plan.stepLoop; }
  // The index of a loop at a point of the tile, `lane` elements into its vector.
  Value position(unsigned dim, Point point, int64_t lane = 0);
  Values indicesOf(mlir::AffineMap map, Point point, int64_t lane = 0);
  Value load(mlir::OpOperand &operand, Point point);
  Value loadForEpilogue(mlir::OpOperand &operand, Point point);
  void store(mlir::OpOperand &init, mlir::AffineMap map, Point point, Value value);
  Value loadVector(Value memory, mlir::ValueRange indices, Value mask);
  void readAhead(mlir::Value panel, llvm::SmallVector<mlir::Value> indices);
  void askForNextTile(mlir::Value tile, llvm::SmallVector<mlir::Value> indices);
  Value loadStrided(Value memory, mlir::AffineMap map, Point point);
  // Elements that are `stride` apart, from neighbouring vectors of which none reaches beyond the last of them.
  Value loadShuffled(mlir::OpOperand &operand, mlir::AffineMap map, Point point, int64_t stride);
  // Elements that are taken by turns by the steps of the step loop.
  void loadInterleaved(mlir::OpOperand &operand, mlir::AffineMap map, Point point);
  void storeInterleaved(mlir::OpOperand &init, Point point, llvm::ArrayRef<Value> values);
  bool canTranspose(mlir::OpOperand &operand);
  void loadTransposed(mlir::OpOperand &operand, mlir::AffineMap map, Point point);
  void transpose(Values &block);
  // What is a byte in memory and a bit in the body.
  Value convertElements(Value value, mlir::Type wanted);
  Value maskOf(int64_t vector) const;
  mlir::Type argumentType(mlir::OpOperand &operand);

  //===------------------------------------------------------------------------------------------------------------===//

  mlir::RewriterBase &builder;
  mlir::linalg::LinalgOp op;
  mlir::Location loc;
  const KernelPlan &plan;
  PayloadEmitter payload;
  bool fma;
  llvm::ArrayRef<Value> initialValues;
  const Epilogue &epilogue;
  std::optional<PayloadEmitter> epiloguePayload;

  mlir::Operation *anchor = nullptr; // after it goes what all loops use
  llvm::SmallVector<mlir::OpFoldResult> extents;
  llvm::SmallVector<Dimension> dims;
  int64_t lanes = 1;              // of the current segment: the plan's, or 1
  llvm::SmallVector<Value> masks; // of the current segment's vectors; null: all lanes
  Value columnsLeft;              // where there are masks, from the segment's start to the end of the vector loop

  // The current block of the blocked loop; `firstBlock` is null where that is known to be the first.
  bool inBlock = false;
  Value blockStart, blockEnd, firstBlock;
  Value panels, widened;

  // Remembered until the loop around ends: operands by number, row, vector and step; positions by loop and offset.
  using LoadKey = std::tuple<unsigned, int64_t, int64_t, int64_t>;
  std::map<LoadKey, Value> loads;
  std::map<std::pair<unsigned, int64_t>, Value> positions;
  static constexpr unsigned kOfBlock = ~0u; // beyond all loops: the panel's number, and the depth in the block
  llvm::DenseMap<int64_t, Value> constants;
};

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_STRATEGY_KERNELBUILDER_H
