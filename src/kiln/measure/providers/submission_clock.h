// Tells when a program hands work to its device: the HAL's functions as a module uses them, with a clock read before
// `hal.device.execute`.
#ifndef KILN_MEASURE_PROVIDERS_SUBMISSION_CLOCK_H
#define KILN_MEASURE_PROVIDERS_SUBMISSION_CLOCK_H

#include <cstdint>
#include <memory>

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/vm/native_module.h"

namespace kiln::measure {

// Outlives the sessions that use its module. For one session at a time.
class SubmissionClock {
public:
  static Result<std::unique_ptr<SubmissionClock>> wrap(Ref<vm::NativeModule> hal);

  // What sessions are to be given in place of the original.
  const Ref<vm::NativeModule> &module() const { return wrapped; }

  // From now on the first submission is noted; further ones, and those before the next `watch`, cost no clock.
  void watch() {
    watching = true;
    submitted = 0;
  }
  // In monotonicNanoseconds(); 0 where there was none since `watch`.
  uint64_t firstSubmission() const { return submitted; }

private:
  static Status execute(void *context, vm::NativeCall &call);

  Ref<vm::NativeModule> original, wrapped;
  vm::NativeFunctionPointer originalExecute = nullptr;
  void *originalContext = nullptr;
  bool watching = false;
  uint64_t submitted = 0;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_SUBMISSION_CLOCK_H
