// The VM with code of somebody else: the input is the code of up to four functions. What the verifier takes is run.
#include "tests/fuzz/code_program.h"
#include "tests/fuzz/run_program.h"

using namespace kiln;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<Ref<vm::Module>> module = fuzz::loadCode({reinterpret_cast<const char *>(data), size});
  if (module.ok())
    fuzz::runProgram(*module);
  return 0;
}
