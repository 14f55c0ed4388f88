// A device's own clock, and work between two of its timestamps. For measuring.
#ifndef KILN_RUNTIME_HAL_DEVICE_CLOCK_H
#define KILN_RUNTIME_HAL_DEVICE_CLOCK_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/command_buffer.h"

#include <span>
#include <vector>

namespace kiln::hal {

// A command buffer and what it was executed on, kept to be executed again.
struct Submission {
  Submission(CommandBuffer *commands, std::span<const Binding> table)
      : commands(Ref<CommandBuffer>::share(commands)), bindings(table.begin(), table.end()) {
    for (const Binding &binding : table)
      buffers.push_back(Ref<Buffer>::share(binding.buffer));
  }

  Ref<CommandBuffer> commands;
  std::vector<Binding> bindings;
  std::vector<Ref<Buffer>> buffers; // those of the bindings
};

// Work that was put together once, to run as often as is wanted. Used by one thread at a time.
class TimedWork : public RefCounted {
public:
  // Whether the device gets all of it at once, as a graph. Otherwise it gets one part after the other, and its time
  // counts what it waits for the next one.
  virtual bool isGraph() const = 0;
  // Runs all of it and waits for its end. Nanoseconds by the device's clock from before the first part until after the
  // last one.
  virtual Result<double> run() = 0;
};

class DeviceClock {
public:
  virtual ~DeviceClock() = default;
  // Whether it counts what is executed instead of time, as a simulated device's does.
  virtual bool isSimulated() const { return false; }
  // The submissions, of command buffers of this device that were executed before, one after the other.
  virtual Result<Ref<TimedWork>> prepare(std::vector<Submission> submissions) = 0;
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_DEVICE_CLOCK_H
