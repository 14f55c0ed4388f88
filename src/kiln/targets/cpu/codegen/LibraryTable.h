// The table through which the CPU driver finds the dispatches of a shared object (kiln/schema/executable_abi.h).
#ifndef KILN_TARGETS_CPU_CODEGEN_LIBRARYTABLE_H
#define KILN_TARGETS_CPU_CODEGEN_LIBRARYTABLE_H

#include <cstdint>
#include <string>

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

struct LibraryExport {
  std::string name; // of the dispatch and of its function in the module
  uint32_t bindingCount = 0, constantCount = 0, localMemoryBytes = 0;
};

// Adds the table, by ordinal, and the exported query function to the module, and makes everything else local to it. The
// module must define the functions.
void addLibraryTable(llvm::Module &module, llvm::ArrayRef<LibraryExport> exports);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_LIBRARYTABLE_H
