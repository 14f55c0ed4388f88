// Why a device takes no more work.
#ifndef KILN_RUNTIME_HAL_DEVICE_LOSS_H
#define KILN_RUNTIME_HAL_DEVICE_LOSS_H

#include "kiln/base/status.h"

#include <atomic>
#include <mutex>
#include <string_view>

namespace kiln::hal {

// All functions may be called on any thread.
class DeviceLoss {
public:
  // Of several reasons the first stays.
  void set(Status why) {
    std::lock_guard lock(mutex);
    if (!reason.ok())
      return;
    reason = std::move(why);
    lost.store(true, std::memory_order_release);
  }
  bool isSet() const { return lost.load(std::memory_order_acquire); }

  // The error of whatever is asked of the device from then on; `device` is what it is called. Only where it is set.
  Status status(std::string_view device) const {
    std::lock_guard lock(mutex);
    return unavailable("device '{}' is lost because of an earlier error: {}; create it anew", device, reason.message());
  }

private:
  mutable std::mutex mutex;
  Status reason; // guarded; an error once `lost` is true
  std::atomic<bool> lost{false};
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_DEVICE_LOSS_H
