#include "kiln/measure/verify/causes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "fmt/format.h"
#include "kiln/measure/verify/number.h"

namespace kiln::measure::verify {

namespace {

// Fewer wrong elements than this match anything by chance, unless the output has no more.
constexpr uint64_t kEvidence = 4;
constexpr int64_t kSampleElements = int64_t(1) << 22; // of all rows and columns that are kept for samples
constexpr int64_t kLargestTile = 64;
constexpr double kTailWrong = 0.75; // at least so much of a dropped tail is wrong; the rest may be right by chance
constexpr uint64_t kFewWrong = 64;
constexpr double kFewWrongShare = 0.01;

// A wrong element with what it should be made of.
struct Sample {
  Element element;
  std::vector<int32_t> left, right;
};

using Prediction = std::function<double(const Sample &)>;

class Diagnoser {
public:
  Diagnoser(const Surveyor &surveyor, const Survey &survey)
      : surveyor(surveyor), subject(surveyor.subject), survey(survey) {
    int64_t most = std::max<int64_t>(kEvidence, kSampleElements / std::max<int64_t>(subject.k, 1));
    for (const Element &element : survey.wrong) {
      if (static_cast<int64_t>(samples.size()) == most)
        break;
      samples.push_back({element, surveyor.left(*subject.lhs, element.b, element.i),
                         surveyor.right(*subject.rhs, element.b, element.j)});
    }
  }

  Diagnosis run() const;

private:
  using Hypothesis = std::optional<Diagnosis> (Diagnoser::*)() const;

  std::optional<Diagnosis> nothingWasWritten() const;
  std::optional<Diagnosis> notZeroed() const;
  std::optional<Diagnosis> swappedOperands() const;
  std::optional<Diagnosis> swappedOutput() const;
  std::optional<Diagnosis> transposedTile() const;
  std::optional<Diagnosis> narrowedInputs() const;
  std::optional<Diagnosis> transposedInOutput() const;
  std::optional<Diagnosis> shortReduction() const;
  std::optional<Diagnosis> shortInnerLoop() const;
  int64_t shorterLoop(int64_t loop) const;
  std::optional<Diagnosis> onlyNaN() const;
  std::optional<Diagnosis> notFinite() const;
  std::optional<Diagnosis> droppedLines() const;
  std::optional<Diagnosis> simulatedAccumulator() const;
  std::optional<Diagnosis> narrowInteger() const;
  std::optional<Diagnosis> lostZeroPoints() const;
  std::optional<Diagnosis> saturatedPairs() const;
  std::optional<Diagnosis> likeNarrowAccumulator() const;
  std::optional<Diagnosis> partNeverWritten() const;
  std::optional<Diagnosis> onlyZeros() const;
  std::optional<Diagnosis> fewElements() const;

  bool predicts(const Prediction &prediction) const {
    return std::all_of(samples.begin(), samples.end(), [&](const Sample &sample) {
      return sameNumber(roundTo(subject.result, prediction(sample)), sample.element.actual);
    });
  }
  // For a prediction of the sum that the element is made of.
  bool predictsSums(const Prediction &prediction) const {
    return predicts([&](const Sample &s) { return surveyor.finishedAny(prediction(s), s.element.j); });
  }
  uint64_t total() const { return static_cast<uint64_t>(subject.batch * subject.m * subject.n); }
  bool floating() const { return !isInteger(subject.lhsType); }

  const Surveyor &surveyor;
  const ContractionCase &subject;
  const Survey &survey;
  std::vector<Sample> samples;
};

std::optional<Diagnosis> Diagnoser::nothingWasWritten() const {
  if (nothingWritten(subject, surveyor.pass))
    return Diagnosis{Cause::NothingWritten, "the output is as it was before the run"};
  return std::nullopt;
}

std::optional<Diagnosis> Diagnoser::notZeroed() const {
  if (!predicts([](const Sample &s) { return s.element.expected + s.element.before; }))
    return std::nullopt;
  return Diagnosis{Cause::NotZeroed, "they are the right results added to what the output held before the run"};
}

std::optional<Diagnosis> Diagnoser::swappedOperands() const {
  for (const SwappedReading &swap : subject.swaps) {
    auto prediction = [&](const Sample &s) {
      return double(dotIntegers(surveyor.left(*swap.lhs, s.element.b, s.element.i),
                                surveyor.right(*swap.rhs, s.element.b, s.element.j)));
    };
    if (predictsSums(prediction))
      return Diagnosis{swap.cause, fmt::format("they are right for {} {}", swap.what, swap.how)};
  }
  return std::nullopt;
}

// The output's memory holds the result in the other layout.
std::optional<Diagnosis> Diagnoser::swappedOutput() const {
  const Layout &layout = subject.outLayout;
  bool rowMajor = layout.column == 1 && layout.row == subject.n;
  bool columnMajor = layout.row == 1 && layout.column == subject.m;
  if (rowMajor == columnMajor || subject.m == 1 || subject.n == 1)
    return std::nullopt;
  auto prediction = [&](const Sample &s) {
    const Element &e = s.element;
    int64_t position = rowMajor ? e.i * subject.n + e.j : e.j * subject.m + e.i;
    if (rowMajor)
      return surveyor.expected(e.b, position % subject.m, position / subject.m);
    return surveyor.expected(e.b, position / subject.n, position % subject.n);
  };
  if (!predicts(prediction))
    return std::nullopt;
  return Diagnosis{Cause::SwappedLayout, "they are right for an output in the other layout"};
}

std::optional<Diagnosis> Diagnoser::transposedTile() const {
  for (int64_t tile = 2; tile <= kLargestTile; ++tile) {
    auto prediction = [&](const Sample &s) {
      int64_t top = s.element.i / tile * tile, left = s.element.j / tile * tile;
      int64_t i = top + s.element.j - left, j = left + s.element.i - top;
      return i < subject.m && j < subject.n ? surveyor.expected(s.element.b, i, j) : HUGE_VAL;
    };
    if (predicts(prediction))
      return Diagnosis{Cause::TransposedTile,
                       fmt::format("they are right results, transposed within tiles of {0}x{0}", tile)};
  }
  return std::nullopt;
}

// The same where tiles lie along any two dimensions of an output that has more.
std::optional<Diagnosis> Diagnoser::transposedInOutput() const {
  if (!subject.placeOf || !subject.coordinates)
    return std::nullopt;
  const std::vector<uint64_t> &shape = subject.outShape;
  for (size_t a = 0; a < shape.size(); ++a)
    for (size_t b = a + 1; b < shape.size(); ++b)
      for (uint64_t tile = 2; tile <= static_cast<uint64_t>(kLargestTile); ++tile) {
        auto prediction = [&](const Sample &s) {
          std::vector<uint64_t> at = subject.coordinates(s.element.b, s.element.i, s.element.j);
          uint64_t inA = at[a] % tile, inB = at[b] % tile;
          at[a] += inB - inA;
          at[b] += inA - inB;
          if (at[a] >= shape[a] || at[b] >= shape[b])
            return HUGE_VAL;
          OutputPlace place = subject.placeOf(at);
          return surveyor.expected(place.b, place.i, place.j);
        };
        if (predicts(prediction))
          return Diagnosis{Cause::TransposedTile,
                           fmt::format("they are right results, transposed within tiles of {0}x{0} along dimensions "
                                       "{1} and {2}",
                                       tile, a, b)};
      }
  return std::nullopt;
}

struct Narrowing {
  FloatFormat format;
  Rounding rounding;
};

constexpr Narrowing kNarrowings[] = {
    {kFormatTF32, Rounding::NearestEven}, {kFormatTF32, Rounding::NearestAway}, {kFormatTF32, Rounding::TowardZero},
    {kFormatBF16, Rounding::NearestEven}, {kFormatBF16, Rounding::NearestAway}, {kFormatBF16, Rounding::TowardZero},
    {kFormatF16, Rounding::NearestEven},  {kFormatF16, Rounding::TowardZero},
};

// Which operands are narrowed.
struct Sides {
  const char *text;
  bool lhs, rhs;
};

constexpr Sides kSides[] = {{"inputs", true, true}, {"lhs", true, false}, {"rhs", false, true}};

double narrowedSum(const Sample &s, const Narrowing &narrowing, const Sides &sides) {
  double sum = 0; // exact: the products are, and so is the sum of their magnitudes
  for (size_t p = 0; p < s.left.size(); ++p) {
    double left = s.left[p], right = s.right[p];
    sum += (sides.lhs ? roundTo(narrowing.format, left, narrowing.rounding) : left) *
           (sides.rhs ? roundTo(narrowing.format, right, narrowing.rounding) : right);
  }
  return sum;
}

std::optional<Diagnosis> Diagnoser::narrowedInputs() const {
  if (!floating())
    return std::nullopt;
  for (const Narrowing &narrowing : kNarrowings)
    for (const Sides &sides : kSides)
      if (predictsSums([&](const Sample &s) { return narrowedSum(s, narrowing, sides); }))
        return Diagnosis{Cause::NarrowedInputs,
                         fmt::format("they are what {} {} to {} give", sides.text,
                                     narrowing.rounding == Rounding::TowardZero ? "cut off" : "rounded",
                                     narrowing.format.name)};
  return std::nullopt;
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
        possible[length] =
            sameNumber(roundTo(subject.result, surveyor.finishedAny(double(sum), s.element.j)), s.element.actual);
    }
  }
  auto last = std::find(possible.rbegin(), possible.rend(), 1);
  return last == possible.rend() ? 0 : possible.rend() - last - 1;
}

std::optional<Diagnosis> Diagnoser::shortReduction() const {
  int64_t length = shorterLoop(subject.k);
  if (length == 0)
    return std::nullopt;
  return Diagnosis{Cause::DroppedTail,
                   fmt::format("they are sums over the first {} of {} elements of the reduction", length, subject.k)};
}

std::optional<Diagnosis> Diagnoser::shortInnerLoop() const {
  for (int64_t loop : subject.innerLoops) {
    int64_t length = loop > 1 && loop < subject.k ? shorterLoop(loop) : 0;
    if (length > 0)
      return Diagnosis{
          Cause::DroppedTail,
          fmt::format("they are sums over the first {0} of every {1} elements of the reduction", length, loop)};
  }
  return std::nullopt;
}

std::optional<Diagnosis> Diagnoser::onlyNaN() const {
  if (survey.nans == 0 || survey.nans != survey.seenWrong || survey.untouched == survey.seenWrong)
    return std::nullopt;
  return Diagnosis{Cause::NotANumber, "they are NaN"};
}

std::optional<Diagnosis> Diagnoser::notFinite() const {
  if (survey.notFinite == 0 || survey.notFinite != survey.seenWrong || survey.untouched == survey.seenWrong)
    return std::nullopt;
  return Diagnosis{Cause::NotANumber, "they are NaN or infinite"};
}

// Where the last rows and the last columns begin that are wrong as a whole; the extent where there are none.
struct Tail {
  int64_t row, column;
  bool operator==(const Tail &) const = default;
};

// One behind the last line that is not wrong as a whole. `wrong` counts among the seen elements of each of `lines`,
// `share` is the part of a whole line that each of them stands for.
int64_t tailStart(const std::vector<int64_t> &lines, const std::vector<uint64_t> &wrong, double share,
                  const std::vector<int64_t> &wrongLines, int64_t extent) {
  int64_t start = extent;
  size_t line = lines.size(), any = wrongLines.size();
  while (start > 0 && any > 0 && wrongLines[any - 1] == start - 1) {
    // A line that was not looked at goes with its neighbours.
    if (line > 0 && lines[line - 1] == start - 1) {
      --line;
      if (double(wrong[line]) * share < kTailWrong)
        break;
    }
    --start;
    --any;
  }
  return start;
}

// Nothing where something else than the last rows and columns is wrong.
std::optional<Tail> findTail(const BatchSurvey &batch, int64_t m, int64_t n) {
  size_t height = batch.rows.size(), width = batch.columns.size();
  std::vector<uint64_t> inRow(height), inColumn(width);
  for (size_t r = 0; r < height; ++r) {
    for (size_t c = 0; c < width; ++c) {
      inRow[r] += batch.wrongGrid[r * width + c];
      inColumn[c] += batch.wrongGrid[r * width + c];
    }
  }
  auto share = [](size_t candidates, size_t seen, int64_t extent) {
    return double(candidates) / double(seen) / double(extent);
  };
  Tail tail = {
      tailStart(batch.rows, inRow, share(batch.lines.columns.size(), width, n), batch.lines.rows, m),
      tailStart(batch.columns, inColumn, share(batch.lines.rows.size(), height, m), batch.lines.columns, n),
  };
  // Where nearly all rows are missing, every column looks wrong as a whole, and the other way round.
  if (tail.row == 0 && tail.column == 0)
    return std::nullopt;
  tail.row = tail.row == 0 ? m : tail.row;
  tail.column = tail.column == 0 ? n : tail.column;
  if (tail.row == m && tail.column == n)
    return std::nullopt;
  for (size_t r = 0; r < height; ++r)
    for (size_t c = 0; c < width; ++c)
      if (batch.wrongGrid[r * width + c] && batch.rows[r] < tail.row && batch.columns[c] < tail.column)
        return std::nullopt;
  return tail;
}

std::string untouchedText(const Survey &survey) {
  return survey.untouched == survey.seenWrong ? " and hold what was there before the run" : "";
}

std::optional<Diagnosis> Diagnoser::droppedLines() const {
  std::optional<Tail> tail = findTail(survey.batches.front(), subject.m, subject.n);
  if (!tail)
    return std::nullopt;
  for (const BatchSurvey &batch : survey.batches)
    if (findTail(batch, subject.m, subject.n) != tail)
      return std::nullopt;
  std::string where;
  if (tail->row < subject.m)
    where = fmt::format("rows from {} on", tail->row);
  if (tail->column < subject.n)
    where += fmt::format("{}columns from {} on", where.empty() ? "" : " and ", tail->column);
  return Diagnosis{Cause::DroppedTail,
                   fmt::format("they are the {}, all of which are wrong{}", where, untouchedText(survey))};
}

// How a program may add up in a narrow accumulator.
struct Order {
  const char *text;
  int64_t lanes; // accumulators that take turns and are added at the end
  bool fused;    // a product is added without having been rounded
};

constexpr Order kOrders[] = {
    {"in order", 1, true},   {"in order, products rounded", 1, false},
    {"in 2 lanes", 2, true}, {"in 4 lanes", 4, true},
    {"in 8 lanes", 8, true}, {"in 16 lanes", 16, true},
};

double accumulate(const Sample &s, const FloatFormat &format, const Order &order) {
  std::vector<double> sums(order.lanes, 0.0);
  for (size_t p = 0; p < s.left.size(); ++p) {
    double product = double(s.left[p]) * s.right[p];
    double &sum = sums[p % order.lanes];
    sum = roundTo(format, sum + (order.fused ? product : roundTo(format, product)));
  }
  for (size_t lane = 1; lane < sums.size(); ++lane)
    sums[0] = roundTo(format, sums[0] + sums[lane]);
  return sums[0];
}

std::vector<FloatFormat> narrowerFormats(ElementType accumulator) {
  std::vector<FloatFormat> narrower;
  std::optional<FloatFormat> promised = floatFormat(accumulator);
  for (const FloatFormat &format : {kFormatF32, kFormatF16, kFormatBF16})
    if (promised && format.significand < promised->significand)
      narrower.push_back(format);
  return narrower;
}

std::optional<Diagnosis> Diagnoser::simulatedAccumulator() const {
  for (const FloatFormat &format : narrowerFormats(subject.accumulator)) {
    if (predicts([&](const Sample &s) { return roundTo(format, s.element.expected); }))
      return Diagnosis{Cause::NarrowAccumulator, fmt::format("they are the right sums rounded to {}", format.name)};
    for (const Order &order : kOrders)
      if (predictsSums([&](const Sample &s) { return accumulate(s, format, order); }))
        return Diagnosis{Cause::NarrowAccumulator,
                         fmt::format("they are what an accumulator in {} gives, summed {}", format.name, order.text)};
  }
  return std::nullopt;
}

// Beyond the ends of the type, the nearest end.
double clampTo(ElementType type, double value) {
  return std::clamp(value, double(smallestInteger(type)), double(largestInteger(type)));
}

double saturate(const Sample &s, ElementType type) {
  double sum = 0;
  for (size_t p = 0; p < s.left.size(); ++p)
    sum = clampTo(type, sum + double(s.left[p]) * s.right[p]);
  return sum;
}

// As instructions for quantized products have it, or a conversion that was forgotten.
std::optional<Diagnosis> Diagnoser::narrowInteger() const {
  if (!isInteger(subject.accumulator))
    return std::nullopt;
  if (predicts([](const Sample &s) { return roundTo(kFormatF32, s.element.expected); }))
    return Diagnosis{Cause::NarrowAccumulator, "they are the right sums rounded to f32"};
  auto sumOf = [](const Sample &s) { return double(dotIntegers(s.left, s.right)); };
  for (auto [type, name] : {std::pair(ElementType::I8, "i8"), std::pair(ElementType::I16, "i16")}) {
    if (exactBits(type) >= exactBits(subject.accumulator))
      continue;
    const char *how = nullptr;
    if (predictsSums([&](const Sample &s) { return roundTo(type, sumOf(s)); }))
      how = "the right sums, wrapped around in";
    else if (predictsSums([&](const Sample &s) { return clampTo(type, sumOf(s)); }))
      how = "the right sums, cut off at the ends of";
    else if (predictsSums([&](const Sample &s) { return saturate(s, type); }))
      how = "what sums give that stop at the ends of";
    if (how)
      return Diagnosis{Cause::NarrowAccumulator, fmt::format("they are {} {}", how, name)};
  }
  return std::nullopt;
}

// Programs that multiply the numbers in memory subtract what zero points add to the sums, and add their own product.
std::optional<Diagnosis> Diagnoser::lostZeroPoints() const {
  double product = double(subject.k) * subject.lhsZero * subject.rhsZero;
  if (product == 0 || !predictsSums([&](const Sample &s) { return double(dotIntegers(s.left, s.right)) - product; }))
    return std::nullopt;
  return Diagnosis{Cause::WrongZeroPoint, kLostZeroPoints};
}

std::optional<Diagnosis> Diagnoser::saturatedPairs() const {
  if (!isInteger(subject.lhsType) || hal::elementTypeByteSize(subject.lhsType) != 1)
    return std::nullopt;
  for (const PairReading &reading : pairReadings(subject.lhsType, subject.lhsZero, subject.rhsZero))
    if (predictsSums([&](const Sample &s) { return double(sumOfSaturatedPairs(s.left, s.right, reading)); }))
      return Diagnosis{Cause::NarrowAccumulator, kSaturatedPairs};
  return std::nullopt;
}

double largestPartialSum(const Sample &s) {
  double sum = 0, largest = 0;
  for (size_t p = 0; p < s.left.size(); ++p) {
    sum += double(s.left[p]) * s.right[p];
    largest = std::max(largest, std::fabs(sum));
  }
  return largest;
}

// An order that is not simulated: errors of the size that rounding each sum gives, in both directions, in much of the
// output.
std::optional<Diagnosis> Diagnoser::likeNarrowAccumulator() const {
  constexpr double leastShare = 0.02, fewest = 8, smallestOfRounding = 0.05, largestOfRounding = 4;
  if (survey.wrongCount < leastShare * double(total()) || survey.seenWrong < fewest)
    return std::nullopt;
  for (const FloatFormat &format : narrowerFormats(subject.accumulator)) {
    size_t above = 0, below = 0, finite = 0;
    double squares = 0;
    bool bounded = true;
    for (const Sample &s : samples) {
      if (!std::isfinite(s.element.actual)) // an overflow of f16 is possible, and says nothing of the rest
        continue;
      ++finite;
      double error = s.element.actual - s.element.expected;
      (error > 0 ? above : below) += 1;
      double unit = format.unitRoundoff() * largestPartialSum(s);
      bounded &= std::fabs(error) <= largestOfRounding * unit * std::sqrt(double(subject.k) + 1);
      squares += unit > 0 ? error * error / (unit * unit) : 0;
    }
    bool bothWays = above * 8 >= finite && below * 8 >= finite;
    if (finite >= fewest && bounded && bothWays && std::sqrt(squares / double(finite)) >= smallestOfRounding)
      return Diagnosis{Cause::NarrowAccumulator,
                       fmt::format("their errors are of the size that an accumulator in {} makes", format.name)};
  }
  return std::nullopt;
}

std::optional<Diagnosis> Diagnoser::partNeverWritten() const {
  if (survey.untouched != survey.seenWrong)
    return std::nullopt;
  return Diagnosis{Cause::NothingWritten, "they hold what was there before the run: a part was never written"};
}

std::optional<Diagnosis> Diagnoser::onlyZeros() const {
  if (survey.zeros != survey.seenWrong || survey.wrongCount < 0.5 * double(total()))
    return std::nullopt;
  return Diagnosis{Cause::Unknown, "they are all zero"};
}

std::optional<Diagnosis> Diagnoser::fewElements() const {
  if (survey.notFinite == survey.seenWrong)
    return Diagnosis{Cause::NotANumber, "they are NaN or infinite"};
  if (survey.wrongCount <= double(kFewWrong) || survey.wrongCount <= kFewWrongShare * double(total()))
    return Diagnosis{Cause::WrongElements, "they follow no pattern that is known"};
  return std::nullopt;
}

Diagnosis Diagnoser::run() const {
  if (std::optional<Diagnosis> found = nothingWasWritten())
    return *found;
  // In this order: what predicts every value before what only looks alike.
  static constexpr Hypothesis hypotheses[] = {
      &Diagnoser::onlyNaN,
      &Diagnoser::onlyZeros,
      &Diagnoser::notZeroed,
      &Diagnoser::swappedOperands,
      &Diagnoser::swappedOutput,
      &Diagnoser::transposedTile,
      &Diagnoser::transposedInOutput,
      &Diagnoser::narrowedInputs,
      &Diagnoser::simulatedAccumulator,
      &Diagnoser::narrowInteger,
      &Diagnoser::lostZeroPoints,
      &Diagnoser::saturatedPairs,
      &Diagnoser::shortReduction,
      &Diagnoser::shortInnerLoop,
      &Diagnoser::notFinite,
      &Diagnoser::droppedLines,
      &Diagnoser::partNeverWritten,
      &Diagnoser::likeNarrowAccumulator,
  };
  if (!samples.empty() && survey.seenWrong >= std::min(kEvidence, total()))
    for (Hypothesis hypothesis : hypotheses)
      if (std::optional<Diagnosis> found = (this->*hypothesis)())
        return *found;
  if (std::optional<Diagnosis> found = fewElements())
    return *found;
  if (survey.notFinite > 0)
    return {Cause::NotANumber, "some of them are NaN or infinite"};
  return {Cause::Unknown, "they fit no mistake that is known"};
}

} // namespace

Diagnosis diagnose(const Surveyor &surveyor, const Survey &survey) {
  return Diagnoser(surveyor, survey).run();
}

} // namespace kiln::measure::verify
