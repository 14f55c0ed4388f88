#include "kiln/families/reduction/workload/reduction_family.h"

#include <algorithm>
#include <cmath>

#include "kiln/base/split.h"
#include "kiln/families/reduction/workload/reduction_mlir.h"
#include "kiln/families/reduction/workload/reduction_verification.h"
#include "kiln/families/reduction/workload/row_configurations.h"
#include "kiln/families/reduction/workload/row_timed_check.h"
#include "kiln/families/reduction/workload/softmax_verification.h"
#include "kiln/measure/cpu_shape.h"
#include "kiln/measure/names.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

using hal::ElementType;
using measure::Problem;

//===--- Problem --------------------------------------------------------------------------------------------------===//

measure::Fields RowProblem::fields() const {
  measure::Fields fields = {{"rows", std::to_string(own.rows)},
                            {"columns", std::to_string(own.columns)},
                            {"type", std::string(hal::elementTypeName(own.type))}};
  if (own.inner != 1)
    fields.insert(fields.begin() + 2, {"inner", std::to_string(own.inner)});
  if (!own.isSoftmax()) {
    fields.insert(fields.begin(), {"op", std::string(rowOpName(own.op))});
    fields.emplace_back("result_type", hal::elementTypeName(own.result));
  }
  fields.emplace_back("accumulator", hal::elementTypeName(own.accumulator()));
  return fields;
}

measure::TimingNumbers RowProblem::timingNumbers(size_t) const {
  measure::TimingNumbers numbers;
  if (own.isExtremum())
    numbers.extremum =
        own.op == RowOp::Max ? measure::TimingNumbers::Extremum::Largest : measure::TimingNumbers::Extremum::Smallest;
  numbers.rows = {.columns = own.columns, .inner = own.inner};
  // Rows have their maxima up to 260 from zero, where exp overflows or vanishes unless they are subtracted, and sums of
  // exponentials that differ by a factor of up to six. Some have an element whose exponential overflows unless the
  // maximum itself is subtracted, and not another number of the row.
  if (own.isSoftmax())
    numbers.smallestScale = 1, numbers.largestScale = 4, numbers.largestOffset = 64, numbers.outlier = 100;
  return numbers;
}

double RowProblem::flops() const {
  double elements = static_cast<double>(own.rowCount()) * static_cast<double>(own.columns);
  if (own.isSoftmax())
    return 5 * elements;
  return elements + (own.op == RowOp::Mean ? static_cast<double>(own.rowCount()) : 0);
}

std::string RowProblem::mlir(std::string_view function, std::string_view configuration) const {
  return own.isSoftmax() ? softmaxMlir(own, function, configuration) : reductionMlir(own, function, configuration);
}

std::vector<std::string> RowProblem::passes() const {
  std::vector<std::string> names;
  for (RowPass pass : rowPasses(own))
    names.emplace_back(rowPassName(pass));
  return names;
}

Status RowProblem::fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const {
  if (inputs.size() != 1)
    return invalidArgument("{} has one input, not {}", name(), inputs.size());
  fillRows(own, rowPasses(own)[pass], seed, inputs[0]);
  return okStatus();
}

void RowProblem::prefillOutputs(size_t pass, measure::MutableTensors outputs) const {
  for (const measure::MutableTensor &output : outputs)
    measure::verify::prefillOutput(output.type, rowPrefill(rowPasses(own)[pass]), output.bytes);
}

measure::verify::Verdict RowProblem::check(size_t pass, uint64_t, measure::Tensors inputs,
                                           measure::Tensors outputs) const {
  RowPass kind = rowPasses(own)[pass];
  return own.isSoftmax() ? checkSoftmax(own, kind, inputs[0], outputs[0])
                         : checkReduction(own, kind, inputs[0], outputs[0]);
}

Result<measure::verify::DeviceCase> RowProblem::deviceCase(size_t pass, uint64_t seed) const {
  if (pass >= rowPasses(own).size())
    return invalidArgument("pass {} was asked for; there are {}", pass, rowPasses(own).size());
  using Rule = measure::verify::DeviceRows::Rule;
  constexpr Rule kRules[] = {Rule::Sum, Rule::Largest, Rule::Smallest, Rule::Mean, Rule::Softmax};
  const RowPass kind = rowPasses(own)[pass];
  measure::verify::DeviceCase subject{};
  subject.pass = rowPrefill(kind);
  subject.seed = seed;
  subject.check = measure::verify::DeviceCase::Check::Rows;
  subject.rows = {.rule = kRules[static_cast<size_t>(own.op)],
                  .type = own.type,
                  .result = own.result,
                  .rows = static_cast<int64_t>(own.rowCount()),
                  .columns = static_cast<int64_t>(own.columns),
                  .inner = static_cast<int64_t>(own.inner),
                  .inputs = {rowNumbers(own, kind, seed)}};
  subject.right.method = own.isSoftmax() ? softmaxMethod(own) : reductionMethod(own);
  subject.right.total = static_cast<uint64_t>(subject.rows.results());
  return subject;
}

//===--- Reference ------------------------------------------------------------------------------------------------===//

// In the promised accumulator, from the first column to the last.
static double reducePlainly(const RowSpec &spec, std::span<const double> row) {
  if (spec.type == ElementType::I8 && !spec.isExtremum()) {
    uint32_t sum = 0; // without sign, so that it wraps around
    for (double element : row)
      sum += static_cast<uint32_t>(static_cast<int32_t>(element));
    return static_cast<int32_t>(sum);
  }
  auto total = static_cast<float>(row[0]);
  for (double number : row.subspan(1)) {
    auto element = static_cast<float>(number);
    switch (spec.op) {
    case RowOp::Max: total = element > total ? element : total; break;
    case RowOp::Min: total = element < total ? element : total; break;
    default: total += element;
    }
  }
  return spec.op == RowOp::Mean ? total / static_cast<float>(spec.columns) : total;
}

static void softmaxPlainly(std::vector<double> &row) {
  auto most = static_cast<float>(*std::ranges::max_element(row));
  float sum = 0;
  for (double &number : row) {
    float power = std::exp(static_cast<float>(number) - most);
    number = power;
    sum += power;
  }
  for (double &number : row)
    number = static_cast<float>(number) / sum;
}

std::unique_ptr<measure::verify::TimedCheck> RowProblem::timedCheck(measure::Tensors inputs, uint64_t seed) const {
  return families::timedRows(own, inputs, seed);
}

Status RowProblem::reference(measure::Tensors inputs, measure::MutableTensors outputs) const {
  if (inputs.size() != 1 || outputs.size() != 1)
    return invalidArgument("{} has one input and one output", name());
  uint64_t size = hal::elementTypeByteSize(own.result);
  for (uint64_t r = 0; r < own.rowCount(); ++r) {
    std::vector<double> numbers = readRow(own, inputs[0], r);
    if (own.isSoftmax())
      softmaxPlainly(numbers);
    else
      numbers = {reducePlainly(own, numbers)};
    for (size_t i = 0; i < numbers.size(); ++i)
      measure::verify::writeElement(own.result, numbers[i], outputs[0].bytes.data() + (r * numbers.size() + i) * size);
  }
  return okStatus();
}

//===--- Family ---------------------------------------------------------------------------------------------------===//

std::string_view RowFamily::summary() const {
  return softmax ? "each row's exponentials over their sum: softmax_1000x1001_f32"
                 : "sum, max, min or mean of each row, or along another dimension: reduction_sum_1000x1001_f16_f32";
}

namespace {
struct Types {
  ElementType type;
  std::optional<ElementType> result; // nothing: the operation's default
};
} // namespace

static std::vector<Types> selectedTypes(const measure::ProblemSelection &selection) {
  if (selection.types.empty())
    return {{ElementType::F32, {}}, {ElementType::F16, {}}, {ElementType::BF16, {}}, {ElementType::I8, {}}};
  std::vector<Types> types;
  for (const std::string &name : selection.types) {
    std::vector<std::string_view> words = split(name, '_');
    std::optional<ElementType> type = measure::verify::parseMeasuredType(words[0]);
    if (type && words.size() == 1)
      types.push_back({*type, {}});
    else if (std::optional<ElementType> result = measure::verify::parseMeasuredType(words.back());
             type && result && words.size() == 2)
      types.push_back({*type, result});
    // All else is meant for other families.
  }
  return types;
}

std::span<const measure::Dimension> RowFamily::dimensions() const {
  static constexpr measure::Dimension kDimensions[] = {
      {"rows", "Sizes as above, of reductions and softmax."},
      {"columns", "Likewise; rows and columns are given together."},
      {"inner", "Sizes behind the dimension that is reduced, whose size is columns; 1 where there is none."},
  };
  return std::span(kDimensions).first(softmax ? 2 : 3);
}

static Result<std::vector<RowSpec>> selectedShapes(const measure::ProblemSelection &selection, bool softmax) {
  KILN_ASSIGN_OR_RETURN(auto matrices, selection.matrices({{1024, 1024}, {4096, 4096}, {1000, 1001}}));
  std::vector<uint64_t> inner = selection.values("inner");
  bool anySizes = !selection.values("rows").empty() || !selection.values("columns").empty();
  std::vector<RowSpec> shapes;
  if (!inner.empty() && !anySizes)
    return invalidArgument("--problem-inner without --problem-rows and --problem-columns: give all");
  if (inner.empty())
    inner = {1};
  else if (softmax)
    return shapes;
  for (auto [rows, columns] : matrices)
    for (uint64_t behind : inner)
      shapes.push_back({.rows = rows, .columns = columns, .inner = behind});
  if (!anySizes && !softmax)
    shapes.insert(shapes.end(),
                  {{.rows = 1, .columns = 1000, .inner = 1001}, {.rows = 32, .columns = 196, .inner = 768}});
  return shapes;
}

Result<measure::Problems> RowFamily::problems(const measure::ProblemSelection &selection) const {
  measure::Problems problems;
  KILN_ASSIGN_OR_RETURN(std::vector<RowSpec> shapes, selectedShapes(selection, softmax));
  std::vector<RowOp> ops = {RowOp::Sum, RowOp::Max, RowOp::Min, RowOp::Mean};
  if (softmax)
    ops = {RowOp::Softmax};
  for (RowSpec spec : shapes)
    for (const Types &types : selectedTypes(selection))
      for (RowOp op : ops) {
        spec.op = op;
        spec.type = types.type;
        spec.result = types.result.value_or(defaultRowResult(op, types.type));
        KILN_RETURN_IF_ERROR(add(problems, spec));
      }
  return problems;
}

measure::Problems RowFamily::problemsLike(measure::TensorTypes inputs, measure::TensorTypes outputs) const {
  measure::Problems problems;
  if (inputs.size() != 1 || outputs.size() != 1 || inputs[0].shape.size() < 2 || inputs[0].shape.size() > 3)
    return problems;
  const std::vector<uint64_t> &shape = inputs[0].shape;
  for (RowOp op : {RowOp::Sum, RowOp::Max, RowOp::Min, RowOp::Mean, RowOp::Softmax}) {
    RowSpec spec{.op = op,
                 .rows = shape[0],
                 .columns = shape[1],
                 .inner = shape.size() == 3 ? shape[2] : 1,
                 .type = inputs[0].type,
                 .result = outputs[0].type};
    if (spec.isSoftmax() == softmax)
      addIfValid(problems, spec);
  }
  return problems;
}

std::vector<std::string> RowFamily::configurations(const Problem &problem, std::string_view target) const {
  const RowSpec *spec = specFor(problem, target);
  return spec ? rowConfigurations(*spec, measure::CpuShape::host().vectorBits) : std::vector<std::string>();
}

void registerReductionFamilies(measure::FamilyRegistry &registry) {
  registry.add(std::make_unique<RowFamily>(/*softmax=*/false));
  registry.add(std::make_unique<RowFamily>(/*softmax=*/true));
}

} // namespace kiln::families
