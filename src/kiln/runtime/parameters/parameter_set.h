// The parameters that programs can ask for, by scope and key, and where they are in the memory of devices.
#ifndef KILN_RUNTIME_PARAMETERS_PARAMETER_SET_H
#define KILN_RUNTIME_PARAMETERS_PARAMETER_SET_H

#include "kiln/base/ref.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/schema/parameters/parameter_file.h"

#include <map>
#include <mutex>
#include <utility>

namespace kiln {

enum class ParameterMode : uint8_t {
  File,    // a device that addresses the host's memory uses the file's pages
  Preload, // all are copied
};

// Sessions share one: each parameter is brought to a device once, and stays there as long as this lives. All functions
// may be called on any thread.
class ParameterSet : public RefCounted {
public:
  explicit ParameterSet(ParameterMode mode = ParameterMode::File) : mode(mode) {}

  // Several files may have parameters of one scope, each of others. The scope without a name is "".
  Status add(const std::string &scope, const std::string &path);

  // A parameter of just so many bytes, which nobody writes.
  Result<Ref<hal::Buffer>> load(hal::Device &device, std::string_view scope, std::string_view key, uint64_t length);

private:
  Result<Ref<hal::Buffer>> bring(hal::Device &device, const std::shared_ptr<const ParameterFile> &file,
                                 const Parameter &parameter) const;

  using Files = std::vector<std::shared_ptr<const ParameterFile>>;
  const ParameterMode mode;
  std::mutex mutex; // guards all below
  std::map<std::string, Files, std::less<>> scopes;
  struct Brought {
    Ref<hal::Device> device; // lives on, so that no other can be in its place
    Ref<hal::Buffer> buffer;
  };
  std::map<std::pair<const hal::Device *, const Parameter *>, Brought> brought;
};

} // namespace kiln

#endif // KILN_RUNTIME_PARAMETERS_PARAMETER_SET_H
