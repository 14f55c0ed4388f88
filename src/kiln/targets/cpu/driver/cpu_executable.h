// The dispatches of a module's ELF object.
#ifndef KILN_TARGETS_CPU_DRIVER_CPU_EXECUTABLE_H
#define KILN_TARGETS_CPU_DRIVER_CPU_EXECUTABLE_H

#include "kiln/runtime/hal/executable.h"
#include "kiln/schema/executable_abi.h"
#include "kiln/targets/cpu/driver/elf_image.h"

#include <memory>
#include <string>
#include <vector>

namespace kiln::hal {

class CpuExecutable final : public Executable {
public:
  // Whether format and CPU fit; reads no code.
  static Status check(const ExecutableSource &source);
  // For `folder` see DeviceOptions::executableFolder.
  static Result<Ref<CpuExecutable>> load(const ExecutableSource &source, const std::string &folder);

  // By export ordinal.
  const kiln_dispatch_info_t &dispatch(uint32_t ordinal) const { return dispatches[ordinal]; }
  // Why the dispatch returned the code; null where the object does not say. Belongs to this.
  const char *message(uint32_t ordinal, int32_t code) const;

private:
  CpuExecutable(std::unique_ptr<ElfImage> image, std::vector<kiln_dispatch_info_t> dispatches,
                const ExecutableSource &source);

  std::unique_ptr<ElfImage> image;
  const std::vector<kiln_dispatch_info_t> dispatches; // names and functions are in the image
  const kiln_dispatch_messages_t *messages;           // in the image, by ordinal; may be null
  std::vector<ExecutableExport> entries;
};

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_CPU_EXECUTABLE_H
