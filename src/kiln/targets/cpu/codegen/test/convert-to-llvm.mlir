// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(builtin.module(kiln-llvmcpu-convert-to-llvm))))' --split-input-file --verify-diagnostics | FileCheck %s

hal.executable private @module_dispatch_0 {
  hal.executable.variant public @llvm_cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu = "znver4", cpu_features = "+avx512f"}>) {
    hal.executable.export public @module_dispatch_0_copy ordinal(0) layout(#hal.pipeline.layout<constants = 1, bindings = [readonly, writeonly]>)
    // CHECK: builtin.module attributes {llvm.data_layout = "{{.*}}", llvm.target_triple = "x86_64-unknown-linux-gnu"}
    builtin.module {
      // The name says whose it is, since modules are merged.
      // CHECK: llvm.mlir.global private constant @module_dispatch_0_table
      memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>

      // The signature of the executable ABI: the state of the dispatch, and that of the workgroup.
      // CHECK: llvm.func @module_dispatch_0_copy(%[[STATE:.*]]: !llvm.ptr {llvm.align = 8 : i64, llvm.dereferenceable = 40 : i64, llvm.noalias, llvm.nonnull, llvm.noundef, llvm.readonly}, %[[GROUP:.*]]: !llvm.ptr {{.*}}) -> i32
      // CHECK: %[[CONSTANTS_AT:.*]] = llvm.getelementptr inbounds %[[STATE]][16]
      // CHECK: %[[CONSTANTS:.*]] = llvm.load %[[CONSTANTS_AT]] invariant
      // CHECK: %[[N:.*]] = llvm.load %[[CONSTANTS]] invariant {{.*}} -> i64
      // CHECK: %[[BINDINGS:.*]] = llvm.load %[[STATE]] invariant
      // CHECK: %[[A:.*]] = llvm.load %[[BINDINGS]] invariant
      // CHECK: %[[AT:.*]] = llvm.getelementptr inbounds %{{.*}}[8]
      // CHECK: %[[B:.*]] = llvm.load %[[AT]] invariant dereferenceable<bytes = 8>
      // CHECK: %[[ID:.*]] = llvm.load %[[GROUP]] invariant {{.*}} -> i32
      // CHECK: %[[WIDE:.*]] = llvm.zext %[[ID]] : i32 to i64
      // CHECK: llvm.call @module_dispatch_0_copy.body(%[[N]], %[[A]], %[[B]], %[[WIDE]]) {always_inline}
      // CHECK: llvm.return %{{.*}} : i32

      // Bindings do not overlap where one is written; the body can say so.
      // CHECK: llvm.func internal @module_dispatch_0_copy.body(%{{.*}}: i64 {llvm.noundef}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias, llvm.nonnull, llvm.noundef, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.dereferenceable = 8 : i64, llvm.noalias, llvm.nonnull, llvm.noundef}, %{{.*}}: i64 {llvm.noundef}) attributes {always_inline
      func.func @module_dispatch_0_copy() {
        %c0 = arith.constant 0 : index
        %n = hal.interface.constant.load[0] : index
        %a = hal.interface.binding.subspan binding(0) <readonly> : memref<?xf32, #hal.descriptor_type<storage_buffer>>{%n}
        %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<2xf32, #hal.descriptor_type<storage_buffer>>
        %id = hal.interface.workgroup.id[0] : index
        %t = memref.get_global @table : memref<2xf32>
        %x = memref.load %a[%id] : memref<?xf32, #hal.descriptor_type<storage_buffer>>
        %y = memref.load %t[%c0] : memref<2xf32>
        %s = arith.addf %x, %y : f32
        memref.store %s, %b[%c0] : memref<2xf32, #hal.descriptor_type<storage_buffer>>
        return
      }
    }
  }
}

// -----

hal.executable private @local {
  hal.executable.variant public @llvm_cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @scratch ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>)
    builtin.module {
      // CHECK: llvm.func @scratch({{.*}}) -> i32 attributes {hal.local_memory_bytes = 128 : i64}
      // CHECK: llvm.getelementptr inbounds %{{.*}}[16]
      func.func @scratch(%local: memref<128xi8> {hal.local_memory}) {
        %c0 = arith.constant 0 : index
        %x = memref.load %local[%c0] : memref<128xi8>
        memref.store %x, %local[%c0] : memref<128xi8>
        return
      }
    }
  }
}

// -----

hal.executable private @wrong {
  hal.executable.variant public @llvm_cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @arguments ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>)
    builtin.module {
      // expected-error @+1 {{is a dispatch, and must have no arguments; what it uses are ops of hal.interface}}
      func.func @arguments(%x: index) {
        return
      }
    }
  }
}

// -----

hal.executable private @unknown {
  hal.executable.variant public @llvm_cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @tensors ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>)
    builtin.module {
      func.func @tensors() {
        // expected-error @+1 {{'tensor.empty' op cannot be compiled for the CPU: there is no lowering of it to machine code here}}
        %t = tensor.empty() : tensor<4xf32>
        return
      }
    }
  }
}

// -----

// bf16 is 16 bits to LLVM, which has no register for it on most CPUs.
hal.executable private @narrow {
  hal.executable.variant public @llvm_cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    hal.executable.export public @signs ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly, writeonly]>)
    builtin.module {
      // CHECK-NOT: bf16
      // CHECK: llvm.mlir.global private constant @narrow_table(dense<[16256, -16384]> : tensor<2xi16>)
      // CHECK-NOT: bf16
      // CHECK: llvm.mlir.constant(dense<16256> : vector<4xi16>)
      // CHECK: llvm.load {{.*}} -> i16
      // CHECK: llvm.xor
      // CHECK: llvm.and
      // CHECK: llvm.or
      // CHECK-NOT: bf16
      memref.global "private" constant @table : memref<2xbf16> = dense<[1.0, -2.0]>
      func.func @signs() {
        %c0 = arith.constant 0 : index
        %ones = arith.constant dense<1.0> : vector<4xbf16>
        %a = hal.interface.binding.subspan binding(0) <readonly> : memref<8xbf16, #hal.descriptor_type<storage_buffer>>
        %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<8xbf16, #hal.descriptor_type<storage_buffer>>
        %t = memref.get_global @table : memref<2xbf16>
        %x = memref.load %a[%c0] : memref<8xbf16, #hal.descriptor_type<storage_buffer>>
        %y = memref.load %t[%c0] : memref<2xbf16>
        %0 = arith.negf %x : bf16
        %1 = math.absf %0 : bf16
        %2 = math.copysign %1, %y : bf16
        memref.store %2, %b[%c0] : memref<8xbf16, #hal.descriptor_type<storage_buffer>>
        vector.store %ones, %b[%c0] : memref<8xbf16, #hal.descriptor_type<storage_buffer>>, vector<4xbf16>
        return
      }
    }
  }
}
