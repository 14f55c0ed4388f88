// The bytes of a module, wherever they live.
#ifndef KILN_RUNTIME_MODULE_FILE_BYTES_H
#define KILN_RUNTIME_MODULE_FILE_BYTES_H

#include <functional>
#include <string>
#include <string_view>

#include "kiln/base/ref.h"
#include "kiln/base/status.h"

namespace kiln::vm {

// They start at a multiple of 64. Immutable but for what the checks below find.
class FileBytes : public RefCounted {
public:
  std::string_view bytes() const { return view; }

  // Whether constants are mapped from the file: only they can change, and only then can the checks below fail.
  virtual bool isMapped() const { return false; }
  // Fails where a mapped page could not be read: it has read as zeros since then (base/watched_pages.h).
  virtual Status checkReadable() const { return okStatus(); }
  // Fails where the mapped file, whatever its name is now, is not what it was when it was opened: in its size, in its
  // time of modification or, where its time of change says that it may have been written to, in its constants.
  virtual Status checkContents() const { return okStatus(); }
  // The same, and fails also where another file has taken its name. A file without a name any more is as good as it
  // was.
  virtual Status checkUnchanged() const { return okStatus(); }

protected:
  std::string_view view;
};

// Constants of a module file up to this many bytes in all are copied, too. Calls of a module without mapped constants
// need no look at its file.
inline constexpr uint64_t kMaxCopiedConstants = uint64_t(2) << 20;

// Reads a module file; "-" is standard input. All is copied into memory of this process that nobody can write to, but
// for large constants of a regular file, which are mapped. Whether it is a module is for container_reader.h to say.
Result<Ref<FileBytes>> openFileBytes(const std::string &path);
// Memory that somebody else owns. `release`, which may be empty, is called when the object goes. Bytes at another
// alignment are copied and released at once.
Ref<FileBytes> borrowFileBytes(std::string_view bytes, std::function<void()> release);

} // namespace kiln::vm

#endif // KILN_RUNTIME_MODULE_FILE_BYTES_H
