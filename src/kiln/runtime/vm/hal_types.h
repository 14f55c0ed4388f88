// The HAL's objects as references that programs hold.
#ifndef KILN_RUNTIME_VM_HAL_TYPES_H
#define KILN_RUNTIME_VM_HAL_TYPES_H

#include "kiln/runtime/hal/buffer.h"
#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/runtime/hal/command_buffer.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/hal/executable.h"
#include "kiln/runtime/hal/fence.h"
#include "kiln/runtime/vm/any_ref.h"

namespace kiln::vm {

template <> struct RefTypeOf<hal::Device> {
  static constexpr RefType type{"hal.device"};
};
template <> struct RefTypeOf<hal::Executable> {
  static constexpr RefType type{"hal.executable"};
};
template <> struct RefTypeOf<hal::Buffer> {
  static constexpr RefType type{"hal.buffer"};
};
template <> struct RefTypeOf<hal::BufferView> {
  static constexpr RefType type{"hal.buffer_view"};
};
template <> struct RefTypeOf<hal::CommandBuffer> {
  static constexpr RefType type{"hal.command_buffer"};
};
template <> struct RefTypeOf<hal::Fence> {
  static constexpr RefType type{"hal.fence"};
};

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_HAL_TYPES_H
