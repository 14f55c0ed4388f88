#include "kiln/runtime/module/file_bytes.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/base/file_descriptor.h"
#include "kiln/base/watched_pages.h"
#include "kiln/schema/container.h"
#include "kiln/schema/module_writer.h"

namespace kiln::vm {

namespace {

using schema::ContainerHeader;
using schema::SectionEntry;

constexpr size_t kMemoryAlignment = 64;
constexpr const char *kCannotLoad = "cannot load module";

class BorrowedBytes final : public FileBytes {
public:
  BorrowedBytes(std::string_view bytes, std::function<void()> onLast) : onLast(std::move(onLast)) { view = bytes; }

private:
  ~BorrowedBytes() override {
    if (onLast)
      onLast();
  }

  std::function<void()> onLast;
};

// Bytes [begin, end) of the file.
struct Range {
  uint64_t begin, end;
};

int64_t nanosecondsOf(const timespec &time) {
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// A program that writes to a file can set its time of modification back, but not its time of change, which renaming the
// file or changing its owner sets, too.
struct Version {
  explicit Version(const struct stat &info)
      : size(info.st_size), modified(nanosecondsOf(info.st_mtim)), changed(nanosecondsOf(info.st_ctim)) {}

  int64_t size, modified, changed;
};

// A regular file: its bytes lie at their offsets in one range of memory, of which some pages are the file's.
class RegularFile final : public FileBytes {
public:
  static Result<Ref<FileBytes>> read(const std::string &path, FileDescriptor file, const struct stat &info) {
    Ref<RegularFile> bytes = Ref<RegularFile>::adopt(new RegularFile(path, std::move(file), info));
    KILN_RETURN_IF_ERROR(bytes->readAll());
    return Ref<FileBytes>(std::move(bytes));
  }

  bool isMapped() const override { return !mapped.empty(); }

  Status checkReadable() const override {
    if (anyPagesLost())
      for (const std::unique_ptr<WatchedPages> &pages : mapped)
        if (pages->lost())
          return dataLoss("constants of module '{}' cannot be read any more: the file was truncated, or its disk "
                          "fails. Load the module again",
                          path);
    return okStatus();
  }

  Status checkContents() const override {
    KILN_RETURN_IF_ERROR(checkReadable());
    struct stat info = {};
    if (mapped.empty())
      return okStatus();
    if (::fstat(file.get(), &info) != 0)
      return errnoStatus(errno, fmt::format("cannot tell whether the file of module '{}' was changed", path));
    Version now(info);
    if (isUnchanged(now))
      return okStatus();
    std::string change =
        now.size != version.size ? fmt::format("it had {} bytes and has {}", version.size, now.size)
        : now.modified == version.modified
            ? fmt::format("its modification time is the same, and its {} bytes are others", now.size)
            : fmt::format("its modification time is another one, and its {} bytes may be others, too", now.size);
    return failedPrecondition("the file of module '{}' was changed since it was loaded, and constants are read from "
                              "it: {}. Load the module again",
                              path, change);
  }

  Status checkUnchanged() const override {
    KILN_RETURN_IF_ERROR(checkContents());
    struct stat info = {};
    if (mapped.empty() || ::stat(absolutePath.c_str(), &info) != 0 || (info.st_dev == device && info.st_ino == inode))
      return okStatus();
    return failedPrecondition("another file has taken the place of module '{}' since it was loaded. Load the module "
                              "again",
                              path);
  }

private:
  RegularFile(const std::string &path, FileDescriptor opened, const struct stat &info)
      : path(path), file(std::move(opened)), device(info.st_dev), inode(info.st_ino), version(info), size(info.st_size),
        lastChangeSeen(version.changed) {
    std::error_code error;
    absolutePath = std::filesystem::absolute(path, error).string();
  }

  ~RegularFile() override {
    mapped.clear();
    if (memory)
      ::munmap(memory, size);
  }

  Status readAll() {
    void *pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
      return errnoStatus(errno, fmt::format("{}: no memory for the {} bytes of '{}'", kCannotLoad, size, path));
    memory = static_cast<char *>(pages);
    view = {memory, size};
    KILN_RETURN_IF_ERROR(readRange({0, std::min<uint64_t>(size, schema::kSectionAlignment)}));
    ContainerHeader header;
    std::memcpy(&header, memory, sizeof(header)); // beyond the end of a smaller file the page is zero
    // Of what is no module that this runtime can read, nobody reads more than the header.
    if (std::memcmp(header.magic, schema::kContainerMagic, sizeof(header.magic)) == 0 &&
        header.version == schema::kContainerVersion)
      KILN_RETURN_IF_ERROR(readSections(header.section_count));
    if (::mprotect(memory, size, PROT_READ) != 0)
      return errnoStatus(errno, fmt::format("{} '{}'", kCannotLoad, path));
    struct stat now;
    if (::fstat(file.get(), &now) != 0 || !isUnchanged(Version(now)))
      return failedPrecondition("{}: the file '{}' was changed while it was read. Load the module again", kCannotLoad,
                                path);
    if (mapped.empty())
      (void)file.close();
    return okStatus();
  }

  Status readSections(uint32_t sectionCount) {
    uint64_t tableEnd = std::min(size, sizeof(ContainerHeader) + uint64_t(sectionCount) * sizeof(SectionEntry));
    KILN_RETURN_IF_ERROR(readRange({0, tableEnd}));
    findConstants(tableEnd);
    uint64_t end = 0;
    for (Range range : rangesToMap()) {
      KILN_RETURN_IF_ERROR(readRange({end, range.begin}));
      void *place = memory + range.begin;
      uint64_t length = range.end - range.begin;
      if (::mmap(place, length, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.get(), off_t(range.begin)) == MAP_FAILED)
        return errnoStatus(errno, fmt::format("cannot map '{}'", path));
      mapped.push_back(std::make_unique<WatchedPages>(place, length));
      end = range.end;
    }
    return readRange({end, size});
  }

  // The table may be damaged: what does not lie in the file, or not in order, is left out.
  void findConstants(uint64_t tableEnd) {
    uint64_t previousEnd = tableEnd;
    for (uint64_t at = sizeof(ContainerHeader); at + sizeof(SectionEntry) <= tableEnd; at += sizeof(SectionEntry)) {
      SectionEntry entry;
      std::memcpy(&entry, memory + at, sizeof(entry));
      if (entry.kind != schema::SectionKind::Constants || entry.offset > size || entry.length > size - entry.offset ||
          entry.offset < previousEnd)
        continue;
      previousEnd = entry.offset + entry.length;
      constants.push_back(entry);
    }
  }

  // The whole pages of constants, where they are worth it.
  std::vector<Range> rangesToMap() const {
    std::vector<Range> ranges;
    uint64_t total = 0, page = uint64_t(::sysconf(_SC_PAGESIZE));
    for (const SectionEntry &entry : constants) {
      Range range = {(entry.offset + page - 1) / page * page, (entry.offset + entry.length) / page * page};
      total += entry.length;
      if (range.begin < range.end)
        ranges.push_back(range);
    }
    if (total <= kMaxCopiedConstants)
      ranges.clear();
    return ranges;
  }

  // Constants are read only where the time of change is the one thing that differs, and then once.
  bool isUnchanged(const Version &now) const {
    if (now.size != version.size || now.modified != version.modified)
      return false;
    if (now.changed != lastChangeSeen && !std::ranges::all_of(constants, [&](const SectionEntry &entry) {
          return schema::checksumBytes(view.substr(entry.offset, entry.length)) == entry.checksum;
        }))
      return false;
    lastChangeSeen = now.changed;
    return true;
  }

  Status readRange(Range range) {
    while (range.begin < range.end) {
      ssize_t count = ::pread(file.get(), memory + range.begin, std::min<uint64_t>(range.end - range.begin, 1u << 30),
                              off_t(range.begin));
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        return errnoStatus(errno, fmt::format("{}: cannot read '{}'", kCannotLoad, path));
      if (count == 0)
        return dataLoss("{}: '{}' was truncated while it was read: it had {} bytes and ends at {}", kCannotLoad, path,
                        size, range.begin);
      range.begin += uint64_t(count);
    }
    return okStatus();
  }

  const std::string path; // as it was asked for, for messages
  FileDescriptor file;    // open while it is read, or mapped
  std::string absolutePath;
  const dev_t device;
  const ino_t inode;
  const Version version;
  const uint64_t size;
  mutable std::atomic<int64_t>
      lastChangeSeen; // the time of change that the file had when its constants were last found right
  std::vector<SectionEntry> constants;
  char *memory = nullptr;
  std::vector<std::unique_ptr<WatchedPages>> mapped;
};

} // namespace

Result<Ref<FileBytes>> openFileBytes(const std::string &path) {
  Result<Ref<FileContents>> contents = Ref<FileContents>();
  if (path == "-") {
    contents = FileContents::read(STDIN_FILENO, "standard input");
  } else {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info = {};
    if (!file || ::fstat(file.get(), &info) != 0)
      return errnoStatus(errno, fmt::format("{}: cannot open '{}'", kCannotLoad, path));
    if (S_ISREG(info.st_mode) && info.st_size > 0)
      return RegularFile::read(path, std::move(file), info);
    contents = FileContents::read(file.get(), path);
  }
  if (!contents.ok())
    return std::move(contents).status().withContext(kCannotLoad);
  std::string_view bytes = (*contents)->text();
  return borrowFileBytes(bytes, [keep = *std::move(contents)] {});
}

Ref<FileBytes> borrowFileBytes(std::string_view bytes, std::function<void()> release) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kMemoryAlignment == 0)
    return makeRef<BorrowedBytes>(bytes, std::move(release));
  auto *copy = static_cast<char *>(::operator new(bytes.size(), std::align_val_t(kMemoryAlignment)));
  std::memcpy(copy, bytes.data(), bytes.size());
  if (release)
    release();
  return makeRef<BorrowedBytes>(std::string_view(copy, bytes.size()),
                                [copy] { ::operator delete(copy, std::align_val_t(kMemoryAlignment)); });
}

} // namespace kiln::vm
