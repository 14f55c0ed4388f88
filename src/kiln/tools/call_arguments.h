// From --input to the arguments of a call.
#ifndef KILN_TOOLS_CALL_ARGUMENTS_H
#define KILN_TOOLS_CALL_ARGUMENTS_H

#include <span>
#include <string>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/vm/session.h"

namespace kiln {

// Reads the inputs (io/input.h) and turns them into what the function takes; tensors are put on the device once. The
// count is checked here, against the declaration; shapes and element types are checked by the program itself. Integers
// that differ only in how they are read (ui8 for i8) are taken as the program's type.
Result<std::vector<vm::Value>> readArguments(const vm::Function &function, std::span<const std::string> inputs,
                                             hal::Device &device);

} // namespace kiln

#endif // KILN_TOOLS_CALL_ARGUMENTS_H
