#include "kiln/families/attention/workload/attention_inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "kiln/measure/verify/elements.h"
#include "kiln/measure/verify/field.h"
#include "kiln/measure/verify/number.h"
#include "kiln/measure/verify/parts.h"

namespace kiln::families {

using measure::verify::randomBits;

// Scores of other classes are at least 2^7 lower, where exp is zero in f32: below -104, and below -88 for programs that
// flush subnormal numbers.
static constexpr int kGapBits = 7;
// Scores of the pass `selection` are 2^8 to 2^10 away from zero: exp overflows beyond 89.
static constexpr int kOffsetBits = 8;
// Keys that a query of the pass `values` weighs, where there are axes enough to tell so many classes apart.
static constexpr uint64_t kWeighedKeys = 8;
// Axes of a query of that pass that hold real numbers. Products with zero are exact, so that of long queries no more is
// lost in rounding than of short ones.
static constexpr uint64_t kRealAxes = 8;

std::string_view attentionPassName(AttentionPass pass) {
  switch (pass) {
  case AttentionPass::Selection: return "selection";
  case AttentionPass::Means: return "means";
  case AttentionPass::Values: return "values";
  }
  return "?";
}

// Bits of sqrt(depth), rounded up.
static int rootBits(uint64_t depth) {
  return (static_cast<int>(std::bit_width(depth - 1)) + 1) / 2;
}

// The last axis holds what is added to all scores; in the pass `values` half of them hold real numbers. One axis tells
// nothing apart.
static uint64_t gateAxes(uint64_t depth, AttentionPass pass) {
  uint64_t axes = pass == AttentionPass::Values ? depth / 2 : depth - 1;
  return axes < 2 ? 0 : axes;
}

AttentionPlan::AttentionPlan(const AttentionSpec &spec, AttentionPass pass, uint64_t seed)
    : spec(spec), pass(pass), key(randomBits(seed, static_cast<uint64_t>(pass), 0xA7)),
      gates(gateAxes(spec.depth, pass)), firstGates(gates < 4 ? gates : gates - gates / 2),
      codes(std::max<uint64_t>(firstGates, 1) * std::max<uint64_t>(gates - firstGates, 1)) {
  planClasses();
}

// The first keys of classes of `size` keys, but for the very first one, which has `lead` keys, at least one.
static std::vector<uint64_t> cut(uint64_t keys, uint64_t lead, uint64_t size) {
  std::vector<uint64_t> first = {0};
  for (uint64_t key = lead; key < keys; key += size)
    first.push_back(key);
  first.push_back(keys);
  return first;
}

void AttentionPlan::planClasses() {
  uint64_t size = 1;
  if (pass == AttentionPass::Values) {
    size = kWeighedKeys;
    first = cut(spec.keys, size, size);
  } else if (pass == AttentionPass::Means && spec.isCausal) {
    // 1, 1, 2, 4, ... keys, so that each query sees half of its keys as a class.
    for (uint64_t key = 0; key < spec.keys; key = key == 0 ? 1 : 2 * key)
      first.push_back(key);
    first.push_back(spec.keys);
  } else if (pass == AttentionPass::Means) {
    // The last keys are those that programs leave out.
    size = std::bit_floor(spec.keys);
    first = cut(spec.keys, spec.keys == size ? size : spec.keys - size, size);
  } else if (spec.isCausal) {
    // Four, so that a key too many is not the same as no mask; two at first, since three would not have an exact mean.
    size = 4;
    first = cut(spec.keys, 2, size);
  } else {
    first = cut(spec.keys, size, size);
  }
  while (first.size() - 1 > codes) {
    size *= 2;
    first = cut(spec.keys, size, size);
  }
  uint64_t longest = 1;
  for (size_t i = 0; i + 1 < first.size(); ++i)
    longest = std::max(longest, first[i + 1] - first[i]);
  // As many as fill the significand, but for what sums of a class need.
  valueBits = std::min(measure::verify::exactBits(spec.type), 24 - static_cast<int>(std::bit_width(longest - 1)));
  valueBits = std::max(valueBits, 2);
}

uint64_t AttentionPlan::classOf(uint64_t key) const {
  return static_cast<uint64_t>(std::ranges::upper_bound(first, key) - first.begin()) - 1;
}

uint64_t AttentionPlan::targetClass(uint64_t head, uint64_t query) const {
  uint64_t classes = first.size() - 1;
  if (!spec.isCausal) // The last class, or all in turn from it on.
    return pass == AttentionPass::Means ? classes - 1 : classes - 1 - (head * spec.queries + query) % classes;
  uint64_t last = std::min(query, spec.keys - 1), own = classOf(last), seen = last + 1 - first[own];
  if (own == 0)
    return own;
  if (pass == AttentionPass::Means)
    return last + 1 == first[own + 1] ? own : own - 1;
  bool takesOwn = pass == AttentionPass::Values ? query % 4 != 3 : std::has_single_bit(seen);
  return takesOwn ? own : randomBits(key, query, head) % own;
}

KeyRange AttentionPlan::selected(uint64_t head, uint64_t query) const {
  uint64_t target = targetClass(head, query);
  return {first[target], std::min(first[target + 1], spec.visibleKeys(query))};
}

void AttentionPlan::forGates(uint64_t head, uint64_t ofClass, const std::function<void(uint64_t axis)> &use) const {
  if (gates == 0)
    return; // There is one class.
  // From the last axis on, where programs may drop some, and spread over all; of another head other ones.
  uint64_t code = codes - 1 - (ofClass * (codes / (first.size() - 1)) + head) % codes;
  use(code % firstGates);
  if (gates > firstGates)
    use(firstGates + code / firstGates);
}

// Real numbers in [-2, 2).
static double realNumber(uint64_t bits) {
  return std::ldexp(static_cast<double>(bits >> 11), -51) - 2;
}

static double offsetElement(uint64_t depth) {
  return std::ldexp(1.0, (kOffsetBits + rootBits(depth) + 1) / 2);
}

void AttentionPlan::makeQuery(uint64_t head, uint64_t query, std::span<double> elements) const {
  std::ranges::fill(elements, 0.0);
  forGates(head, targetClass(head, query), [&](uint64_t axis) { elements[axis] = 1; });
  if (pass == AttentionPass::Values) {
    uint64_t row = head * spec.queries + query, axes = spec.depth - gates, used = std::min(axes, kRealAxes);
    // Scores, once they are scaled, are about as large as sums of kRealAxes products of depth kRealAxes.
    double unit = std::ldexp(1.0, std::max(0, rootBits(spec.depth) - 2));
    // Of every fourth query the last axis is among them, which programs may drop.
    uint64_t start = row % 4 == 0 ? axes - 1 : randomBits(key, row) % axes, step = axes / used;
    for (uint64_t i = 0; i < used; ++i)
      elements[gates + (start + i * step) % axes] = unit * realNumber(randomBits(key, row, i + 1));
    return;
  }
  double offset = offsetElement(spec.depth);
  elements.back() = pass == AttentionPass::Means ? 0 : query % 2 == 0 ? offset : -offset;
}

void AttentionPlan::makeKey(uint64_t head, uint64_t at, std::span<double> elements) const {
  std::ranges::fill(elements, 0.0);
  std::fill_n(elements.begin(), gates, -std::ldexp(1.0, kGapBits + rootBits(spec.depth)));
  forGates(head, classOf(at), [&](uint64_t axis) { elements[axis] = 0; });
  if (pass == AttentionPass::Values) {
    for (uint64_t axis = gates; axis < spec.depth; ++axis)
      elements[axis] = realNumber(randomBits(key + 1, head * spec.keys + at, axis));
    return;
  }
  elements.back() = offsetElement(spec.depth);
}

void AttentionPlan::makeValue(uint64_t head, uint64_t at, std::span<double> elements) const {
  for (uint64_t column = 0; column < elements.size(); ++column) {
    uint64_t random = randomBits(key + 2, head * spec.keys + at, column);
    if (pass == AttentionPass::Values) {
      elements[column] = realNumber(random);
      continue;
    }
    // Odd, and of as many bits as there may be.
    auto magnitude = static_cast<double>(random >> (64 - valueBits) | uint64_t(1) << (valueBits - 1) | 1);
    elements[column] = random & 1 ? -magnitude : magnitude;
  }
}

void fillAttention(const AttentionSpec &spec, AttentionPass pass, uint64_t seed, measure::MutableTensors inputs) {
  const AttentionPlan plan(spec, pass, seed);
  using Make = void (AttentionPlan::*)(uint64_t, uint64_t, std::span<double>) const;
  constexpr Make kMakers[] = {&AttentionPlan::makeQuery, &AttentionPlan::makeKey, &AttentionPlan::makeValue};
  uint64_t size = hal::elementTypeByteSize(spec.type);
  for (size_t which = 0; which < inputs.size(); ++which) {
    uint64_t rows = inputs[which].shape[1], columns = inputs[which].shape[2];
    auto all = static_cast<int64_t>(spec.heads * rows);
    measure::verify::forParts(all, all * static_cast<int64_t>(columns) * 8, 2, [&](int64_t begin, int64_t end) {
      std::vector<double> elements(columns);
      for (auto row = static_cast<uint64_t>(begin); row < static_cast<uint64_t>(end); ++row) {
        (plan.*kMakers[which])(row / rows, row % rows, elements);
        for (uint64_t column = 0; column < columns; ++column)
          measure::verify::writeElement(spec.type, elements[column],
                                        inputs[which].bytes.data() + (row * columns + column) * size);
      }
    });
  }
}

} // namespace kiln::families
