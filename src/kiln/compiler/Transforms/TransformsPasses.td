// Passes of the phases that have no dialect of their own: input, abi, preprocessing.
#ifndef KILN_COMPILER_TRANSFORMS_TRANSFORMSPASSES_TD
#define KILN_COMPILER_TRANSFORMS_TRANSFORMSPASSES_TD

include "mlir/Pass/PassBase.td"

def PlaceOpsPass : Pass<"kiln-place-ops", "mlir::ModuleOp"> {
  let summary = "Turns affinities of ops into transfers of tensors";
  let description = [{
    An op, a function or control flow has its place as `stream.affinity`, a module as `stream.affinity.default`:
    `#hal.device.affinity<@__device_1>`, or a `#hal.device.promise`. What an op is given, and what was computed elsewhere, comes
    through a `flow.tensor.transfer`, so that later phases know where work is by what it uses, and fuse nothing that is apart.
    Arguments and results of functions, globals and what control flow passes on are the first device's. What becomes a loop
    of the host, such as a sort, is an error elsewhere.
  }];
  let dependentDialects = ["::kiln::Flow::FlowDialect", "::kiln::HAL::HALDialect"];
}

def LowerTosaPass : Pass<"kiln-lower-tosa", "mlir::ModuleOp"> {
  let summary = "Lowers TOSA to linalg, tensor, arith and scf";
  let description = [{
    Runs upstream's lowerings, where the program has operations of TOSA; other programs stay as they are. TOSA's
    variables become globals of ml_program. What upstream cannot lower is an error at the operation.
  }];
}

def LowerStableHLOPass : Pass<"kiln-lower-stablehlo", "mlir::ModuleOp"> {
  let summary = "Turns operations of StableHLO into those of linalg, tensor, arith, math and scf";
  let description = [{
    What is computed for each element becomes operations of arith and math on tensors; products, convolutions and
    reductions become linalg.generic, what moves elements operations of tensor, or linalg.generic that reads them where they
    are. Bodies of reductions and sorts are computed for single elements. What is not supported is an error at the
    operation.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::kiln::Flow::FlowDialect", "::kiln::LinalgExt::LinalgExtDialect"];
}

def LowerLinalgExtPass : Pass<"kiln-lower-linalg-ext", "mlir::ModuleOp"> {
  let summary = "Turns operations of iree_linalg_ext into those of linalg, tensor and scf";
  let description = [{
    Gathers, the best element of a dimension, loads by a map and Winograd's transforms become one operation of linalg each,
    attentions a few of them. A scan combines elements at distances that double, and a sort merges runs that do: each is
    a loop of the host around one operation, which turns as often as the dimension can be halved. `topk` and `map_store`
    sort. A scatter is a loop of the host over its slices.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def ConvertInputOpsPass : Pass<"kiln-convert-input-ops", "mlir::ModuleOp"> {
  let summary = "Turns forms of a program's source into those that later phases know";
  let description = [{
    Globals of ml_program become those of util. An initial value becomes an initializer, or a constant where nothing sets
    the global; dynamic extents of a global's tensor become globals beside it. `util.func` becomes `func.func`.
    `flow.tensor` operations that tests are written with become operations of tensor and linalg;
    `flow.tensor.dynamic_constant` becomes a constant whose extents come through an optimization barrier. A
    `tensor.reshape` gets its extents as values of the host. `math.isnan`, `isinf`, `isfinite` and `isnormal` become
    comparisons. Shifts by more bits than there are get the result that Kiln gives them. `affine.delinearize_index` and
    `affine.linearize_index` become arithmetic.
  }];
  let dependentDialects = ["::kiln::Util::UtilDialect", "::kiln::Flow::FlowDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect"];
}

def LiftControlFlowPass : Pass<"kiln-lift-control-flow", "mlir::ModuleOp"> {
  let summary = "Turns branches between blocks into scf.if and scf.while";
  let description = [{
    Runs upstream's lifting on each function of several blocks. A case of a `cf.switch` or an `scf.index_switch` becomes
    an `scf.if`, in the rest of the one before. What a path does not define, and nothing reads on it, is zero or an empty tensor.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect"];
}

def CheckInputPass : Pass<"kiln-check-input", "mlir::ModuleOp"> {
  let summary = "Reports what Kiln does not compile";
  let description = [{
    Looks at each op and each type of the program, and gives an error at the first that no later phase would know, naming
    it, so that a user learns of it here and not from the insides of a later pass.
  }];
}

def ConvertDynamicElementwisePass : Pass<"kiln-convert-dynamic-elementwise", "mlir::ModuleOp"> {
  let summary = "Turns elementwise arithmetic on tensors of unknown extents into linalg";
  let description = [{
    Before anything folds: MLIR's folds of `arith.xori %x, %x`, and of others of one value with itself, make a constant of
    the result's type, and a constant has no unknown extents. Arithmetic on known shapes keeps its folds, and becomes
    linalg behind them.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RejectRecursionPass : Pass<"kiln-reject-recursion", "mlir::ModuleOp"> {
  let summary = "Reports functions that call themselves";
  let description = [{
    All calls of functions have been inlined, and those of initializers are inlined here; a call that is left belongs to
    a recursion, which tensors on a device cannot have.
  }];
}

def DecomposeOpsPass : Pass<"kiln-decompose-ops", "mlir::ModuleOp"> {
  let summary = "Turns ops that stand for several into those";
  let description = [{
    linalg.softmax and its like become structured ops; a tensor.concat becomes insertions into one tensor, which are
    written where they belong at once.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ScalarizeBodiesPass : Pass<"kiln-scalarize-bodies", "mlir::ModuleOp"> {
  let summary = "Leaves no tensors inside the bodies of tensor operations";
  let description = [{
    The body of a `linalg` operation, a `tensor.generate` or a `tensor.pad` computes one element. Tensor operations in it
    that do not depend on the element move in front of the operation, but for those that may fail where the body might not
    come to them. Of the others, only the elements that the body reads
    are computed, each where it is read: a reduction becomes loops over scalars, a slice becomes a computation of indices.
    A tensor of one element is computed once. A larger one that is read several times is computed several times. A loop
    that carries a tensor, and what has no elements that could be computed alone, are errors.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def BoundLoopsPass : Pass<"kiln-bound-loops", "mlir::ModuleOp"> {
  let summary = "Lets each scf.for end whose index could pass the largest number of its type";
  let description = [{
    Loops are lowered to "add the step, then compare", which wraps where the end lies less than a step below the largest
    number. Loops that could do so compare as unsigned numbers, where they start at 0 or above: that costs nothing. Others
    count their iterations. In the body of a tensor operation, where nobody would be told, a step is at least 1.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def LowerForallPass : Pass<"kiln-lower-forall", "mlir::ModuleOp"> {
  let summary = "Turns scf.forall on tensors into loops";
  let description = [{
    An scf.forall becomes a nest of scf.for, one turn after the other, as each turn is dispatches that use all workers.
    What a turn reads of a shared output is what it was before the loop; what it inserts (tensor.parallel_insert_slice)
    goes into the tensor that the loop carries. Of slices that overlap, the last one stays.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def InsertChecksPass : Pass<"kiln-insert-checks", "mlir::ModuleOp"> {
  let summary = "Checks at run time what no verifier could know";
  let description = [{
    Writes a `cf.assert` in front of each op of the host's program whose dynamic extents, indices or sizes could make a
    kernel read or write outside of its tensors: extents of operands that must be equal, slices and indices that must lie
    inside; and in front of each division of integers, by zero or with a quotient that is too large. What later turns out
    to hold always is folded away. Inside of kernels places of gathers and slices are held to their tensors.

    With `in-bodies` only slices in kernels are checked, by a `cf.assert` of the kernel, where they depend on the element
    that is computed. It runs before bodies are taken apart into reads of elements, which are no slices any more.
  }];
  let options = [Option<"inBodies", "in-bodies", "bool", "false", "Checks slices in the bodies of operations only">];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def WidenFloatsPass : Pass<"kiln-widen-floats", "mlir::ModuleOp"> {
  let summary = "Computes in f64 whatever floats a program has";
  let description = [{
    Gives each value inside of functions, and each constant, f64 in place of a narrower float. Arguments are extended
    when they come and results are rounded when they leave, so that the signature stays as it is; a rounding that the
    program itself asks for (arith.truncf) takes place. An op that reads the bits of floats is an error, since they are
    other ones.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def WrapEntryPointsPass : Pass<"kiln-wrap-entry-points", "mlir::ModuleOp"> {
  let summary = "Gives exported functions the boundary that callers see";
  let description = [{
    Turns each public `func.func` into a `util.func`: a tensor argument becomes a buffer view that is imported (its type
    and shape are checked at run time), a tensor result is exported, and scalars take the VM's types: i1, i8 and i16
    travel as i32, index as i64, f16 and bf16 as f32. The memory of a tensor whose argument is `kiln.donated` is taken from
    the caller, when all arguments have been checked. What a test expects (`check`) crosses the same boundary. The original declaration is kept as text for reflection. Private
    functions, which nothing calls after inlining, are dropped.
  }];
  let dependentDialects = ["::kiln::Util::UtilDialect", "::kiln::HAL::HALDialect", "::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ZeroFillElidedPass : Pass<"kiln-zero-fill-elided", "mlir::ModuleOp"> {
  let summary = "Takes constants whose elements are not in the text as zeros";
}

def ExportParametersPass : Pass<"kiln-export-parameters", "mlir::ModuleOp"> {
  let summary = "Writes large constants to an archive of parameters";
  let description = [{
    Each constant of at least --kiln-parameter-export-minimum-size bytes whose elements are not all the same becomes a
    `flow.tensor.parameter` that is named after it. The archive is that of --kiln-parameter-export.
  }];
  let dependentDialects = ["::kiln::Flow::FlowDialect"];
  let constructor = "kiln::createExportParametersPass(context)";
}

def RunPreprocessingPass : Pass<"kiln-run-preprocessing", "mlir::ModuleOp"> {
  let summary = "Runs the user's pipeline of the preprocessing phase";
  let description = [{
    The pipeline is given by --kiln-preprocessing-pass-pipeline. It sees the program after the abi phase: `util.func`
    with linalg on tensors.
  }];
  let constructor = "kiln::createRunPreprocessingPass(context)";
}

def ReplaceSubgraphsPass : Pass<"kiln-replace-subgraphs", "mlir::ModuleOp"> {
  let summary = "Applies the user's transform-dialect spec of the preprocessing phase to the program";
  let description = [{
    The spec is given by --kiln-preprocessing-transform-spec-filename. It may match operations and replace them by calls of
    functions that it brings along (transform.util.import_symbol, transform.util.cast_and_call). Those functions are
    checked and converted as a program is, and become part of what calls them.
  }];
  let constructor = "kiln::createReplaceSubgraphsPass(context)";
}

#endif // KILN_COMPILER_TRANSFORMS_TRANSFORMSPASSES_TD
