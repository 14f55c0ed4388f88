#include "kiln/tools/call_results.h"

#include <optional>

#include "kiln/base/file.h"
#include "kiln/runtime/io/compare.h"
#include "kiln/runtime/io/device_tensor.h"
#include "kiln/runtime/io/element_text.h"
#include "kiln/runtime/io/input.h"
#include "kiln/runtime/io/npy.h"
#include "kiln/runtime/io/tensor_text.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/tools/declaration.h"

namespace kiln {

namespace {

using hal::ElementType;

constexpr std::string_view kIgnored = "(ignored)";

// One result on the host.
class HostResult {
public:
  static Result<HostResult> create(const vm::Value &value, std::optional<ElementType> declared) {
    HostResult result;
    if (!value.isRef()) {
      result.type = scalarElementType(value.kind(), declared);
      elementOfRegister(result.type, value.bits(), result.scalar);
      result.isScalar = true;
    } else if (hal::BufferView *view = value.as<hal::BufferView>()) {
      KILN_ASSIGN_OR_RETURN(result.mapped, io::MappedTensor::map(*view));
    }
    result.typeName = value.anyRef().typeName();
    return result;
  }

  // Whether there are elements to print, write and compare; an object of another kind, or null, only has a name.
  bool hasElements() const { return isScalar || mapped.has_value(); }
  io::TensorSpan span() const {
    if (mapped)
      return mapped->span();
    return {type, {}, {scalar, static_cast<size_t>(hal::elementTypeByteSize(type))}};
  }

  // "hal.buffer_view\n4xf32=3 4 5 6", "i32=123"
  std::string text(uint64_t maxElements) const {
    if (isScalar)
      return io::formatTensor(span(), maxElements);
    return mapped ? typeName + "\n" + io::formatTensor(span(), maxElements) : typeName;
  }

private:
  HostResult() = default;

  std::optional<io::MappedTensor> mapped;
  std::string typeName;
  ElementType type = ElementType::F64;
  bool isScalar = false;
  uint8_t scalar[8] = {};
};

bool endsIn(std::string_view path, std::string_view suffix) {
  return path.ends_with(suffix);
}

// "@file" or "+file".
Status writeOutput(const HostResult &result, const std::string &output, size_t index) {
  if (!result.hasElements())
    return invalidArgument("--output={}: result {} has no elements that could be written", output, index);
  std::string path = output.substr(1);
  OutputFile::Mode mode = output[0] == '+' ? OutputFile::Mode::Append : OutputFile::Mode::Replace;
  KILN_ASSIGN_OR_RETURN(OutputFile file, OutputFile::open(path, mode));
  KILN_RETURN_IF_ERROR(endsIn(path, ".npy") ? io::writeNpy(file, result.span()) : file.write(result.span().bytes));
  return file.commit();
}

// The expected value as a tensor; a scalar without a type takes the result's.
Result<io::HostTensor> expectedTensor(io::Input input, const HostResult &result) {
  if (io::HostTensor *tensor = std::get_if<io::HostTensor>(&input))
    return std::move(*tensor);
  ElementType type = result.hasElements() ? result.span().type : ElementType::F64;
  KILN_ASSIGN_OR_RETURN(io::HostTensor tensor, io::HostTensor::zeros(type, {}));
  KILN_RETURN_IF_ERROR(io::parseElement(type, std::get<io::Scalar>(input).text, tensor.bytes().data()));
  return tensor;
}

// Prints a failure; true where the result is as expected.
bool compareResult(const HostResult &result, const io::HostTensor &expected, size_t index, const OutputFlags &flags) {
  std::string actual = result.text(flags.maxElements);
  std::optional<std::string> difference;
  if (result.hasElements()) {
    io::EqualityMode mode = flags.equalityMode == "exact" ? io::EqualityMode::Exact : io::EqualityMode::Approximate;
    difference = io::explainDifference(result.span(), expected.span(), mode);
    actual = io::formatTensor(result.span(), flags.maxElements);
  } else {
    difference = fmt::format("{} does not match the expected {}", actual, expected.typeText());
  }
  if (!difference)
    return true;
  print(fmt::format("[FAILED] result[{}]: {}\n  expected:\n{}\n  actual:\n{}\n", index, *difference,
                    io::formatTensor(expected.span(), flags.maxElements), actual));
  return false;
}

Result<bool> compareResults(std::span<const HostResult> results, const OutputFlags &flags) {
  io::InputReader reader;
  bool matched = true;
  std::vector<io::Input> inputs;
  std::vector<bool> ignored;
  for (const std::string &text : flags.expected) {
    if (text == kIgnored) {
      inputs.push_back(io::Scalar());
    } else {
      Status status = reader.read(text, inputs);
      if (!status.ok())
        return std::move(status).withContext("--expected_output");
    }
    ignored.resize(inputs.size(), text == kIgnored);
  }
  if (inputs.size() != results.size())
    return invalidArgument(
        "{} expected, and the function has {}; write --expected_output=(ignored) for one that may be "
        "anything",
        inputs.size() == 1 ? "1 value is" : fmt::format("{} values are", inputs.size()),
        counted(results.size(), "result"));
  for (size_t i = 0; i < results.size(); ++i) {
    if (ignored[i])
      continue;
    Result<io::HostTensor> expected = expectedTensor(std::move(inputs[i]), results[i]);
    if (!expected.ok())
      return std::move(expected).status().withContext(fmt::format("--expected_output of result {}", i));
    matched &= compareResult(results[i], *expected, i, flags);
  }
  if (matched)
    print("[SUCCESS] all function outputs matched their expected values.\n");
  return matched;
}

} // namespace

void OutputFlags::add(FlagParser &parser) {
  parser.group("Results");
  parser.add({"output", "WHERE",
              "Where a result goes, one flag for each: - prints it, @f.npy and @f.bin write a file, +f.npy and +f.bin "
              "append to one. Without the flag all are printed."},
             outputs);
  parser.add({"expected_output", "INPUT",
              "What a result should be, one flag for each, written like an --input; (ignored) for any. The exit code "
              "tells whether all matched."},
             expected);
  parser.addChoice(
      {"equality_mode", "approximate|exact",
       "How floats are compared: within 1e-4 (f16 1e-3, bf16 1e-2) plus 1e-5 of the expected value, or bit "
       "by bit."},
      equalityMode);
  parser.add({"output_max_element_count", "N", "How many elements of a tensor are printed."}, maxElements);
}

Status OutputFlags::check(const vm::Function &function) const {
  if (!outputs.empty() && outputs.size() != function.resultCount())
    return invalidArgument("{} given, and @{} has {}: {}",
                           outputs.size() == 1 ? "1 --output flag is"
                                               : fmt::format("{} --output flags are", outputs.size()),
                           function.name(), counted(function.resultCount(), "result"), describeFunction(function));
  for (const std::string &output : outputs)
    if (output != "-" && (output.size() < 2 || (output[0] != '@' && output[0] != '+')))
      return invalidArgument("--output={}: write -, @f.npy, +f.npy, @f.bin or +f.bin", output);
  return okStatus();
}

Result<bool> handleResults(const vm::Function &function, std::span<const vm::Value> values, const OutputFlags &flags) {
  Declaration declaration = declarationOf(function);
  std::vector<HostResult> results;
  for (size_t i = 0; i < values.size(); ++i) {
    std::optional<ElementType> declared;
    if (!declaration.results.empty())
      declared = declaredElementType(declaration.results[i]);
    KILN_ASSIGN_OR_RETURN(HostResult result, HostResult::create(values[i], declared));
    results.push_back(std::move(result));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    bool isFile = !flags.outputs.empty() && flags.outputs[i] != "-";
    if (isFile)
      KILN_RETURN_IF_ERROR(writeOutput(results[i], flags.outputs[i], i));
    else if (flags.expected.empty() || !flags.outputs.empty())
      print(fmt::format("result[{}]: {}\n", i, results[i].text(flags.maxElements)));
  }
  bool matched = true;
  if (!flags.expected.empty()) {
    KILN_ASSIGN_OR_RETURN(matched, compareResults(results, flags));
  }
  KILN_RETURN_IF_ERROR(flushStandardOutput());
  return matched;
}

} // namespace kiln
