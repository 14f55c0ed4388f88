// The call that gives memory back to the program.
#ifndef KILN_RUNTIME_CAPI_RELEASE_CALL_H
#define KILN_RUNTIME_CAPI_RELEASE_CALL_H

#include <functional>
#include <memory>
#include <utility>

#include "kiln/runtime/capi/kiln.h"

namespace kiln::capi {

// Calls `release` once: when it is called, or when its last copy goes uncalled, whatever fails until then. Empty where
// `release` is NULL.
inline std::function<void()> releaseOnce(kiln_release_fn_t release, void *context) {
  if (!release)
    return {};
  struct Call {
    ~Call() { now(); }
    void now() {
      if (kiln_release_fn_t function = std::exchange(release, nullptr))
        function(context);
    }
    kiln_release_fn_t release;
    void *context;
  };
  std::shared_ptr<Call> call;
  try {
    call = std::make_shared<Call>(release, context);
  } catch (...) {
    release(context);
    throw;
  }
  return [call = std::move(call)] { call->now(); };
}

} // namespace kiln::capi

#endif // KILN_RUNTIME_CAPI_RELEASE_CALL_H
