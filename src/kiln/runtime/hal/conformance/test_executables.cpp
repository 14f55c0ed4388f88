#include "kiln/runtime/hal/conformance/test_executables.h"

#include "kiln/schema/gpu_executable.h"
#include "kiln/schema/gpu_executable_generated.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

namespace kiln::hal::conformance {

std::string_view testExecutableFormat() {
#if defined(__aarch64__)
  return "elf-aarch64";
#else
  return "elf-x86_64";
#endif
}

// Beside the program, where it was carried to another machine; else where they were built.
static const std::string &builtFolder() {
  static const std::string folder = [] {
    std::error_code error;
    std::filesystem::path beside =
        std::filesystem::read_symlink("/proc/self/exe", error).replace_filename("executables");
    return std::filesystem::is_directory(beside, error) ? beside.string() : std::string(KILN_TEST_EXECUTABLES);
  }();
  return folder;
}

std::string testExecutableFolder() {
  return builtFolder() + "/kept";
}

Result<Ref<FileContents>> testExecutableBytes(std::string_view name) {
  return FileContents::open(fmt::format("{}/{}.so", builtFolder(), name));
}

// What the drivers that run no code need to know of "kernels".
static constexpr MemoryAccess kReadThenWrite[] = {MemoryAccess::Read, MemoryAccess::Write};
static constexpr MemoryAccess kReadWrite[] = {MemoryAccess::ReadWrite};
static constexpr ExpectedExport kKernels[] = {
    {"scale_add", 2, 3, kReadThenWrite},
    {"count_ids", 1, 0, kReadWrite},
    {"rendezvous", 1, 3},
    {"fail_in_one", 0, 2},
    {"use_local_memory", 1, 0},
    {"describe_bindings", 2, 0},
    {"note_worker", 1, 0},
    {"nothing", 0, 0},
    {"busy", 0, 1},
};

static ExecutableSource sourceIn(std::string_view format, std::string_view cpu) {
  ExecutableSource source;
  source.name = "test";
  source.format = format;
  source.cpu = cpu;
  return source;
}

bool runsTestFormat(const Device &device) {
  return device.checkExecutable(sourceIn(testExecutableFormat(), "")).ok();
}

// What a GPU has no means for is left out of kernels.ptx, and stands as a kernel that does nothing.
static Result<Ref<Executable>> loadGpuKernels(Device &device) {
  constexpr std::string_view kInCode[] = {"scale_add", "count_ids", "rendezvous", "nothing", "busy"};
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(builtFolder() + "/kernels.ptx"));
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<schema::GpuKernel>> kernels;
  for (const ExpectedExport &entry : kKernels) {
    bool isThere = std::ranges::find(kInCode, entry.name) != std::end(kInCode);
    std::string name(entry.name), symbol = isThere ? name : "nothing";
    kernels.push_back(schema::CreateGpuKernelDirect(builder, name.c_str(), symbol.c_str(), 0, entry.bindingCount,
                                                    entry.constantCount));
  }
  std::vector<flatbuffers::Offset<flatbuffers::String>> codes{
      builder.CreateString(reinterpret_cast<const char *>(file->bytes().data()), file->bytes().size())};
  schema::FinishGpuExecutableBuffer(
      builder, schema::CreateGpuExecutableDirect(builder, kGpuExecutableVersion, &kernels, &codes));
  ExecutableSource source = sourceIn("ptx", "sm_75");
  source.bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  source.exports = kKernels;
  return device.createExecutable(source);
}

Result<Ref<Executable>> loadTestExecutable(Device &device, std::string_view name) {
  if (name == "kernels" && !runsTestFormat(device))
    return loadGpuKernels(device);
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
