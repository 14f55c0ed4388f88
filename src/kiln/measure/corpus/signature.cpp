#include "kiln/measure/corpus/signature.h"

#include <algorithm>
#include <charconv>

#include "kiln/base/flags.h"
#include "kiln/measure/verify/number.h"
#include "kiln/runtime/hal/buffer_view.h"

namespace kiln::measure::corpus {

namespace {

constexpr std::string_view kShapes = "kiln-shapes", kTolerance = "kiln-tolerance";

std::string_view trim(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// A tensor's type with extents that may be open.
struct Declared {
  io::ElementType type;
  std::vector<std::optional<uint64_t>> shape;

  bool open() const {
    return !std::ranges::all_of(shape, [](const std::optional<uint64_t> &extent) { return extent.has_value(); });
  }
};

// Of "1x?xf32", as it stands between the brackets of a tensor's type.
std::optional<Declared> parseType(std::string_view text) {
  Declared declared{};
  while (!text.empty() && (text.front() == '?' || (text.front() >= '0' && text.front() <= '9'))) {
    size_t end = text.find('x');
    if (end == text.npos)
      return std::nullopt;
    std::string_view extent = text.substr(0, end);
    std::optional<uint64_t> &value = declared.shape.emplace_back();
    if (extent != "?") {
      auto [last, error] = std::from_chars(extent.data(), extent.data() + extent.size(), value.emplace());
      if (error != std::errc() || last != extent.data() + extent.size())
        return std::nullopt;
    }
    text.remove_prefix(end + 1);
  }
  std::optional<io::ElementType> type = measure::verify::parseMeasuredType(text);
  if (!type)
    return std::nullopt;
  declared.type = *type;
  return declared;
}

Result<std::vector<TensorType>> parseTypes(std::string_view list) {
  std::vector<TensorType> types;
  list = trim(list);
  while (!list.empty()) {
    size_t end = std::min(list.find(','), list.size());
    std::string_view item = trim(list.substr(0, end));
    std::optional<Declared> declared = parseType(item);
    if (!declared || declared->open())
      return invalidArgument("'{}' is no shape; write 1x128xf32", item);
    TensorType &type = types.emplace_back();
    type.type = declared->type;
    for (const std::optional<uint64_t> &extent : declared->shape)
      type.shape.push_back(*extent);
    list = end < list.size() ? trim(list.substr(end + 1)) : std::string_view();
  }
  return types;
}

// Takes "@name" from the start of the text.
std::string takeFunction(std::string_view &text) {
  if (!text.starts_with('@'))
    return {};
  size_t end = std::min(text.find_first_of(" \t"), text.size());
  std::string name(text.substr(1, end - 1));
  text = trim(text.substr(end));
  return name;
}

Status addDirective(Directives &directives, std::string_view name, std::string_view text) {
  std::string function = takeFunction(text);
  if (name == kTolerance) {
    KILN_ASSIGN_OR_RETURN(Tolerance tolerance, Tolerance::parse(text));
    directives.tolerances.push_back({std::move(function), tolerance});
    return okStatus();
  }
  if (name != kShapes) {
    std::vector<std::string> known = {std::string(kShapes), std::string(kTolerance)};
    std::string_view nearest = nearestName(name, known);
    return invalidArgument("there is no '{}'; {}", name,
                           nearest.empty() ? fmt::format("there are: {}, {}", kShapes, kTolerance)
                                           : fmt::format("did you mean '{}'?", nearest));
  }
  size_t arrow = std::min(text.find("->"), text.size());
  Directives::Shapes shapes;
  shapes.function = std::move(function);
  KILN_ASSIGN_OR_RETURN(shapes.inputs, parseTypes(text.substr(0, arrow)));
  if (arrow < text.size()) {
    KILN_ASSIGN_OR_RETURN(shapes.outputs, parseTypes(text.substr(arrow + 2)));
  }
  directives.shapes.push_back(std::move(shapes));
  return okStatus();
}

// The entry of that function, else one for all.
template <typename Entry> const Entry *findEntry(const std::vector<Entry> &entries, std::string_view function) {
  const Entry *all = nullptr;
  for (const Entry &entry : entries)
    if (entry.function == function)
      return &entry;
    else if (entry.function.empty())
      all = &entry;
  return all;
}

constexpr std::string_view kWhatToWrite = "say it in a comment of the file: // kiln-shapes: 1x128xf32 -> 1x128xf32";

// One list of types; `given` is null where the comment says nothing of them.
Result<std::vector<TensorType>> resolve(std::string_view what, std::span<const std::string> declarations,
                                        const std::vector<TensorType> *given) {
  if (given && given->size() != declarations.size())
    return invalidArgument("the comment kiln-shapes has {} {}s; the function has {}", given->size(), what,
                           declarations.size());
  std::vector<TensorType> types;
  for (size_t i = 0; i < declarations.size(); ++i) {
    std::string_view text = declarations[i];
    bool isTensor = text.starts_with("tensor<") && text.ends_with('>');
    std::optional<Declared> declared =
        isTensor ? parseType(text.substr(7, text.size() - 8)) : std::optional<Declared>();
    if (!declared)
      return unimplemented("{} {} is {}; the lab measures functions of tensors, of types that NumPy has or f16, bf16, "
                           "f8{}",
                           what, i, text,
                           isTensor ? "" : ": take or give it as a tensor of one element, or write a constant into it");
    TensorType &type = types.emplace_back();
    type.type = declared->type;
    if (declared->open() && !given)
      return unimplemented("{} {} is {}, whose shape is open; {}", what, i, text, kWhatToWrite);
    const TensorType *wanted = given ? &(*given)[i] : nullptr;
    bool fits = !wanted || (wanted->type == declared->type && wanted->shape.size() == declared->shape.size());
    for (size_t d = 0; fits && d < declared->shape.size(); ++d) {
      type.shape.push_back(declared->shape[d].value_or(wanted ? wanted->shape[d] : 0));
      fits = !wanted || type.shape.back() == wanted->shape[d];
    }
    if (!fits)
      return invalidArgument("the comment kiln-shapes says {} of {} {}; the function has {}",
                             hal::shapeText(wanted->type, wanted->shape), what, i, text);
  }
  return types;
}

} // namespace

std::string typesText(measure::TensorTypes types) {
  std::string text;
  for (const TensorType &type : types)
    text += (text.empty() ? "" : ", ") + hal::shapeText(type.type, type.shape);
  return text;
}

std::string Signature::text() const {
  return typesText(inputs) + (inputs.empty() ? "-> " : " -> ") + typesText(outputs);
}

Result<Directives> Directives::parse(std::string_view text) {
  Directives directives;
  for (size_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view comment = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!comment.starts_with("//"))
      continue;
    comment = trim(comment.substr(2));
    size_t colon = comment.find(':');
    if (!comment.starts_with("kiln-") || colon == comment.npos ||
        comment.substr(0, colon).find_first_of(" \t") != comment.npos)
      continue;
    Status status = addDirective(directives, comment.substr(0, colon), trim(comment.substr(colon + 1)));
    if (!status.ok())
      return std::move(status).withContext(fmt::format("line {}: {}", line, comment));
  }
  return directives;
}

const Directives::Shapes *Directives::shapesOf(std::string_view function) const {
  return findEntry(shapes, function);
}

Tolerance Directives::toleranceOf(std::string_view function) const {
  const Allowed *found = findEntry(tolerances, function);
  return found ? found->tolerance : Tolerance();
}

Result<Signature> resolveSignature(std::span<const std::string> arguments, std::span<const std::string> results,
                                   const Directives::Shapes *shapes) {
  Signature signature;
  KILN_ASSIGN_OR_RETURN(signature.inputs, resolve("argument", arguments, shapes ? &shapes->inputs : nullptr));
  KILN_ASSIGN_OR_RETURN(signature.outputs,
                        resolve("result", results, shapes && shapes->outputs ? &*shapes->outputs : nullptr));
  if (signature.outputs.empty())
    return unimplemented("the function has no result, so that nothing can be checked");
  return signature;
}

} // namespace kiln::measure::corpus
