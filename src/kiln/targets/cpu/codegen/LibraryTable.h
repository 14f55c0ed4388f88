// The table through which the CPU driver finds the dispatches of a shared object (kiln/schema/executable_abi.h).
#ifndef KILN_TARGETS_CPU_CODEGEN_LIBRARYTABLE_H
#define KILN_TARGETS_CPU_CODEGEN_LIBRARYTABLE_H

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

struct LibraryExport {
  std::string name; // of the dispatch and of its function in the module
  uint32_t bindingCount = 0, constantCount = 0, localMemoryBytes = 0;
  std::vector<std::string> messages; // of its failures, from code 1 on
};

// Adds the table, by ordinal, and the exported query function to the module, and the messages where there are any. The
// functions are declared: other objects of the same shared object define them.
void addLibraryTable(llvm::Module &module, llvm::ArrayRef<LibraryExport> exports);

} // namespace kiln

#endif // KILN_TARGETS_CPU_CODEGEN_LIBRARYTABLE_H
