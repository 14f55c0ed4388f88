#include "kiln/families/matmul/workload/verification.h"

#include <algorithm>

#include "kiln/families/matmul/workload/epilogue_check.h"
#include "kiln/families/matmul/workload/reference.h"
#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/real.h"
#include "kiln/measure/verify/timed_contraction.h"

namespace kiln::families {

using measure::verify::Cause;
using measure::verify::Contraction;
using measure::verify::Layout;
using measure::verify::Pass;
using measure::verify::TensorOperand;
using measure::verify::Verdict;

static Layout layoutOf(const Matrix &matrix, int64_t rows, int64_t columns) {
  return matrix.columnMajor ? Layout::columnMajor(rows, columns) : Layout::rowMajor(rows, columns);
}

static Contraction contractionOf(const MatmulSpec &spec) {
  auto m = static_cast<int64_t>(spec.m), n = static_cast<int64_t>(spec.n), k = static_cast<int64_t>(spec.k);
  Contraction contraction = Contraction::dense(static_cast<int64_t>(spec.batch), m, n, k, spec.lhs.type,
                                               spec.result.type, spec.promisedAccumulator());
  contraction.lhsLayout = layoutOf(spec.lhs, m, k);
  contraction.rhsLayout = layoutOf(spec.rhs, k, n);
  contraction.tf32 = spec.tf32;
  contraction.cutsSums = spec.tf32 || spec.cutsSums;
  if (spec.slices > 1)
    contraction.slice = static_cast<int64_t>(spec.sliceLength());
  return contraction;
}

namespace {
enum class PassKind { Exact, Real, Activation };
struct PassPlan {
  PassKind kind;
  Pass exact; // what outputs hold before it, too
  std::string_view name;
};
} // namespace

// Where an activation follows, the pass of its own comes last; it computes every element in f64. Without one, real
// numbers come before the last of the exact passes, which is repeated after timing.
static std::vector<PassPlan> passPlans(const MatmulSpec &spec, const Contraction &contraction) {
  std::vector<PassPlan> plans;
  for (Pass pass : passesOf(contraction))
    plans.push_back({PassKind::Exact, pass, passName(pass)});
  if (hasActivationPass(spec))
    plans.push_back({PassKind::Activation, Pass::WideRhs, "activation"});
  else if (measure::verify::hasRealPass(contraction))
    plans.insert(plans.end() - 1, {PassKind::Real, Pass::WideRhs, measure::verify::kRealPass});
  return plans;
}

static Result<PassPlan> passOf(const MatmulSpec &spec, const Contraction &contraction, size_t index) {
  std::vector<PassPlan> plans = passPlans(spec, contraction);
  if (index >= plans.size())
    return invalidArgument("pass {} was asked for; there are {}", index, plans.size());
  return plans[index];
}

std::vector<std::string> verificationPasses(const MatmulSpec &spec) {
  std::vector<std::string> names;
  for (const PassPlan &plan : passPlans(spec, contractionOf(spec)))
    names.emplace_back(plan.name);
  return names;
}

static Status checkInputs(const MatmulSpec &spec, auto inputs) {
  std::vector<measure::TensorType> wanted = {spec.lhsTensor(), spec.rhsTensor()};
  if (spec.hasBias())
    wanted.push_back(spec.biasTensor());
  if (inputs.size() != wanted.size())
    return invalidArgument("{} has {} inputs, not {}", spec.name(), wanted.size(), inputs.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    KILN_RETURN_IF_ERROR(
        checkTensor(fmt::format("input {}", i), wanted[i], inputs[i].type, inputs[i].shape, inputs[i].bytes.size()));
  return okStatus();
}

static void storeBias(const MatmulSpec &spec, const BiasPlan &plan, std::span<uint8_t> bytes) {
  const uint64_t size = hal::elementTypeByteSize(spec.result.type);
  for (size_t j = 0; j < plan.bias.size(); ++j)
    measure::verify::storeInteger(spec.result.type, plan.bias[j], bytes.data() + j * size);
}

Status fillInputs(const MatmulSpec &spec, size_t pass, uint64_t seed, measure::MutableTensors inputs) {
  Contraction contraction = contractionOf(spec);
  KILN_RETURN_IF_ERROR(checkInputs(spec, inputs));
  KILN_ASSIGN_OR_RETURN(PassPlan chosen, passOf(spec, contraction, pass));
  if (chosen.kind == PassKind::Activation)
    return fillActivation(spec, contraction, seed, inputs);
  if (chosen.kind == PassKind::Real) {
    // The exact passes check the bias.
    if (spec.hasBias())
      std::ranges::fill(inputs[2].bytes, uint8_t(0));
    return measure::verify::fillReal(contraction, seed, inputs[0].bytes, inputs[1].bytes);
  }
  if (spec.hasBias())
    storeBias(spec, planBias(spec, contraction, chosen.exact, seed), inputs[2].bytes);
  return measure::verify::fillInputs(contraction, chosen.exact, seed, inputs[0].bytes, inputs[1].bytes, 2,
                                     spec.hasBias());
}

void prefillOutputs(const MatmulSpec &spec, size_t pass, measure::MutableTensors outputs) {
  Contraction contraction = contractionOf(spec);
  Result<PassPlan> chosen = passOf(spec, contraction, pass);
  for (const measure::MutableTensor &output : outputs)
    if (chosen.ok())
      measure::verify::prefillOutput(output.type, chosen->exact, output.bytes);
}

static Result<Verdict> checkOutputs(const MatmulSpec &spec, size_t pass, uint64_t seed, measure::Tensors inputs,
                                    measure::Tensors outputs) {
  Contraction contraction = contractionOf(spec);
  KILN_RETURN_IF_ERROR(checkInputs(spec, inputs));
  if (outputs.size() != 1)
    return invalidArgument("{} has 1 output, not {}", spec.name(), outputs.size());
  KILN_RETURN_IF_ERROR(
      checkTensor("the output", spec.resultTensor(), outputs[0].type, outputs[0].shape, outputs[0].bytes.size()));
  KILN_ASSIGN_OR_RETURN(PassPlan chosen, passOf(spec, contraction, pass));
  Verdict verdict;
  if (chosen.kind == PassKind::Activation) {
    verdict = checkActivation(spec, contraction, seed, outputs[0]);
  } else if (chosen.kind == PassKind::Real) {
    TensorOperand lhs(contraction.lhs, contraction.lhsLayout, inputs[0].bytes);
    TensorOperand rhs(contraction.rhs, contraction.rhsLayout, inputs[1].bytes);
    return checkReal(contraction, seed, lhs, rhs, outputs[0].bytes);
  } else {
    measure::verify::ColumnMap columns;
    if (spec.hasBias())
      columns = planBias(spec, contraction, chosen.exact, seed).columns;
    KILN_ASSIGN_OR_RETURN(verdict, checkContraction(contraction, chosen.exact, seed, inputs[0].bytes, inputs[1].bytes,
                                                    outputs[0].bytes, {}, columns));
  }
  if (spec.hasBias())
    explainEpilogue(spec, contraction, inputs, outputs[0], verdict);
  return verdict;
}

Verdict check(const MatmulSpec &spec, size_t pass, uint64_t seed, measure::Tensors inputs, measure::Tensors outputs) {
  Result<Verdict> verdict = checkOutputs(spec, pass, seed, inputs, outputs);
  if (verdict.ok()) {
    verdict->method += contractionOf(spec).promiseText();
    return *std::move(verdict);
  }
  // Tensors that do not fit say nothing of the result, and must not pass for a right one.
  Verdict failure;
  failure.cause = Cause::Unknown;
  failure.method = "none";
  failure.explanation = verdict.status().message();
  return failure;
}

Result<measure::verify::DeviceCase> deviceCase(const MatmulSpec &spec, size_t pass, uint64_t seed) {
  const Contraction contraction = contractionOf(spec);
  KILN_ASSIGN_OR_RETURN(PassPlan chosen, passOf(spec, contraction, pass));
  measure::verify::DeviceCase subject{contraction, chosen.exact, seed, spec.hasBias()};
  using Check = measure::verify::DeviceCase::Check;
  subject.check = chosen.kind == PassKind::Real         ? Check::Real
                  : chosen.kind == PassKind::Activation ? Check::Activation
                                                        : Check::Exact;
  if (chosen.kind == PassKind::Activation) {
    describeActivation(spec, contraction, seed, subject);
  } else if (chosen.kind == PassKind::Real) {
    subject.right = measure::verify::rightRealVerdict(contraction, seed);
    if (spec.hasBias()) // of zeros
      subject.bias.resize(spec.n * hal::elementTypeByteSize(spec.result.type));
  } else {
    subject.right = rightVerdict(contraction, chosen.exact, seed, spec.hasBias());
  }
  subject.right.method += contractionOf(spec).promiseText();
  if (spec.hasBias() && chosen.kind == PassKind::Exact) {
    const BiasPlan plan = planBias(spec, contraction, chosen.exact, seed);
    subject.columns = plan.columns;
    subject.bias.resize(plan.bias.size() * hal::elementTypeByteSize(spec.result.type));
    storeBias(spec, plan, subject.bias);
  }
  return subject;
}

std::unique_ptr<measure::verify::TimedCheck> timedCheck(const MatmulSpec &spec, measure::Tensors inputs,
                                                        uint64_t seed) {
  if (!checkInputs(spec, inputs).ok())
    return nullptr;
  Contraction contraction = contractionOf(spec);
  std::vector<uint64_t> shape = spec.resultTensor().shape;
  std::span<const uint8_t> bias = spec.hasBias() ? inputs[2].bytes : std::span<const uint8_t>();
  if (hasActivationPass(spec))
    return measure::verify::timedActivation(
        contraction, inputs[0].bytes, inputs[1].bytes, bias, shape,
        [&](double x) { return activate(spec.epilogue, x); }, seed);
  return measure::verify::timedContraction(contraction, inputs[0].bytes, inputs[1].bytes, bias, shape, seed);
}

} // namespace kiln::families
