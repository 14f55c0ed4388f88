// A shared object whose bytes come from a module.
#ifndef KILN_TARGETS_CPU_DRIVER_ELF_IMAGE_H
#define KILN_TARGETS_CPU_DRIVER_ELF_IMAGE_H

#include "kiln/base/file_descriptor.h"
#include "kiln/base/status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kiln::hal {

// The object is mapped by the system's own loader, from a file in memory that is sealed, so that nobody can change code
// that runs: debuggers see its symbols as they see those of any library. The file is named after the module, and open
// for debuggers for as long as this lives. For perf, which reads symbols after the process has ended, a copy of it may
// lie in a folder.
//
// Symbols that the object lacks come from this process, the C library's mathematics, scalar and vector, included.
class ElfImage {
public:
  // The bytes are copied. What is not a whole shared object for this machine is an error; beyond that its code is
  // trusted. `folder` (may be empty) is where a copy goes, under a name made of `name` and the content, which profilers
  // of this process take for the file of the code; where that fails, they find no symbols.
  static Result<std::unique_ptr<ElfImage>> load(std::string_view name, std::span<const std::byte> bytes,
                                                const std::string &folder);
  ~ElfImage();
  ElfImage(const ElfImage &) = delete;
  ElfImage &operator=(const ElfImage &) = delete;

  // Null where there is none.
  void *symbol(const char *name) const;

private:
  explicit ElfImage(FileDescriptor file);

  FileDescriptor file; // in memory
  std::string path;    // its name for the loader
  void *library = nullptr;
};

// The format of executables that this process can load, "elf-x86_64" or "elf-aarch64".
std::string_view nativeElfFormat();

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_ELF_IMAGE_H
