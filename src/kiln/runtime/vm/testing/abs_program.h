// A whole program for tests and benchmarks: abs on a tensor of f32, as the compiler would write it, on the `hal`
// module.
#ifndef KILN_RUNTIME_VM_TESTING_ABS_PROGRAM_H
#define KILN_RUNTIME_VM_TESTING_ABS_PROGRAM_H

#include <cstdint>
#include <span>

#include "kiln/schema/module_writer.h"

namespace kiln::vm::testing {

// Functions of hal_imports.def, as imports of a module in their order.
enum class HalImport : uint32_t {
#define KILN_HAL_IMPORT(Name, name, signature) Name,
#include "kiln/schema/hal_imports.def"
};
void addHalImports(schema::ModuleDesc &desc);

// The format of native executables of this machine, "elf-x86_64".
const char *nativeFormat();

// Module "abs" with @abs(tensor of `shape` x f32) -> the same, which runs export `ordinal` of abs_executable.c (0 =
// abs, 1 = a dispatch that fails, 2 = one that runs until its input's first element is not negative, 3 = one that takes
// long). Its command buffer is recorded by the initializer and replayed.
schema::ModuleDesc absDesc(std::span<const uint64_t> shape, uint32_t ordinal = 0, uint32_t workgroups = 1);

// The same with a constant of that many f32, -1, -2, ..., -1000, -1, ..., and functions that read it:
//   @constant_abs() -> tensor     its absolute values, by the kernel
//   @constant_copy() -> tensor    the constant, by a copy of the device
//   @constant_load() -> i64       8 bytes of its middle, by the host
// `during` is the name of an import that each of them calls before it reads the constant; null: none.
schema::ModuleDesc constantDesc(uint64_t elements, const char *during = nullptr);

} // namespace kiln::vm::testing

#endif // KILN_RUNTIME_VM_TESTING_ABS_PROGRAM_H
