// Of the importer: graphs, and the graphs within their nodes.
#ifndef KILN_COMPILER_INPUT_ONNX_GRAPHIMPORTER_H
#define KILN_COMPILER_INPUT_ONNX_GRAPHIMPORTER_H

#include "kiln/compiler/Input/Onnx/Lowering.h"

namespace kiln::onnx {

// A node that could not be imported.
struct Refusal {
  std::string op, node, reason;
};

class GraphImporter {
public:
  GraphImporter(Emitter &e, const Model &model) : e(e), model(model) {}

  // Nodes and constants, into the scope. What cannot be imported is noted as a refusal, and so is nothing that uses it.
  void importGraph(const Graph &graph, Scope &scope);
  Value constant(const Tensor &tensor);

  std::vector<Refusal> refusals;

private:
  // In a function the attributes of the call.
  struct Call {
    const Function *function = nullptr;
    llvm::ArrayRef<const Attribute *> attributes;
  };
  void importNodes(llvm::ArrayRef<Node> nodes, const Opsets &opsets, Scope &scope, const Call &call);
  mlir::LogicalResult importNode(NodeLowering &lowering);
  mlir::LogicalResult importCall(const Function &function, NodeLowering &lowering);
  const Function *findFunction(const Node &node) const;

  Emitter &e;
  const Model &model;
  int depth = 0;      // of calls
  size_t inlined = 0; // nodes of functions, each as often as it is called
};

// The graph that a node has as an attribute; null where there is none.
const Graph *graphOf(NodeLowering &n, std::string_view name);
// Such a graph with its inputs, into the block where the builder is. Fails where nodes were refused, which are listed
// by themselves then.
mlir::FailureOr<llvm::SmallVector<Value>> importBody(NodeLowering &n, const Graph &graph, llvm::ArrayRef<Value> inputs);

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_GRAPHIMPORTER_H
