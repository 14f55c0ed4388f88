#include "kiln/measure/verify/causes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "fmt/format.h"
#include "kiln/measure/verify/narrowing.h"

namespace kiln::measure::verify {

namespace {

// Fewer wrong elements than this match anything by chance, unless the output has no more.
constexpr uint64_t kEvidence = 4;
constexpr int64_t kSampleElements = int64_t(1) << 22; // of all rows and columns that are kept for samples
constexpr uint64_t kLargestTile = 64;
constexpr double kTailWrong = 0.75; // at least so much of a dropped tail is wrong; the rest may be right by chance
constexpr double kFewWrong = 64, kFewWrongShare = 0.01;

// A wrong element, with the row and the column whose product it should be.
struct Sample {
  Element element;
  std::vector<int32_t> left, right;
};

using Prediction = std::function<double(const Sample &)>;

// A mistake, and what it would have made of an element.
struct Pattern {
  Cause cause;
  std::string reason;
  Prediction prediction;
};

class Diagnoser {
public:
  Diagnoser(const Surveyor &surveyor, const Survey &survey);
  Diagnosis run() const;

private:
  void add(Cause cause, std::string reason, Prediction prediction) {
    patterns.push_back({cause, std::move(reason), std::move(prediction)});
  }
  // For a prediction of the sum that the element is made of.
  void addSum(Cause cause, std::string reason, const Prediction &sum) {
    add(cause, std::move(reason), [this, sum](const Sample &s) { return surveyor.finishedAny(sum(s), s.element.j); });
  }
  void addLayouts();
  void addTransposedTiles();
  void addNarrowTypes();
  void addEightBits();
  int64_t shorterLoop(int64_t loop) const;
  std::optional<Diagnosis> shortReduction() const;
  std::optional<Diagnosis> droppedLines() const;
  std::optional<Diagnosis> narrowAccumulator() const;

  bool isMade(const Sample &sample, double predicted) const {
    return sameNumber(roundTo(subject.result, predicted), sample.element.actual);
  }
  double total() const { return static_cast<double>(subject.batch * subject.m * subject.n); }

  const Surveyor &surveyor;
  const ContractionCase &subject;
  const Survey &survey;
  std::vector<Sample> samples;
  std::vector<Pattern> patterns; // in the order in which they are tried
};

Diagnoser::Diagnoser(const Surveyor &surveyor, const Survey &survey)
    : surveyor(surveyor), subject(surveyor.subject), survey(survey) {
  const int64_t most = std::max<int64_t>(kEvidence, kSampleElements / std::max<int64_t>(subject.k, 1));
  for (const Element &element : survey.wrong)
    if (static_cast<int64_t>(samples.size()) < most)
      samples.push_back({element, surveyor.left(*subject.lhs, element.b, element.i),
                         surveyor.right(*subject.rhs, element.b, element.j)});
  add(Cause::NotZeroed, "they are the right results added to what the output held before the run",
      [](const Sample &s) { return s.element.expected + s.element.before; });
  addLayouts();
  addTransposedTiles();
  addNarrowTypes();
  addEightBits();
}

//===--- Mistakes that predict every element ----------------------------------------------------------------------===//

void Diagnoser::addLayouts() {
  for (const SwappedReading &swap : subject.swaps) {
    addSum(swap.cause, fmt::format("they are right for {} {}", swap.what, swap.how), [this, &swap](const Sample &s) {
      return double(dotIntegers(surveyor.left(*swap.lhs, s.element.b, s.element.i),
                                surveyor.right(*swap.rhs, s.element.b, s.element.j)));
    });
  }
  const int64_t m = subject.m, n = subject.n;
  const bool rowMajor = subject.outLayout.column == 1 && subject.outLayout.row == n;
  const bool columnMajor = subject.outLayout.row == 1 && subject.outLayout.column == m;
  if (rowMajor != columnMajor && m > 1 && n > 1)
    add(Cause::SwappedLayout, "they are right for an output in the other layout", [=, this](const Sample &s) {
      const Element &e = s.element;
      const int64_t position = rowMajor ? e.i * n + e.j : e.j * m + e.i;
      return rowMajor ? surveyor.expected(e.b, position % m, position / m)
                      : surveyor.expected(e.b, position / n, position % n);
    });
}

// Along rows and columns, and along any two dimensions of an output that has more.
void Diagnoser::addTransposedTiles() {
  using Index = std::vector<uint64_t>;
  auto addTiles = [&](const Index &shape, size_t a, size_t b, const std::string &where, auto indexOf, auto placeOf) {
    for (uint64_t tile = 2; tile <= kLargestTile; ++tile)
      add(Cause::TransposedTile,
          fmt::format("they are right results, transposed within tiles of {0}x{0}{1}", tile, where),
          [=, this](const Sample &s) {
            Index at = indexOf(s.element.b, s.element.i, s.element.j);
            const uint64_t inA = at[a] % tile, inB = at[b] % tile;
            at[a] += inB - inA;
            at[b] += inA - inB;
            if (at[a] >= shape[a] || at[b] >= shape[b])
              return HUGE_VAL;
            const OutputPlace place = placeOf(at);
            return surveyor.expected(place.b, place.i, place.j);
          });
  };
  addTiles(
      {uint64_t(subject.batch), uint64_t(subject.m), uint64_t(subject.n)}, 1, 2, "",
      [](int64_t b, int64_t i, int64_t j) { return Index{uint64_t(b), uint64_t(i), uint64_t(j)}; },
      [](const Index &at) { return OutputPlace{int64_t(at[0]), int64_t(at[1]), int64_t(at[2])}; });
  for (size_t a = 0; subject.placeOf && a < subject.outShape.size(); ++a)
    for (size_t b = a + 1; b < subject.outShape.size(); ++b)
      addTiles(subject.outShape, a, b, fmt::format(" along dimensions {} and {}", a, b), subject.coordinates,
               subject.placeOf);
}

// Beyond the ends of the type, the nearest end.
double clampTo(ElementType type, double value) {
  return std::clamp(value, double(smallestInteger(type)), double(largestInteger(type)));
}

std::vector<double> productsOf(const Sample &sample) {
  std::vector<double> products(sample.left.size());
  for (size_t p = 0; p < products.size(); ++p)
    products[p] = double(sample.left[p]) * sample.right[p];
  return products;
}

double saturatingSum(const Sample &sample, ElementType type) {
  double sum = 0;
  for (double product : productsOf(sample))
    sum = clampTo(type, sum + product);
  return sum;
}

std::vector<FloatFormat> narrowerFormats(ElementType accumulator) {
  std::vector<FloatFormat> narrower;
  std::optional<FloatFormat> promised = floatFormat(accumulator);
  for (const FloatFormat &format : {kFormatF32, kFormatF16, kFormatBF16})
    if (promised && format.significand < promised->significand)
      narrower.push_back(format);
  return narrower;
}

void Diagnoser::addNarrowTypes() {
  constexpr const char *sides[] = {"inputs", "lhs", "rhs"};
  for (const Narrowing &narrowing : narrowings(subject.lhsType))
    for (int side = 0; side < 3; ++side)
      addSum(Cause::NarrowedInputs, fmt::format("they are what {} {} give", sides[side], narrowing.text()),
             [narrowing, side](const Sample &s) {
               double sum = 0; // exact: the products are, and so is the sum of their magnitudes
               for (size_t p = 0; p < s.left.size(); ++p)
                 sum += (side == 2 ? s.left[p] : narrowing.of(s.left[p])) *
                        (side == 1 ? s.right[p] : narrowing.of(s.right[p]));
               return sum;
             });
  for (const FloatFormat &format : narrowerFormats(subject.accumulator)) {
    add(Cause::NarrowAccumulator, fmt::format("they are the right sums rounded to {}", format.name),
        [format](const Sample &s) { return roundTo(format, s.element.expected); });
    for (size_t lanes : {1, 2, 4, 8, 16})
      addSum(Cause::NarrowAccumulator, narrowSumText(format, lanes),
             [format, lanes](const Sample &s) { return narrowSum(format, productsOf(s), lanes); });
  }
  // As instructions for quantized products have it, or a conversion that was forgotten.
  auto right = [](const Sample &s) { return double(dotIntegers(s.left, s.right)); };
  if (isInteger(subject.accumulator))
    add(Cause::NarrowAccumulator, "they are the right sums rounded to f32",
        [](const Sample &s) { return roundTo(kFormatF32, s.element.expected); });
  for (auto [type, name] : {std::pair(ElementType::I8, "i8"), std::pair(ElementType::I16, "i16")}) {
    if (!isInteger(subject.accumulator) || exactBits(type) >= exactBits(subject.accumulator))
      continue;
    addSum(Cause::NarrowAccumulator, fmt::format("they are the right sums, wrapped around in {}", name),
           [=, type = type](const Sample &s) { return roundTo(type, right(s)); });
    addSum(Cause::NarrowAccumulator, fmt::format("they are the right sums, cut off at the ends of {}", name),
           [=, type = type](const Sample &s) { return clampTo(type, right(s)); });
    addSum(Cause::NarrowAccumulator, fmt::format("they are what sums give that stop at the ends of {}", name),
           [type = type](const Sample &s) { return saturatingSum(s, type); });
  }
}

void Diagnoser::addEightBits() {
  // Programs that multiply the numbers in memory subtract what zero points add to the sums, and add their own product.
  const double product = double(subject.k) * subject.lhsZero * subject.rhsZero;
  if (product != 0)
    addSum(Cause::WrongZeroPoint, kLostZeroPoints,
           [product](const Sample &s) { return double(dotIntegers(s.left, s.right)) - product; });
  if (!isInteger(subject.lhsType) || hal::elementTypeByteSize(subject.lhsType) != 1)
    return;
  for (const PairReading &reading : pairReadings(subject.lhsType, subject.lhsZero, subject.rhsZero))
    addSum(Cause::NarrowAccumulator, kSaturatedPairs,
           [reading](const Sample &s) { return double(sumOfSaturatedPairs(s.left, s.right, reading)); });
}

// The longest length, less than its own, of a loop in the reduction that explains every sample; 0: there is none.
int64_t Diagnoser::shorterLoop(int64_t loop) const {
  std::vector<uint8_t> possible(loop, 1);
  possible[0] = 0; // that would be all zeros
  std::vector<int64_t> sums(loop);
  for (const Sample &s : samples) {
    std::fill(sums.begin(), sums.end(), 0);
    for (size_t p = 0; p < s.left.size(); ++p)
      sums[static_cast<int64_t>(p) % loop] += int64_t(s.left[p]) * s.right[p];
    int64_t sum = 0;
    for (int64_t length = 1; length < loop; ++length) {
      sum += sums[length - 1];
      if (possible[length])
        possible[length] = isMade(s, surveyor.finishedAny(double(sum), s.element.j));
    }
  }
  auto last = std::find(possible.rbegin(), possible.rend(), 1);
  return last == possible.rend() ? 0 : possible.rend() - last - 1;
}

std::optional<Diagnosis> Diagnoser::shortReduction() const {
  std::vector<int64_t> loops = {subject.k};
  loops.insert(loops.end(), subject.innerLoops.begin(), subject.innerLoops.end());
  for (int64_t loop : loops)
    if (int64_t length = loop > 1 && loop <= subject.k ? shorterLoop(loop) : 0)
      return Diagnosis{Cause::DroppedTail,
                       fmt::format("they are sums over the first {} of {}{} elements of the reduction", length,
                                   loop < subject.k ? "every " : "", loop)};
  return std::nullopt;
}

//===--- Mistakes that are known by where they are, or by their size ----------------------------------------------===//

// Where the last lines begin that are wrong as a whole; the extent where there are none, or all are. `wrong` are the
// lines with a wrong element, `shares` how much of a line is wrong, of those that were looked at: others go with their
// neighbours.
int64_t tailStart(const std::vector<int64_t> &wrong, const std::map<int64_t, double> &shares, int64_t extent) {
  int64_t start = extent;
  for (auto line = wrong.rbegin(); line != wrong.rend() && *line == start - 1; ++line, --start)
    if (auto share = shares.find(*line); share != shares.end() && share->second < kTailWrong)
      break;
  return start == 0 ? extent : start;
}

using Tail = std::pair<int64_t, int64_t>; // its first row and column

// Nothing where something else than the last rows and columns is wrong.
std::optional<Tail> findTail(const BatchSurvey &batch, int64_t m, int64_t n) {
  const auto height = batch.rows.size(), width = batch.columns.size();
  // What each element that was looked at stands for.
  const double ofRow = double(batch.lines.columns.size()) / double(width) / double(n);
  const double ofColumn = double(batch.lines.rows.size()) / double(height) / double(m);
  std::map<int64_t, double> rows, columns;
  for (size_t r = 0; r < height; ++r)
    for (size_t c = 0; c < width; ++c) {
      rows[batch.rows[r]] += ofRow * batch.wrongGrid[r * width + c];
      columns[batch.columns[c]] += ofColumn * batch.wrongGrid[r * width + c];
    }
  const Tail tail = {tailStart(batch.lines.rows, rows, m), tailStart(batch.lines.columns, columns, n)};
  for (size_t r = 0; r < height; ++r)
    for (size_t c = 0; c < width; ++c)
      if (batch.wrongGrid[r * width + c] && batch.rows[r] < tail.first && batch.columns[c] < tail.second)
        return std::nullopt;
  return tail;
}

std::optional<Diagnosis> Diagnoser::droppedLines() const {
  const std::optional<Tail> tail = findTail(survey.batches.front(), subject.m, subject.n);
  for (const BatchSurvey &batch : survey.batches)
    if (!tail || findTail(batch, subject.m, subject.n) != tail)
      return std::nullopt;
  std::string where;
  if (tail->first < subject.m)
    where = fmt::format("rows from {} on", tail->first);
  if (tail->second < subject.n)
    where += fmt::format("{}columns from {} on", where.empty() ? "" : " and ", tail->second);
  return Diagnosis{Cause::DroppedTail,
                   fmt::format("they are the {}, all of which are wrong{}", where,
                               survey.untouched == survey.seenWrong ? " and hold what was there before the run" : "")};
}

double largestPartialSum(const Sample &sample) {
  double sum = 0, largest = 0;
  for (double product : productsOf(sample)) {
    sum += product;
    largest = std::max(largest, std::fabs(sum));
  }
  return largest;
}

// Sums in an order that no pattern has: errors of the size that rounding each of them gives, in both directions, in
// much of the output.
std::optional<Diagnosis> Diagnoser::narrowAccumulator() const {
  constexpr double leastShare = 0.02, fewest = 8, smallestOfRounding = 0.05, largestOfRounding = 4;
  if (survey.wrongCount < leastShare * total() || survey.seenWrong < fewest)
    return std::nullopt;
  for (const FloatFormat &format : narrowerFormats(subject.accumulator)) {
    size_t above = 0, below = 0, finite = 0;
    double squares = 0;
    bool bounded = true;
    for (const Sample &s : samples) {
      if (!std::isfinite(s.element.actual)) // an overflow of f16 is possible, and says nothing of the rest
        continue;
      ++finite;
      const double error = s.element.actual - s.element.expected;
      (error > 0 ? above : below) += 1;
      const double unit = format.unitRoundoff() * largestPartialSum(s);
      bounded &= std::fabs(error) <= largestOfRounding * unit * std::sqrt(double(subject.k) + 1);
      squares += unit > 0 ? error * error / (unit * unit) : 0;
    }
    const bool bothWays = above * 8 >= finite && below * 8 >= finite;
    if (finite >= fewest && bounded && bothWays && std::sqrt(squares / double(finite)) >= smallestOfRounding)
      return Diagnosis{Cause::NarrowAccumulator,
                       fmt::format("their errors are of the size that an accumulator in {} makes", format.name)};
  }
  return std::nullopt;
}

//===--- In this order: what predicts every value before what only looks alike ------------------------------------===//

Diagnosis Diagnoser::run() const {
  if (nothingWritten(subject, surveyor.pass))
    return {Cause::NothingWritten, "the output is as it was before the run"};
  const bool untouched = survey.untouched == survey.seenWrong;
  if (!samples.empty() && double(survey.seenWrong) >= std::min(double(kEvidence), total())) {
    if (survey.nans == survey.seenWrong && !untouched)
      return {Cause::NotANumber, "they are NaN"};
    if (survey.zeros == survey.seenWrong && survey.wrongCount >= 0.5 * total())
      return {Cause::Unknown, "they are all zero"};
    for (const Pattern &pattern : patterns)
      if (std::ranges::all_of(samples, [&](const Sample &s) { return isMade(s, pattern.prediction(s)); }))
        return {pattern.cause, pattern.reason};
    if (std::optional<Diagnosis> found = shortReduction())
      return *found;
    if (std::optional<Diagnosis> found = droppedLines())
      return *found;
    if (untouched)
      return {Cause::NothingWritten, "they hold what was there before the run: a part was never written"};
    if (std::optional<Diagnosis> found = narrowAccumulator())
      return *found;
  }
  if (survey.notFinite == survey.seenWrong)
    return {Cause::NotANumber, "they are NaN or infinite"};
  if (survey.wrongCount <= std::max(kFewWrong, kFewWrongShare * total()))
    return {Cause::WrongElements, "they follow no pattern that is known"};
  if (survey.notFinite > 0)
    return {Cause::NotANumber, "some of them are NaN or infinite"};
  return {Cause::Unknown, "they fit no mistake that is known"};
}

} // namespace

Diagnosis diagnose(const Surveyor &surveyor, const Survey &survey) {
  return Diagnoser(surveyor, survey).run();
}

} // namespace kiln::measure::verify
