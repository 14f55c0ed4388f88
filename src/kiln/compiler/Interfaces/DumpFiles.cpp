#include "kiln/compiler/Interfaces/DumpFiles.h"

#include "kiln/base/file.h"

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

LogicalResult writeDump(Operation *op, const std::string &path, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  Status status = writeFile(path, text);
  return status.ok() ? success() : LogicalResult(op->emitError() << status.message());
}

LogicalResult ExecutableDump::write(StringRef suffix, llvm::function_ref<void(llvm::raw_ostream &)> print) const {
  if (!wanted())
    return success();
  if (failed(makeDumpFolder(op, folder)))
    return failure();
  return writeDump(op, dumpPath(folder, baseName + suffix), print);
}

} // namespace kiln
