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

struct CallArguments {
  std::vector<vm::Value> values;
  // Those that come from files, for messages.
  struct FileInput {
    std::string flag; // "@x.npy"
    std::string type; // "4xf32"
  };
  std::vector<FileInput> files;
  std::string function; // as it was declared
};

// Reads the inputs (io/input.h) and turns them into what the function takes; tensors are put on the device once. The
// count is checked here, against the declaration; shapes and element types are checked by the program itself. Integers
// that differ only in how they are read (ui8 for i8) are taken as the program's type.
Result<CallArguments> readArguments(const vm::Function &function, std::span<const std::string> inputs,
                                    hal::Device &device);

// What a call has returned, for a user: where the program did not take its arguments, with the files that hold what it
// complains about, and the function as it was declared.
Status explainCall(Status status, const CallArguments &arguments);

} // namespace kiln

#endif // KILN_TOOLS_CALL_ARGUMENTS_H
