// The document names this file and does not show it. This one computes the product with tensor cores: a block of 128 threads
// for each 64 x 64 elements of the result, whose four warps have 32 x 32 each. docs/gpu-specs.md explains it step by step.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%variant_op: !transform.any_op) {
    %fill = transform.structured.match ops{["linalg.fill"]} in %variant_op : (!transform.any_op) -> !transform.any_op
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %variant_op : (!transform.any_op) -> !transform.any_op

    // Step 1. Blocks: a tile of the result each, and the fill of it.
    %tile, %blocks = transform.structured.tile_using_forall %matmul tile_sizes [64, 64]
      (mapping = [#gpu.block<y>, #gpu.block<x>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %tile_fill, %blocks_1 = transform.structured.fuse_into_containing_op %fill into %blocks
      : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)

    // Step 2. Steps of 16 along the reduction, and copies of what a step needs, which all threads share.
    %step, %loop = transform.structured.tile_using_for %tile tile_sizes [0, 0, 16]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %product, %pads, %back = transform.structured.pad %step
      {padding_values = [0.0 : f32, 0.0 : f32, 0.0 : f32], padding_dimensions = [0, 1, 2], nofold_flags = [1, 1, 0],
       copy_back_op = "none"} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %copy_loops, %copies = transform.structured.gpu.map_copy_to_threads %pads
      total_num_threads = 128 desired_bit_alignment = 128 : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.structured.vectorize %copies vector_sizes [2, 4] : !transform.any_op
    %buffers, %new = transform.structured.bufferize_to_allocation %copy_loops
      {memory_space = #gpu.address_space<workgroup>, bufferize_destination_only} : !transform.any_op

    // Step 3. Threads: each fills a part of a row, each warp multiplies.
    transform.structured.tile_using_forall %tile_fill num_threads [64, 2]
      (mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>])
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.structured.tile_using_forall %product num_threads [2, 2] (mapping = [#gpu.warp<y>, #gpu.warp<x>])
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)

    // Step 4. Bufferize.
    %tensors = transform.structured.match ops{["func.func"]} in %variant_op : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %tensors { transform.apply_patterns.canonicalization } {apply_cse} : !transform.any_op
    transform.apply_dce to %tensors : !transform.any_op
    transform.iree.eliminate_empty_tensors %variant_op : (!transform.any_op) -> ()
    %memory = transform.iree.bufferize %variant_op : (!transform.any_op) -> !transform.any_op
    %func = transform.structured.match ops{["func.func"]} in %memory : (!transform.any_op) -> !transform.any_op
    transform.iree.erase_hal_descriptor_type_from_memref %func : (!transform.any_op) -> ()
    transform.apply_patterns to %func { transform.apply_patterns.canonicalization } {apply_cse} : !transform.any_op

    // Step 5. Map the loops. The block's size is here; 32 threads beside each other along x are a warp.
    %launch = transform.gpu.map_forall_to_blocks %func generate_gpu_launch : (!transform.any_op) -> !transform.any_op
    %kernel = transform.gpu.map_nested_forall_to_threads %launch block_dims = [64, 2, 1]
      : (!transform.any_op) -> !transform.any_op

    // Step 6. Vectors, of the size of an instruction, whose sums stay in registers.
    %func_1 = transform.structured.match ops{["func.func"]} in %memory : (!transform.any_op) -> !transform.any_op
    %vectors = transform.structured.vectorize_children_and_apply_patterns %func_1
      : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %vectors {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.memref.fold_memref_alias_ops
    } {apply_cse} : !transform.any_op
    transform.apply_patterns to %vectors {
      transform.apply_patterns.gpu.unroll_vectors_subgroup_mma [16, 8, 8]
    } {apply_cse} : !transform.any_op
    %hoisted = transform.structured.hoist_redundant_vector_transfers %vectors
      : (!transform.any_op) -> !transform.any_op

    // Step 7. Tensor cores.
    transform.iree.vector.vector_to_mma_conversion %hoisted { use_mma_sync } : (!transform.any_op) -> ()

    // Step 8. Copies to shared memory that do not wait in registers: 16 bytes by each instruction.
    transform.apply_patterns to %hoisted {
      transform.apply_patterns.vector.transfer_to_scf full_unroll = true
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    %async = transform.nvgpu.create_async_groups %hoisted : (!transform.any_op) -> !transform.any_op

    // Step 9. Copies of two steps are on their way while one is multiplied; four have memory, as a thread may be a step
    // ahead of others.
    transform.iree.hoist_static_alloc %async : (!transform.any_op) -> ()
    %allocations = transform.structured.match ops{["memref.alloc"]} in %async
      : (!transform.any_op) -> !transform.op<"memref.alloc">
    transform.memref.multibuffer %allocations {factor = 4 : i64, skip_analysis}
      : (!transform.op<"memref.alloc">) -> !transform.any_op
    transform.apply_patterns to %async {
      transform.apply_patterns.memref.fold_memref_alias_ops
      transform.apply_patterns.canonicalization
    } {apply_cse} : !transform.any_op
    %steps = transform.structured.match ops{["scf.for"]} in %async : (!transform.any_op) -> !transform.any_op
    transform.nvgpu.pipeline_shared_memory_copies failures(propagate) %steps {depth = 3}
      : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
