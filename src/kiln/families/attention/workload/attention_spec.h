// An attention as its name says it, and back.
//
//   attention[_causal]_{heads}x{queries}x{keys}x{depth}x{value depth}_{type}
//
//   attention_12x128x128x64x64_f32           softmax(Q K^T / sqrt(depth)) V of each of 12 heads
//   attention_causal_12x128x128x64x64_f16    of which query i sees the keys 0 to i
//
// Q is heads x queries x depth, K is heads x keys x depth, V is heads x keys x value depth, and the result is
// heads x queries x value depth. A batch is more heads. All tensors have the type f32, f16 or bf16; scores, softmax and
// sums are computed in f32, and the result is rounded once.
#ifndef KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_SPEC_H
#define KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_SPEC_H

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/measure/workload.h"

namespace kiln::families {

struct AttentionSpec {
  uint64_t heads = 1, queries = 1, keys = 1, depth = 1, valueDepth = 1;
  bool isCausal = false;
  hal::ElementType type = hal::ElementType::F32;

  bool operator==(const AttentionSpec &) const = default;

  std::string name() const;
  // Whether the type is supported and the sizes are within limits; what `parse` gives is.
  Status validate() const;
  measure::TensorType query() const { return {type, {heads, queries, depth}}; }
  measure::TensorType key() const { return {type, {heads, keys, depth}}; }
  measure::TensorType value() const { return {type, {heads, keys, valueDepth}}; }
  measure::TensorType output() const { return {type, {heads, queries, valueDepth}}; }
  // What scores are multiplied by, 1 / sqrt(depth), as it is in f32.
  float scale() const;
  // How many keys a query sees: the first ones.
  uint64_t visibleKeys(uint64_t query) const { return isCausal && query < keys ? query + 1 : keys; }
  // Pairs of a query and a key that it sees, in one head.
  double visiblePairs() const;

  // NotFound where the name is not of this family; InvalidArgument where it is and is malformed, or says what is not
  // supported.
  static Result<AttentionSpec> parse(std::string_view name);
};

} // namespace kiln::families

#endif // KILN_FAMILIES_ATTENTION_WORKLOAD_ATTENTION_SPEC_H
