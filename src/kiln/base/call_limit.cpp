#include "kiln/base/call_limit.h"

namespace kiln {

thread_local constinit CallLimit *CallLimit::ofThread = nullptr;

Status CallLimit::status() const {
  if (isCancelled.load(std::memory_order_relaxed))
    return cancelled("the call was cancelled");
  return Status(StatusCode::DeadlineExceeded, "the call did not end before its deadline");
}

} // namespace kiln
