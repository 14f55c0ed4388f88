// Whether a file lies on a network file system, where locks and shared memory do not reach from node to node.
#ifndef KILN_STORE_FILE_SYSTEM_H
#define KILN_STORE_FILE_SYSTEM_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kiln/base/status.h"

namespace kiln::store {

// What the kernel says of a file system.
struct FileSystem {
  uint64_t magic = 0; // statfs::f_type
  std::string type;   // as in /proc/self/mountinfo: "ext4", "fuse.sshfs"; empty where it is not known
};

// Of the file, or of its folder where there is no file yet.
Result<FileSystem> fileSystemOf(const std::string &path);

// The name of a network file system: "NFS"; nothing for a local one.
std::optional<std::string_view> networkName(const FileSystem &system);

} // namespace kiln::store

#endif // KILN_STORE_FILE_SYSTEM_H
