#include "kiln/tools/tool_output.h"

namespace kiln {

Status ToolOutput::note(Status status) {
  if (failure.ok())
    failure = std::move(status);
  return failure;
}

Status ToolOutput::open() {
  if (file || !failure.ok())
    return failure;
  if (isStandardOutput()) {
    file.emplace(OutputFile::standardOutput());
    return okStatus();
  }
  Result<OutputFile> opened = OutputFile::open(path);
  if (!opened.ok())
    return note(opened.status());
  file.emplace(*std::move(opened));
  return okStatus();
}

Status ToolOutput::write(std::string_view bytes) {
  KILN_RETURN_IF_ERROR(open());
  return note(file->write(bytes));
}

Status ToolOutput::commit() {
  KILN_RETURN_IF_ERROR(open());
  return note(file->commit());
}

} // namespace kiln
