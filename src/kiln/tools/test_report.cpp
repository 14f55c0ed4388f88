#include "kiln/tools/test_report.h"

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <sys/mman.h>

#include "kiln/base/file.h"
#include "gtest/gtest.h"

namespace kiln {

// Where GoogleTest puts a report: "tests/" is a folder, in which it takes a name that is not there yet.
static std::string reportPath(std::string path, const std::string &format) {
  if (path.empty())
    return "test_detail." + format;
  if (!path.ends_with('/'))
    return path;
  std::string name = path + "kiln-check-module", file = name + "." + format;
  std::error_code error;
  for (int i = 1; std::filesystem::exists(file, error); ++i)
    file = fmt::format("{}_{}.{}", name, i, format);
  return file;
}

Status TestReport::redirect(std::vector<char *> &arguments) {
  constexpr std::string_view name = "--gtest_output=";
  std::string wanted = GTEST_FLAG_GET(output); // the environment's
  std::erase_if(arguments, [&](const char *argument) {
    std::string_view text = argument;
    if (text.starts_with(name))
      wanted = text.substr(name.size());
    return text.starts_with(name);
  });
  if (wanted.empty()) {
    GTEST_FLAG_SET(output, ""); // whatever the environment says
    return okStatus();
  }
  size_t colon = wanted.find(':');
  std::string format = wanted.substr(0, colon);
  if (format != "xml" && format != "json")
    return invalidArgument("--gtest_output={} is no report; write xml, json, xml:FILE or json:FILE", wanted);
  path = reportPath(colon == wanted.npos ? "" : wanted.substr(colon + 1), format);
  std::error_code error;
  if (std::filesystem::path folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, error); // as GoogleTest does
  // What cannot be written is told before the tests run.
  KILN_RETURN_IF_ERROR(OutputFile::open(path).status());
  memory = FileDescriptor(memfd_create("kiln-check-module", MFD_CLOEXEC));
  if (!memory)
    return errnoStatus(errno, "cannot hold the report of --gtest_output");
  GTEST_FLAG_SET(output, fmt::format("{}:/proc/self/fd/{}", format, memory.get()));
  return okStatus();
}

Status TestReport::write() {
  if (path.empty())
    return okStatus();
  if (lseek(memory.get(), 0, SEEK_SET) != 0)
    return errnoStatus(errno, "cannot read the report of --gtest_output");
  KILN_ASSIGN_OR_RETURN(Ref<FileContents> report, FileContents::read(memory.get(), "the report of --gtest_output"));
  if (report->text().empty())
    return resourceExhausted("'{}' was not written: there was no memory for the report", path);
  return writeFile(path, report->bytes());
}

} // namespace kiln
