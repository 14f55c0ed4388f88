// Compiles kernels as the compiler does from what lower-executable-target leaves on, loads them, and calls them.
#ifndef KILN_TARGETS_CPU_CODEGEN_TEST_COMPILEDKERNEL_H
#define KILN_TARGETS_CPU_CODEGEN_TEST_COMPILEDKERNEL_H

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kiln/compiler/Interfaces/TargetBackend.h"
#include "kiln/schema/executable_abi.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"

namespace kiln {

// The features of this machine; and whether it can run code for others.
CpuTarget hostTarget();
bool hostHas(llvm::StringRef features);

// What a compilation said: errors, one a line.
struct Compilation {
  std::string errors;
  std::vector<char> bytes; // empty where there were errors
};

// `exports` are "name constants binding_count", as many as `functions` (MLIR text) defines dispatches.
struct KernelSource {
  struct Export {
    std::string name;
    int constants = 0, bindings = 0;
  };
  std::vector<Export> exports;
  std::string functions;
  std::string features = {}; // "+avx2,+fma"
};
Compilation compileKernel(const KernelSource &source, const SerializationOptions &options = {});

// A loaded shared object.
class LoadedKernel {
public:
  explicit LoadedKernel(const std::vector<char> &bytes);
  ~LoadedKernel();
  LoadedKernel(const LoadedKernel &) = delete;
  LoadedKernel &operator=(const LoadedKernel &) = delete;

  const kiln_executable_library_t *library() const { return table; }
  void *symbol(const char *name) const;

  struct Call {
    std::vector<std::span<std::byte>> bindings;
    std::vector<uint64_t> constants = {};
    uint32_t workgroups[3] = {1, 1, 1};
  };
  // Runs all workgroups of the export, one after the other, with local memory full of garbage.
  void run(uint32_t ordinal, const Call &call) const;

private:
  void *handle = nullptr;
  const kiln_executable_library_t *table = nullptr;
};

// Memory that a binding may be: aligned, and followed by bytes that must not change.
template <typename T> class Binding {
public:
  explicit Binding(size_t count, T value = T()) : memory(count + 2 * guardCount), count(count) {
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    size_t skip = (KILN_BINDING_ALIGNMENT - address % KILN_BINDING_ALIGNMENT) % KILN_BINDING_ALIGNMENT;
    first = reinterpret_cast<T *>(address + skip);
    std::fill(first, first + count, value);
    for (size_t i = 0; i < guardBytes; ++i)
      guard()[i] = std::byte(0xA5);
  }
  T &operator[](size_t i) { return first[i]; }
  size_t size() const { return count; }
  T *begin() { return first; }
  T *end() { return first + count; }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(first, count)); }
  bool guardIsIntact() {
    for (size_t i = 0; i < guardBytes; ++i)
      if (guard()[i] != std::byte(0xA5))
        return false;
    return true;
  }

private:
  static constexpr size_t guardBytes = 64, guardCount = 2 * KILN_BINDING_ALIGNMENT / sizeof(T);
  std::byte *guard() { return reinterpret_cast<std::byte *>(first + count); }

  std::vector<T> memory;
  size_t count;
  T *first;
};

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_TEST_COMPILEDKERNEL_H
