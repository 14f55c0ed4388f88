#include "kiln/compiler/Interfaces/DumpFiles.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace kiln {

LogicalResult makeDumpFolder(Operation *op, StringRef folder) {
  namespace fs = llvm::sys::fs;
  if (std::error_code error = fs::create_directories(folder, /*IgnoreExisting=*/true, fs::all_all))
    return op->emitError() << "cannot make the folder '" << folder << "': " << error.message();
  return success();
}

std::string dumpPath(StringRef folder, const Twine &name) {
  std::string file = name.str();
  for (char &c : file)
    if (c == '/' || c == ' ' || (c >= 0 && !llvm::isPrint(c)))
      c = '_';
  SmallString<128> path(folder);
  llvm::sys::path::append(path, file);
  return std::string(path);
}

} // namespace kiln
