// A timeline that lives in host memory: what drivers use whose work is completed by host threads.
#ifndef KILN_RUNTIME_HAL_HOST_SEMAPHORE_H
#define KILN_RUNTIME_HAL_HOST_SEMAPHORE_H

#include "kiln/runtime/hal/semaphore.h"

#include <atomic>
#include <mutex>

namespace kiln::hal {

class HostSemaphore : public Semaphore {
public:
  explicit HostSemaphore(uint64_t initialValue) : value(initialValue) {}
  ~HostSemaphore() override;

  Result<uint64_t> query() const override;
  Status signal(uint64_t newValue) override;
  void fail(Status status) override;
  // Sleeps. Drivers with workers override it and lend the thread.
  Status wait(uint64_t target, Deadline deadline) override;
  bool isReached(uint64_t target) const override { return value.load(std::memory_order_acquire) >= target; }
  bool listen(uint64_t target, SemaphoreListener &listener) override;
  bool unlisten(SemaphoreListener &listener) override;

protected:
  // Of a semaphore that has reached `target` or has failed.
  Status outcome() const;

private:
  // The value of a failed timeline: it is beyond every value, so that one comparison serves both ends.
  static constexpr uint64_t kFailed = UINT64_MAX;

  void tellListeners();

  std::atomic<uint64_t> value;
  std::atomic<bool> hasListeners{false};
  mutable std::mutex mutex;
  Status failure;                         // guarded; set before the value becomes kFailed
  SemaphoreListener *listeners = nullptr; // guarded
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_HOST_SEMAPHORE_H
