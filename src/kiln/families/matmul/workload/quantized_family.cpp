#include "kiln/families/matmul/workload/quantized_family.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kiln/families/matmul/workload/cpu_configurations.h"
#include "kiln/families/matmul/workload/matmul_family.h"
#include "kiln/families/matmul/workload/quantized_mlir.h"
#include "kiln/families/matmul/workload/quantized_verification.h"
#include "kiln/families/matmul/workload/reference.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"

namespace kiln::families {

using measure::Problem;

//===--- Problem --------------------------------------------------------------------------------------------------===//

measure::Fields QuantizedProblem::fields() const {
  measure::Fields fields = {{"m", std::to_string(own.m)},
                            {"n", std::to_string(own.n)},
                            {"k", std::to_string(own.k)},
                            {"lhs", own.lhs.name()},
                            {"rhs", own.rhs.name()},
                            {"result", own.result.name()},
                            {"accumulator", "i32"},
                            {"lhs_zero_point", std::to_string(own.lhsZero)},
                            {"rhs_zero_point", std::to_string(own.rhsZero)}};
  if (own.requantizes()) {
    fields.emplace_back("result_zero_point", std::to_string(own.resultZero));
    fields.emplace_back("scale", own.perColumn ? "column" : "tensor");
  }
  return fields;
}

// Operands are any numbers of 8 bits while they are timed. Of such, sums have this root mean square.
static double typicalSum(const QuantizedSpec &spec) {
  auto moments = [](ElementType type, int32_t zero) {
    double mean = double(measure::verify::smallestInteger(type)) + 127.5 - zero;
    return std::pair(mean, mean * mean + (256.0 * 256 - 1) / 12);
  };
  auto [leftMean, leftSquare] = moments(spec.lhs.type, spec.lhsZero);
  auto [rightMean, rightSquare] = moments(spec.rhs.type, spec.rhsZero);
  auto k = static_cast<double>(spec.k);
  double product = leftMean * rightMean;
  return std::sqrt(k * (leftSquare * rightSquare - product * product) + k * k * product * product);
}

measure::TimingNumbers QuantizedProblem::timingNumbers(size_t) const {
  constexpr double kSpread = 40; // so that few results are clamped
  double scale = kSpread / typicalSum(own);
  return {.low = scale / 2, .high = scale * 3 / 2};
}

double QuantizedProblem::flops() const {
  return 2.0 * static_cast<double>(own.m) * static_cast<double>(own.n) * static_cast<double>(own.k);
}

std::string QuantizedProblem::mlir(std::string_view function, std::string_view configuration) const {
  return quantizedMlir(own, function, configuration);
}

std::vector<std::string> QuantizedProblem::passes() const {
  std::vector<std::string> names;
  for (QuantizedPass pass : passesOf(own))
    names.emplace_back(passName(pass));
  return names;
}

Status QuantizedProblem::fillInputs(size_t pass, uint64_t seed, measure::MutableTensors inputs) const {
  KILN_RETURN_IF_ERROR(checkQuantizedInputs(own, inputs));
  if (pass >= passesOf(own).size())
    return invalidArgument("pass {} was asked for; there are {}", pass, passesOf(own).size());
  return fillQuantized(own, passesOf(own)[pass], seed, inputs);
}

void QuantizedProblem::prefillOutputs(size_t, measure::MutableTensors outputs) const {
  for (const measure::MutableTensor &output : outputs)
    measure::verify::prefillOutput(output.type, measure::verify::Pass::Sums, output.bytes);
}

measure::verify::Verdict QuantizedProblem::check(size_t pass, uint64_t seed, measure::Tensors inputs,
                                                 measure::Tensors outputs) const {
  return checkQuantized(own, passesOf(own)[pass], seed, inputs, outputs);
}

std::unique_ptr<measure::verify::TimedCheck> QuantizedProblem::timedCheck(measure::Tensors inputs,
                                                                          uint64_t seed) const {
  return timedQuantized(own, inputs, seed);
}

//===--- Reference ------------------------------------------------------------------------------------------------===//

static int32_t elementAt(ElementType type, const uint8_t *bytes, uint64_t element) {
  return type == ElementType::UI8 ? bytes[element] : static_cast<int8_t>(bytes[element]);
}

Status QuantizedProblem::reference(measure::Tensors inputs, measure::MutableTensors outputs) const {
  const QuantizedSpec &spec = own;
  KILN_RETURN_IF_ERROR(checkQuantizedInputs(spec, inputs));
  if (outputs.size() != 1)
    return invalidArgument("{} has 1 output, not {}", name(), outputs.size());
  KILN_RETURN_IF_ERROR(
      checkTensor("the output", spec.resultTensor(), outputs[0].type, outputs[0].shape, outputs[0].bytes.size()));
  const uint8_t *lhs = inputs[0].bytes.data(), *rhs = inputs[1].bytes.data();
  for (uint64_t i = 0; i < spec.m; ++i)
    for (uint64_t j = 0; j < spec.n; ++j) {
      uint32_t sum = 0; // without sign, so that it wraps around
      for (uint64_t p = 0; p < spec.k; ++p) {
        int32_t a = elementAt(spec.lhs.type, lhs, spec.lhs.columnMajor ? p * spec.m + i : i * spec.k + p);
        int32_t b = elementAt(spec.rhs.type, rhs, spec.rhs.columnMajor ? j * spec.k + p : p * spec.n + j);
        sum += static_cast<uint32_t>((a - spec.lhsZero) * (b - spec.rhsZero));
      }
      uint64_t element = i * spec.n + j;
      if (!spec.requantizes()) {
        std::memcpy(outputs[0].bytes.data() + element * sizeof(sum), &sum, sizeof(sum));
        continue;
      }
      float scale;
      std::memcpy(&scale, inputs[2].bytes.data() + (spec.perColumn ? j : 0) * sizeof(scale), sizeof(scale));
      float rounded = std::rint(static_cast<float>(static_cast<int32_t>(sum)) * scale);
      float lowest = spec.result.type == ElementType::UI8 ? 0 : -128;
      float result = std::min(std::max(rounded + static_cast<float>(spec.resultZero), lowest), lowest + 255);
      outputs[0].bytes[element] = static_cast<uint8_t>(static_cast<int32_t>(result));
    }
  return okStatus();
}

//===--- Family ---------------------------------------------------------------------------------------------------===//

std::span<const measure::Dimension> QuantizedFamily::dimensions() const {
  return MatmulFamily("matmul").dimensions();
}

// As models have them: activations of i8 anywhere, or of ui8 around 128, and weights around zero where each column has
// a scale.
static std::vector<QuantizedSpec> typesOf(ElementType lhs) {
  if (lhs == ElementType::I8)
    return {*parseQuantizedTypes("i8t_i8t_i32t_za3_zbm5"), *parseQuantizedTypes("i8t_i8t_i8t_za3_zb0_zc7_percolumn")};
  return {*parseQuantizedTypes("ui8t_i8t_i32t_za128_zb0"),
          *parseQuantizedTypes("ui8t_i8t_ui8t_za128_zb0_zc121_percolumn")};
}

static Result<std::vector<QuantizedSpec>> selectedTypes(const measure::ProblemSelection &selection) {
  std::vector<std::string> names = selection.types;
  if (names.empty())
    names = {"i8", "ui8"};
  std::vector<QuantizedSpec> all;
  for (const std::string &name : names) {
    std::optional<ElementType> type = measure::verify::parseMeasuredType(name);
    if (type == ElementType::I8 || type == ElementType::UI8) {
      std::ranges::copy(typesOf(*type), std::back_inserter(all));
    } else if (name.find("_za") != std::string::npos) { // whatever else is meant for other families
      KILN_ASSIGN_OR_RETURN(QuantizedSpec spec, parseQuantizedTypes(name));
      all.push_back(spec);
    }
  }
  return all;
}

Result<measure::Problems> QuantizedFamily::problems(const measure::ProblemSelection &selection) const {
  // The sizes of a matrix product, as the plain one has them.
  measure::ProblemSelection sizes = selection;
  sizes.types = {"i8"};
  KILN_ASSIGN_OR_RETURN(measure::Problems products, MatmulFamily("matmul").problems(sizes));
  KILN_ASSIGN_OR_RETURN(std::vector<QuantizedSpec> types, selectedTypes(selection));
  measure::Problems problems;
  for (const std::unique_ptr<Problem> &product : products)
    for (QuantizedSpec spec : types) {
      const MatmulSpec &size = static_cast<const MatmulProblem &>(*product).spec();
      spec.m = size.m, spec.n = size.n, spec.k = size.k;
      if (Status status = spec.validate(); !status.ok())
        return std::move(status).withContext(spec.name());
      problems.push_back(std::make_unique<QuantizedProblem>(spec));
    }
  return problems;
}

std::vector<std::string> QuantizedFamily::configurations(const Problem &problem, std::string_view target) const {
  const QuantizedSpec *spec = specFor(problem, target);
  return spec ? cpuConfigurations(spec->plain(), CpuShape::host(), MatmulFamily::kConfigurationCount)
              : std::vector<std::string>();
}

std::vector<std::string> QuantizedFamily::configurationSpace(const Problem &problem, std::string_view target) const {
  const QuantizedSpec *spec = specFor(problem, target);
  return spec ? measure::namesOf(cpuConfigurationSpace(spec->plain(), CpuShape::host())) : std::vector<std::string>();
}

void registerQuantizedFamily(measure::FamilyRegistry &registry) {
  registry.add(std::make_unique<QuantizedFamily>());
}

} // namespace kiln::families
