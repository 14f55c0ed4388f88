#include "kiln/tools/calibration_file.h"

#include <cctype>
#include <filesystem>
#include <system_error>

#include "kiln/base/file.h"
#include "kiln/tools/cache_path.h"

namespace kiln {

std::string calibrationPath(const measure::CalibratedDevice *device) {
  if (!device)
    return userCachePath("calibration.json");
  std::string name; // "nvidia-h200"
  for (char c : device->name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  return userCachePath(fmt::format("calibration-{}.json", name));
}

Result<measure::Calibration> readCalibrationFile(const std::string &path) {
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> file, FileContents::open(path));
  Result<measure::Calibration> calibration = measure::Calibration::parse(file->text());
  if (!calibration.ok())
    return std::move(calibration).status().withContext(fmt::format("'{}'", path));
  return calibration;
}

Status writeCalibrationFile(const std::string &path, const measure::Calibration &calibration) {
  if (std::string folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      return errnoStatus(error.value(), fmt::format("cannot create '{}'", folder));
  }
  return writeFile(path, calibration.json());
}

} // namespace kiln
