#include "kiln/measure/verify/check.h"

#include <optional>

#include "fmt/format.h"
#include "kiln/measure/verify/explain.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/projection.h"
#include "kiln/measure/verify/samples.h"

namespace kiln::measure::verify {

std::optional<Layout> otherOrder(const Layout &layout, int64_t rows, int64_t columns) {
  Layout other = layout;
  if (rows == 1 || columns == 1)
    return std::nullopt;
  if (layout.column == 1 && layout.row == columns) {
    other.row = 1;
    other.column = rows;
    return other;
  }
  if (layout.row == 1 && layout.column == rows) {
    other.row = columns;
    other.column = 1;
    return other;
  }
  return std::nullopt;
}

Verdict verdictOf(Result<Verdict> result) {
  if (result.ok())
    return *std::move(result);
  Verdict verdict;
  verdict.cause = Cause::Unknown;
  verdict.method = "none";
  verdict.escapeProbability = 1;
  verdict.explanation = fmt::format("the output could not be verified: {}", result.status().message());
  return verdict;
}

static Verdict rightOutput(uint64_t elements, Pass pass) {
  Verdict verdict;
  verdict.total = elements;
  // An error escapes only where every wrong row is orthogonal to a random vector.
  verdict.escapeProbability = 1.0 / static_cast<double>(kPrime);
  verdict.method =
      fmt::format("exact: integers ({}), projection modulo 2^61-1; an error escapes with probability {:.1e}",
                  passName(pass), verdict.escapeProbability);
  return verdict;
}

std::string unusedNote(const Contraction &contraction, Pass pass, uint64_t seed, int64_t taps, bool hasBias) {
  const double used = InputPlan::make(contraction, pass, seed, taps, hasBias).usedPart();
  return used < 1
             ? fmt::format("; only {:.2g} % of the reduction's positions had a product other than zero", used * 100)
             : std::string();
}

Verdict rightVerdict(const Contraction &contraction, Pass pass, uint64_t seed, bool hasBias, int64_t taps) {
  Verdict verdict = rightOutput(contraction.outputCount(), pass);
  verdict.method += unusedNote(contraction, pass, seed, taps, hasBias);
  return verdict;
}

Result<Verdict> checkCase(const ContractionCase &subject, Pass pass, uint64_t seed, const CheckOptions &options) {
  TensorOperand out(subject.result, subject.outLayout, subject.outBytes);
  Verdict verdict = rightOutput(static_cast<uint64_t>(subject.batch * subject.m * subject.n), pass);
  for (const std::vector<int32_t> *numbers : {&subject.columns.scale, &subject.columns.bias})
    if (!numbers->empty() && static_cast<int64_t>(numbers->size()) != subject.n)
      return invalidArgument("{} numbers are given for {} columns", numbers->size(), subject.n);
  if (verdict.total == 0)
    return verdict;

  KILN_ASSIGN_OR_RETURN(std::vector<WrongLines> wrong, findWrongRows(subject, out, seed, options.threads));
  if (wrong.empty())
    return verdict;
  for (WrongLines &lines : wrong)
    findWrongColumns(subject, out, seed, options.threads, lines);
  Surveyor surveyor(subject, pass, options);
  explain(surveyor, surveyor.survey(std::move(wrong)), verdict);
  return verdict;
}

Result<Verdict> checkContraction(const Contraction &contraction, Pass pass, uint64_t seed,
                                 std::span<const uint8_t> lhsBytes, std::span<const uint8_t> rhsBytes,
                                 std::span<const uint8_t> outBytes, const CheckOptions &options,
                                 const ColumnMap &columns) {
  const Contraction &c = contraction;
  KILN_RETURN_IF_ERROR(c.validate(lhsBytes.size(), rhsBytes.size(), outBytes.size()));
  TensorOperand lhs(c.lhs, c.lhsLayout, lhsBytes), rhs(c.rhs, c.rhsLayout, rhsBytes);
  std::optional<Layout> otherLhs = otherOrder(c.lhsLayout, c.m, c.k), otherRhs = otherOrder(c.rhsLayout, c.k, c.n);
  TensorOperand swappedLhs(c.lhs, otherLhs.value_or(c.lhsLayout), lhsBytes);
  TensorOperand swappedRhs(c.rhs, otherRhs.value_or(c.rhsLayout), rhsBytes);

  ContractionCase subject = {c.batch,       c.m,  c.n,  c.k,      c.lhs,       c.rhs, c.result,
                             c.accumulator, &lhs, &rhs, outBytes, c.outLayout, {},    {}};
  subject.columns = columns;
  if (c.slice > 0)
    subject.innerLoops.push_back(c.slice);
  if (otherLhs)
    subject.swaps.push_back({"lhs", &swappedLhs, &rhs});
  if (otherRhs)
    subject.swaps.push_back({"rhs", &lhs, &swappedRhs});
  if (otherLhs && otherRhs)
    subject.swaps.push_back({"both operands", &swappedLhs, &swappedRhs});
  KILN_ASSIGN_OR_RETURN(Verdict verdict, checkCase(subject, pass, seed, options));
  verdict.method += unusedNote(c, pass, seed, 1, !columns.bias.empty());
  return verdict;
}

} // namespace kiln::measure::verify
