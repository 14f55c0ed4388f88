// Attention, as operators of several domains are made of it.
#ifndef KILN_COMPILER_INPUT_ONNX_ATTENTION_H
#define KILN_COMPILER_INPUT_ONNX_ATTENTION_H

#include <functional>

#include "kiln/compiler/Input/Onnx/Lowering.h"

namespace kiln::onnx {

// (batch, length, heads * size) as (batch, heads, length, size); of four dimensions as it is.
mlir::FailureOr<Value> withHeads(NodeLowering &n, const Value &value, int64_t heads);
// The other way round.
mlir::FailureOr<Value> withoutHeads(NodeLowering &n, const Value &value);

// What keeps queries from keys.
struct Masks {
  const Value *mask = nullptr;  // of truth values those that take part, or numbers that are added
  const Value *valid = nullptr; // of each batch how many keys there are
  bool isCausal = false;
  int64_t left = -1, right = -1; // how far a query sees; -1: all
  mlir::OpFoldResult past;       // keys before the first query's own

  bool isNone() const { return !mask && !valid && !isCausal && left < 0 && right < 0; }
};

// softmax(query * key' * scale + mask) * value, where keys and values have heads for one or several of the queries'.
// Numbers of what is asked for: 0 the scores, 1 behind the cap, 2 behind the mask, 3 the weights.
struct AttentionOptions {
  std::optional<double> scale; // one over the root of the size where there is none
  double cap = 0;
  DataType inside = DataType::F32; // at least
  int64_t shown = 0;
  using Change = std::function<mlir::FailureOr<Value>(const Value &)>;
  Change changeScores = {}, changeWeights = {}; // before and behind the softmax, where there are such
};
struct Attended {
  Value result, shown;
};
mlir::FailureOr<Attended> attend(NodeLowering &n, const Value &query, const Value &key, const Value &value,
                                 const Masks &masks, const AttentionOptions &options);

// How pairs of elements of (batch, heads, length, size) are turned: by the angles at `places`, (batch, length), or at
// the position itself, where the cosines and sines are (batch, length, pairs) then.
struct Turning {
  const Value *cosines = nullptr, *sines = nullptr, *places = nullptr;
  bool isInterleaved = false;
  int64_t elements = 0; // 0: all
};
mlir::FailureOr<Value> turn(NodeLowering &n, const Value &value, const Turning &turning);

} // namespace kiln::onnx

#endif // KILN_COMPILER_INPUT_ONNX_ATTENTION_H
