#include "kiln/measure/verify/verdict.h"

namespace kiln::measure::verify {

const char *causeName(Cause cause) {
  switch (cause) {
  case Cause::None: return "none";
  case Cause::Unknown: return "unknown";
  case Cause::WrongElements: return "wrong elements";
  case Cause::TransposedTile: return "transposed tile";
  case Cause::DroppedTail: return "dropped tail";
  case Cause::NotZeroed: return "output not zeroed";
  case Cause::NarrowedInputs: return "inputs narrowed";
  case Cause::NarrowAccumulator: return "accumulator too narrow";
  case Cause::SwappedLayout: return "swapped layout";
  case Cause::DroppedPadding: return "dropped padding";
  case Cause::NotANumber: return "not a number";
  case Cause::NothingWritten: return "nothing written";
  case Cause::NumberInstead: return "number instead of infinity or NaN";
  case Cause::WrongStart: return "wrong initial value";
  case Cause::LessPrecise: return "less precise than promised";
  case Cause::WrongEpilogue: return "wrong epilogue";
  case Cause::WrongZeroPoint: return "wrong zero point";
  case Cause::WrongSign: return "sign misread";
  case Cause::WrongRounding: return "wrong rounding";
  case Cause::IdleWhenTimed: return "does nothing when it is timed";
  case Cause::PartWhenTimed: return "computes a part when it is timed";
  case Cause::ReturnsEarly: return "returns before its work is done";
  case Cause::FromMemory: return "answers from memory";
  case Cause::OtherCall: return "computes what another call asked for";
  case Cause::WrongWhenTimed: return "wrong when it is timed";
  }
  return "unknown";
}

} // namespace kiln::measure::verify
