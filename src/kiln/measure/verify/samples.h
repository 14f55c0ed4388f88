// Elements of a wrong output, computed again exactly: how many are wrong, which, and by how much.
#ifndef KILN_MEASURE_VERIFY_SAMPLES_H
#define KILN_MEASURE_VERIFY_SAMPLES_H

#include <map>
#include <string>
#include <vector>

#include "kiln/measure/verify/check.h"
#include "kiln/measure/verify/projection.h"

namespace kiln::measure::verify {

struct Element {
  int64_t b, i, j;
  double expected, actual;
  double before; // what the output held before the run
};

// What was seen of one batch: the elements in `rows` x `columns`, which are all candidates or a sample of them.
struct BatchSurvey {
  WrongLines lines;
  std::vector<int64_t> rows, columns; // ascending
  std::vector<uint8_t> wrongGrid;     // for each row and column, whether the element is wrong
  uint64_t wrong = 0;

  // Every wrong element is one of these.
  uint64_t candidates() const { return lines.rows.size() * lines.columns.size(); }
  uint64_t seen() const { return wrongGrid.size(); }
};

struct Survey {
  std::vector<BatchSurvey> batches;
  bool exact = true;     // every candidate was computed
  double wrongCount = 0; // exact, or estimated from those that were seen
  uint64_t seenWrong = 0;
  std::vector<Element> first, wrong; // the first wrong ones in order, and a random sample of them
  uint64_t notFinite = 0, nans = 0;  // of the wrong ones that were seen
  uint64_t untouched = 0;            // those that are what they were before the run
  uint64_t zeros = 0;
  std::map<int, uint64_t> ulps; // wrong and finite ones by the exponent of their distance
};

class Surveyor {
public:
  Surveyor(const ContractionCase &subject, Pass pass, const CheckOptions &options)
      : subject(subject), pass(pass), options(options), out(subject.result, subject.outLayout, subject.outBytes) {}

  Survey survey(std::vector<WrongLines> wrong) const;

  // Row i of lhs and column j of rhs.
  std::vector<int32_t> left(const Operand &lhs, int64_t b, int64_t i) const;
  std::vector<int32_t> right(const Operand &rhs, int64_t b, int64_t j) const;
  double expected(int64_t b, int64_t i, int64_t j) const;
  // What a sum becomes in column j.
  double finished(double sum, int64_t j) const {
    return double(subject.columns.scaleAt(j)) * sum + double(subject.columns.biasAt(j));
  }

  // What another sum would have become.
  double finishedAny(double sum, int64_t j) const {
    return subject.columns.ofAnySum ? subject.columns.ofAnySum(sum, j) : finished(sum, j);
  }

  const ContractionCase &subject;
  const Pass pass;

private:
  void choose(Survey &survey, std::vector<BatchSurvey> all) const;
  void surveyBatch(BatchSurvey &batch, Survey &survey) const;
  void record(const Element &element, bool untouched, Survey &survey) const;
  bool isUntouched(int64_t offset) const;
  int64_t work(uint64_t elements) const;

  const CheckOptions options;
  TensorOperand out;
};

// Exact while it fits into 64 bits.
int64_t dotIntegers(const std::vector<int32_t> &left, const std::vector<int32_t> &right);

// How a program that multiplies 8-bit integers may have added to the operands before: a zero point that it takes into
// account later, or what makes numbers without sign of lhs.
struct PairReading {
  int32_t lhsOffset, rhsOffset;
};
std::vector<PairReading> pairReadings(ElementType lhsType, int32_t lhsZero, int32_t rhsZero);
// The sum of products where each two neighbours are added in i16, which stops at the ends of its range.
int64_t sumOfSaturatedPairs(const std::vector<int32_t> &left, const std::vector<int32_t> &right,
                            const PairReading &reading);
inline constexpr const char *kLostZeroPoints = "they are right but for K times both zero points, which is missing";
inline constexpr const char *kSaturatedPairs = "they are what sums give whose products are added in pairs in i16, cut "
                                               "off at its ends";

// Whether the whole output is bit for bit what it was before the run.
bool nothingWritten(const ContractionCase &subject, Pass pass);

} // namespace kiln::measure::verify

#endif // KILN_MEASURE_VERIFY_SAMPLES_H
