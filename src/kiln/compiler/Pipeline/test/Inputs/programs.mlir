#id = affine_map<(m,n,k)->(m,k)>
#id1 = affine_map<(m,n,k)->(k,n)>
#id2 = affine_map<(m,n,k)->(m,n)>
hal.executable private @mm {
  hal.executable.variant public @llvm_cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu = "znver5", cpu_features = "+avx512f,+avx512vl,+avx512bw,+avx512dq,+fma,+avx2"}>) {
    hal.executable.export public @mm128 ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, readonly, readwrite]>)
    builtin.module {
      func.func @mm128() {
        %c0 = arith.constant 0 : index
        %c2 = arith.constant 2 : index
        %z = arith.constant 0.0 : f32
        %a = hal.interface.binding.subspan binding(0) <readonly> : memref<128x128xf32>
        %b = hal.interface.binding.subspan binding(1) <readonly> : memref<128x128xf32>
        %c = hal.interface.binding.subspan binding(2) <readwrite> : memref<128x128xf32>
        %id = hal.interface.workgroup.id[0] : index
        %i = arith.muli %id, %c2 : index
        %va = vector.transfer_read %a[%i, %c0], %z {in_bounds = [true, true]} : memref<128x128xf32>, vector<2x128xf32>
        %vb = vector.transfer_read %b[%c0, %c0], %z {in_bounds = [true, true]} : memref<128x128xf32>, vector<128x128xf32>
        %vc = vector.transfer_read %c[%i, %c0], %z {in_bounds = [true, true]} : memref<128x128xf32>, vector<2x128xf32>
        %r = vector.contract {indexing_maps = [#id, #id1, #id2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %va, %vb, %vc : vector<2x128xf32>, vector<128x128xf32> into vector<2x128xf32>
        vector.transfer_write %r, %c[%i, %c0] {in_bounds = [true, true]} : vector<2x128xf32>, memref<128x128xf32>
        return
      }
    }
  }
}
