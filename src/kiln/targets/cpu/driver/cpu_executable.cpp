#include "kiln/targets/cpu/driver/cpu_executable.h"

#include "kiln/targets/cpu/driver/cpu_features.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace kiln::hal {

Status CpuExecutable::check(const ExecutableSource &source) {
  constexpr std::string_view kElf = "elf-";
  std::string_view native = nativeElfFormat();
  if (source.format != native)
    return failedPrecondition("executable '{}' has the format '{}'; this device runs '{}'. Recompile with {}",
                              source.name, source.format, native,
                              source.format.starts_with(kElf)
                                  ? fmt::format("--iree-llvmcpu-target-triple={}-linux", native.substr(kElf.size()))
                                  : "--iree-hal-target-backends=llvm-cpu");
  return checkCpuFeatures(source.cpu, source.cpuFeatures);
}

// The entries of the object's table, whatever version wrote it: what its entries lack is zero.
static Result<std::vector<kiln_dispatch_info_t>> readExports(const kiln_executable_library_t &library) {
  if (library.abi_version == 0 || library.abi_version > KILN_EXECUTABLE_ABI_VERSION)
    return failedPrecondition("it has version {} of the executable interface; this runtime has versions 1 to {}. "
                              "Recompile the module",
                              library.abi_version, KILN_EXECUTABLE_ABI_VERSION);
  constexpr size_t kLeast = offsetof(kiln_dispatch_info_t, flags) + sizeof(kiln_dispatch_info_t::flags);
  const size_t stride = library.abi_version == 1 ? kLeast : library.info_size;
  if (stride < kLeast || stride % alignof(kiln_dispatch_info_t) != 0)
    return dataLoss("its exports have {} bytes each, and at least {} are needed", stride, kLeast);
  if (library.export_count && !library.exports)
    return dataLoss("it has {} exports and no table of them", library.export_count);
  std::vector<kiln_dispatch_info_t> exports(library.export_count);
  const auto *bytes = reinterpret_cast<const std::byte *>(library.exports);
  for (uint32_t i = 0; i < library.export_count; ++i, bytes += stride) {
    std::memcpy(&exports[i], bytes, std::min(stride, sizeof(exports[i])));
    if (!exports[i].name || !exports[i].function)
      return dataLoss("its export {} has no {}", i, exports[i].name ? "function" : "name");
  }
  return exports;
}

// What the object says of itself must be what the host program was compiled against.
static Status checkExports(std::span<const kiln_dispatch_info_t> exports, const ExecutableSource &source) {
  if (source.exports.empty())
    return okStatus();
  if (source.exports.size() != exports.size())
    return dataLoss("the module expects {} exports; it has {}", source.exports.size(), exports.size());
  for (size_t i = 0; i < exports.size(); ++i) {
    const ExpectedExport &expected = source.exports[i];
    const kiln_dispatch_info_t &found = exports[i];
    if (expected.name != found.name)
      return dataLoss("the module expects its export {} to be '{}'; it is '{}'", i, expected.name, found.name);
    if (expected.bindingCount != found.binding_count || expected.constantCount != found.constant_count)
      return dataLoss("the module gives dispatch '{}' {} bindings and {} constants; it takes {} and {}", found.name,
                      expected.bindingCount, expected.constantCount, found.binding_count, found.constant_count);
  }
  return okStatus();
}

Result<Ref<CpuExecutable>> CpuExecutable::load(const ExecutableSource &source, const std::string &folder) {
  KILN_RETURN_IF_ERROR(check(source));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<ElfImage> image, ElfImage::load(source.name, source.bytes, folder));
  auto query = reinterpret_cast<kiln_executable_query_fn_t>(image->symbol(KILN_EXECUTABLE_QUERY_SYMBOL));
  if (!query)
    return dataLoss("executable '{}' cannot be loaded: it does not export {}", source.name,
                    KILN_EXECUTABLE_QUERY_SYMBOL);
  const kiln_executable_library_t *library = query(KILN_EXECUTABLE_ABI_VERSION);
  if (!library)
    return failedPrecondition("executable '{}' needs a newer runtime: this one has version {} of the executable "
                              "interface",
                              source.name, KILN_EXECUTABLE_ABI_VERSION);
  Result<std::vector<kiln_dispatch_info_t>> exports = readExports(*library);
  Status status = exports.ok() ? checkExports(*exports, source) : exports.status();
  if (!status.ok())
    return std::move(status).withContext(fmt::format("executable '{}' cannot be used", source.name));
  return Ref<CpuExecutable>::adopt(new CpuExecutable(std::move(image), *std::move(exports), source));
}

CpuExecutable::CpuExecutable(std::unique_ptr<ElfImage> elf, std::vector<kiln_dispatch_info_t> table,
                             const ExecutableSource &source)
    : image(std::move(elf)), dispatches(std::move(table)),
      messages(static_cast<const kiln_dispatch_messages_t *>(image->symbol(KILN_EXECUTABLE_MESSAGES_SYMBOL))) {
  for (const kiln_dispatch_info_t &info : dispatches)
    entries.push_back(
        {info.name, info.binding_count, info.constant_count, info.local_memory_bytes, source.accessOf(entries.size())});
  exportTable = entries;
}

const char *CpuExecutable::message(uint32_t ordinal, int32_t code) const {
  if (!messages || code < 1 || uint32_t(code) > messages[ordinal].count)
    return nullptr;
  return messages[ordinal].messages[code - 1];
}

} // namespace kiln::hal
