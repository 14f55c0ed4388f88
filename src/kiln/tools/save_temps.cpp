#include "kiln/tools/save_temps.h"

#include <cstdio>
#include <unistd.h>

#include "kiln/tools/env.h"
#include "kiln/tools/tool_output.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace kiln {

static void replaceAll(std::string &text, llvm::StringRef what, llvm::StringRef with) {
  for (size_t at; (at = text.find(what)) != std::string::npos;)
    text.replace(at, what.size(), with);
}

static void warn(const llvm::Twine &message) {
  llvm::errs() << "warning: " << message << "\n";
}

static void writeText(const std::string &path, std::string_view text) {
  Status status = writeFile(path, text);
  if (status.ok())
    return;
  (void)llvm::sys::fs::remove(path); // that of makeNew
  warn(llvm::Twine("cannot save temporary files: ") + status.message());
}

// False where there is such a file. Other failures are told when it is written.
static bool makeNew(const std::string &path) {
  int descriptor = -1;
  std::error_code error = llvm::sys::fs::openFileForWrite(path, descriptor, llvm::sys::fs::CD_CreateNew);
  if (!error)
    ::close(descriptor);
  return error != std::errc::file_exists;
}

SaveTemps::SaveTemps(const std::vector<std::string> &arguments, std::string_view input) {
  const char *value = getenvEither("SAVE_TEMPS");
  if (!value)
    return;
  folder = value;
  replaceAll(folder, "{main}", llvm::sys::path::stem(arguments[0]));
  replaceAll(folder, "{pid}", std::to_string(::getpid()));
  if (folder.find("{id}") != std::string::npos) {
    for (int id = 0;; ++id) {
      std::string candidate = folder;
      replaceAll(candidate, "{id}", std::to_string(id));
      if (llvm::sys::fs::exists(candidate))
        continue;
      folder = candidate;
      break;
    }
  }
  if (std::error_code error =
          llvm::sys::fs::create_directories(folder, /*IgnoreExisting=*/true, llvm::sys::fs::all_all)) {
    warn("cannot make the folder '" + folder + "' to save temporary files: " + error.message());
    folder.clear();
    return;
  }
  // Compilations that run at the same time take different numbers: each makes a file that was not there.
  while (llvm::sys::fs::exists(pathFor("core-input", ".mlir")) || !makeNew(pathFor("core-command-line", ".txt")))
    ++number;
  std::string line;
  for (const std::string &argument : arguments) {
    bool plain = !argument.empty() &&
                 argument.find_first_not_of(
                     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=./,:+@") == std::string::npos;
    std::string quoted = argument;
    if (!plain) {
      quoted = "'";
      for (char c : argument)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
      quoted += "'";
    }
    line += (line.empty() ? "" : " ") + quoted;
  }
  writeText(pathFor("core-command-line", ".txt"), line + "\n");
  writeText(pathFor("core-input", ".mlir"), input);
}

std::string SaveTemps::pathFor(const char *stem, const char *extension) const {
  std::string suffix = number > 0 ? "_" + std::to_string(number) : "";
  return folder + "/" + stem + suffix + extension;
}

void SaveTemps::keepOutput(const ToolOutput &output) {
  if (folder.empty() || output.isStandardOutput())
    return;
  if (Result<Ref<FileContents>> module = FileContents::open(output.name()); module.ok())
    writeText(pathFor("core-output", ".bin"), (*module)->text());
  else
    warn(llvm::Twine("cannot save temporary files: ") + module.status().message());
}

} // namespace kiln
