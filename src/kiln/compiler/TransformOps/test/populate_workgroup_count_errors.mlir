// RUN: kiln-opt %s --split-input-file --transform-interpreter --verify-diagnostics

module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = []>)
      builtin.module {
        func.func @f() {
          // expected-note @+2 {{to this op}}
          // expected-error @+1 {{'scf.forall' op is not mapped to workgroups; give it a mapping such as [#gpu.block<y>, #gpu.block<x>]}}
          scf.forall (%i) in (2) {
          }
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{could not be applied}}
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %loop : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  hal.executable private @executable {
    hal.executable.variant public @v target(#hal.executable.target<"llvm-cpu", "elf-x86_64", {}>) {
      hal.executable.export public @f ordinal(0) layout(#hal.pipeline.layout<constants = 0, bindings = [readonly]>)
      builtin.module {
        func.func @f() {
          %c0 = arith.constant 0 : index
          %m = hal.interface.binding.subspan binding(0) <readonly> : memref<4xindex>
          // expected-error @+1 {{'memref.load' op cannot be part of the workgroup count, which is computed before the dispatch starts}}
          %n = memref.load %m[%c0] : memref<4xindex>
          // expected-note @+1 {{to this op}}
          scf.forall (%i) in (%n) {
          } {mapping = [#gpu.block<x>]}
          return
        }
      }
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %loop = transform.structured.match ops{["scf.forall"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{could not be applied}}
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %loop : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  // expected-note @+1 {{this op}}
  func.func @f() {
    return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{is for an scf.forall (the loop that tile_using_forall returns), but is given a 'func.func'}}
    transform.kiln.populate_workgroup_count_region_using_num_threads_slice %function : (!transform.any_op) -> ()
    transform.yield
  }
}
