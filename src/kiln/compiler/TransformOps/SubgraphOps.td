// Ops of specs that find a part of a program and replace it, or say how it is to be computed. transform.util.X are
// spelled as in IREE, and transform.iree.match.X are transform.kiln.match.X (SpecUpdater.h).
#ifndef KILN_COMPILER_TRANSFORMOPS_SUBGRAPHOPS_TD
#define KILN_COMPILER_TRANSFORMOPS_SUBGRAPHOPS_TD

include "kiln/compiler/TransformOps/KilnTransformOpBase.td"
include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.td"
include "mlir/IR/RegionKindInterface.td"

def MatchCastCompatibleTypeOp : KilnTransformOp<"kiln.match.cast_compatible_type", [
    MatchOpInterface, SingleValueMatcher, MemoryEffectsOpInterface]> {
  let summary = "matches a tensor of a type, whose unknown extents stand for any";
  let arguments = (ins TransformValueHandleTypeInterface:$operand_handle, TypeAttr:$target_type);
  let assemblyFormat = "$operand_handle `=` $target_type attr-dict `:` type($operand_handle)";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure matchValue(::mlir::Value current, ::mlir::transform::TransformResults &results,
                                                   ::mlir::transform::TransformState &state);
  }];
}

def MatchCastCompatibleDagFromRootOp : KilnTransformOp<"kiln.match.cast_compatible_dag_from_root", [
    MatchOpInterface, SingleOpMatcher, MemoryEffectsOpInterface] # GraphRegionNoTerminator.traits> {
  let summary = "matches operations that compute the same as those of a region, from the last of them on";
  let description = [{
    The region has operations as a program would have them: the last one is compared with the payload, and so are, one after
    the other, those that compute its operands. Names, attributes and bodies must be equal; unknown extents of the region's
    types stand for any. Results are the values that the arguments of the region stand for, and those of the last operation.
  }];
  let arguments = (ins TransformHandleTypeInterface:$operand_handle);
  let results = (outs TransformValueHandleTypeInterface:$inputs, TransformValueHandleTypeInterface:$outputs);
  let regions = (region SizedRegion<1>:$target_dag);
  let assemblyFormat = "$operand_handle $target_dag attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure matchOperation(::mlir::Operation *current,
                                                       ::mlir::transform::TransformResults &results,
                                                       ::mlir::transform::TransformState &state);
  }];
}

class KilnUtilOp<string mnemonic, list<Trait> traits> : KilnTransformOp<"util." # mnemonic, !listconcat(traits, [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<TransformOpInterface>,
    ReportTrackingListenerFailuresOpTrait])>;

def GetNearestSymbolTableOp : KilnUtilOp<"get_nearest_symbol_table", []> {
  let summary = "gives the module that an operation of the program is in";
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$symbol_table);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
}

def ImportSymbolOp : KilnUtilOp<"import_symbol", []> {
  let summary = "copies a function of the spec into the program, and what it refers to";
  let description = [{
    With `if undefined`, what the program has under that name is taken, if it has something.
  }];
  let arguments = (ins SymbolRefAttr:$symbol, UnitAttr:$if_undefined, TransformHandleTypeInterface:$symbol_table);
  let results = (outs TransformHandleTypeInterface:$imported);
  let assemblyFormat = [{
    $symbol `into` $symbol_table (`if` `undefined` $if_undefined^)? attr-dict `:` functional-type(operands, results)
  }];
}

def CastAndCallOp : KilnUtilOp<"cast_and_call", [AttrSizedOperandSegments] # GraphRegionNoTerminator.traits> {
  let summary = "replaces values by what a function gives for others";
  let description = [{
    The function is called with `inputs`, before or after the insertion point, and what uses `outputs` behind the call uses
    its results. Tensors are cast where extents are known on one side only, if the region has
    transform.type_conversion.tensor.cast_shape_dynamic_dims. That the function computes the same is the spec's to know.
  }];
  let arguments = (ins TransformHandleTypeInterface:$insertion_point, UnitAttr:$insert_after,
                       Optional<TransformValueHandleTypeInterface>:$inputs,
                       Optional<TransformValueHandleTypeInterface>:$outputs,
                       OptionalAttr<SymbolRefAttr>:$function_name,
                       Optional<TransformHandleTypeInterface>:$function);
  let results = (outs TransformHandleTypeInterface:$result);
  let regions = (region MaxSizedRegion<1>:$conversions);
  let assemblyFormat = [{
    ($function_name^)? ($function^)? ( `(` $inputs^ `)` )? ( `->` $outputs^ )?
    (`after` $insert_after^):(`before`)? $insertion_point ($conversions^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // KILN_COMPILER_TRANSFORMOPS_SUBGRAPHOPS_TD
