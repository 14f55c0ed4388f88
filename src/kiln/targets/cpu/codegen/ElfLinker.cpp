#include "kiln/targets/cpu/codegen/ElfLinker.h"

#include "kiln/base/exhaustion.h"
#include "kiln/compiler/Codegen/MemoryFile.h"

#include "lld/Common/Driver.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace kiln {

namespace {

// What LLD writes its output to. It makes a temporary file beside a regular file that it is to replace, which a file in
// memory cannot have, but writes to a pipe as it is. A thread reads it, since a pipe holds little.
class OutputPipe {
public:
  explicit OutputPipe(llvm::SmallVectorImpl<char> &bytes) {
    if (pipe2(ends, O_CLOEXEC) == 0)
      reader = std::thread([this, &bytes] { drain(bytes); });
  }
  ~OutputPipe() { finish(); }
  OutputPipe(const OutputPipe &) = delete;
  OutputPipe &operator=(const OutputPipe &) = delete;

  bool valid() const { return ends[0] >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends[1]); }

  // To be called when nobody writes any more; the bytes are complete then.
  void finish() {
    if (!reader.joinable())
      return;
    close(ends[1]);
    reader.join();
    close(ends[0]);
  }

private:
  void drain(llvm::SmallVectorImpl<char> &bytes) {
    bytes.clear();
    char block[65536];
    for (;;) {
      ssize_t count = read(ends[0], block, sizeof(block));
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0)
        return;
      bytes.append(block, block + count);
    }
  }

  int ends[2] = {-1, -1};
  std::thread reader;
};

// LLD resets all options of the command line that are registered. While this lives, none are: what the user gave stays,
// and threads that generate code read their options meanwhile.
class OptionsKept {
public:
  OptionsKept() : registered(std::move(llvm::cl::getRegisteredOptions())) { llvm::cl::getRegisteredOptions().clear(); }
  ~OptionsKept() {
    auto &options = llvm::cl::getRegisteredOptions();
    registered.insert(options.begin(), options.end());
    options = std::move(registered);
  }
  OptionsKept(const OptionsKept &) = delete;
  OptionsKept &operator=(const OptionsKept &) = delete;

private:
  llvm::DenseMap<llvm::StringRef, llvm::cl::Option *> registered;
};

} // namespace

// One archive, as a process may open fewer files than there are objects.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
archiveOf(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects) {
  std::vector<std::string> names;
  for (size_t i = 0; i < objects.size(); ++i)
    names.push_back(std::to_string(i) + ".o");
  std::vector<llvm::NewArchiveMember> members;
  for (auto [name, object] : llvm::zip(names, objects))
    members.emplace_back(llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), name));
  return llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
                                    /*Deterministic=*/true, /*Thin=*/false);
}

llvm::Error linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects, llvm::StringRef soname,
                             llvm::SmallVectorImpl<char> &sharedObject) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive = archiveOf(objects);
  if (!archive)
    return archive.takeError();
  llvm::Expected<MemoryFile> input = MemoryFile::create("kiln.a", (*archive)->getBuffer());
  if (!input)
    return input.takeError();

  OutputPipe output(sharedObject);
  if (!output.valid()) {
    std::error_code error(errno, std::generic_category());
    return llvm::createStringError(error, "creating a pipe for the linker failed: %s%s", error.message().c_str(),
                                   exhaustionAdvice(error.value()));
  }
  std::string inputPath = input->path(), outputPath = output.path(), name = soname.str();
  const char *args[] = {"ld.lld",         "--shared", "--threads=1",      "--hash-style=gnu", "--build-id=none",
                        "--eh-frame-hdr", "-znow",    "-zrelro",          "-znoexecstack",    "-soname",
                        name.c_str(),     "-o",       outputPath.c_str(), "--whole-archive",  inputPath.c_str()};
  std::string text;
  {
    static std::mutex mutex;
    static bool usable = true;
    std::lock_guard lock(mutex);
    if (!usable)
      return llvm::createStringError("LLD crashed before in this process and cannot be used again; start a new one");
    llvm::raw_string_ostream stream(text);
    OptionsKept options;
    lld::Result result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
    usable = result.canRunAgain;
    if (result.retCode != 0 || !usable) {
      text = text.empty() ? "LLD failed without a message" : llvm::StringRef(text).rtrim().str();
      return llvm::createStringError("%s%s%s", usable ? "" : "LLD crashed: ", text.c_str(), exhaustionAdvice(text));
    }
  }
  output.finish();
  return llvm::Error::success();
}

} // namespace kiln
