#include "kiln/targets/cpu/driver/elf_image.h"

#include "kiln/base/elf_check.h"
#include "kiln/base/exhaustion.h"
#include "kiln/base/file.h"
#include "kiln/base/file_descriptor.h"
#include "kiln/targets/cpu/driver/executable_folder.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace kiln::hal {

#if defined(__x86_64__)
std::string_view nativeElfFormat() {
  return "elf-x86_64";
}
#elif defined(__aarch64__)
std::string_view nativeElfFormat() {
  return "elf-aarch64";
}
#else
#error "the CPU driver needs the format name of this architecture"
#endif

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
    return dataLoss("executable '{}' cannot be loaded: {}{}", name, error, exhaustionAdvice(error));
  return library;
}

// By process, not by "self": a debugger opens the name that the loader has noted.
static std::string pathOf(int file) {
  return fmt::format("/proc/{}/fd/{}", getpid(), file);
}

// A file in memory with these bytes, which nobody can change from then on.
static Result<FileDescriptor> createSealedFile(std::string_view name, std::span<const std::byte> bytes) {
  std::string what = fmt::format("executable '{}' cannot be loaded", name);
  FileDescriptor file(memfd_create(fileName(name).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file)
    return errnoStatus(errno, what);
  KILN_RETURN_IF_ERROR(writeAll(file.get(), name, bytes).withContext(what));
  if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return errnoStatus(errno, what);
  return file;
}

// Makes profilers take the code of `library`, which is mapped from `sealed`, for that of the file at `path`, which has
// the same bytes: they note the file of executable memory as it is mapped, and not what moves there later. Where
// anything fails they find no symbols, as with code that the loader has changed.
static void showAsFile(void *library, int sealed, std::span<const std::byte> bytes, const std::string &path) {
  link_map *loaded = nullptr;
  FileDescriptor shown(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!shown || dlinfo(library, RTLD_DI_LINKMAP, static_cast<void *>(&loaded)) != 0)
    return;
  for (const Elf64_Dyn *entry = loaded->l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)))
      return;
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  auto page = uint64_t(sysconf(_SC_PAGESIZE));
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof(Elf64_Phdr), sizeof(segment));
    if (segment.p_type != PT_LOAD || segment.p_flags != (PF_R | PF_X) || segment.p_filesz == 0)
      continue;
    uint64_t before = segment.p_offset % page;
    size_t length = (before + segment.p_filesz + page - 1) / page * page;
    auto offset = off_t(segment.p_offset - before);
    void *place = reinterpret_cast<void *>(loaded->l_addr + segment.p_vaddr - before);
    void *aside = mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (aside == MAP_FAILED)
      return;
    // The code moves aside and back, and is not mapped anew: a debugger may have set breakpoints in it. Its place is
    // never free for another thread.
    if (mremap(place, length, length, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, aside) == MAP_FAILED) {
      munmap(aside, length);
      return;
    }
    [[maybe_unused]] void *file =
        mmap(place, length, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, shown.get(), offset);
    if (mremap(aside, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED)
      file = mmap(place, length, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, sealed, offset);
  }
}

Result<std::unique_ptr<ElfImage>> ElfImage::load(std::string_view name, std::span<const std::byte> bytes,
                                                 const std::string &folder) {
  Status status = checkSharedObject(bytes);
  if (!status.ok())
    return std::move(status).withContext(fmt::format("executable '{}' cannot be loaded", name));
  KILN_ASSIGN_OR_RETURN(FileDescriptor file, createSealedFile(name, bytes));
  std::unique_ptr<ElfImage> image(new ElfImage(std::move(file)));
  KILN_ASSIGN_OR_RETURN(image->library, open(name, image->path));
  if (!folder.empty())
    if (Result<std::string> path = keepExecutable(folder, fileName(name), bytes); path.ok())
      showAsFile(image->library, image->file.get(), bytes, *path);
  return image;
}

ElfImage::ElfImage(FileDescriptor sealed) : file(std::move(sealed)), path(pathOf(file.get())) {}

ElfImage::~ElfImage() {
  if (!library)
    return;
  dlclose(library);
  // An object may refuse to be unloaded. Its name, and so its file, must then never be used for another one.
  if (void *still = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD)) {
    dlclose(still);
    (void)file.leak();
  }
}

void *ElfImage::symbol(const char *name) const {
  return dlsym(library, name);
}

} // namespace kiln::hal
