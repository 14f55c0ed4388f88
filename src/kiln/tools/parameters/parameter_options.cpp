#include "kiln/tools/parameters/parameter_options.h"

#include <algorithm>
#include <chrono>
#include <unistd.h>

#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/parameters/parameter_set.h"

namespace kiln {

void addParametersFlag(FlagParser &parser, std::vector<std::string> &values) {
  parser.add({"parameters", "[SCOPE=]FILE", "A file of parameters: .irpa, .safetensors or .gguf."}, values);
}

Result<ScopedFiles> openParameters(const std::vector<std::string> &values) {
  ScopedFiles files;
  for (const std::string &value : values) {
    auto [scope, path] = splitScope(value);
    Result<std::shared_ptr<const ParameterFile>> file = ParameterFile::open(path);
    if (!file.ok())
      return std::move(file).status().withContext(fmt::format("--parameters={}", value));
    auto known = std::ranges::find(files, scope, &ScopedFiles::value_type::first);
    if (known == files.end())
      known = files.insert(known, {scope, {}});
    known->second.push_back(*std::move(file));
  }
  return files;
}

void ArchiveFlags::add(FlagParser &parser) {
  parser.add({"output", "FILE", "The archive to write; .irpa is what it is usually called."}, output);
  parser.add({"alignment", "BYTES",
              "Each parameter starts at a multiple of this in the file. Devices that address the host's memory use "
              "multiples of 64 in place."},
             alignment);
  parser.add({"quiet", "", "Says nothing but errors."}, quiet);
}

Status ArchiveFlags::write(std::string_view tool, const std::vector<ParameterContents> &parameters,
                           const std::function<Status()> &check) const {
  if (output.empty())
    return invalidArgument("--output=FILE says where the archive is to be");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > (uint64_t(1) << 30))
    return invalidArgument("--alignment={}: it is a power of two, 2^30 at most", alignment);
  uint64_t total = 0;
  for (const ParameterContents &parameter : parameters)
    total += parameter.length;
  using Clock = std::chrono::steady_clock;
  Clock::time_point next = Clock::now() + std::chrono::seconds(1);
  const bool mayShow = !quiet && ::isatty(STDERR_FILENO) == 1;
  bool shown = false;
  Status status = writeIrpa(output, parameters, {alignment}, [&](uint64_t written) {
    if (mayShow && Clock::now() >= next) {
      fmt::print(stderr, "\r{}: {:.1f} of {:.1f} GB", tool, double(written) / 1e9, double(total) / 1e9);
      next = Clock::now() + std::chrono::milliseconds(200);
      shown = true;
    }
    return check();
  });
  if (shown)
    fmt::print(stderr, "\n");
  KILN_RETURN_IF_ERROR(std::move(status));
  if (!quiet)
    print(fmt::format("wrote {} with {} bytes to {}\n", counted(parameters.size(), "parameter"), total, output));
  return okStatus();
}

Result<std::pair<std::string, std::string>> splitName(std::string_view flag, const std::string &text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    return invalidArgument("--{}={}: a name comes first, and '=' behind it", flag, text);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<std::optional<ParameterContents>> readRepeated(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view value = equals == std::string_view::npos ? "0" : text.substr(equals + 1);
  hal::ElementType type;
  std::vector<uint64_t> shape;
  if (text.starts_with('@') || text.starts_with('+') || text.starts_with('*') || value.empty() ||
      value.find_first_of("[], @+") != std::string_view::npos)
    return std::optional<ParameterContents>();
  KILN_RETURN_IF_ERROR(io::parseTensorType(text.substr(0, equals), type, shape));
  ParameterContents contents;
  KILN_ASSIGN_OR_RETURN(contents.length, hal::shapeByteLength(type, shape));
  // Packed elements share bytes; all of them zero is a byte of zeros.
  const bool packed = hal::isPacked(type);
  if (packed && equals != std::string_view::npos)
    return std::optional<ParameterContents>();
  contents.pattern.resize(packed ? 1 : hal::elementTypeByteSize(type));
  if (!packed)
    KILN_RETURN_IF_ERROR(io::parseElement(type, value, reinterpret_cast<uint8_t *>(contents.pattern.data())));
  return std::optional(std::move(contents));
}

} // namespace kiln
