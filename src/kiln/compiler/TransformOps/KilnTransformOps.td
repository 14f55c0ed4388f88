// Kiln's transform-dialect extension: what a spec needs beyond upstream to take one dispatch (a hal.executable.variant)
// from tensors to memory and workgroups. The documents' names (transform.iree.X) are these (SpecUpdater.h).
#ifndef KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPS_TD
#define KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPS_TD

include "kiln/compiler/TransformOps/KilnTransformOpBase.td"

def PopulateWorkgroupCountRegionUsingNumThreadsSliceOp
    : KilnInPlaceFunctionalOp<"populate_workgroup_count_region_using_num_threads_slice"> {
  let summary = "fills in the workgroup count of a dispatch from the bounds of its distributed loop";
  let description = [{
    The target is an `scf.forall` whose dimensions are mapped to `#gpu.block`. The number of its iterations in x, y and z
    becomes what the export's count region returns; what the bounds are computed from is copied there, push constants
    becoming the region's arguments. A count that is there already is raised to the maximum of both.
  }];
}

def ApplyLicmOp : KilnInPlaceOp<"apply_licm"> {
  let summary = "moves what does not change in a loop out of it, in the target";
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def ApplyCseOp : KilnInPlaceOp<"apply_cse"> {
  let summary = "removes common subexpressions in the target";
  let assemblyFormat = "$target attr-dict `:` type($target)";
}

def EliminateEmptyTensorsOp : KilnInPlaceFunctionalOp<"eliminate_empty_tensors"> {
  let summary = "replaces empty tensors by the places where their content is going to be stored";
}

def BufferizeOp : KilnTransformOp<"kiln.bufferize", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TransformEachOpTrait, TransformOpInterface,
    ReportTrackingListenerFailuresOpTrait]> {
  let summary = "takes the functions in the target from tensors to memory";
  let description = [{
    One-shot bufferization: results are computed in place, in the bindings, wherever `restrict` and `writable` allow it.
    Handles to anything inside the target become invalid; the result is the target itself.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = (outs TransformHandleTypeInterface:$result);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter, ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results, ::mlir::transform::TransformState &state);
  }];
}

def EraseHalDescriptorTypeFromMemrefOp : KilnInPlaceFunctionalOp<"erase_hal_descriptor_type_from_memref"> {
  let summary = "drops the memory space of bindings from all memref types of a function";
}

def ForallToWorkgroupOp : KilnInPlaceFunctionalOp<"forall_to_workgroup"> {
  let summary = "makes each workgroup run its iteration of the loops that are mapped to workgroups";
  let description = [{
    The target is a bufferized function. What would make workgroups race is an error: a store into a binding outside of
    the loop, or a loop that needs what another one has stored.
  }];
}

def ApplyBufferOptimizationsOp : KilnInPlaceFunctionalOp<"apply_buffer_optimizations"> {
  let summary = "forwards stored vectors to their loads, and removes stores and allocations that nothing reads";
}

def HoistStaticAllocOp : KilnInPlaceFunctionalOp<"hoist_static_alloc"> {
  let summary = "moves allocations of constant size out of the loops around them, in the target";
  let description = [{
    All iterations share the memory then: one may not read what another has left there. What an iteration deallocates stays.
    transform.memref.multibuffer
    wants allocations so, and gives iterations that follow each other different parts.
  }];
}

def TraceOp : KilnTransformOp<"kiln.trace", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<TransformOpInterface>]> {
  let summary = "notes that the next op of a spec is about to run";
  let description = [{
    Put before each op of a spec when it is loaded, so that a failure is reported at the op that failed even where its
    message only speaks of the payload. Specs do not write it.
  }];
  let assemblyFormat = "attr-dict";
}

class KilnPatternsOp<string mnemonic> : KilnTransformOp<"apply_patterns.kiln." # mnemonic, [
    DeclareOpInterfaceMethods<PatternDescriptorOpInterface>, ReportTrackingListenerFailuresOpTrait]> {
  let assemblyFormat = "attr-dict";
}

def ApplyFoldReshapeIntoTensorHalInterfacePatternsOp : KilnPatternsOp<"fold_reshape_into_tensor_hal_interface"> {
  let summary = "reshapes of what is read from or stored to a binding become part of the binding's type";
}

def ApplyFoldFillIntoPadPatternsOp : KilnPatternsOp<"fold_fill_into_pad"> {
  let summary = "padding of a filled tensor with the same value becomes a larger fill";
}

#endif // KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPS_TD
