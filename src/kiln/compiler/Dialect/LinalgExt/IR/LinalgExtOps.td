// Operations on tensors that linalg lacks. The dialect's name is the one that programs use.
#ifndef KILN_COMPILER_DIALECT_LINALGEXT_IR_LINALGEXTOPS_TD
#define KILN_COMPILER_DIALECT_LINALGEXT_IR_LINALGEXTOPS_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LinalgExt_Dialect : Dialect {
  let name = "iree_linalg_ext";
  let cppNamespace = "::kiln::LinalgExt";
  let summary = "Operations on tensors that linalg lacks, as programs have them";
  let description = "kiln-lower-linalg-ext turns each into operations of linalg, tensor and scf.";
}

class LinalgExt_Op<string mnemonic, string summary_, list<Trait> traits = []>
    : Op<LinalgExt_Dialect, mnemonic, !listconcat(traits, [Pure])> {
  let summary = summary_;
  let hasVerifier = 1;
}

// With a body that computes a result of one or more elements, or compares two.
class LinalgExt_BodyOp<string mnemonic, string summary_, list<Trait> traits = []>
    : LinalgExt_Op<mnemonic, summary_, !listconcat(traits, [SingleBlockImplicitTerminator<"YieldOp">])> {
  let regions = (region SizedRegion<1>:$body);
}

def LinalgExt_YieldOp : Op<LinalgExt_Dialect, "yield", [Pure, ReturnLike, Terminator]> {
  let summary = "ends the body of an operation of this dialect";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, mlir::ValueRange()); }]>];
}

def LinalgExt_ScanOp : LinalgExt_BodyOp<"scan", "all prefixes of a dimension, combined"> {
  let description = [{
    Exclusive prefixes start with the accumulator's initial value and leave out their last element; inclusive ones do
    neither. The second result is the last prefix. The body is taken to be associative.
  }];
  let arguments = (ins I64Attr:$dimension, BoolAttr:$inclusive, AnyRankedTensor:$input, AnyRankedTensor:$output,
                       AnyRankedTensor:$accumulator);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` `inclusive` `(` $inclusive `)` `ins` `(` $input `:` type($input) `)`
    `outs` `(` $output `,` $accumulator `:` type($output) `,` type($accumulator) `)` $body `->` type($results)
  }];
}

def LinalgExt_SortOp : LinalgExt_BodyOp<"sort", "tensors of one shape, ordered along a dimension"> {
  let description = [{
    The body is given two elements of each tensor and says whether the first ones go before the second ones. Elements of
    which neither goes before the other keep their order.
  }];
  let arguments = (ins I64Attr:$dimension, Variadic<AnyRankedTensor>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` `outs` `(` $outputs `:` type($outputs) `)` $body `->` type($results)
  }];
}

class LinalgExt_TopkBase<string mnemonic>
    : LinalgExt_BodyOp<mnemonic, "the first elements of a dimension in order, and where they were",
                       [AttrSizedOperandSegments]> {
  let description = [{
    Inputs are values and, unless they are counted, their indices; outputs what they compete with. Of equal values the
    earlier one is first, and one of an output before one of an input.
  }];
  let results = (outs Variadic<AnyRankedTensor>:$results);
}
def LinalgExt_TopkOp : LinalgExt_TopkBase<"topk"> {
  let arguments = (ins I64Attr:$dimension, Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` $body `->` type($results)
  }];
}
def LinalgExt_TopkV2Op : LinalgExt_TopkBase<"topk_v2"> {
  let arguments = (ins I64Attr:$dimension, UnitAttr:$is_sorted, Variadic<AnyRankedTensor>:$inputs,
                       Variadic<AnyRankedTensor>:$outputs);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` (`is_sorted` $is_sorted^)? `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` $body `->` type($results)
  }];
}

def LinalgExt_ArgCompareOp : LinalgExt_BodyOp<"arg_compare", "the first element of a dimension in an order, and where it is",
                                              [AttrSizedOperandSegments]> {
  let description = [{
    The body says whether a value replaces the best one so far, which is an output at first. Indices count from
    `index_base`, or are a second input.
  }];
  let arguments = (ins I64Attr:$dimension, Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$outputs,
                       Optional<Index>:$index_base);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict `dimension` `(` $dimension `)` `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $outputs `:` type($outputs) `)` (`index_base` `(` $index_base^ `:` type($index_base) `)`)?
    $body `->` type($results)
  }];
}

def LinalgExt_ScatterOp : LinalgExt_BodyOp<"scatter", "slices put where indices say"> {
  let description = [{
    Inputs are the slices, the indices of each, and at times whether each is put at all. One after the other, the body
    combines an element of a slice with the one in its place. The last dimension of the indices has a place for each entry
    of `dimension_map`, the dimensions that they are of; it may be left out where there is one.
  }];
  let arguments = (ins DenseI64ArrayAttr:$dimension_map, BoolAttr:$unique_indices, Variadic<AnyRankedTensor>:$inputs,
                       AnyRankedTensor:$original);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    attr-dict `dimension_map` `=` $dimension_map `unique_indices` `(` $unique_indices `)`
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $original `:` type($original) `)` $body `->` type($result)
  }];
}

def LinalgExt_GatherOp : LinalgExt_Op<"gather", "slices from where indices say"> {
  let description = [{
    Inputs are the tensor, the indices, as those of a scatter are, and at times whether each slice is fetched; where it is
    not, the output stays.
  }];
  let arguments = (ins DenseI64ArrayAttr:$dimension_map, Variadic<AnyRankedTensor>:$inputs, AnyRankedTensor:$output);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    attr-dict `dimension_map` `=` $dimension_map `ins` `(` $inputs `:` type($inputs) `)`
    `outs` `(` $output `:` type($output) `)` `->` type($result)
  }];
}

class LinalgExt_MapBase<string mnemonic, string summary_> : LinalgExt_BodyOp<mnemonic, summary_> {
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$output);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    attr-dict $source `into` $output $body `:` type($source) `into` type($output) `->` type($result)
  }];
}
def LinalgExt_MapLoadOp : LinalgExt_MapBase<"map_load", "each element from where the body says"> {
  let description = [{
    The body is given the indices of an element of the result. It yields those of the source, and what the element is where
    the source has no such place.
  }];
}
def LinalgExt_MapStoreOp : LinalgExt_MapBase<"map_store", "each element put where the body says"> {
  let description = [{
    The body is given the indices of an element of the source. It yields those of the result, and whether it is put there.
    Of several that are put into one place the last is there; what has no place in the result is not put anywhere.
  }];
}

class LinalgExt_AttentionBase<string mnemonic, string summary_>
    : LinalgExt_BodyOp<mnemonic, summary_, [AttrSizedOperandSegments]> {
  let arguments = (ins AffineMapArrayAttr:$indexing_maps, Variadic<AnyType>:$inputs,
                       Variadic<AnyRankedTensor>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    attr-dict `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` $body
    `->` type($results)
  }];
}
def LinalgExt_AttentionOp : LinalgExt_AttentionBase<"attention", "softmax(query . key * scale + mask) . value"> {
  let description = [{
    Inputs are query, key, value, a scale, and at times a mask: of truth values those that take part, of floats what is
    added. Weights are powers of two: the body is given scaled scores times log2(e), which matters where it is not linear.
    Sums are of f32. A row in which nothing takes part is NaN.
  }];
}
def LinalgExt_OnlineAttentionOp
    : LinalgExt_AttentionBase<"online_attention", "a part of an attention, added to what others gave"> {
  let description = [{
    As an attention, but not divided by the sum of the powers: outputs are the product so far, the largest exponent of
    two and that sum.
  }];
}

class LinalgExt_WinogradBase<string mnemonic, string summary_> : LinalgExt_Op<mnemonic, summary_> {
  let arguments = (ins I64Attr:$output_tile_size, I64Attr:$kernel_size, DenseI64ArrayAttr:$image_dimensions,
                       AnyRankedTensor:$input, AnyRankedTensor:$output);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    attr-dict `output_tile_size` `(` $output_tile_size `)` `kernel_size` `(` $kernel_size `)`
    `image_dimensions` `(` $image_dimensions `)` `ins` `(` $input `:` type($input) `)`
    `outs` `(` $output `:` type($output) `)` `->` type($result)
  }];
}
def LinalgExt_WinogradInputTransformOp
    : LinalgExt_WinogradBase<"winograd.input_transform", "tiles of images, transformed for a convolution by Winograd's method"> {
  let description = [{
    Images become tiles of 8 x 8, one each 6 elements, with zeros behind the image. The result's dimensions are those of a
    tile, the batch, the tiles and the channels.
  }];
}
def LinalgExt_WinogradOutputTransformOp
    : LinalgExt_WinogradBase<"winograd.output_transform", "the images that transformed tiles stand for"> {
  let description = "Tiles of 8 x 8 become tiles of 6 x 6 of the image.";
}

#endif // KILN_COMPILER_DIALECT_LINALGEXT_IR_LINALGEXTOPS_TD
