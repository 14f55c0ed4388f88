// The folder for the tensors of one measurement: it goes with the process that made it, or with the next one.
#ifndef KILN_TOOLS_BENCH_MODEL_WORK_FOLDER_H
#define KILN_TOOLS_BENCH_MODEL_WORK_FOLDER_H

#include <string>

#include "kiln/base/file_descriptor.h"
#include "kiln/base/status.h"

namespace kiln {

// A new folder, which is removed with its content at the end. A process that is killed leaves its folder behind; the
// folder is locked while its process lives, and `create` removes those of this user that nobody has locked.
class WorkFolder {
public:
  // In `parent`; where that is empty, where the system keeps temporary files.
  static Result<WorkFolder> create(const std::string &parent = {});
  WorkFolder(WorkFolder &&other) noexcept;
  WorkFolder &operator=(WorkFolder &&) = delete;
  ~WorkFolder();

  const std::string &name() const { return path; }

private:
  WorkFolder(std::string path, FileDescriptor lock) : path(std::move(path)), lock(std::move(lock)) {}

  std::string path;
  FileDescriptor lock; // of the folder itself, which the kernel lets go when the process dies
};

} // namespace kiln

#endif // KILN_TOOLS_BENCH_MODEL_WORK_FOLDER_H
