#include "kiln/runtime/parameters/parameter_set.h"

#include "kiln/base/flags.h"

#include <algorithm>

namespace kiln {

namespace {

// Filled and copied in pieces, as a device may have memory of its own.
constexpr uint64_t kPiece = uint64_t(1) << 24;

Status fill(hal::Buffer &buffer, std::span<const std::byte> pattern) {
  std::vector<std::byte> filled;
  while (filled.size() < std::min(kPiece, buffer.byteLength()))
    filled.insert(filled.end(), pattern.begin(), pattern.end());
  for (uint64_t at = 0; at < buffer.byteLength(); at += filled.size())
    KILN_RETURN_IF_ERROR(buffer.write(
        at, std::span<const std::byte>(filled).first(std::min<uint64_t>(filled.size(), buffer.byteLength() - at))));
  return okStatus();
}

} // namespace

Status ParameterSet::add(const std::string &scope, const std::string &path) {
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<const ParameterFile> file, ParameterFile::open(path));
  std::lock_guard lock(mutex);
  Files &files = scopes[scope];
  for (const auto &other : files)
    for (const Parameter &parameter : file->parameters())
      if (other->find(parameter.key))
        return alreadyExists("the parameter '{}' is in '{}' and in '{}'", fullParameterName(scope, parameter.key),
                             other->path(), path);
  files.push_back(std::move(file));
  return okStatus();
}

Result<Ref<hal::Buffer>> ParameterSet::load(hal::Device &device, std::string_view scope, std::string_view key,
                                            uint64_t length) {
  const std::string name = fullParameterName(scope, key);
  std::lock_guard lock(mutex);
  auto files = scopes.find(scope);
  if (files == scopes.end())
    return notFound("the program needs the parameter '{}' of {} bytes, and there is no file of parameters {}; "
                    "--parameters={}FILE names one",
                    name, length, scope.empty() ? "without a scope" : fmt::format("of scope '{}'", scope),
                    scope.empty() ? "" : fmt::format("{}=", scope));
  for (const auto &file : files->second) {
    const Parameter *parameter = file->find(key);
    if (!parameter)
      continue;
    if (parameter->length != length)
      return invalidArgument("the parameter '{}' has {} bytes{} in '{}', and the program wants {}", name,
                             parameter->length, parameter->type.empty() ? "" : fmt::format(" ({})", parameter->type),
                             file->path(), length);
    Brought &has = brought[{&device, parameter}];
    if (!has.buffer) {
      Result<Ref<hal::Buffer>> buffer = bring(device, file, *parameter);
      if (!buffer.ok())
        return std::move(buffer).status().withContext(fmt::format("the parameter '{}'", name));
      has = {Ref<hal::Device>::share(&device), *std::move(buffer)};
    }
    return has.buffer;
  }
  std::vector<std::string> known;
  for (const auto &file : files->second)
    for (const Parameter &parameter : file->parameters())
      known.push_back(parameter.key);
  const std::string_view nearest = nearestName(key, known);
  return notFound("the program needs the parameter '{}', which '{}'{} not have{}", name, files->second.front()->path(),
                  files->second.size() == 1 ? " does" : fmt::format(" and {} more do", files->second.size() - 1),
                  nearest.empty() ? "" : fmt::format("; there is '{}'", nearest));
}

Result<Ref<hal::Buffer>> ParameterSet::bring(hal::Device &device, const std::shared_ptr<const ParameterFile> &file,
                                             const Parameter &parameter) const {
  if (!parameter.isSplat() && mode == ParameterMode::File) {
    hal::HostMemory memory;
    memory.data = const_cast<std::byte *>(file->bytesOf(parameter).data());
    memory.length = parameter.length;
    memory.access = hal::MemoryAccess::Read;
    memory.release = [file] {};
    memory.checkReadable = [file] { return file->checkReadable(); };
    KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, device.allocator().importHost(std::move(memory)));
    KILN_RETURN_IF_ERROR(file->checkReadable());
    return buffer;
  }
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer,
                        device.allocator().allocate(hal::BufferUsage::External, parameter.length));
  if (parameter.isSplat())
    KILN_RETURN_IF_ERROR(fill(*buffer, parameter.splat));
  else
    KILN_RETURN_IF_ERROR(buffer->write(0, file->bytesOf(parameter)));
  KILN_RETURN_IF_ERROR(file->checkReadable());
  buffer->seal();
  return buffer;
}

} // namespace kiln
