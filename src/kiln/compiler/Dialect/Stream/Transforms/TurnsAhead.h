// The host is ahead of the device: a timepoint that loops and branches carry from turn to turn.
#ifndef KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_TURNSAHEAD_H
#define KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_TURNSAHEAD_H

#include "mlir/IR/Builders.h"

namespace kiln::Stream {

// What the host has submitted and not waited for, at one place of the program.
struct TurnsAhead {
  // Stands for it; null where there is nothing. All submissions are in one chain, so that who has waited for the last
  // has waited for those before it.
  mlir::Value timepoint;
  // In a loop, and behind one: the host goes on while some submissions are in flight, which all are part of the
  // timepoint.
  bool isInLoop = false;
};

// Gives each loop in which the host may be ahead, and the branches in it, a timepoint as its last result, and what its
// blocks get and pass on. All are placeholders, for who schedules to set; operations keep their places from then on.
// The host may be ahead in a loop that has work for a device where nothing in the loop itself makes it wait.
void carryTimepoints(mlir::Block &block);

// Whether control flow, or the terminator of a block in it, has a timepoint from there.
bool carriesTimepoint(mlir::Operation *op);

// Whether anything in it is for a device.
bool hasDeviceWork(mlir::Operation *op);

} // namespace kiln::Stream

#endif // KILN_COMPILER_DIALECT_STREAM_TRANSFORMS_TURNSAHEAD_H
