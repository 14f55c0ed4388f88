// Passes of the stream phase.
#ifndef KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_STREAMPASSES_TD
#define KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_STREAMPASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertToStreamPass : Pass<"kiln-stream-convert", "mlir::ModuleOp"> {
  let summary = "Turns tensors into resources, and executables' tensors into bindings";
  let description = [{
    A tensor of the host program becomes bytes with a size. Each executable's function takes bindings for its tensors and
    64-bit constants for the rest; a result that updates an operand shares its binding.
  }];
  let dependentDialects = ["::kiln::Stream::StreamDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::arith::ArithDialect"];
}

def PlaceWorkPass : Pass<"kiln-stream-place", "mlir::ModuleOp"> {
  let summary = "Decides on which device, and in which of its queues, each dispatch runs";
  let description = [{
    A dispatch runs where what it is given was transferred to; one that is given nothing that lies anywhere, where those that
    use it do. Splats and constants are made on each device that uses them. What is still on another device is transferred. A
    transfer between queues of a device only orders, and goes away.
  }];
  let dependentDialects = ["::kiln::Stream::StreamDialect"];
}

def MaterializeCopiesPass : Pass<"kiln-stream-materialize-copies", "mlir::ModuleOp"> {
  let summary = "Copies what is overwritten while it is still needed";
  let description = [{
    A dispatch that updates an operand in place may do so only where it is the value's last use, and where the memory is
    the program's own: it wrote it, or was given it for good. Elsewhere it gets a copy. Memory of its own goes with what control flow passes on: through the
    branches of an `scf.if`, of which one may update it and another leave it as it is, through selects, and from turn to
    turn of a loop. A loop that updates what it carries takes over what nothing needs after it, or gets one copy before
    its first turn. A result that leaves the program is memory that no other result and no global is: a value that is
    returned twice is copied once, and one that came in is copied for each time, unless it was given away.
  }];
  let dependentDialects = ["::kiln::Util::UtilDialect"];
}

def ScheduleExecutionPass : Pass<"kiln-stream-schedule", "mlir::ModuleOp"> {
  let summary = "Forms submissions, decides what runs at the same time, and where values live";
  let description = [{
    All device work between two points where the host needs a result is one submission (`stream.cmd.execute`). Within it,
    a command starts when all it depends on is done: commands of the same depth form a `stream.cmd.concurrent`. Values that
    no one sees outside of the submission live in one transient arena, in which two values share memory unless they are
    alive at the same time. All constants of the module are one resource, made once.
  }];
  let dependentDialects = ["::kiln::Stream::StreamDialect", "::kiln::Util::UtilDialect", "::mlir::arith::ArithDialect"];
}

#endif // KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_STREAMPASSES_TD
