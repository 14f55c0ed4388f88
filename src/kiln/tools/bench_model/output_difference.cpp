#include "kiln/tools/bench_model/output_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/runtime/io/element_text.h"

namespace kiln {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The name without its sign, which Kiln's tensors of integers do not have.
static std::string_view signlessName(hal::ElementType type) {
  std::string_view name = hal::elementTypeName(type);
  if (name.starts_with("ui") || name.starts_with("si"))
    name.remove_prefix(1);
  return name;
}

static bool isExact(hal::ElementType type) {
  const std::string_view name = signlessName(type);
  return name == "i16" || name == "i32" || name == "i64";
}

// As numbers of that type, which has as many bits.
static std::vector<double> elementsOf(const io::HostTensor &tensor, hal::ElementType type) {
  std::vector<double> elements(tensor.elementCount());
  const size_t bytes = hal::elementTypeByteSize(type);
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = io::elementAsDouble(type, tensor.bytes().data() + i * bytes);
  return elements;
}

// The largest magnitude that is at most a thousand times what nine of ten have that are not zero.
static double scaleOf(const std::vector<double> &elements) {
  constexpr double kOutlier = 1000;
  std::vector<double> magnitudes;
  for (double element : elements)
    if (std::isfinite(element) && element != 0)
      magnitudes.push_back(std::abs(element));
  if (magnitudes.empty())
    return 0;
  const auto tenth = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 10);
  std::ranges::nth_element(magnitudes, tenth);
  const double most = kOutlier * *tenth;
  double scale = 0;
  for (double magnitude : magnitudes)
    if (magnitude <= most)
      scale = std::max(scale, magnitude);
  return scale;
}

double differenceOf(std::span<const io::HostTensor> wanted, std::span<const io::HostTensor> found) {
  if (wanted.size() != found.size())
    return std::nan("");
  double worst = 0;
  bool hasElements = false, hasFinite = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const hal::ElementType theirs = wanted[i].type(), ours = found[i].type();
    if (!std::ranges::equal(wanted[i].shape(), found[i].shape()) || signlessName(theirs) != signlessName(ours))
      return std::nan("");
    const hal::ElementType type = hal::elementTypeName(ours).starts_with("ui") ? ours : theirs;
    const std::vector<double> xs = elementsOf(wanted[i], type), ys = elementsOf(found[i], type);
    const double scale = scaleOf(xs);
    for (size_t element = 0; element < xs.size(); ++element) {
      const double x = xs[element], y = ys[element];
      if (std::isnan(x) != std::isnan(y))
        return std::nan("");
      hasElements = true;
      hasFinite |= std::isfinite(x);
      if (std::isnan(x) || x == y)
        continue;
      if (!std::isfinite(x) || !std::isfinite(y) || isExact(wanted[i].type()))
        worst = kInfinity;
      else
        worst = std::max(worst, std::abs(x - y) / std::max(scale, std::abs(x)));
    }
  }
  return worst == 0 && hasElements && !hasFinite ? std::nan("") : worst;
}

static Result<std::vector<io::HostTensor>> readTensors(const std::vector<std::string> &files) {
  std::vector<io::HostTensor> tensors;
  for (const std::string &file : files) {
    io::InputReader reader;
    std::vector<io::Input> read;
    KILN_RETURN_IF_ERROR(reader.read("@" + file, read));
    auto *tensor = read.empty() ? nullptr : std::get_if<io::HostTensor>(&read.front());
    if (!tensor)
      return invalidArgument("'{}' holds no tensor", file);
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Result<double> differenceOfFiles(const std::vector<std::string> &wanted, const std::vector<std::string> &found) {
  KILN_ASSIGN_OR_RETURN(std::vector<io::HostTensor> a, readTensors(wanted));
  KILN_ASSIGN_OR_RETURN(std::vector<io::HostTensor> b, readTensors(found));
  return differenceOf(a, b);
}

} // namespace kiln
