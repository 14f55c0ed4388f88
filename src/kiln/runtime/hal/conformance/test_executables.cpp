#include "kiln/runtime/hal/conformance/test_executables.h"

namespace kiln::hal::conformance {

std::string_view testExecutableFormat() {
#if defined(__aarch64__)
  return "elf-aarch64";
#else
  return "elf-x86_64";
#endif
}

std::string testExecutableFolder() {
  return KILN_TEST_EXECUTABLES "/kept";
}

Result<Ref<FileContents>> testExecutableBytes(std::string_view name) {
  return FileContents::open(fmt::format("{}/{}.so", KILN_TEST_EXECUTABLES, name));
}

// What the drivers that run no code need to know of "kernels".
static constexpr ExpectedExport kKernels[] = {
    {"scale_add", 2, 3},   {"count_ids", 1, 0},        {"rendezvous", 1, 3},
    {"fail_in_one", 0, 2}, {"use_local_memory", 1, 0}, {"describe_bindings", 2, 0},
    {"note_worker", 1, 0}, {"nothing", 0, 0},          {"busy", 0, 1},
};

Result<Ref<Executable>> loadTestExecutable(Device &device, std::string_view name) {
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, testExecutableBytes(name));
  ExecutableSource source;
  source.name = name;
  source.format = testExecutableFormat();
  source.bytes = file->bytes();
  if (name == "kernels")
    source.exports = kKernels;
  return device.createExecutable(source);
}

} // namespace kiln::hal::conformance
