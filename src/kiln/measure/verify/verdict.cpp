#include "kiln/measure/verify/verdict.h"

#include <cmath>

#include "fmt/format.h"

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

std::string ulpHistogram(const std::map<int, uint64_t> &byExponent, uint64_t notFinite) {
  std::string text;
  auto add = [&](const std::string &range, uint64_t count) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "  ", range, count);
  };
  for (const auto &[exponent, count] : byExponent)
    add(exponent < 0 ? "<1" : fmt::format("{:g}-{:g}", std::ldexp(1.0, exponent), std::ldexp(1.0, exponent + 1)),
        count);
  if (notFinite)
    add("not finite", notFinite);
  return text;
}

} // namespace kiln::measure::verify
