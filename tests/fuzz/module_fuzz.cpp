// Module files: the container as it is, and with sections on their places what the loader makes of metadata and code.
// What loads is run.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "kiln/base/file.h"
#include "kiln/base/file_descriptor.h"
#include "kiln/runtime/module/test_module.h"
#include "tests/fuzz/packed_module.h"
#include "tests/fuzz/run_program.h"

using namespace kiln;

namespace {

void inspect(const std::string &bytes) {
  std::vector<Status> problems;
  vm::Container container = vm::readContainer("fuzz", vm::borrowFileBytes(bytes, {}), problems);
  Ref<vm::Module> module = vm::Module::inspect(std::move(container), problems);
  if (module && vm::testing::readModule(*module) == 0)
    std::abort();
  if (module && module->verified() != problems.empty())
    std::abort();
}

Result<Ref<vm::Module>> loadAsFile(const std::string &bytes) {
  FileDescriptor file(::memfd_create("module", MFD_CLOEXEC));
  KILN_RETURN_IF_ERROR(writeAll(file.get(), "the module", std::as_bytes(std::span(bytes))));
  return vm::Module::loadFile("/proc/self/fd/" + std::to_string(file.get()));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  inspect(bytes);
  vm::testing::repairChecksums(bytes);
  inspect(bytes);
  std::string placed = fuzz::unpackModule(bytes);
  vm::testing::repairChecksums(placed);
  inspect(placed);
  if (Result<Ref<vm::Module>> module = loadAsFile(placed); module.ok())
    fuzz::runProgram(*module);
  return 0;
}
