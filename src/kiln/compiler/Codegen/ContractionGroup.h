// A dispatch that is one contraction of bindings, with what is computed of its result element by element: everything
// that a kernel with tiles of its own has to know.
#ifndef KILN_COMPILER_CODEGEN_CONTRACTIONGROUP_H
#define KILN_COMPILER_CODEGEN_CONTRACTIONGROUP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace kiln {

struct ContractionGroup {
  // A binding that the contraction multiplies.
  struct Input {
    mlir::Value memory;
    // How the memory is read: its own type, or a view of it where k runs along slices of a dimension.
    mlir::MemRefType view;
    // For each dimension of the view, the loop that it runs along.
    llvm::SmallVector<unsigned> loops;

    mlir::MemRefType type() const { return view; }
    unsigned innermost() const { return loops.back(); }
  };
  // An elementwise operation, and for each loop of it the root's.
  struct Step {
    mlir::linalg::LinalgOp op;
    llvm::SmallVector<unsigned> loops;
  };
  // A value that is stored, and for each dimension of the memory the root's loop.
  struct Store {
    mlir::Value value, memory;
    llvm::SmallVector<unsigned> loops;
  };

  mlir::linalg::LinalgOp root;
  llvm::SmallVector<unsigned> batch; // loops that both inputs and the result have
  unsigned m = 0, n = 0, k = 0;      // n is the innermost of the result
  // Of all loops of the root, and of fixedLoop; kDynamic where it is not constant.
  llvm::SmallVector<int64_t> extents;
  // A loop that the root does not have: both inputs are read at one index of it, the number of their slice of k.
  std::optional<unsigned> fixedLoop;
  int64_t fixedIndex = 0;
  Input lhs, rhs;                 // lhs has m, rhs has n
  bool isSwapped = false;         // rhs is the root's first operand
  mlir::Operation *sum = nullptr; // of the body: adds what an iteration gives
  // What the sum starts with: a scalar, a binding with the loops of the root's result, or what `start` computes.
  mlir::Value initial;
  std::optional<Step> start;
  llvm::SmallVector<Step> epilogue; // in order
  llvm::SmallVector<Store> stores;

  // The group that makes up all of the dispatch, which kiln-codegen-prepare-dispatch has gone over; nullopt where there
  // is more in it, or something else.
  static std::optional<ContractionGroup> of(mlir::func::FuncOp function);

  llvm::SmallVector<unsigned> resultLoops() const;
  // The extent of a loop as an index.
  mlir::Value extent(mlir::OpBuilder &b, mlir::Location loc, unsigned loop) const;
};

// The loops of a contraction that has one each of m, n and k; nullopt for others. A third input whose elements are not
// used may give an extent.
struct ContractionLoops {
  // Where along k both inputs are read: at `length` * `loop` + k + `first`, or at k + `first` where there is no loop.
  struct Slices {
    std::optional<unsigned> loop; // one of `batch`
    int64_t length = 0, first = 0;

    bool operator==(const Slices &) const = default;
  };

  llvm::SmallVector<unsigned> batch;
  unsigned m = 0, n = 0, k = 0;
  bool isSwapped = false;
  std::optional<Slices> slices; // all extents are known then

  static std::optional<ContractionLoops> of(mlir::linalg::LinalgOp op);

  // Whether there are no slices, or each is one index of a dimension that both inputs have if that of k is split in
  // two.
  bool areSlicesIndices(mlir::linalg::LinalgOp op) const;
};

// The memory of a tensor that is a binding, or null.
mlir::Value bindingOf(mlir::Value tensor);

// Computes the group's epilogue for elements that lie beside each other along n: `sums` are the root's results of
// places n, n + 1, ..., all of which exist; `indices` has the first place's index of each loop of the root (k's is not
// looked at). Gives the elements of each store of the group. Memory that allows it is read as vectors.
llvm::SmallVector<llvm::SmallVector<mlir::Value>> computeEpilogue(mlir::OpBuilder &b, mlir::Location loc,
                                                                  const ContractionGroup &group,
                                                                  llvm::ArrayRef<mlir::Value> sums,
                                                                  llvm::ArrayRef<mlir::Value> indices);

// Stores elements that computeEpilogue has given, as a vector where the memory allows it.
void storeElements(mlir::OpBuilder &b, mlir::Location loc, const ContractionGroup &group,
                   const ContractionGroup::Store &store, llvm::ArrayRef<mlir::Value> elements,
                   llvm::ArrayRef<mlir::Value> indices);

// Whether `width` elements along n lie beside each other in memory whose dimensions run along these loops, from each
// place that is a multiple of `width`, and may be accessed as a vector.
bool hasVectors(const ContractionGroup &group, mlir::Value memory, llvm::ArrayRef<unsigned> loops, int64_t width);

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_CONTRACTIONGROUP_H
