#include "kiln/measure/corpus/goldens.h"

#include <algorithm>
#include <unistd.h>

#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/io/npy.h"

namespace kiln::measure::corpus {

static bool exists(const std::string &path) {
  return access(path.c_str(), F_OK) == 0;
}

static Result<io::HostTensor> loadTensor(const std::string &path, const TensorType &wanted) {
  KILN_ASSIGN_OR_RETURN(io::InputFile file, io::InputFile::open(path));
  KILN_ASSIGN_OR_RETURN(io::HostTensor tensor, io::readNpy(file, wanted.type));
  // NumPy has one type for integers with and without a sign of their own, and writes booleans as it does here.
  bool sameInteger = !io::isFloat(tensor.type()) && !io::isFloat(wanted.type) && wanted.type != io::ElementType::I1 &&
                     tensor.type() != io::ElementType::I1 &&
                     hal::elementTypeByteSize(tensor.type()) == hal::elementTypeByteSize(wanted.type);
  if (sameInteger)
    tensor.reinterpret(wanted.type);
  if (tensor.type() != wanted.type || !std::ranges::equal(tensor.shape(), wanted.shape))
    return invalidArgument("'{}' is {}; the function has {}", path, tensor.typeText(),
                           hal::shapeText(wanted.type, wanted.shape));
  return tensor;
}

// All of them, or none.
static Result<std::vector<io::HostTensor>> loadList(const std::string &stem, std::string_view kind,
                                                    measure::TensorTypes types) {
  std::vector<io::HostTensor> tensors;
  std::string missing;
  for (size_t i = 0; i < types.size(); ++i) {
    std::string path = fmt::format("{}.{}{}.npy", stem, kind, i);
    if (!exists(path)) {
      missing = missing.empty() ? path : missing;
      continue;
    }
    KILN_ASSIGN_OR_RETURN(io::HostTensor tensor, loadTensor(path, types[i]));
    tensors.push_back(std::move(tensor));
  }
  if (!tensors.empty() && !missing.empty())
    return notFound("'{}' is missing; the function has {} of them", missing, types.size());
  if (std::string more = fmt::format("{}.{}{}.npy", stem, kind, types.size()); exists(more))
    return invalidArgument("'{}' is one too many: the function has {} of them", more, types.size());
  return tensors;
}

Result<Goldens> loadGoldens(const std::string &stem, const Signature &signature) {
  Goldens goldens;
  KILN_ASSIGN_OR_RETURN(goldens.inputs, loadList(stem, "in", signature.inputs));
  KILN_ASSIGN_OR_RETURN(goldens.outputs, loadList(stem, "out", signature.outputs));
  if (!goldens.outputs.empty() && goldens.inputs.size() != signature.inputs.size())
    return notFound("there are '{0}.out0.npy' and no '{0}.in0.npy': expected results say nothing without their inputs",
                    stem);
  return goldens;
}

} // namespace kiln::measure::corpus
