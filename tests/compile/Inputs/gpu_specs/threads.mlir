// Each thread computes 4 x 4 elements, as vectors.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%variant: !transform.any_op) {
    %fill = transform.structured.match ops{["linalg.fill"]} in %variant : (!transform.any_op) -> !transform.any_op
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %variant : (!transform.any_op) -> !transform.any_op
    %tile, %blocks = transform.structured.tile_using_forall %matmul tile_sizes [32, 64] (mapping = [#gpu.block<y>, #gpu.block<x>])
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused, %blocks1 = transform.structured.fuse_into_containing_op %fill into %blocks
      : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    %part, %threads = transform.structured.tile_using_forall %tile tile_sizes [4, 4] (mapping = [#gpu.thread<y>, #gpu.thread<x>])
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %fused2, %threads1 = transform.structured.fuse_into_containing_op %fused into %threads
      : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    %step, %loop = transform.structured.tile_using_for %part tile_sizes [0, 0, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %tensors = transform.structured.match ops{["func.func"]} in %variant : (!transform.any_op) -> !transform.any_op
    transform.apply_dce to %tensors : !transform.any_op
    transform.iree.eliminate_empty_tensors %variant : (!transform.any_op) -> ()
    %memory = transform.iree.bufferize %variant : (!transform.any_op) -> !transform.any_op
    %func = transform.structured.match ops{["func.func"]} in %memory : (!transform.any_op) -> !transform.any_op
    transform.iree.erase_hal_descriptor_type_from_memref %func : (!transform.any_op) -> ()
    %launch = transform.gpu.map_forall_to_blocks %func generate_gpu_launch : (!transform.any_op) -> !transform.any_op
    %mapped = transform.gpu.map_nested_forall_to_threads %launch block_dims = [16, 8, 1] : (!transform.any_op) -> !transform.any_op
    %func1 = transform.structured.match ops{["func.func"]} in %memory : (!transform.any_op) -> !transform.any_op
    %vectors = transform.structured.vectorize_children_and_apply_patterns %func1 : (!transform.any_op) -> !transform.any_op
    %done = transform.structured.hoist_redundant_vector_transfers %vectors : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
