#include "kiln/store/file_system.h"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

namespace kiln::store {

namespace {
struct Magic {
  uint64_t number;
  std::string_view name;
};
} // namespace

// From linux/magic.h, and from the sources of those that are not part of Linux.
static constexpr Magic kNetworkMagic[] = {{0x6969, "NFS"},
                                          {0xFF534D42, "CIFS"},
                                          {0xFE534D42, "SMB2"},
                                          {0x517B, "SMB"},
                                          {0x0BD00BD0, "Lustre"},
                                          {0x47504653, "GPFS"},
                                          {0x19830326, "BeeGFS"},
                                          {0x00C36400, "CephFS"},
                                          {0x01021997, "9p"},
                                          {0x5346414F, "AFS"},
                                          {0x6B414653, "AFS"},
                                          {0x73757245, "Coda"},
                                          {0x7461636F, "OCFS2"},
                                          {0x01161970, "GFS2"},
                                          {0xAAD7AAEA, "PanFS"},
                                          {0x20030528, "OrangeFS"},
                                          {0x786F4256, "VirtualBox's shared folders"},
                                          {0x564C, "NCP"}};

// Every file system of user space has this number; its type tells more.
static constexpr uint64_t kFuseMagic = 0x65735546;
static constexpr std::string_view kNetworkFuse[] = {"sshfs",  "glusterfs", "ceph",      "s3fs",   "rclone",  "juicefs",
                                                    "davfs",  "gcsfuse",   "hdfs",      "lustre", "moosefs", "lizardfs",
                                                    "beegfs", "smbnetfs",  "curlftpfs", "weka",   "blobfuse"};

std::optional<std::string_view> networkName(const FileSystem &system) {
  for (const Magic &magic : kNetworkMagic)
    if (system.magic == magic.number)
      return magic.name;
  if (system.magic == kFuseMagic)
    for (std::string_view name : kNetworkFuse)
      if (system.type.find(name) != std::string::npos)
        return name;
  return std::nullopt;
}

// The type of what is mounted under a device's numbers, from lines such as
//   36 35 98:0 / /mnt rw,noatime master:1 - fuse.sshfs node:/data rw
static std::string mountedType(dev_t device) {
  std::ifstream mounts("/proc/self/mountinfo");
  const std::string wanted = fmt::format("{}:{}", major(device), minor(device));
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, numbers, word;
    words >> id >> parent >> numbers;
    if (numbers != wanted)
      continue;
    while (words >> word)
      if (word == "-" && words >> word)
        return word;
  }
  return {};
}

Result<FileSystem> fileSystemOf(const std::string &path) {
  std::string place = path;
  struct stat info = {};
  if (stat(place.c_str(), &info) != 0) {
    size_t slash = path.rfind('/');
    place = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  }
  struct statfs system = {};
  if (stat(place.c_str(), &info) != 0 || statfs(place.c_str(), &system) != 0)
    return errnoStatus(errno, fmt::format("cannot tell the file system of '{}'", place));
  // The field is signed on some architectures, and the numbers have 32 bits.
  return FileSystem{static_cast<uint32_t>(system.f_type), mountedType(info.st_dev)};
}

} // namespace kiln::store
