// A shared object that is loaded from memory.
#ifndef KILN_TARGETS_CPU_DRIVER_ELF_IMAGE_H
#define KILN_TARGETS_CPU_DRIVER_ELF_IMAGE_H

#include "kiln/base/status.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace kiln::hal {

// The object is mapped from a file in memory, whose name ends in `name`, by the system's own loader: debuggers and
// profilers see its symbols as they see those of any library. The file stays open for them for as long as this lives.
//
// Symbols that the object lacks come from this process, the C library's mathematics, scalar and vector, included.
class ElfImage {
public:
  // The bytes are copied. What is not a whole shared object for this machine is an error; beyond that its code is
  // trusted.
  static Result<std::unique_ptr<ElfImage>> load(std::string_view name, std::span<const std::byte> bytes);
  ~ElfImage();
  ElfImage(const ElfImage &) = delete;
  ElfImage &operator=(const ElfImage &) = delete;

  // Null where there is none.
  void *symbol(const char *name) const;

private:
  ElfImage(int file, void *library) : file(file), library(library) {}

  int file;
  void *library;
};

// The format of executables that this process can load, "elf-x86_64" or "elf-arm64".
std::string_view nativeElfFormat();

} // namespace kiln::hal

#endif // KILN_TARGETS_CPU_DRIVER_ELF_IMAGE_H
