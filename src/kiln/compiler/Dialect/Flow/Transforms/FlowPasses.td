// Passes of the flow phase.
#ifndef KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_FLOWPASSES_TD
#define KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_FLOWPASSES_TD

include "mlir/Pass/PassBase.td"

def LowerNarrowTypesPass : Pass<"kiln-flow-lower-narrow-types", "mlir::ModuleOp"> {
  let summary = "Gives elements of less than a byte, and floats of a byte, the type i8";
  let description = [{
    i2, i4, f4E2M1FN and the floats of 8 bits become i8 everywhere, with their bits as they are and zeros above them.
    Arithmetic on them takes place in i8, or in f32 and is rounded after each operation; conversions become integer
    arithmetic. What a reduction reads and widens is widened before it. At the program's boundary, and where
    `flow.tensor.bitcast` asks for bytes, elements of less than a byte stand packed, the first in the lowest bits.
  }];
  let dependentDialects = ["::kiln::Flow::FlowDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def CarryExtentsPass : Pass<"kiln-flow-carry-extents", "mlir::ModuleOp"> {
  let summary = "Lets control flow carry the extents of its tensors";
  let description = [{
    scf.for, scf.while and scf.if that pass on tensors with dynamic extents pass on those extents as well, as indices, and
    `flow.tensor.tie_shape` says where they belong. Extents that a loop does not change are folded away again.
  }];
  let dependentDialects = ["::kiln::Flow::FlowDialect", "::mlir::tensor::TensorDialect"];
}

def NormalizeOpsPass : Pass<"kiln-flow-normalize-ops", "mlir::ModuleOp"> {
  let summary = "Removes work on nothing, and strides that do not matter";
  let description = [{
    An operation with a loop of no iterations gives what its results start from, and a tensor that has no elements needs no
    dispatch. A tensor that is padding alone is filled or generated. The stride of a slice of one element becomes 1. A slice
    that loses some of its dimensions of one element and keeps others keeps them all, and is reshaped. A transpose that leaves
    all in its place goes. Code generation need not know such forms. The input phase does so for slices and transposes before anything is folded: upstream's folding of a
    constant index may take the wrong one of such dimensions, and that of a transpose may change a type.
  }];
  let options = [Option<"keepEmpty", "keep-empty", "bool", "false", "leaves work on nothing as it is">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def ChannelsLastPass : Pass<"kiln-flow-channels-last", "mlir::ModuleOp"> {
  let summary = "Lets images lie in memory with their channels last";
  let description = [{
    Where filters are constants or parameters, the images that a convolution reads and writes lie with their channels last, if
    the targets want them so (DispatchLimits::channelsLast), and its filters with theirs. The order spreads to all that
    an image is computed from, and is used for: elementwise operations, pads, pools, slices, and reshapes that leave what
    is together so. A tensor is transposed where something else makes or needs it. Images of few channels are read as
    they lie. A convolution of single pixels becomes a product. Not with --kiln-opt-channels-last=false.
  }];
  let options = [Option<"always", "always", "bool", "false", "also where the targets do not want it">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let constructor = "kiln::Flow::createChannelsLastPass(context)";
}

def GatherWindowsPass : Pass<"kiln-flow-gather-windows", "mlir::ModuleOp"> {
  let summary = "Makes products of convolutions whose channels are last";
  let description = [{
    The window of each pixel of the result becomes a row, and each filter a column: kernels of products compute them many
    times as fast as loops over windows, on targets that have no kernels for those (DispatchLimits::mostWindowBytes, which
    is how large the rows of one convolution may be together). Groups, windows of extents that only the call knows, and
    images whose channels come first stay as they are.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let constructor = "kiln::Flow::createGatherWindowsPass(context)";
}

def JoinProductsPass : Pass<"kiln-flow-join-products", "mlir::ModuleOp"> {
  let summary = "Makes one product of several that multiply the same rows";
  let description = [{
    Products of one operand, such as queries, keys and values of attention, become one whose weights stand beside each
    other: a kernel reads the rows once and has more work to share. Only weights of the same shape that are constants or
    parameters are joined, when the module is loaded, and only where the results are moved before anything else needs them,
    as heads are, since what moves them reads a part of the wider result as well as the whole of its own. Not with
    --kiln-global-opt-enable-fuse-horizontal-contractions=false, nor with --kiln-opt-const-eval=false.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let constructor = "kiln::Flow::createJoinProductsPass(context)";
}

def MarkSoftmaxPass : Pass<"kiln-flow-mark-softmax", "mlir::ModuleOp"> {
  let summary = "Marks exponentials of what is at most zero, as those of a softmax are";
  let description = [{
    Of x minus the largest x of its row, the exponential can neither overflow nor be larger than one, which takes fewer
    instructions to compute (kiln.at_most_zero). Where all that is done with it is to sum it up and to divide it by such a
    sum, it is zero where it would be no normal number (kiln.vanishes): weights of a softmax below 2^-126 are zero. Where
    nothing else is computed of the maximum, it does not matter which zero is larger. The sum of such exponentials is at
    least one: a row of f32 that is divided by its own is multiplied by the reciprocal, which is computed once and rounds
    the result once more.
  }];
}

def SplitColumnsPass : Pass<"kiln-flow-split-columns", "mlir::ModuleOp"> {
  let summary = "Computes the last columns of a product apart, where the others fill panels of weights";
  let description = [{
    Weights are packed in panels where their columns fill those (kiln-flow-pack-constants), as the words of a vocabulary
    seldom do. Both parts are stored in the same tensor. Only products of many columns are split, of whose results nothing is computed.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let constructor = "kiln::Flow::createSplitColumnsPass(context)";
}

def WinogradPass : Pass<"kiln-flow-winograd", "mlir::ModuleOp"> {
  let summary = "Computes convolutions with filters of 3x3 constants tile by tile, with fewer multiplications";
  let description = [{
    Winograd's algorithm: of each tile of 2x2 or 4x4 results, 16 or 36 sums over the channels are computed of what tiles
    of the image and filters are in another basis, instead of 36 or 144. The filters are brought there when the module is
    loaded. Images to tiles, the sums, and tiles to the result are three products, which are compiled as all others. The
    points that the basis comes from are 0, 1, -1 and 0, 0.75, -0.75, 1.5, -1.5; infinity is one of both. So tiles of 2x2
    come out as exact as sums of all products do, and those of 4x4 two to three times less exact
    (tests/onnx/winograd.test). Only f32, for targets that read weights in panels, and where enough is saved; of a result
    whose sides are no multiples of the tiles', more is computed and cut off. Not with --kiln-opt-winograd=false.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let constructor = "kiln::Flow::createWinogradPass(context)";
}

def SplitBatchesPass : Pass<"kiln-flow-split-batches", "mlir::ModuleOp"> {
  let summary = "Gives products and what is computed of them the loops that reshapes have made one of";
  let description = [{
    A product of batches and heads in one dimension has a loop for each where what is computed of it needs them apart, as a
    mask that heads share, and where its other operand has the same for several heads, as keys of grouped queries that
    were written out for each: those are read as they were before. So what is between two products of an attention has
    one shape, and is one dispatch. Only for targets that make one of it.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let constructor = "kiln::Flow::createSplitBatchesPass(context)";
}

def HoistReductionsPass : Pass<"kiln-flow-hoist-reductions", "mlir::ModuleOp"> {
  let summary = "Computes before a loop the reductions that give the same in each of its turns";
  let description = [{
    A product or another reduction of what does not change in the loop moves in front of it, with all that it is computed
    from; it would be fused with what does change later. Elementwise operations stay where they are needed, as they are
    cheap there, and what they widen would be large outside. What may fail stays, since the loop might not run, and so
    does what has extents that only the call knows: what is checked of them stands in the loop.
  }];
}

def FuseElementwisePass : Pass<"kiln-flow-fuse-elementwise", "mlir::ModuleOp"> {
  let summary = "Fuses elementwise operations into one";
  let description = [{
    Elementwise operations become linalg.generic, an input that is broadcast along a dimension of one element has none there,
    and a producer with one use is computed where it is used. One with
    several uses is computed in each, if its arithmetic is cheap and that loads no more than storing it would take. How
    many operands an operation may have that way is the targets' to say. What a product would compute again for each of
    many results is computed before it. Named operations with a reduction, such as linalg.matmul, keep their names: specs
    match them; a linalg.reduce does not if it reduces what an elementwise operation computes, nor does a product of few
    rows whose weights are made wider, scaled or moved just before, which it then does itself, where the targets use each
    element so often. Tensors of one value become
    linalg.fill, so that they are computed in place and not stored. A constant of at most 1,048,576 elements that is only
    transposed is transposed now.
  }];
  let constructor = "kiln::Flow::createFuseElementwisePass(context)";
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitReductionsPass : Pass<"kiln-flow-split-reductions", "mlir::ModuleOp"> {
  let summary = "Reduces parts of a long reduction at the same time";
  let description = [{
    A linalg.generic or linalg.reduce that reduces very many elements to few results would be the work of one workgroup.
    Upstream's splitReduction makes two of it: one reduces equal parts, each to results of its own, and one reduces
    those. How few, and how long parts are, is the first target's to say: a GPU wants more parts, and counts results that
    lie beside each other together. Floats are added up in another order than before, as vectors add them up in another
    order already. Extents that are not known, lengths without a divisor of a useful size, reductions in f16 or bf16 and operations that carry
    an attribute, such as their configuration, stay as they are.
  }];
  let constructor = "kiln::Flow::createSplitReductionsPass(context)";
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def MergeReductionsPass : Pass<"kiln-flow-merge-reductions", "mlir::ModuleOp"> {
  let summary = "Reduces what was computed in several ways at once";
  let description = [{
    Where reductions over the same loops are all that uses the result of an elementwise operation, they become one
    linalg.generic with several results, which computes that operation itself: what lies between them is not stored.
    Reductions that have to wait for each other, sums in f16 or bf16, and operations that carry an attribute stay apart.
  }];
  let constructor = "kiln::Flow::createMergeReductionsPass(context)";
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FormDispatchesPass : Pass<"kiln-flow-form-dispatches", "mlir::ModuleOp"> {
  let summary = "Groups operations into dispatches";
  let description = [{
    Each operation with a reduction is the root of a dispatch, which also takes in the elementwise operations that only
    its result feeds, and the fills that initialize it. A reduction of a tensor's rows also takes in what goes on with
    the same rows, as softmax does: further reductions, and elementwise operations on the rows and their results, as
    long as a worker's memory has room for what they keep of a row. Every other computation is a dispatch of its own. A
    group ends where another operation uses one of its results before the next one that could join. A
    `flow.dispatch.region` marks the group. What pads the image of a pool, or of a convolution of filters of one channel each,
    is in its dispatch, if the targets have room for it there (DispatchLimits::laysOutPadding).
  }];
  let constructor = "kiln::Flow::createFormDispatchesPass(context)";
  let dependentDialects = ["::kiln::Flow::FlowDialect", "::kiln::Util::UtilDialect", "::mlir::affine::AffineDialect"];
}

def ConvertTensorOpsPass : Pass<"kiln-flow-convert-tensor-ops", "mlir::ModuleOp"> {
  let summary = "Turns what needs no dispatch into flow.tensor ops";
  let description = [{
    Reshapes and casts move nothing, fills are a command of the device, an element that the host asks for is a load.
  }];
  let dependentDialects = ["::kiln::Flow::FlowDialect"];
}

def OutlineDispatchesPass : Pass<"kiln-flow-outline-dispatches", "mlir::ModuleOp"> {
  let summary = "Makes an executable of each dispatch";
  let description = [{
    The name of the executable's function says what it computes: `forward_dispatch_3_matmul_256x65536x2304_f16`. Regions
    that compute the same share one executable. Dynamic extents become operands.
  }];
  let dependentDialects = ["::kiln::Flow::FlowDialect", "::mlir::func::FuncDialect"];
}

def PackConstantsPass : Pass<"kiln-flow-pack-constants", "mlir::ModuleOp"> {
  let summary = "Lays weights out as kernels read them";
  let description = [{
    A product of constants or parameters as its columns, in f32 and with extents that are known, takes them in panels, each
    as wide as the target's register tile (DispatchLimits::panelBytes): `[n, k, p]` of n panels. Panels of a product of one
    row are four times as wide where its columns fill those, of two or three rows twice; weights of such a product, or of
    one of up to seven rows, are packed only where they are too many for a cache. A dispatch of its own
    makes them, which kiln-flow-hoist-constants moves to where the module is loaded. The loop along the columns is cut in two in all
    of the product's dispatch. Not with --kiln-opt-data-tiling=false.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let constructor = "kiln::Flow::createPackConstantsPass(context)";
}

def HoistConstantsPass : Pass<"kiln-flow-hoist-constants", "mlir::ModuleOp"> {
  let summary = "Computes once what is the same in each call";
  let description = [{
    A dispatch of constants and parameters alone, that others which are not so use, moves into an initializer, and a global
    holds its result: a weight that is transposed or packed is so once, when the module is loaded. A dispatch whose
    result has more than twice the bytes of what it is computed from, and more than 1 MiB, stays, as do those that may
    fail, those of programs for several devices, and all with --kiln-opt-const-eval=false.
  }];
  let dependentDialects = ["::kiln::Util::UtilDialect"];
  let constructor = "kiln::Flow::createHoistConstantsPass(context)";
}

def DumpDispatchBenchmarksPass : Pass<"kiln-flow-dump-dispatch-benchmarks", "mlir::ModuleOp"> {
  let summary = "Writes a program for each dispatch that launches it alone";
  let description = [{
    As <module>_<executable>_<target>_benchmark.mlir, where --kiln-hal-dump-executable-benchmarks-to names a folder. The
    program holds the executable, inputs that an initializer fills once with pseudo-random values, and a function without
    arguments that launches the dispatch, under its descriptive name and under the name of the function it comes from. A
    dispatch whose extents are known at run time only is reported and left out.
  }];
  let constructor = "kiln::Flow::createDumpDispatchBenchmarksPass(context)";
}

#endif // KILN_COMPILER_DIALECT_FLOW_TRANSFORMS_FLOWPASSES_TD
