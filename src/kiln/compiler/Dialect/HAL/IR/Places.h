// Where work runs and memory lies: a device of the session, and which of its queues. It stands on ops as
// `stream.affinity`.
#ifndef KILN_COMPILER_DIALECT_HAL_IR_PLACES_H
#define KILN_COMPILER_DIALECT_HAL_IR_PLACES_H

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"

namespace kiln::HAL {

inline constexpr const char *kAffinity = "stream.affinity";

// Null for the first device and any of its queues.
inline AffinityAttr placeOf(mlir::Operation *op) {
  return op->getAttrOfType<AffinityAttr>(kAffinity);
}

inline void setPlace(mlir::Operation *op, AffinityAttr place) {
  if (place)
    op->setAttr(kAffinity, place);
  else
    op->removeAttr(kAffinity); // of an op that it was cloned from
}

// The first device in any of its queues is null.
inline AffinityAttr normalized(AffinityAttr place) {
  return place && place.getQueues().empty() && place.getDeviceIndex() == 0 ? AffinityAttr() : place;
}

// The device that a place is on.
inline int64_t deviceOf(AffinityAttr place) {
  return place ? place.getDeviceIndex().value_or(0) : 0;
}

} // namespace kiln::HAL

#endif // KILN_COMPILER_DIALECT_HAL_IR_PLACES_H
