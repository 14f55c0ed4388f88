#include "kiln/targets/cpu/driver/elf_image.h"

#include "kiln/base/file.h"
#include "kiln/targets/cpu/driver/executable_folder.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace kiln::hal {

#if defined(__x86_64__)
static constexpr uint16_t kMachine = EM_X86_64;
std::string_view nativeElfFormat() {
  return "elf-x86_64";
}
#elif defined(__aarch64__)
static constexpr uint16_t kMachine = EM_AARCH64;
std::string_view nativeElfFormat() {
  return "elf-aarch64";
}
#else
#error "the CPU driver needs the ELF machine number and format name of this architecture"
#endif

// The system's loader trusts the file: what lies outside of a truncated one would be a bus error.
static Status checkElf(std::span<const std::byte> bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return dataLoss("it has {} bytes, fewer than an ELF header", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return dataLoss("it does not start with an ELF header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN)
    return dataLoss("it is not a little-endian 64-bit shared object");
  if (header.e_machine != kMachine)
    return failedPrecondition("its code is for ELF machine {}; this one is {}", header.e_machine, kMachine);
  uint64_t tableEnd;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      __builtin_add_overflow(header.e_phoff, uint64_t(header.e_phnum) * sizeof(Elf64_Phdr), &tableEnd) ||
      tableEnd > bytes.size())
    return dataLoss("its program headers lie outside of it");
  bool loads = false, dynamic = false;
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr), sizeof(segment));
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC)
      continue;
    uint64_t end, addressEnd;
    if (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) || end > bytes.size() ||
        segment.p_filesz > segment.p_memsz || __builtin_add_overflow(segment.p_vaddr, segment.p_memsz, &addressEnd))
      return dataLoss("its segment {} lies outside of it: the executable is truncated", i);
    (segment.p_type == PT_LOAD ? loads : dynamic) = true;
  }
  if (!loads || !dynamic)
    return dataLoss("it has nothing to load");
  return okStatus();
}

// Names are shown by tools, which print them as they are.
static std::string fileName(std::string_view name) {
  std::string result;
  for (char c : name.substr(0, 200))
    result += std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-+$", c) ? c : '_';
  return result.empty() ? "kiln" : result;
}

// The mathematics that code may ask for. It is part of most processes already; where it is not, it joins here, for all
// objects that are loaded later, and stays.
static bool loadMathLibraries() {
  bool any = false;
  for (const char *name : {"libm.so.6", "libmvec.so.1"})
    any |= dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr;
  return any;
}

static Result<void *> open(std::string_view name, const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string error = library ? "" : dlerror();
  if (!library && error.find("undefined symbol") != std::string::npos && loadMathLibraries()) {
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    error = library ? "" : dlerror();
  }
  if (!library)
    return dataLoss("executable '{}' cannot be loaded: {}", name, error);
  return library;
}

// By process, not by "self": a debugger opens the name that the loader has noted.
static std::string pathOf(int file) {
  return fmt::format("/proc/{}/fd/{}", getpid(), file);
}

Result<std::unique_ptr<ElfImage>> ElfImage::load(std::string_view name, std::span<const std::byte> bytes,
                                                 const std::string &folder) {
  Status status = checkElf(bytes);
  if (!status.ok())
    return std::move(status).withContext(fmt::format("executable '{}' cannot be loaded", name));
  if (!folder.empty()) {
    Result<std::string> path = keepExecutable(folder, fileName(name), bytes);
    if (path.ok()) {
      KILN_ASSIGN_OR_RETURN(void *library, open(name, *path));
      return std::unique_ptr<ElfImage>(new ElfImage(-1, library));
    }
  }
  int file = memfd_create(fileName(name).c_str(), MFD_CLOEXEC);
  if (file < 0)
    return errnoStatus(errno, fmt::format("executable '{}' cannot be loaded", name));
  status = writeAll(file, name, bytes);
  Result<void *> library = status.ok() ? open(name, pathOf(file)) : Result<void *>(std::move(status));
  if (!library.ok()) {
    close(file);
    return std::move(library).status();
  }
  return std::unique_ptr<ElfImage>(new ElfImage(file, *library));
}

ElfImage::~ElfImage() {
  dlclose(library);
  if (file < 0)
    return;
  // An object may refuse to be unloaded. Its name, and so its file, must then never be used for another one.
  if (void *still = dlopen(pathOf(file).c_str(), RTLD_NOW | RTLD_NOLOAD))
    dlclose(still);
  else
    close(file);
}

void *ElfImage::symbol(const char *name) const {
  return dlsym(library, name);
}

} // namespace kiln::hal
