// Files of parameters, tensors outside of the program that uses them: .irpa, .safetensors and .gguf.
#ifndef KILN_SCHEMA_PARAMETERS_PARAMETER_FILE_H
#define KILN_SCHEMA_PARAMETERS_PARAMETER_FILE_H

#include "kiln/base/mapped_file.h"
#include "kiln/base/status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kiln {

// What one key stands for: bytes of the file, or a few bytes over and over.
struct Parameter {
  std::string key;
  uint64_t length = 0; // in bytes
  uint64_t offset = 0; // where it starts in the file, unless it is a splat
  std::vector<std::byte> splat;
  std::string type; // "768x3072xf32", as far as the file tells
  std::string metadata;

  bool isSplat() const { return !splat.empty(); }
};

// Read and checked: every range lies in the file. The bytes are mapped, so that a file may be larger than the memory.
class ParameterFile {
public:
  // Which of the formats it is shows in the first bytes, and for .safetensors, which has no mark, in the name.
  static Result<std::shared_ptr<const ParameterFile>> open(const std::string &path);

  const std::string &path() const { return fileName; }
  std::string_view format() const { return formatName; }
  // In the order in which the file lists them.
  const std::vector<Parameter> &parameters() const { return entries; }
  // Null where there is none.
  const Parameter *find(std::string_view key) const;
  // Of a parameter that is no splat.
  std::span<const std::byte> bytesOf(const Parameter &parameter) const {
    return file->bytes().subspan(parameter.offset, parameter.length);
  }
  // Fails where the file has lost pages that were read.
  Status checkReadable() const;

private:
  std::string fileName;
  std::string_view formatName;
  std::shared_ptr<const MappedFile> file;
  std::vector<Parameter> entries;
  std::unordered_map<std::string_view, size_t> numbers; // of entries
};

// "scope=file" or "file" as the two.
std::pair<std::string, std::string> splitScope(std::string_view text);
// "scope::key", or "key" where the scope has no name.
std::string fullParameterName(std::string_view scope, std::string_view key);

// What each format's reader does: gives the parameters of a file's bytes. Errors say what is wrong, but not where the
// file is.
Result<std::vector<Parameter>> readIrpa(std::span<const std::byte> file);
Result<std::vector<Parameter>> readSafetensors(std::span<const std::byte> file);
Result<std::vector<Parameter>> readGguf(std::span<const std::byte> file);

inline constexpr std::string_view kIrpaMagic = "IRPA", kGgufMagic = "GGUF";

} // namespace kiln

#endif // KILN_SCHEMA_PARAMETERS_PARAMETER_FILE_H
