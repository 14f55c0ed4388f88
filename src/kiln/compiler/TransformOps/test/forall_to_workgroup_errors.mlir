// RUN: kiln-opt %s --split-input-file --transform-interpreter --verify-diagnostics

// Every workgroup would fill all of the result.
module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readwrite]>) count() -> (index, index, index) {
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        hal.return %c4, %c1, %c1 : index, index, index
      }
      builtin.module {
        // expected-note @+1 {{to this op}}
        func.func @f() {
          %x = arith.constant 1.0 : f32
          %m = hal.interface.binding.subspan binding(0) <readwrite> : memref<4xf32>
          // expected-error @+1 {{'linalg.fill' op stores into a binding outside of the distributed loop, so that every workgroup would repeat it and race with the others; fuse it into the loop (transform.structured.fuse_into_containing_op)}}
          linalg.fill ins(%x : f32) outs(%m : memref<4xf32>)
          // expected-note @+1 {{this loop is distributed over workgroups}}
          scf.forall (%i) in (4) {
            memref.store %x, %m[%i] : memref<4xf32>
          } {mapping = [#gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{could not be applied}}
    transform.kiln.forall_to_workgroup %function : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// The second loop reads what other workgroups may not have stored yet.
module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readwrite, writeonly]>) count() -> (index, index, index) {
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        hal.return %c4, %c1, %c1 : index, index, index
      }
      builtin.module {
        // expected-note @+1 {{to this op}}
        func.func @f() {
          %x = arith.constant 1.0 : f32
          %c0 = arith.constant 0 : index
          %a = hal.interface.binding.subspan binding(0) <readwrite> : memref<4xf32>
          %b = hal.interface.binding.subspan binding(1) <writeonly> : memref<4xf32>
          scf.forall (%i) in (4) {
            // expected-note @+1 {{the store}}
            memref.store %x, %a[%i] : memref<4xf32>
          } {mapping = [#gpu.block<x>]}
          scf.forall (%i) in (4) {
            // expected-error @+1 {{'memref.load' op loads what another distributed loop stores; workgroups do not wait for each other}}
            %y = memref.load %a[%c0] : memref<4xf32>
            memref.store %y, %b[%i] : memref<4xf32>
          } {mapping = [#gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{could not be applied}}
    transform.kiln.forall_to_workgroup %function : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>)
      builtin.module {
        // expected-note @+1 {{to this op}}
        func.func @f() {
          // expected-error @+1 {{'scf.forall' op cannot be distributed: the export's workgroup count is open; fill it in first}}
          scf.forall (%i) in (4) {
          } {mapping = [#gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{could not be applied}}
    transform.kiln.forall_to_workgroup %function : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>)
      builtin.module {
        // expected-note @+1 {{to this op}}
        func.func @f() {
          %e = tensor.empty() : tensor<4xf32>
          // expected-error @+1 {{'scf.forall' op still works on tensors; bufferize it before it is distributed}}
          %r = scf.forall (%i) in (4) shared_outs(%o = %e) -> (tensor<4xf32>) {
          } {mapping = [#gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %loop : (!transform.any_op) -> ()
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{could not be applied}}
    transform.kiln.forall_to_workgroup %function : (!transform.any_op) -> ()
    transform.yield
  }
}
