#include "kiln/compiler/Input/Onnx/OnnxImport.h"

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"
#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/LinalgExt/IR/LinalgExtOps.h"
#include "kiln/compiler/Input/Onnx/GraphImporter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// The name of a function, from that of a graph, which may be any text.
std::string functionName(const Model &model, const ImportOptions &options) {
  if (!options.entryPoint.empty())
    return options.entryPoint;
  std::string name;
  for (char letter : model.graph.name)
    name += llvm::isAlnum(letter) || letter == '_' ? letter : '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name = "main" + (name.empty() ? "" : "_" + name);
  return name;
}

class ModelImporter {
public:
  ModelImporter(const Model &model, const ImportOptions &options, MLIRContext &context)
      : model(model), options(options), e(&context), graphs(e, model) {
    e.loc = FileLineColLoc::get(StringAttr::get(&context, model.path), 0, 0);
  }

  OwningOpRef<ModuleOp> run() {
    const Location file = e.loc;
    OwningOpRef<ModuleOp> module = ModuleOp::create(file);
    e.b.setInsertionPointToStart(module->getBody());
    if (failed(importFunction()))
      return nullptr;
    if (failed(verify(*module)))
      return nullptr;
    return module;
  }

private:
  LogicalResult importFunction() {
    const Graph &graph = model.graph;
    const Location file = e.loc;
    // Older models list constants as inputs, too.
    SmallVector<const ValueInfo *> inputs;
    for (const ValueInfo &input : graph.inputs)
      if (llvm::none_of(graph.initializers, [&](const Tensor &tensor) { return tensor.name == input.name; }))
        inputs.push_back(&input);
    SmallVector<mlir::Type> types;
    for (const ValueInfo *input : inputs) {
      FailureOr<RankedTensorType> type = typeOf(*input);
      if (failed(type))
        return failure();
      types.push_back(*type);
    }
    auto function =
        func::FuncOp::create(e.b, file, functionName(model, options), e.b.getFunctionType(types, TypeRange()));
    Block *body = function.addEntryBlock();
    if (failed(donate(function, inputs)))
      return failure();
    e.b.setInsertionPointToStart(body);
    Scope scope;
    for (auto [input, argument] : llvm::zip(inputs, body->getArguments()))
      scope.values.emplace(input->name, argumentOf(*input, argument));
    graphs.importGraph(graph, scope);
    SmallVector<mlir::Value> results;
    for (const ValueInfo &output : graph.outputs)
      if (const Value *value = scope.find(output.name); value && graphs.refusals.empty())
        addResults(output, *value, results);
      else if (graphs.refusals.empty())
        return emitError(file) << "output '" << StringRef(output.name) << "' is computed by no node";
    if (!graphs.refusals.empty())
      return tellRefusals(file);
    func::ReturnOp::create(e.b, file, results);
    function.setType(e.b.getFunctionType(types, ValueRange(results).getTypes()));
    return success();
  }

  LogicalResult donate(func::FuncOp function, ArrayRef<const ValueInfo *> inputs) {
    for (const std::string &text : options.donated) {
      llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
      if (!pattern)
        return emitError(e.loc) << "'" << text << "' names no inputs: " << llvm::toString(pattern.takeError());
      bool isFound = false;
      for (auto [index, input] : llvm::enumerate(inputs))
        if (pattern->match(input->name)) {
          function.setArgAttr(index, HAL::kDonatedAttr, e.b.getUnitAttr());
          isFound = true;
        }
      if (!isFound)
        return emitError(e.loc) << "no input is called '" << text << "', which is to be given away";
    }
    return success();
  }

  FailureOr<RankedTensorType> typeOf(const ValueInfo &input) {
    const StringRef name(input.name);
    if (input.type.kind != ValueType::Kind::Tensor)
      return emitError(e.loc) << "input '" << name << "' is no tensor; sequences, maps and optional values are not "
                              << "supported as inputs, since a call would decide how many tensors they have";
    mlir::Type element = e.elementType(input.type.element);
    if (!element)
      return emitError(e.loc) << "input '" << name << "' has elements of "
                              << StringRef(dataTypeName(input.type.element)) << ", which are not supported";
    if (!input.type.shape)
      return emitError(e.loc) << "input '" << name << "' has an unknown number of dimensions";
    SmallVector<int64_t> shape;
    for (const Dimension &dimension : *input.type.shape)
      shape.push_back(dimension.extent.value_or(ShapedType::kDynamic));
    return RankedTensorType::get(shape, element);
  }

  Value argumentOf(const ValueInfo &input, mlir::Value argument) {
    Value value{input.type.element, {}, argument};
    for (auto [dim, dimension] : llvm::enumerate(*input.type.shape)) {
      if (dimension.extent) {
        value.dims.push_back(e.number(*dimension.extent));
        continue;
      }
      OpFoldResult extent = tensor::DimOp::create(e.b, e.loc, argument, dim).getResult();
      if (!dimension.symbol.empty() && dimension.symbol != "?") { // by which some exporters mean none
        auto [known, isNew] = symbols.emplace(dimension.symbol, extent);
        if (!isNew) {
          mlir::Value isSame =
              arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::eq, e.indexOf(extent), e.indexOf(known->second));
          cf::AssertOp::create(e.b, e.loc, isSame,
                               ("dimension " + Twine(dim) + " of input '" + StringRef(input.name) +
                                "' is another than '" + StringRef(dimension.symbol) + "' of the inputs before it")
                                   .str());
          extent = known->second;
        }
      }
      value.dims.push_back(extent);
    }
    return value;
  }

  // A sequence gives its tensors one after the other, and an optional value without content none.
  void addResults(const ValueInfo &output, Value value, SmallVectorImpl<mlir::Value> &results) {
    value.forEachTensor([&](Value &tensor) { results.push_back(resultOf(output, tensor)); });
  }

  mlir::Value resultOf(const ValueInfo &output, const Value &value) {
    mlir::Value tensor = e.tensorOf(value);
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!output.type.shape || output.type.shape->size() != value.dims.size())
      return tensor;
    // What the model says of its output's extents is known of it.
    SmallVector<int64_t> shape(type.getShape());
    for (auto [extent, dimension] : llvm::zip(shape, *output.type.shape))
      if (ShapedType::isDynamic(extent) && dimension.extent)
        extent = *dimension.extent;
    RankedTensorType declared = type.clone(shape);
    return declared == type ? tensor : tensor::CastOp::create(e.b, e.loc, declared, tensor).getResult();
  }

  // All at once, by operator and reason.
  LogicalResult tellRefusals(Location file) {
    InFlightDiagnostic error = emitError(file);
    error << "the model has " << graphs.refusals.size()
          << (graphs.refusals.size() == 1 ? " node that is not supported" : " nodes that are not supported");
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
    for (const Refusal &refusal : graphs.refusals)
      groups[{refusal.op, refusal.reason}].push_back(refusal.node);
    constexpr size_t kMostNames = 8;
    for (const auto &[what, nodes] : groups) {
      std::string names;
      for (const std::string &name : ArrayRef(nodes).take_front(kMostNames))
        names += (names.empty() ? "" : ", ") + name;
      if (nodes.size() > kMostNames)
        names += " and " + std::to_string(nodes.size() - kMostNames) + " more";
      error.attachNote() << what.first << " " << what.second << ": " << names;
    }
    return failure();
  }

  const Model &model;
  const ImportOptions &options;
  Emitter e;
  GraphImporter graphs;
  std::map<std::string_view, OpFoldResult> symbols;
};

} // namespace

OwningOpRef<ModuleOp> importModel(const Model &model, const ImportOptions &options, MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, Flow::FlowDialect, func::FuncDialect,
                      linalg::LinalgDialect, LinalgExt::LinalgExtDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect>();
  return ModelImporter(model, options, context).run();
}

} // namespace kiln::onnx
