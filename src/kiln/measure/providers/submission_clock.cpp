#include "kiln/measure/providers/submission_clock.h"

#include <utility>

#include "kiln/base/clock.h"

namespace kiln::measure {

Result<std::unique_ptr<SubmissionClock>> SubmissionClock::wrap(Ref<vm::NativeModule> hal) {
  auto clock = std::make_unique<SubmissionClock>();
  clock->wrapped = makeRef<vm::NativeModule>(hal->name());
  for (const vm::NativeFunction &function : hal->functions()) {
    vm::NativeFunctionPointer pointer = function.pointer;
    void *context = function.context;
    if (function.name == "device.execute") {
      clock->originalExecute = std::exchange(pointer, &SubmissionClock::execute);
      clock->originalContext = std::exchange(context, clock.get());
    }
    KILN_RETURN_IF_ERROR(clock->wrapped->add(function.name, function.signatureText, pointer, context));
  }
  if (!clock->originalExecute)
    return internalError("the native module '{}' has no device.execute", hal->name());
  clock->original = std::move(hal);
  return clock;
}

Status SubmissionClock::execute(void *context, vm::NativeCall &call) {
  auto &clock = *static_cast<SubmissionClock *>(context);
  if (clock.watching) {
    clock.submitted = monotonicNanoseconds();
    clock.watching = false;
  }
  return clock.originalExecute(clock.originalContext, call);
}

} // namespace kiln::measure
