#include "kiln/families/attention/workload/attention_verification.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kiln/families/attention/workload/attention_rows.h"
#include "kiln/measure/verify/inputs.h"

namespace kiln::families {

using namespace measure::verify;

static Pass prefillOf(AttentionPass pass) {
  return pass == AttentionPass::Values ? Pass::WideRhs : Pass::Sums;
}

void prefillAttention(AttentionPass pass, const measure::MutableTensor &output) {
  prefillOutput(output.type, prefillOf(pass), output.bytes);
}

//===--- What went wrong ------------------------------------------------------------------------------------------===//

namespace {

// Mistakes that programs make, likely ones first: what each would compute is what the wrong elements may be.
class Mistakes {
public:
  Mistakes(const AttentionSpec &spec, const AttentionRows &rows) : spec(spec), rows(rows) {}

  std::vector<Suspicion> all() {
    addOtherFormulas();
    addTransposedTiles();
    addDroppedTails();
    addReadings();
    for (const Narrowing &narrowing : narrowings(spec.type))
      add(Cause::NarrowedInputs, fmt::format("they are the results for inputs {}", narrowing.text()),
          {.inputs = narrowing});
    addNarrowSums();
    return std::move(found);
  }

private:
  void add(Cause cause, std::string reason, const AttentionSteps &steps) {
    found.push_back(
        {cause, std::move(reason), [&rows = rows, steps](uint64_t element) { return rows.element(steps, element); }});
  }

  void addOtherFormulas() {
    add(Cause::NotANumber, "they are what exp without the row's maximum subtracted gives: large scores overflow",
        {.subtractsMaximum = false});
    add(Cause::Unknown, "they are sums that were not divided by the sum of the exponentials", {.divides = false});
    if (spec.depth > 1) {
      auto depth = static_cast<double>(spec.depth);
      add(Cause::WrongEpilogue, "they are the results for scores without a scale", {.scale = 1});
      add(Cause::WrongEpilogue, "they are the results for scores that were scaled twice", {.scale = 1 / depth});
      add(Cause::WrongEpilogue, "they are the results for scores times the root of the depth",
          {.scale = std::sqrt(depth)});
    }
    auto keys = static_cast<int64_t>(spec.keys);
    if (spec.isCausal) {
      add(Cause::WrongEpilogue, "they are what a mask gives that lets each query see a key too many", {.visible = 2});
      add(Cause::WrongEpilogue, "they are what a mask gives that hides each query's own key", {.visible = 0});
      if (spec.keys != spec.queries)
        add(Cause::WrongEpilogue, "they are what a mask gives whose last query sees the last key",
            {.visible = keys - static_cast<int64_t>(spec.queries) + 1});
      add(Cause::WrongEpilogue, "they are the results without the causal mask", {.visible = keys});
    } else {
      add(Cause::WrongEpilogue, "they are the results with a causal mask", {.visible = 1});
    }
    // Each element takes all scores of its head.
    constexpr double kMostWork = 0x1p24;
    if (double(spec.queries) * double(spec.keys) * double(spec.depth) <= kMostWork)
      add(Cause::SwappedLayout, "they are what a softmax along the queries gives, not along the keys",
          {.isAlongQueries = true});
  }

  // Tiles of the result of a head that are where they belong, with rows for columns.
  void addTransposedTiles() {
    for (uint64_t tile = 2; tile <= std::min<uint64_t>(64, std::max(spec.queries, spec.valueDepth)); tile *= 2)
      found.push_back({Cause::TransposedTile, fmt::format("they are those of transposed tiles of {0}x{0}", tile),
                       [&rows = rows, spec = spec, tile](uint64_t element) {
                         uint64_t column = element % spec.valueDepth, line = element / spec.valueDepth;
                         uint64_t head = line / spec.queries, query = line % spec.queries;
                         uint64_t fromQuery = query / tile * tile + column % tile;
                         uint64_t fromColumn = column / tile * tile + query % tile;
                         if (fromQuery >= spec.queries || fromColumn >= spec.valueDepth)
                           return Expectation{std::numeric_limits<double>::quiet_NaN(), 0};
                         return rows.element({}, (head * spec.queries + fromQuery) * spec.valueDepth + fromColumn);
                       }});
  }

  void addDroppedTails() {
    for (uint64_t keys : shorterRows(spec.keys)) {
      add(Cause::DroppedTail, fmt::format("they are the results for the first {} of {} keys", keys, spec.keys),
          {.keys = keys});
      add(Cause::DroppedTail, fmt::format("they are the sums of the first {} of {} values", keys, spec.keys),
          {.valueKeys = keys});
    }
    for (uint64_t depth : shorterRows(spec.depth))
      add(Cause::DroppedTail,
          fmt::format("they are the results for the first {} of {} elements of queries and keys", depth, spec.depth),
          {.depth = depth});
  }

  void addReadings() {
    using enum Reading;
    static constexpr const char *kNames[] = {"queries", "keys", "values"};
    const uint64_t rowsOf[] = {spec.queries, spec.keys, spec.keys};
    const uint64_t columnsOf[] = {spec.depth, spec.depth, spec.valueDepth};
    for (size_t which = 0; which < 3; ++which) {
      auto addReading = [&](Reading reading, std::string_view how) {
        AttentionSteps steps;
        steps.readings[which] = reading;
        add(Cause::SwappedLayout, fmt::format("they are the results for {} {}", kNames[which], how), steps);
      };
      if (rowsOf[which] > 1 && columnsOf[which] > 1)
        addReading(Transposed, "read in the other layout");
      if (spec.heads > 1) {
        addReading(NextHead, "of the next head");
        addReading(FirstHead, "of the first head");
        if (rowsOf[which] > 1)
          addReading(HeadsInside, "read with heads inside of rows");
      }
    }
    if (spec.heads == 1)
      return;
    add(Cause::SwappedLayout, "they are the results for keys and values of the next head",
        {.readings = {AsItLies, NextHead, NextHead}});
    add(Cause::SwappedLayout, "they are the results for keys and values of the first head",
        {.readings = {AsItLies, FirstHead, FirstHead}});
    if (spec.queries > 1)
      add(Cause::SwappedLayout, "they are the results, written with heads inside of queries",
          {.writesHeadsInside = true});
    add(Cause::SwappedLayout, "they are the results for tensors of which all have heads inside of rows",
        {.readings = {HeadsInside, HeadsInside, HeadsInside}, .writesHeadsInside = true});
  }

  void addNarrowSums() {
    for (const FloatFormat &format : {kFormatF16, kFormatBF16}) {
      add(Cause::NarrowAccumulator,
          fmt::format("they are what weights rounded to {} before they met the values give", format.name),
          {.weights = format});
      add(Cause::NarrowAccumulator,
          fmt::format("they are what exponentials rounded to {} before they met the values give", format.name),
          {.exponentials = format});
    }
    for (const FloatFormat &format : {kFormatF16, kFormatBF16})
      for (size_t lanes = 1; lanes <= 16; lanes *= 2) {
        add(Cause::NarrowAccumulator, "of values: " + narrowSumText(format, lanes),
            {.valueSums = format, .lanes = lanes});
        add(Cause::NarrowAccumulator, "of exponentials: " + narrowSumText(format, lanes),
            {.weightSums = format, .lanes = lanes});
        add(Cause::NarrowAccumulator, "of scores: " + narrowSumText(format, lanes),
            {.scoreSums = format, .lanes = lanes});
        add(Cause::NarrowAccumulator, "of scores, exponentials and values: " + narrowSumText(format, lanes),
            {.scoreSums = format, .weightSums = format, .valueSums = format, .lanes = lanes});
      }
  }

  const AttentionSpec &spec;
  const AttentionRows &rows;
  std::vector<Suspicion> found;
};

} // namespace

static const char *methodOf(AttentionPass pass) {
  return pass == AttentionPass::Values
             ? "bound: rounding errors of f32, each element computed again from the keys that weigh"
             : "exact: means of few values, each element computed again";
}

DeviceCase attentionOnDevice(const AttentionSpec &spec, AttentionPass pass, uint64_t seed) {
  DeviceCase subject{};
  subject.pass = prefillOf(pass);
  subject.seed = seed;
  subject.check = DeviceCase::Check::Attention;
  subject.attention = {.weighs = pass == AttentionPass::Values,
                       .type = spec.type,
                       .heads = static_cast<int64_t>(spec.heads),
                       .queries = static_cast<int64_t>(spec.queries),
                       .keys = static_cast<int64_t>(spec.keys),
                       .depth = static_cast<int64_t>(spec.depth),
                       .valueDepth = static_cast<int64_t>(spec.valueDepth),
                       .scale = double(spec.scale())};
  const AttentionPlan plan(spec, pass, seed);
  for (uint64_t head = 0; head < spec.heads; ++head)
    for (uint64_t query = 0; query < spec.queries; ++query) {
      const KeyRange keys = plan.selected(head, query);
      subject.attention.keysOf.push_back(static_cast<uint32_t>(keys.begin));
      subject.attention.keysOf.push_back(static_cast<uint32_t>(keys.end));
    }
  subject.right.method = methodOf(pass);
  subject.right.total = spec.heads * spec.queries * spec.valueDepth;
  return subject;
}

Verdict checkAttention(const AttentionSpec &spec, AttentionPass pass, uint64_t seed, AttentionInputs inputs,
                       const io::TensorSpan &output) {
  const AttentionPlan plan(spec, pass, seed);
  const AttentionRows rows(spec, inputs);
  std::optional<ValueSums> sums;
  if (pass != AttentionPass::Values)
    sums.emplace(spec, inputs[2]);
  ElementCase subject;
  subject.type = spec.type;
  subject.shape = spec.output().shape;
  subject.bytes = output.bytes;
  subject.unit = spec.valueDepth;
  subject.unitWork = sums ? spec.valueDepth * 4 : plan.selected(0, 0).size() * (spec.depth + spec.valueDepth);
  subject.expected = [&](uint64_t first, std::span<Expectation> expected) {
    for (uint64_t done = 0; done < expected.size(); done += spec.valueDepth) {
      uint64_t row = (first + done) / spec.valueDepth, head = row / spec.queries, query = row % spec.queries;
      std::span<Expectation> elements = expected.subspan(done, spec.valueDepth);
      if (sums)
        sums->mean(head, plan.selected(head, query), elements);
      else
        rows.weigh(head, query, plan.selected(head, query), elements);
    }
  };
  subject.before = [&](uint64_t element) { return prefilledNumber(spec.type, prefillOf(pass), element); };
  subject.mayFlush = true;
  subject.method = methodOf(pass);
  subject.suspicions = Mistakes(spec, rows).all();
  return checkElements(subject);
}

} // namespace kiln::families
