// The flow dialect: the program as tensors that flow between dispatches.
#ifndef KILN_COMPILER_DIALECT_FLOW_IR_FLOWOPS_TD
#define KILN_COMPILER_DIALECT_FLOW_IR_FLOWOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Flow_Dialect : Dialect {
  let name = "flow";
  let cppNamespace = "::kiln::Flow";
  let summary = "Tensors between dispatches";
  let useDefaultAttributePrinterParser = 1;
  let description = [{
    Every tensor of dynamic shape is made by an op that also has its dynamic extents as operands, so that no later phase
    has to ask for them.
  }];
}

def Flow_NamedParameterAttr : AttrDef<Flow_Dialect, "NamedParameter", [TypedAttrInterface]> {
  let mnemonic = "parameter.named";
  let summary = "a tensor that the program is given when it is loaded";
  let description = [{
    `#flow.parameter.named<"model"::"conv1.weight"> : tensor<64x3x7x7xf32>`: by scope, which may be left out, and key. The
    type says how the bytes are read; they have none of their own.
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$scope, "::mlir::StringAttr":$key,
                        AttributeSelfTypeParameter<"">:$type);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    llvm::StringRef getScopeName() const { return getScope() ? getScope().getValue() : ""; }
  }];
}

class Flow_Op<string mnemonic, list<Trait> traits = []> : Op<Flow_Dialect, mnemonic, traits>;

def Flow_DispatchRegionOp : Flow_Op<"dispatch.region", [SingleBlock]> {
  let summary = "operations that become one dispatch";
  let description = [{
    What is computed inside is what one launch computes. Values from outside are used freely; outlining makes them
    operands. Only inside the flow phase.
  }];
  let arguments = (ins Variadic<Index>:$result_dims);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`{` $result_dims^ `}`)? attr-dict `->` type($results) $body";
  let extraClassDeclaration = [{
    // The dynamic extents of one result.
    mlir::ValueRange getDimsOfResult(unsigned index);
  }];
}

def Flow_ReturnOp : Flow_Op<"return", [Pure, ReturnLike, Terminator, HasParent<"DispatchRegionOp">]> {
  let summary = "ends a dispatch region";
  let arguments = (ins Variadic<AnyRankedTensor>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

def Flow_ExecutableOp : Flow_Op<"executable", [IsolatedFromAbove, SingleBlock, NoTerminator, SymbolTable, Symbol]> {
  let summary = "what a dispatch computes";
  let description = [{
    Holds a module with one public function from tensors and scalars to tensors; its name is the dispatch's descriptive
    name.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<SymbolVisibility>($sym_visibility) $sym_name attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "llvm::StringRef":$name)>];
  let extraClassDeclaration = [{
    mlir::ModuleOp getInnerModule() { return *getBody().getOps<mlir::ModuleOp>().begin(); }
  }];
}

def Flow_DispatchOp : Flow_Op<"dispatch", [AttrSizedOperandSegments, Pure,
                                           DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launches the function of an executable";
  let description = [{
    `tied[i]` is the operand whose content result `i` overwrites, or -1: the function updates it in place. The value of
    the operand stays usable; the stream phase copies it where it is used again.
  }];
  let arguments = (ins SymbolRefAttr:$entry, Variadic<AnyType>:$args, Variadic<Index>:$result_dims,
                       DenseI64ArrayAttr:$tied);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $entry `(` $args `)` (`{` $result_dims^ `}`)? `tied` $tied attr-dict `:` functional-type($args, $results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::ValueRange getDimsOfResult(unsigned index);
  }];
}

def Flow_TensorReshapeOp : Flow_Op<"tensor.reshape", [Pure]> {
  let summary = "the same elements under another shape; moves nothing";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result) (`{` $result_dims^ `}`)?";
}

def Flow_TensorBitcastOp : Flow_Op<"tensor.bitcast", [AttrSizedOperandSegments, Pure]> {
  let summary = "the same bytes as elements of another type; only in a program's source";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$source_dims, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) (`{` $source_dims^ `}`)? `->` type($result) (`{` $result_dims^ `}`)?
  }];
}

def Flow_TensorDynamicConstantOp : Flow_Op<"tensor.dynamic_constant", [Pure]> {
  let summary = "a constant whose value and extents no fold sees; only in a program's source";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict $value `->` type($result)";
  let hasVerifier = 1;
}

def Flow_TensorParameterOp : Flow_Op<"tensor.parameter", [Pure, AllTypesMatch<["parameter", "result"]>]> {
  let summary = "a parameter of the program";
  let arguments = (ins Flow_NamedParameterAttr:$parameter);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict qualified($parameter)";
}

def Flow_TensorEmptyOp : Flow_Op<"tensor.empty", [Pure]> {
  let summary = "a tensor of undefined content";
  let arguments = (ins Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result) (`{` $result_dims^ `}`)?";
}

def Flow_TensorSplatOp : Flow_Op<"tensor.splat", [Pure]> {
  let summary = "a tensor of one value everywhere; a fill, not a dispatch";
  let arguments = (ins AnyType:$value, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `,` type($result) (`{` $result_dims^ `}`)?";
}

def Flow_TensorLoadOp : Flow_Op<"tensor.load", [Pure]> {
  let summary = "one element, on the host";
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $indices `]` attr-dict `:` type($source) `->` type($result)";
}

def Flow_TensorTransferOp : Flow_Op<"tensor.transfer", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "a tensor where another device, or another queue, can use it";
  let description = [{
    `target` is a `#hal.device.affinity`: what is computed from the result runs there.
  }];
  let arguments = (ins AnyRankedTensor:$operand, Variadic<Index>:$operand_dims, AnyAttr:$target);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand `:` type($result) (`{` $operand_dims^ `}`)? `to` $target attr-dict";
}
def Flow_TensorTieShapeOp : Flow_Op<"tensor.tie_shape", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "says what the dynamic extents of a tensor are, where its producer cannot";
  let arguments = (ins AnyRankedTensor:$operand, Variadic<Index>:$result_dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result) `{` $result_dims `}`";
}

#endif // KILN_COMPILER_DIALECT_FLOW_IR_FLOWOPS_TD
