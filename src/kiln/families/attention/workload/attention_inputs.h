// Inputs of attention for which a wrong method shows. See docs/verification.md.
//
// Keys are cut into classes of neighbours, and each query is made for one class: its scores with keys of other classes
// are so much lower that their exponentials vanish in f32. So the result is made of few values, which are known.
#ifndef KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_INPUTS_H
#define KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_INPUTS_H

#include <functional>
#include <span>
#include <vector>

#include "kiln/families/attention/workload/attention_spec.h"

namespace kiln::families {

enum class AttentionPass {
  Means,     // each query takes the mean of many values: of a power of two, the largest that there are so many keys for
  Selection, // each query picks as few keys as can be told apart, by equal scores that are large or very negative
  Values,    // real numbers; each query weighs a few keys
};

inline constexpr AttentionPass kAttentionPasses[] = {AttentionPass::Means, AttentionPass::Selection,
                                                     AttentionPass::Values};
std::string_view attentionPassName(AttentionPass pass);

struct KeyRange {
  uint64_t begin, end;
  uint64_t size() const { return end - begin; }
};

// Where the axes of queries and keys, 0 to depth - 1, hold what.
class AttentionPlan {
public:
  AttentionPlan(const AttentionSpec &spec, AttentionPass pass, uint64_t seed);

  // The keys that the result of a query is made of.
  KeyRange selected(uint64_t head, uint64_t query) const;
  // Elements before they are rounded to their type, those of a query, of a key and of a value.
  void makeQuery(uint64_t head, uint64_t query, std::span<double> elements) const;
  void makeKey(uint64_t head, uint64_t key, std::span<double> elements) const;
  void makeValue(uint64_t head, uint64_t key, std::span<double> elements) const;

private:
  void planClasses();
  uint64_t classOf(uint64_t key) const;
  uint64_t targetClass(uint64_t head, uint64_t query) const;
  // The two axes at which a class of keys holds zero, and all other classes a large negative number.
  void forGates(uint64_t head, uint64_t ofClass, const std::function<void(uint64_t axis)> &use) const;

  const AttentionSpec spec;
  const AttentionPass pass;
  const uint64_t key;          // of random numbers
  uint64_t gates, firstGates;  // axes that tell classes apart; those of a class's first digit
  uint64_t codes;              // classes that gates can tell apart
  std::vector<uint64_t> first; // key of each class, and behind the last one
  int valueBits;               // of values that are integers
};

void fillAttention(const AttentionSpec &spec, AttentionPass pass, uint64_t seed, measure::MutableTensors inputs);

} // namespace kiln::families

#endif // KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_INPUTS_H
