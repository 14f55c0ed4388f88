// Operations of StableHLO that Kiln takes: what JAX, TensorFlow and others write programs in. Names, attributes and text are
// those of its specification.
#ifndef KILN_COMPILER_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
#define KILN_COMPILER_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def StableHLO_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::kiln::StableHLO";
  let summary = "Programs on tensors as frameworks write them";
  let description = "kiln-lower-stablehlo turns each operation into ones of linalg, tensor, arith, math and scf.";
  let useDefaultAttributePrinterParser = 1;
}

//===--- Attributes
//-------------------------------------------------------------------------------------------------===//

class StableHLO_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::kiln::StableHLO";
  let genSpecializedAttr = 0;
}
def StableHLO_Direction : StableHLO_Enum<"Direction", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>,
  I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def StableHLO_DirectionAttr : EnumAttr<StableHLO_Dialect, StableHLO_Direction, "comparison_direction">;
def StableHLO_ComparisonType : StableHLO_Enum<"ComparisonType", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def StableHLO_ComparisonTypeAttr : EnumAttr<StableHLO_Dialect, StableHLO_ComparisonType, "comparison_type">;
def StableHLO_Precision : StableHLO_Enum<"Precision", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def StableHLO_PrecisionAttr : EnumAttr<StableHLO_Dialect, StableHLO_Precision, "precision">;

class StableHLO_Attr<string name, string mnemonic_, string summary_> : AttrDef<StableHLO_Dialect, name> {
  let mnemonic = mnemonic_;
  let summary = summary_;
}
defvar dims = OptionalArrayRefParameter<"int64_t">;
def StableHLO_GatherAttr : StableHLO_Attr<"GatherDimensions", "gather", "what the dimensions of a gather mean"> {
  let parameters = (ins dims:$offset_dims, dims:$collapsed_slice_dims, dims:$operand_batching_dims,
                        dims:$start_indices_batching_dims, dims:$start_index_map, DefaultValuedParameter<"int64_t", "0">:$index_vector_dim);
  let hasCustomAssemblyFormat = 1;
}
def StableHLO_DotAttr : StableHLO_Attr<"DotDimensions", "dot", "what the dimensions of a product mean"> {
  let parameters = (ins dims:$lhs_batching_dimensions, dims:$rhs_batching_dimensions, dims:$lhs_contracting_dimensions,
                        dims:$rhs_contracting_dimensions);
  let hasCustomAssemblyFormat = 1;
}
def StableHLO_ConvAttr : StableHLO_Attr<"ConvDimensions", "conv", "what the dimensions of a convolution mean"> {
  let parameters = (ins "int64_t":$input_batch_dimension, "int64_t":$input_feature_dimension,
                        dims:$input_spatial_dimensions, "int64_t":$kernel_input_feature_dimension,
                        "int64_t":$kernel_output_feature_dimension, dims:$kernel_spatial_dimensions,
                        "int64_t":$output_batch_dimension, "int64_t":$output_feature_dimension,
                        dims:$output_spatial_dimensions);
  let hasCustomAssemblyFormat = 1;
}

//===--- Elementwise
//------------------------------------------------------------------------------------------------===//

class StableHLO_Op<string mnemonic, string summary_, list<Trait> traits = [Pure]>
    : Op<StableHLO_Dialect, mnemonic, traits> {
  let summary = summary_;
}

class StableHLO_Unary<string mnemonic, string summary_> : StableHLO_Op<mnemonic, summary_> {
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<OneType>(type($operand), type($result))";
}
def StableHLO_AbsOp : StableHLO_Unary<"abs", "|x|">;
def StableHLO_CbrtOp : StableHLO_Unary<"cbrt", "the cube root">;
def StableHLO_CeilOp : StableHLO_Unary<"ceil", "rounds up">;
def StableHLO_ClzOp : StableHLO_Unary<"count_leading_zeros", "zeros before the first bit that is set">;
def StableHLO_CosineOp : StableHLO_Unary<"cosine", "the cosine">;
def StableHLO_ExpOp : StableHLO_Unary<"exponential", "e^x">;
def StableHLO_Expm1Op : StableHLO_Unary<"exponential_minus_one", "e^x - 1">;
def StableHLO_FloorOp : StableHLO_Unary<"floor", "rounds down">;
def StableHLO_IsFiniteOp : StableHLO_Unary<"is_finite", "whether x is neither infinite nor NaN">;
def StableHLO_LogOp : StableHLO_Unary<"log", "the natural logarithm">;
def StableHLO_Log1pOp : StableHLO_Unary<"log_plus_one", "the natural logarithm of 1 + x">;
def StableHLO_LogisticOp : StableHLO_Unary<"logistic", "1 / (1 + e^-x)">;
def StableHLO_NegOp : StableHLO_Unary<"negate", "-x">;
def StableHLO_NotOp : StableHLO_Unary<"not", "all bits turned">;
def StableHLO_PopulationCountOp : StableHLO_Unary<"popcnt", "bits that are set">;
def StableHLO_RoundOp : StableHLO_Unary<"round_nearest_afz", "rounds to the nearest, ties away from zero">;
def StableHLO_RoundEvenOp : StableHLO_Unary<"round_nearest_even", "rounds to the nearest, ties to even">;
def StableHLO_RsqrtOp : StableHLO_Unary<"rsqrt", "the reciprocal of the root">;
def StableHLO_SignOp : StableHLO_Unary<"sign", "-1, 0 or 1; a zero and NaN as they are">;
def StableHLO_SineOp : StableHLO_Unary<"sine", "the sine">;
def StableHLO_SqrtOp : StableHLO_Unary<"sqrt", "the root">;
def StableHLO_TanOp : StableHLO_Unary<"tan", "the tangent">;
def StableHLO_TanhOp : StableHLO_Unary<"tanh", "the hyperbolic tangent">;
def StableHLO_ConvertOp : StableHLO_Unary<"convert", "each element as another type">;

class StableHLO_Binary<string mnemonic, string summary_> : StableHLO_Op<mnemonic, summary_> {
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<OneType>(type($lhs), type($rhs), type($result))";
}
def StableHLO_AddOp : StableHLO_Binary<"add", "x + y; of truth values, or">;
def StableHLO_AndOp : StableHLO_Binary<"and", "bits that both have">;
def StableHLO_Atan2Op : StableHLO_Binary<"atan2", "the angle of (y, x)">;
def StableHLO_DivOp : StableHLO_Binary<"divide", "x / y">;
def StableHLO_MaxOp : StableHLO_Binary<"maximum", "the larger; NaN where one is">;
def StableHLO_MinOp : StableHLO_Binary<"minimum", "the smaller; NaN where one is">;
def StableHLO_MulOp : StableHLO_Binary<"multiply", "x * y; of truth values, and">;
def StableHLO_OrOp : StableHLO_Binary<"or", "bits that one has">;
def StableHLO_PowOp : StableHLO_Binary<"power", "x to the power of y">;
def StableHLO_RemOp : StableHLO_Binary<"remainder", "what a division leaves, with the sign of x">;
def StableHLO_ShiftLeftOp : StableHLO_Binary<"shift_left", "x << y">;
def StableHLO_ShiftRightOp : StableHLO_Binary<"shift_right_arithmetic", "x >> y with the sign">;
def StableHLO_ShiftRightLogicalOp : StableHLO_Binary<"shift_right_logical", "x >> y without a sign">;
def StableHLO_SubtractOp : StableHLO_Binary<"subtract", "x - y">;
def StableHLO_XorOp : StableHLO_Binary<"xor", "bits that one alone has">;

def StableHLO_CompareOp : StableHLO_Op<"compare", "how x compares with y"> {
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, StableHLO_DirectionAttr:$comparison_direction,
                       OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_SelectOp : StableHLO_Op<"select", "x where it is so, else y"> {
  let arguments = (ins AnyRankedTensor:$pred, AnyRankedTensor:$on_true, AnyRankedTensor:$on_false);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
}
def StableHLO_ClampOp : StableHLO_Op<"clamp", "x, but no less and no more than these"> {
  let arguments = (ins AnyRankedTensor:$min, AnyRankedTensor:$operand, AnyRankedTensor:$max);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:` custom<OneType>(type($min), type($operand), type($max), type($result))
  }];
}

//===--- Constants and movement
//-------------------------------------------------------------------------------------===//

def StableHLO_ConstantOp : StableHLO_Op<"constant", "a tensor that is known"> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$output);
  let hasCustomAssemblyFormat = 1;
}
def StableHLO_IotaOp : StableHLO_Op<"iota", "each element its place along a dimension"> {
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs AnyRankedTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
}

class StableHLO_Move<string mnemonic, string summary_> : StableHLO_Op<mnemonic, summary_> {
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def StableHLO_ReshapeOp : StableHLO_Move<"reshape", "the same elements in another shape">;
def StableHLO_BitcastConvertOp : StableHLO_Move<"bitcast_convert", "the same bits as another type">;
def StableHLO_BroadcastOp : StableHLO_Move<"broadcast", "repeated along new first dimensions"> {
  let arguments = (ins AnyRankedTensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_BroadcastInDimOp : StableHLO_Move<"broadcast_in_dim", "repeated along dimensions that are not named"> {
  let arguments = (ins AnyRankedTensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_TransposeOp : StableHLO_Move<"transpose", "dimensions in another order"> {
  let arguments = (ins AnyRankedTensor:$operand, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)";
}
def StableHLO_ReverseOp : StableHLO_Move<"reverse", "dimensions from the end to the start"> {
  let arguments = (ins AnyRankedTensor:$operand, DenseI64ArrayAttr:$dimensions);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict `:` custom<OneType>(type($operand), type($result))
  }];
}
def StableHLO_SliceOp : StableHLO_Move<"slice", "a part"> {
  let arguments = (ins AnyRankedTensor:$operand, DenseI64ArrayAttr:$start_indices, DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let assemblyFormat = [{
    $operand custom<Ranges>($start_indices, $limit_indices, $strides) attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_PadOp : StableHLO_Move<"pad", "with a value around the elements, and between them"> {
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$padding_value, DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high, DenseI64ArrayAttr:$interior_padding);
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,` `high` `=` $edge_padding_high
    `,` `interior` `=` $interior_padding attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_ConcatenateOp : StableHLO_Op<"concatenate", "one after the other"> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    custom<OperandsAndComma>($inputs) `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_DynamicSliceOp : StableHLO_Op<"dynamic_slice", "a part from indices that are moved into the tensor"> {
  let arguments = (ins AnyRankedTensor:$operand, Variadic<AnyRankedTensor>:$start_indices, DenseI64ArrayAttr:$slice_sizes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $operand `,` custom<OperandsAndComma>($start_indices) `sizes` `=` $slice_sizes attr-dict `:`
    functional-type(operands, results)
  }];
}
def StableHLO_DynamicUpdateSliceOp : StableHLO_Op<"dynamic_update_slice", "with a part put at such indices"> {
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$update, Variadic<AnyRankedTensor>:$start_indices);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}
def StableHLO_GatherOp : StableHLO_Op<"gather", "slices from where indices say"> {
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$start_indices,
                       StableHLO_GatherAttr:$dimension_numbers, DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs AnyRankedTensor:$result);
}
def StableHLO_TorchIndexSelectOp : StableHLO_Op<"torch_index_select", "elements of a dimension that indices name"> {
  let arguments = (ins AnyRankedTensor:$operand, AnyRankedTensor:$index, I64Attr:$dim, I64Attr:$batch_dims);
  let results = (outs AnyRankedTensor:$result);
}

//===--- Products, reductions and control flow
//----------------------------------------------------------------------===//

def StableHLO_DotOp : StableHLO_Op<"dot", "a product of vectors and matrices"> {
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs custom<PrecisionConfig>($precision_config) attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_DotGeneralOp : StableHLO_Op<"dot_general", "a product over any dimensions"> {
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, StableHLO_DotAttr:$dot_dimension_numbers,
                       OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensions>($dot_dimension_numbers) custom<PrecisionConfig>($precision_config) attr-dict `:`
    functional-type(operands, results)
  }];
}
def StableHLO_ConvolutionOp : StableHLO_Op<"convolution", "a convolution over any dimensions"> {
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding, OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation, OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       StableHLO_ConvAttr:$dimension_numbers, I64Attr:$feature_group_count, I64Attr:$batch_group_count,
                       OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvDimensions>($dimension_numbers) `,`
    `window` `=` `{` custom<Window>($window_strides, $padding, $lhs_dilation, $rhs_dilation, $window_reversal) `}`
    attr-dict `:` functional-type(operands, results)
  }];
}
def StableHLO_ReduceOp : StableHLO_Op<"reduce", "dimensions combined by a body",
                                      [Pure, SameVariadicOperandSize, SingleBlock]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
}
def StableHLO_ReduceWindowOp : StableHLO_Op<"reduce_window", "windows combined by a body",
                                            [Pure, SameVariadicOperandSize, SingleBlock]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations, OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
}
def StableHLO_SortOp : StableHLO_Op<"sort", "tensors of one shape, ordered along a dimension", [Pure, SingleBlock]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, DefaultValuedAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
}
def StableHLO_WhileOp : StableHLO_Op<"while", "a loop", [RecursiveMemoryEffects, SingleBlock]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$operand);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
}
def StableHLO_ReturnOp : StableHLO_Op<"return", "ends a body", [Pure, ReturnLike, Terminator]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

#endif // KILN_COMPILER_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
