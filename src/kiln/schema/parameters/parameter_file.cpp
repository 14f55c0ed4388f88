#include "kiln/schema/parameters/parameter_file.h"

#include "kiln/schema/parameters/byte_reader.h"

namespace kiln {

std::pair<std::string, std::string> splitScope(std::string_view text) {
  const size_t equals = text.find('=');
  // A path may hold one, too.
  if (equals == std::string_view::npos || text.substr(0, equals).find('/') != std::string_view::npos)
    return {"", std::string(text)};
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::string fullParameterName(std::string_view scope, std::string_view key) {
  return scope.empty() ? std::string(key) : fmt::format("{}::{}", scope, key);
}

Result<std::shared_ptr<const ParameterFile>> ParameterFile::open(const std::string &path) {
  auto read = std::make_shared<ParameterFile>();
  read->fileName = path;
  KILN_ASSIGN_OR_RETURN(read->file, MappedFile::open(path));
  std::span<const std::byte> bytes = read->file->bytes();
  const std::string start = textOf(bytes.first(std::min<size_t>(bytes.size(), 4)));
  Result<std::vector<Parameter>> entries = std::vector<Parameter>();
  if (start == kIrpaMagic) {
    read->formatName = "irpa";
    entries = readIrpa(bytes);
  } else if (start == kGgufMagic) {
    read->formatName = "gguf";
    entries = readGguf(bytes);
  } else if (path.ends_with(".safetensors")) {
    read->formatName = "safetensors";
    entries = readSafetensors(bytes);
  } else {
    return invalidArgument("'{}' is no parameter file: it starts like neither .irpa nor .gguf, and is not called "
                           ".safetensors",
                           path);
  }
  KILN_RETURN_IF_ERROR(read->checkReadable());
  if (!entries.ok())
    return std::move(entries).status().withContext(fmt::format("in '{}'", path));
  read->entries = *std::move(entries);
  for (size_t i = 0; i < read->entries.size(); ++i)
    if (!read->numbers.try_emplace(read->entries[i].key, i).second)
      return dataLoss("in '{}': the parameter '{}' is there twice", path, read->entries[i].key);
  return std::shared_ptr<const ParameterFile>(std::move(read));
}

const Parameter *ParameterFile::find(std::string_view key) const {
  auto found = numbers.find(key);
  return found == numbers.end() ? nullptr : &entries[found->second];
}

Status ParameterFile::checkReadable() const {
  return file->isWhole() ? okStatus()
                         : dataLoss("'{}' was cut off while it was read; its parameters may be zeros", fileName);
}

} // namespace kiln
