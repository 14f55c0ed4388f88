// One node of a graph on its way to MLIR, and the operators that are known.
#ifndef KILN_COMPILER_INPUT_ONNX_LOWERING_H
#define KILN_COMPILER_INPUT_ONNX_LOWERING_H

#include "kiln/compiler/Input/Onnx/Emitter.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"

namespace kiln::onnx {

// The names that a node may use: its graph's, and those of the graphs around it.
struct Scope {
  const Scope *outer = nullptr;
  std::map<std::string_view, Value> values;

  const Value *find(std::string_view name) const;
};

class GraphImporter;

class NodeLowering {
public:
  NodeLowering(Emitter &e, GraphImporter &importer, const Node &node, const Scope &scope, int64_t opset)
      : e(e), importer(importer), node(node), scope(scope), opset(opset) {}

  Emitter &e;
  GraphImporter &importer;
  const Node &node;
  const Scope &scope;
  const int64_t opset;                             // the version of the operators of the node's domain
  llvm::SmallVector<const Value *> inputs;         // null where one is left out
  llvm::SmallVector<const Attribute *> attributes; // those of a call in place of references to them
  std::deque<Attribute> renamed;                   // of which the storage is here
  std::deque<Value> widened;                       // inputs as f32, likewise
  llvm::SmallVector<Value> results;
  mutable llvm::SmallPtrSet<const Attribute *, 4> used; // attributes that were asked for

  bool has(size_t input) const { return input < inputs.size() && inputs[input]; }
  const Value &in(size_t input) const { return *inputs[input]; }
  bool wants(size_t output) const { return output < node.outputs.size() && !node.outputs[output].empty(); }

  const Attribute *attribute(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string_view text(std::string_view name, std::string_view otherwise) const;
  std::optional<llvm::ArrayRef<int64_t>> integers(std::string_view name) const;
  llvm::SmallVector<int64_t> integersOr(std::string_view name, size_t count, int64_t otherwise) const;

  // An element type by its number. Fails where there is none.
  mlir::FailureOr<DataType> dataType(std::string_view name, DataType otherwise);
  // Fails where an input has fewer dimensions.
  mlir::LogicalResult needRank(size_t input, int64_t least);
  // A dimension that may be counted from the end. Fails where there is none.
  mlir::FailureOr<int64_t> dimension(int64_t axis, int64_t rank);
  mlir::FailureOr<llvm::SmallVector<int64_t>> dimensions(llvm::ArrayRef<int64_t> axes, int64_t rank);
  // Axes as an attribute, or as an input that is known when the program is compiled. None where there is neither.
  mlir::FailureOr<std::optional<llvm::SmallVector<int64_t>>> axes(size_t input, std::string_view name = "axes");
  // Whether the program does not compute the axes that an input has.
  bool axesAreKnown(size_t input) const;
  // The known integers of an input.
  mlir::FailureOr<llvm::SmallVector<int64_t>> knownIntegers(size_t input);

  mlir::LogicalResult give(Value value) {
    results.push_back(std::move(value));
    return mlir::success();
  }
  mlir::LogicalResult give(mlir::FailureOr<Value> value) {
    return mlir::failed(value) ? mlir::failure() : give(std::move(*value));
  }
  mlir::LogicalResult refuse(const llvm::Twine &why) { return e.refuse(why); }

  // Attributes that say nothing of what is computed here.
  void ignore(std::initializer_list<std::string_view> names) const {
    for (std::string_view name : names)
      (void)attribute(name);
  }
  // An attribute that the operator did not ask for: what it says would be left out in silence.
  const Attribute *unused() const;

  bool isTold = false; // what failed is listed as refusals of other nodes, and not as this one's
};

// By domain, a point and the operator's name; of ONNX's own domain the name alone.
using Lower = mlir::LogicalResult (*)(NodeLowering &);
struct Operator {
  Lower lower = nullptr;
  unsigned inputs = 1; // that a node has at least
  // Whether many elements are added. Floats of 16 bits and fewer hold neither a large sum nor the squares of what they
  // hold: the operator then gets f32, and what it gives is rounded once.
  bool adds = false;
  bool takesSequences = false; // and optional values
};
using Registry = llvm::StringMap<Operator>;

// The largest number of a float of 8 bits, to which larger ones are saturated; 0 of types that are not.
double largestOfNarrow(DataType type);

const Registry &registry();

void registerAttention(Registry &registry);
void registerControl(Registry &registry);
void registerElementwise(Registry &registry);
void registerFeatures(Registry &registry);
void registerImages(Registry &registry);
void registerLosses(Registry &registry);
void registerMicrosoft(Registry &registry);
void registerMovement(Registry &registry);
void registerOrdering(Registry &registry);
void registerProducts(Registry &registry);
void registerQuantize(Registry &registry);
void registerRecurrent(Registry &registry);
void registerReductions(Registry &registry);
void registerRegions(Registry &registry);
void registerResize(Registry &registry);
void registerSelecting(Registry &registry);
void registerSequences(Registry &registry);
void registerShapes(Registry &registry);
void registerSignals(Registry &registry);
void registerStateSpace(Registry &registry);
void registerTraining(Registry &registry);
void registerTrees(Registry &registry);
void registerWindows(Registry &registry);

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_LOWERING_H
