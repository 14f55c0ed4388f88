// Work for a device: recorded once by one thread, finalized, and then executed any number of times, also at the same
// time with itself, each time with a binding table of its own.
//
// Commands name buffers by slot of that table. Between two barriers commands may run at the same time and in any order;
// a barrier makes what stands before it complete, and visible, before anything after it starts.
//
// Everything that can be checked while recording is checked there, for all drivers, in this class; what depends on the
// table is checked by `checkBindings`, which Device::execute calls. A recording that failed once cannot be finalized.
#ifndef KILN_RUNTIME_HAL_COMMAND_BUFFER_H
#define KILN_RUNTIME_HAL_COMMAND_BUFFER_H

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/buffer.h"
#include "kiln/runtime/hal/executable.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace kiln::hal {

class Device;

// The numbers are those of hal.command_buffer.create.
enum class CommandBufferMode : uint32_t {
  Replay = 0,  // executed many times: worth preparing
  OneShot = 1, // executed at most once
};

// A range of the window that the binding table puts at `slot`.
struct SlotRange {
  uint32_t slot = 0;
  uint64_t offset = 0;
  uint64_t length = 0;
};

// One entry of a binding table: the window [offset, offset + length) of a buffer. The buffer is borrowed for the call;
// what a submission needs it retains. It may be null where the command buffer does not use the slot.
struct Binding {
  Buffer *buffer = nullptr;
  uint64_t offset = 0;
  uint64_t length = 0;
};

struct Dispatch {
  Executable *executable = nullptr; // retained by the recording
  uint32_t exportOrdinal = 0;
  uint64_t workgroupCount[3] = {1, 1, 1}; // x, y, z, within the device's limits; a zero runs nothing
  std::span<const uint64_t> constants;
  std::span<const SlotRange> bindings; // offsets are multiples of the device's alignment of bindings
};

class CommandBuffer : public RefCounted {
public:
  // More slots than this are an error.
  static constexpr uint32_t kMaxSlots = 1u << 20;

  // What every driver asks before it makes one.
  static Status checkSlotCount(uint64_t slotCount);

  Device *device() const { return owner.get(); }
  CommandBufferMode mode() const { return recordMode; }
  uint32_t slotCount() const { return uint32_t(slots.size()); }
  bool isFinalized() const { return state == State::Finalized; }

  // `width` is 1, 2, 4 or 8 bytes of `pattern`, low first; the length is a multiple of it. Offsets may be odd.
  Status fill(const SlotRange &target, uint64_t pattern, uint32_t width);
  // The ranges must not overlap, also where two slots turn out to be the same memory.
  Status copy(const SlotRange &source, uint32_t targetSlot, uint64_t targetOffset);
  Status dispatch(const Dispatch &dispatch);
  Status barrier();
  Status finalize();

  // Whether the table fits what was recorded: entries, windows in bounds and aligned, and writable where something
  // writes.
  Status checkBindings(std::span<const Binding> bindings) const;

  // Of each dispatch that was recorded, in order, but for those that run nothing; the recording keeps them alive.
  std::span<const ExecutableExport *const> dispatches() const { return dispatchTable; }

  // Called once for each execution; the second of a command buffer that is for one is an error.
  Status beginExecution();

protected:
  // Retains the device.
  CommandBuffer(Device *device, CommandBufferMode mode, uint32_t slotCount);
  ~CommandBuffer() override;

  // Called with checked arguments, in order, on the recording thread.
  virtual Status recordFill(const SlotRange &target, uint64_t pattern, uint32_t width) = 0;
  virtual Status recordCopy(const SlotRange &source, const SlotRange &target) = 0;
  virtual Status recordDispatch(const Dispatch &dispatch) = 0;
  virtual Status recordBarrier() = 0;
  virtual Status recordFinalize() = 0;

  // Whether a recorded executable was made by this device: a driver must be able to trust what it casts.
  virtual Status checkExecutable(const Executable &executable) const = 0;
  // Whether commands can reach the memory. The default is for devices that run on the host.
  virtual bool canAddress(const Buffer &buffer) const { return buffer.hostPointer() != nullptr; }

  bool isSlotUsed(uint32_t slot) const { return slots[slot].used; }

private:
  enum class State : uint8_t { Recording, Finalized, Failed };
  struct Slot {
    uint64_t requiredLength = 0; // the furthest byte that a command touches
    bool used = false;
    bool aligned = false; // a dispatch binds it
    bool written = false; // a command is known to write it
  };
  struct CopyRange {
    SlotRange source, target;
  };
  Status fillChecked(const SlotRange &target, uint64_t pattern, uint32_t width);
  Status copyChecked(const SlotRange &source, const SlotRange &target);
  Status dispatchChecked(const Dispatch &dispatch);
  Status checkRecording() const;
  // Whether the slot exists and the range has an end; notes what the table must offer.
  Status useSlot(const char *what, const SlotRange &range);
  // A failed command spoils the recording: what was meant cannot be replayed.
  Status finish(Status status);

  Ref<Device> owner;
  CommandBufferMode recordMode;
  State state = State::Recording;
  std::atomic<bool> executed{false};
  std::vector<Slot> slots;
  std::vector<const ExecutableExport *> dispatchTable;
  std::vector<CopyRange> copies; // between different slots: checked for overlap once the table is known
};

} // namespace kiln::hal

#endif // KILN_RUNTIME_HAL_COMMAND_BUFFER_H
