#include "kiln/base/own_folder.h"

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace kiln {

Status openOwnFolder(const std::string &folder) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return errnoStatus(errno, fmt::format("cannot create '{}'", folder));
  struct stat info;
  if (stat(folder.c_str(), &info) != 0)
    return errnoStatus(errno, fmt::format("cannot use '{}'", folder));
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)))
    return permissionDenied("'{}' is not a folder that only its owner can write to", folder);
  return okStatus();
}

} // namespace kiln
