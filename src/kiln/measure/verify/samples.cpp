#include "kiln/measure/verify/samples.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tuple>

#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/inputs.h"
#include "kiln/measure/verify/number.h"

namespace kiln::measure::verify {

namespace {

constexpr size_t kFirst = 8;          // examples that are shown
constexpr size_t kSamples = 32;       // elements that hypotheses are tested on
constexpr int64_t kElementCost = 8;   // of an element beyond its k multiplications
constexpr size_t kSampledBatches = 4; // of those that are wrong, when all are too many
constexpr size_t kSampledRows = 64, kSampledColumns = 128;
constexpr int64_t kBlock = 64; // columns that are packed at once
constexpr int64_t kBlockElements = int64_t(1) << 22;
constexpr uint64_t kSampling = 0x73616D;

// `count` of the lines, one at random from each of as many equal parts, and the last: tails are at the end.
std::vector<int64_t> stratified(const std::vector<int64_t> &lines, size_t count, uint64_t key) {
  if (lines.size() <= count)
    return lines;
  std::vector<int64_t> chosen;
  for (size_t part = 0; part < count; ++part) {
    size_t begin = lines.size() * part / count, end = lines.size() * (part + 1) / count;
    chosen.push_back(lines[begin + randomBits(key, part) % (end - begin)]);
  }
  chosen.back() = lines.back();
  return chosen;
}

// Keeps a random sample of all that it was given; `seen` counts them, the element included.
void sample(std::vector<Element> &kept, const Element &element, uint64_t seen) {
  if (kept.size() < kSamples) {
    kept.push_back(element);
    return;
  }
  uint64_t slot = randomBits(kSampling, seen) % seen;
  if (slot < kSamples)
    kept[slot] = element;
}

void keepFirst(std::vector<Element> &first, const Element &element) {
  auto before = [](const Element &a, const Element &b) { return std::tie(a.b, a.i, a.j) < std::tie(b.b, b.i, b.j); };
  if (first.size() == kFirst && before(first.back(), element))
    return;
  first.insert(std::upper_bound(first.begin(), first.end(), element, before), element);
  if (first.size() > kFirst)
    first.pop_back();
}

} // namespace

int64_t dotIntegers(const std::vector<int32_t> &left, const std::vector<int32_t> &right) {
  int64_t sum = 0;
  for (size_t p = 0; p < left.size(); ++p)
    sum += int64_t(left[p]) * right[p];
  return sum;
}

std::vector<int32_t> Surveyor::left(const Operand &lhs, int64_t b, int64_t i) const {
  std::vector<int32_t> row(subject.k);
  lhs.loadAlong(b, i, 0, subject.k, row.data());
  return row;
}

std::vector<int32_t> Surveyor::right(const Operand &rhs, int64_t b, int64_t j) const {
  std::vector<int32_t> column(subject.k);
  rhs.loadDown(b, 0, j, subject.k, column.data());
  return column;
}

double Surveyor::expected(int64_t b, int64_t i, int64_t j) const {
  return finished(static_cast<double>(dotIntegers(left(*subject.lhs, b, i), right(*subject.rhs, b, j))), j);
}

int64_t Surveyor::work(uint64_t elements) const {
  double cost = static_cast<double>(elements) * static_cast<double>(subject.k + kElementCost);
  return static_cast<int64_t>(std::min(cost, 0x1p62));
}

// All candidates if there is time for them, otherwise a grid in each of a few batches.
void Surveyor::choose(Survey &survey, std::vector<BatchSurvey> all) const {
  uint64_t candidates = 0;
  for (const BatchSurvey &batch : all)
    candidates += batch.candidates();
  survey.exact = work(candidates) <= options.explainWork;
  std::vector<int64_t> chosen(all.size());
  for (size_t i = 0; i < all.size(); ++i)
    chosen[i] = static_cast<int64_t>(i);
  if (!survey.exact)
    chosen = stratified(chosen, kSampledBatches, kSampling);
  // A grid of half the work, so that it is never the whole budget; and never less than a few elements.
  double grid = 0.5 * static_cast<double>(options.explainWork) / static_cast<double>(subject.k + kElementCost) /
                static_cast<double>(chosen.size());
  double scale = std::min(1.0, std::sqrt(grid / double(kSampledRows * kSampledColumns)));
  auto scaled = [&](size_t count) { return std::max<size_t>(4, static_cast<size_t>(scale * double(count))); };
  for (int64_t index : chosen) {
    BatchSurvey &batch = all[index];
    batch.rows = survey.exact ? batch.lines.rows : stratified(batch.lines.rows, scaled(kSampledRows), kSampling + 1);
    batch.columns =
        survey.exact ? batch.lines.columns : stratified(batch.lines.columns, scaled(kSampledColumns), kSampling + 2);
    survey.batches.push_back(std::move(batch));
  }
}

Survey Surveyor::survey(std::vector<WrongLines> wrong) const {
  Survey survey;
  std::vector<BatchSurvey> all;
  uint64_t candidates = 0, surveyed = 0;
  for (WrongLines &lines : wrong) {
    all.push_back({std::move(lines), {}, {}, {}, 0});
    candidates += all.back().candidates();
  }
  choose(survey, std::move(all));
  double estimate = 0;
  for (BatchSurvey &batch : survey.batches) {
    surveyBatch(batch, survey);
    if (batch.seen())
      estimate += static_cast<double>(batch.wrong) / static_cast<double>(batch.seen()) *
                  static_cast<double>(batch.candidates());
    surveyed += batch.candidates();
  }
  survey.wrongCount = survey.exact ? static_cast<double>(survey.seenWrong)
                      : surveyed   ? estimate / static_cast<double>(surveyed) * static_cast<double>(candidates)
                                   : 0;
  return survey;
}

void Surveyor::surveyBatch(BatchSurvey &batch, Survey &survey) const {
  int64_t b = batch.lines.b;
  auto columnCount = static_cast<int64_t>(batch.columns.size());
  batch.wrongGrid.resize(batch.rows.size() * batch.columns.size());
  int64_t block = std::clamp<int64_t>(kBlockElements / std::max<int64_t>(subject.k, 1), 1, kBlock);
  for (int64_t begin = 0; begin < columnCount; begin += block) {
    int64_t end = std::min(columnCount, begin + block);
    std::vector<std::vector<int32_t>> packed;
    for (int64_t c = begin; c < end; ++c)
      packed.push_back(right(*subject.rhs, b, batch.columns[c]));
    for (size_t r = 0; r < batch.rows.size(); ++r) {
      int64_t i = batch.rows[r];
      std::vector<int32_t> row = left(*subject.lhs, b, i);
      for (int64_t c = begin; c < end; ++c) {
        int64_t j = batch.columns[c], offset = subject.outLayout.offset(b, i, j);
        Element element{b,
                        i,
                        j,
                        finished(static_cast<double>(dotIntegers(row, packed[c - begin])), j),
                        out.number(b, i, j),
                        prefilledNumber(subject.result, pass, offset)};
        bool wrong = element.actual != element.expected;
        batch.wrongGrid[r * columnCount + c] = wrong;
        batch.wrong += wrong;
        if (wrong)
          record(element, isUntouched(offset), survey);
      }
    }
  }
}

void Surveyor::record(const Element &element, bool untouched, Survey &survey) const {
  sample(survey.wrong, element, ++survey.seenWrong);
  keepFirst(survey.first, element);
  survey.untouched += untouched;
  survey.nans += std::isnan(element.actual);
  survey.zeros += element.actual == 0;
  if (std::isfinite(element.actual))
    ++survey.ulps[std::ilogb(ulpsBetween(subject.result, element.expected, element.actual))];
  else
    ++survey.notFinite;
}

bool Surveyor::isUntouched(int64_t offset) const {
  uint64_t bytes = hal::elementTypeByteSize(subject.result);
  const uint8_t *actual = subject.outBytes.data() + offset * bytes;
  uint8_t before[8];
  double number = prefilledNumber(subject.result, pass, offset);
  if (std::isnan(number))
    std::memset(before, 0xFF, sizeof(before));
  else
    storeInteger(subject.result, static_cast<int32_t>(number), before);
  return std::memcmp(actual, before, bytes) == 0;
}

std::vector<PairReading> pairReadings(ElementType lhsType, int32_t lhsZero, int32_t rhsZero) {
  std::vector<PairReading> readings;
  for (int32_t rhsOffset : {0, rhsZero}) {
    readings.push_back({0, rhsOffset});
    readings.push_back({lhsZero, rhsOffset});
    if (lhsType != ElementType::UI8)
      readings.push_back({lhsZero + 128, rhsOffset});
  }
  return readings;
}

int64_t sumOfSaturatedPairs(const std::vector<int32_t> &left, const std::vector<int32_t> &right,
                            const PairReading &reading) {
  int64_t lost = 0;
  for (size_t p = 0; p < left.size(); p += 2) {
    int64_t pair = 0;
    for (size_t of = p; of < std::min(p + 2, left.size()); ++of)
      pair += (int64_t(left[of]) + reading.lhsOffset) * (int64_t(right[of]) + reading.rhsOffset);
    lost += pair - std::clamp<int64_t>(pair, INT16_MIN, INT16_MAX);
  }
  return dotIntegers(left, right) - lost;
}

bool nothingWritten(const ContractionCase &subject, Pass pass) {
  std::vector<uint8_t> before(subject.outBytes.size());
  prefillOutput(subject.result, pass, before);
  return std::equal(before.begin(), before.end(), subject.outBytes.begin());
}

} // namespace kiln::measure::verify
