#include "kiln/targets/cpu/driver/cpu_executable.h"

#include "kiln/targets/cpu/driver/cpu_features.h"

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

// What the object says of itself must be whole, and what the host program was compiled against.
static Status checkLibrary(const kiln_executable_library_t &library, const ExecutableSource &source) {
  if (library.abi_version != KILN_EXECUTABLE_ABI_VERSION)
    return failedPrecondition(
        "it has version {} of the executable interface; this runtime has {}. Recompile the module", library.abi_version,
        KILN_EXECUTABLE_ABI_VERSION);
  if (library.export_count && !library.exports)
    return dataLoss("it has {} exports and no table of them", library.export_count);
  for (uint32_t i = 0; i < library.export_count; ++i)
    if (!library.exports[i].name || !library.exports[i].function)
      return dataLoss("its export {} has no {}", i, library.exports[i].name ? "function" : "name");
  if (source.exports.empty())
    return okStatus();
  if (source.exports.size() != library.export_count)
    return dataLoss("the module expects {} exports; it has {}", source.exports.size(), library.export_count);
  for (uint32_t i = 0; i < library.export_count; ++i) {
    const ExpectedExport &expected = source.exports[i];
    const kiln_dispatch_info_t &found = library.exports[i];
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
  Status status = checkLibrary(*library, source);
  if (!status.ok())
    return std::move(status).withContext(fmt::format("executable '{}' cannot be used", source.name));
  return Ref<CpuExecutable>::adopt(new CpuExecutable(std::move(image), library));
}

CpuExecutable::CpuExecutable(std::unique_ptr<ElfImage> elf, const kiln_executable_library_t *library)
    : image(std::move(elf)), library(library),
      messages(static_cast<const kiln_dispatch_messages_t *>(image->symbol(KILN_EXECUTABLE_MESSAGES_SYMBOL))) {
  for (uint32_t i = 0; i < library->export_count; ++i) {
    const kiln_dispatch_info_t &info = library->exports[i];
    entries.push_back({info.name, info.binding_count, info.constant_count, info.local_memory_bytes});
  }
  exportTable = entries;
}

const char *CpuExecutable::message(uint32_t ordinal, int32_t code) const {
  if (!messages || code < 1 || uint32_t(code) > messages[ordinal].count)
    return nullptr;
  return messages[ordinal].messages[code - 1];
}

} // namespace kiln::hal
