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

LogicalResult ExecutableDump::write(StringRef suffix, llvm::function_ref<void(llvm::raw_ostream &)> print) const {
  if (!wanted())
    return success();
  if (failed(makeDumpFolder(op, folder)))
    return failure();
  std::string path = dumpPath(folder, baseName + suffix);
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    print(stream);
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return op->emitError() << "cannot write '" << path << "': " << error.message();
  return success();
}

} // namespace kiln
