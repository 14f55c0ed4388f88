// A file without a name in any file system, for linkers and assemblers: nothing of it is left, however the process
// ends.
#ifndef KILN_COMPILER_CODEGEN_MEMORYFILE_H
#define KILN_COMPILER_CODEGEN_MEMORYFILE_H

#include "kiln/base/file_descriptor.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace kiln {

class MemoryFile {
public:
  // `name` is what errors and debuggers call it.
  static llvm::Expected<MemoryFile> create(const char *name, llvm::StringRef bytes = "");

  // Other processes can open it too while this one runs.
  std::string path() const;

  // All that is in it now, whoever wrote it.
  llvm::Expected<llvm::SmallString<0>> read() const;

private:
  explicit MemoryFile(FileDescriptor descriptor) : descriptor(std::move(descriptor)) {}

  FileDescriptor descriptor;
};

} // namespace kiln

#endif // KILN_COMPILER_CODEGEN_MEMORYFILE_H
