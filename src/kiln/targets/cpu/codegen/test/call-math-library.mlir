// RUN: kiln-opt %s --pass-pipeline='builtin.module(hal.executable(hal.executable.variant(builtin.module(kiln-llvmcpu-call-math-library))))' --split-input-file --verify-diagnostics | FileCheck %s

hal.executable private @functions {
  hal.executable.variant public @cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      // CHECK-DAG: func.func private @sinf(f32) -> f32
      // CHECK-DAG: func.func private @_ZGVbN4v_sinf(vector<4xf32>) -> vector<4xf32>
      // CHECK-DAG: func.func private @_ZGVbN2vv_pow(vector<2xf64>, vector<2xf64>) -> vector<2xf64>
      // CHECK-DAG: func.func private @pow(f64, f64) -> f64

      // One declaration serves all calls; a register takes one call.
      // CHECK-LABEL: func.func @functions
      // CHECK-SAME: %[[X:.*]]: f32, %[[V:.*]]: vector<4xf32>, %[[Y:.*]]: f64, %[[W:.*]]: vector<2xf64>
      func.func @functions(%x: f32, %v: vector<4xf32>, %y: f64, %w: vector<2xf64>) -> (f32, vector<4xf32>, f64, vector<2xf64>) {
        // CHECK: call @sinf(%[[X]]) : (f32) -> f32
        %a = math.sin %x : f32
        // CHECK: call @_ZGVbN4v_sinf(%[[V]])
        %b = math.sin %v : vector<4xf32>
        // CHECK: call @pow(%[[Y]], %[[Y]])
        %c = math.powf %y, %y : f64
        // CHECK: call @_ZGVbN2vv_pow(%[[W]], %[[W]])
        %d = math.powf %w, %w : vector<2xf64>
        return %a, %b, %c, %d : f32, vector<4xf32>, f64, vector<2xf64>
      }

      // Registers that are not full, and several of them.
      // CHECK-LABEL: func.func @lengths
      // CHECK-SAME: %[[V:.*]]: vector<3xf32>, %[[W:.*]]: vector<5xf64>
      func.func @lengths(%v: vector<3xf32>, %w: vector<5xf64>) -> (vector<3xf32>, vector<5xf64>) {
        // CHECK: %[[A:.*]] = vector.shuffle %[[V]], %[[V]] [0, 1, 2, 0]
        // CHECK: %[[R:.*]] = call @_ZGVbN4v_sinf(%[[A]])
        // CHECK: %[[RESULT:.*]] = vector.shuffle %[[R]], %[[R]] [0, 1, 2]
        %a = math.sin %v : vector<3xf32>
        // CHECK: %[[A0:.*]] = vector.shuffle %[[W]], %[[W]] [0, 1]
        // CHECK: %[[R0:.*]] = call @_ZGVbN2v_sin(%[[A0]])
        // CHECK: %[[A1:.*]] = vector.shuffle %[[W]], %[[W]] [2, 3]
        // CHECK: %[[R1:.*]] = call @_ZGVbN2v_sin(%[[A1]])
        // CHECK: %[[P1:.*]] = vector.shuffle %[[R0]], %[[R1]] [0, 1, 2, 3]
        // CHECK: %[[A2:.*]] = vector.shuffle %[[W]], %[[W]] [4, 4]
        // CHECK: %[[R2:.*]] = call @_ZGVbN2v_sin(%[[A2]])
        // CHECK: vector.shuffle %[[P1]], %[[R2]] [0, 1, 2, 3, 4]
        %b = math.sin %w : vector<5xf64>
        return %a, %b : vector<3xf32>, vector<5xf64>
      }
    }
  }
}

// -----

hal.executable private @functions {
  hal.executable.variant public @cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu_features = "+avx,+avx2,+avx512f", native_vector_bits = 512}>) {
    builtin.module {
      // CHECK-LABEL: func.func @wide
      func.func @wide(%v: vector<16xf32>, %w: vector<6xf32>, %x: vector<2xf64>) -> (vector<16xf32>, vector<6xf32>, vector<2xf64>) {
        // CHECK: call @_ZGVeN16v_atanf
        %a = math.atan %v : vector<16xf32>
        // CHECK: call @_ZGVdN8v_atanf
        %b = math.atan %w : vector<6xf32>
        // CHECK: call @_ZGVbN2v_atan
        %c = math.atan %x : vector<2xf64>
        return %a, %b, %c : vector<16xf32>, vector<6xf32>, vector<2xf64>
      }
    }
  }
}

// -----

hal.executable private @functions {
  hal.executable.variant public @cpu target(#hal.executable.target<"llvm-cpu", "elf-aarch64", {}>) {
    builtin.module {
      // Where the library has no functions for vectors, each element takes a call.
      // CHECK-LABEL: func.func @elements
      func.func @elements(%v: vector<2xf32>) -> vector<2xf32> {
        // CHECK: %[[E0:.*]] = vector.extract %{{.*}}[0]
        // CHECK: %[[R0:.*]] = {{.*}}call @sinf(%[[E0]])
        // CHECK: %[[R1:.*]] = {{.*}}call @sinf
        // CHECK: vector.from_elements %[[R0]], %[[R1]] : vector<2xf32>
        %a = math.sin %v : vector<2xf32>
        return %a : vector<2xf32>
      }
    }
  }
}

// -----

hal.executable private @functions {
  hal.executable.variant public @cpu target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
    builtin.module {
      func.func @narrow(%x: f16) -> f16 {
        // expected-error @+1 {{has no function in the C library for elements of 'f16'}}
        %a = math.sin %x : f16
        return %a : f16
      }
    }
  }
}
