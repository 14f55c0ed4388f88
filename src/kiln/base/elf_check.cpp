#include "kiln/base/elf_check.h"

#include <cstdint>
#include <cstring>
#include <elf.h>

namespace kiln {

#if defined(__x86_64__)
static constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
static constexpr uint16_t kMachine = EM_AARCH64;
#else
#error "name the ELF machine number of this architecture"
#endif

Status checkSharedObject(std::span<const std::byte> bytes) {
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
      return dataLoss("its segment {} lies outside of it: it is truncated", i);
    (segment.p_type == PT_LOAD ? loads : dynamic) = true;
  }
  if (!loads || !dynamic)
    return dataLoss("it has nothing to load");
  return okStatus();
}

} // namespace kiln
