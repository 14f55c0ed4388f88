// Recurrent networks: RNN, GRU, LSTM, and LSTM with quantized weights. What does not depend on the turn before is
// multiplied for all turns at once.
#include "kiln/compiler/Input/Onnx/Loops.h"
#include "kiln/compiler/Input/Onnx/Products.h"
#include "kiln/compiler/Input/Onnx/Quantize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// Activations by name, with their numbers.
struct Activation {
  std::string name;
  double alpha = 0, beta = 0;

  static FailureOr<Activation> make(NodeLowering &n, std::string_view given, std::optional<double> alpha,
                                    std::optional<double> beta) {
    Activation activation{StringRef(given).lower(), 0, 0};
    const std::map<std::string, std::pair<double, double>> defaults = {
        {"sigmoid", {0, 0}},         {"tanh", {0, 0}},      {"relu", {0, 0}},
        {"softsign", {0, 0}},        {"softplus", {0, 0}},  {"leakyrelu", {0.01, 0}},
        {"thresholdedrelu", {1, 0}}, {"elu", {1, 0}},       {"hardsigmoid", {0.2, 0.5}},
        {"affine", {1, 0}},          {"scaledtanh", {1, 1}}};
    auto found = defaults.find(activation.name);
    if (found == defaults.end())
      return n.refuse("has the activation '" + Twine(StringRef(given)) + "'");
    activation.alpha = alpha.value_or(found->second.first);
    activation.beta = beta.value_or(found->second.second);
    return activation;
  }

  mlir::Value apply(Scalars &s, mlir::Value x) const {
    mlir::Value zero = s.like(0, x), one = s.like(1, x);
    auto a = [&] { return s.like(alpha, x); };
    auto b = [&] { return s.like(beta, x); };
    if (name == "sigmoid")
      return s.sigmoid(x);
    if (name == "tanh")
      return s.make<math::TanhOp>(x);
    if (name == "relu")
      return s.max(x, zero);
    if (name == "softsign")
      return s.div(x, s.add(one, s.make<math::AbsFOp>(x)));
    if (name == "softplus")
      return s.softplus(x);
    if (name == "leakyrelu")
      return s.select(s.less(x, zero), s.mul(a(), x), x);
    if (name == "thresholdedrelu")
      return s.select(s.less(a(), x), x, zero);
    if (name == "elu")
      return s.select(s.less(x, zero), s.mul(a(), s.make<math::ExpM1Op>(x)), x);
    if (name == "hardsigmoid")
      return s.max(zero, s.min(one, s.add(s.mul(a(), x), b())));
    if (name == "affine")
      return s.add(s.mul(a(), x), b());
    return s.mul(a(), s.make<math::TanhOp>(s.mul(b(), x))); // scaledtanh
  }
};

enum class Cell { RNN, GRU, LSTM };

// By which inputs or states are multiplied, a column for each gate and each element of the state.
struct Weights {
  Value matrix;
  std::optional<Value> scale = {}; // for all or for each column; the matrix has i32 then
};

class Recurrence {
public:
  // Weights of 8 bits are transposed, and their scales and zero points are the inputs from kScales on.
  Recurrence(NodeLowering &n, Cell cell, bool isQuantized)
      : n(n), e(n.e), cell(cell), isQuantized(isQuantized), gates(cell == Cell::LSTM  ? 4
                                                                  : cell == Cell::GRU ? 3
                                                                                      : 1),
        type(n.in(0).type) {}

  LogicalResult run() {
    const std::string_view direction = n.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      return n.refuse("has the direction '" + Twine(StringRef(direction)) + "'");
    const int64_t directions = direction == "bidirectional" ? 2 : 1;
    const bool batchFirst = n.integer("layout", 0) != 0;
    Value x = n.in(0);
    const int64_t ranks[] = {3, 3, 3, 2, 1, 3, 3, 2};
    for (size_t input = 0; input < std::size(ranks); ++input)
      if (n.has(input) && n.in(input).rank() != ranks[input])
        return n.refuse("has input " + Twine(input) + " of " + Twine(n.in(input).rank()) + " dimensions");
    if (batchFirst)
      x = e.transpose(x, {1, 0, 2});
    hidden = n.in(2).dims[isQuantized ? 1 : 2];
    if (int64_t said = n.integer("hidden_size", 0); said != 0 && Emitter::known(hidden).value_or(said) != said)
      return n.refuse("says another hidden_size than its weights have");
    if (n.attribute("clip")) {
      clip = n.real("clip", 0);
      if (clip <= 0)
        return n.refuse("clips to nothing");
    }
    SmallVector<Value> sequences, lastStates, lastCells;
    for (int64_t which = 0; which < directions; ++which) {
      const bool isReverse = direction == "reverse" || which == 1;
      SmallVector<Value> results;
      if (failed(readActivations(which)) || failed(runDirection(x, which, isReverse, batchFirst, results)))
        return failure();
      // (sequence, batch, hidden), and the last states (batch, hidden).
      sequences.push_back(e.unsqueeze(results.back(), {1}));
      lastStates.push_back(e.unsqueeze(results[0], {0}));
      if (cell == Cell::LSTM)
        lastCells.push_back(e.unsqueeze(results[1], {0}));
    }
    auto joined = [&](ArrayRef<Value> parts, int64_t axis) {
      SmallVector<const Value *> all;
      for (const Value &part : parts)
        all.push_back(&part);
      return e.concat(all, axis);
    };
    FailureOr<Value> y = joined(sequences, 1), h = joined(lastStates, 0);
    if (failed(y) || failed(h))
      return failure();
    n.results = {batchFirst ? e.transpose(*y, {2, 0, 1, 3}) : *y, batchFirst ? e.transpose(*h, {1, 0, 2}) : *h};
    if (cell == Cell::LSTM) {
      FailureOr<Value> c = joined(lastCells, 0);
      if (failed(c))
        return failure();
      n.results.push_back(batchFirst ? e.transpose(*c, {1, 0, 2}) : *c);
    }
    return success();
  }

private:
  LogicalResult readActivations(int64_t which) {
    const size_t count = cell == Cell::LSTM ? 3 : cell == Cell::GRU ? 2 : 1;
    const char *defaults[] = {cell == Cell::RNN ? "Tanh" : "Sigmoid", "Tanh", "Tanh"};
    const Attribute *names = n.attribute("activations"), *alphas = n.attribute("activation_alpha"),
                    *betas = n.attribute("activation_beta");
    activations.clear();
    for (size_t i = 0; i < count; ++i) {
      const size_t place = which * count + i;
      if (names && place >= names->strings.size())
        return n.refuse("has too few activations");
      const StringRef name = names ? StringRef(names->strings[place]) : defaults[i];
      const auto isAmong = [&](ArrayRef<StringRef> others) {
        return llvm::any_of(others, [&](StringRef other) { return name.equals_insensitive(other); });
      };
      const bool hasBeta = isAmong({"Affine", "ScaledTanh", "HardSigmoid"}),
                 hasAlpha = hasBeta || isAmong({"LeakyRelu", "ThresholdedRelu", "Elu"});
      // The lists have numbers for those alone that have one, one after the other.
      auto nextOf = [](const Attribute *list, size_t &next) {
        return list && next < list->floats.size() ? std::optional<double>(list->floats[next++]) : std::nullopt;
      };
      FailureOr<Activation> activation = Activation::make(n, name, hasAlpha ? nextOf(alphas, nextAlpha) : std::nullopt,
                                                          hasBeta ? nextOf(betas, nextBeta) : std::nullopt);
      if (failed(activation))
        return failure();
      activations.push_back(*activation);
    }
    return success();
  }

  // One direction's part of weights or states, without that dimension.
  FailureOr<Value> partOf(const Value &value, int64_t which, int64_t axis = 0) {
    Dims offsets(value.rank(), e.number(0)), sizes = value.dims, dims = value.dims;
    offsets[axis] = e.number(which);
    sizes[axis] = e.number(1);
    dims.erase(dims.begin() + axis);
    return e.reshape(e.slice(value, offsets, sizes, Dims(value.rank(), e.number(1))), dims);
  }

  // Of a list of numbers for gates, those of some of them.
  Value gatesOf(const Value &value, int64_t first, int64_t count) {
    Dims offsets(value.rank(), e.number(0)), sizes = value.dims;
    offsets.back() = e.mul(hidden, e.number(first));
    sizes.back() = e.mul(hidden, e.number(count));
    return e.slice(value, offsets, sizes, Dims(value.rank(), e.number(1)));
  }

  FailureOr<Value> sum(const Value &a, const Value &b) {
    return e.elementwise({&a, &b}, type, [](Scalars &s, ValueRange args) { return s.add(args[0], args[1]); });
  }

  FailureOr<Value> initialState(size_t input, int64_t which, bool batchFirst, OpFoldResult batch) {
    if (!n.has(input))
      return e.filled(type, {batch, hidden}, e.constantScalar(0, type));
    return partOf(n.in(input), which, batchFirst ? 1 : 0);
  }

  // The weights of one direction: of input 1 for what comes in, and of input 2 for the state.
  FailureOr<Weights> weightsOf(size_t input, int64_t which) {
    FailureOr<Value> own = partOf(n.in(input), which);
    if (failed(own))
      return failure();
    if (!isQuantized)
      return Weights{e.transpose(*own, {1, 0})};
    const size_t scaleInput = kScales + 2 * (input - 1);
    Value matrix = e.cast(*own, DataType::I32);
    // One for the direction, or one for each column.
    auto numbersOf = [&](size_t numbers) -> FailureOr<Value> {
      const Value &value = n.in(numbers);
      if (value.rank() == 2)
        return partOf(value, which);
      if (value.rank() != 1)
        return n.refuse("has input " + Twine(numbers) + " of " + Twine(value.rank()) + " dimensions");
      return e.reshape(e.slice(value, {e.number(which)}, {e.number(1)}, {e.number(1)}), {});
    };
    FailureOr<Value> scale = numbersOf(scaleInput), zero = numbersOf(scaleInput + 1);
    if (failed(scale) || failed(zero))
      return failure();
    Value offset = e.cast(*zero, DataType::I32);
    FailureOr<Value> moved = e.elementwise({&matrix, &offset}, DataType::I32,
                                           [](Scalars &s, ValueRange args) { return s.sub(args[0], args[1]); });
    if (failed(moved))
      return failure();
    Weights weights{*moved};
    weights.scale.emplace(std::move(*scale));
    return weights;
  }

  // Quantized weights multiply integers that all elements of x are rounded to with one scale.
  FailureOr<Value> product(const Value &x, const Weights &weights) {
    if (!weights.scale)
      return matmul(n, x, weights.matrix, type);
    FailureOr<Quantized> rounded = quantizeDynamically(e, x);
    if (failed(rounded))
      return failure();
    Value integers = e.cast(rounded->integers, DataType::I32), zero = e.cast(rounded->zero, DataType::I32);
    FailureOr<Value> moved = e.elementwise({&integers, &zero}, DataType::I32,
                                           [](Scalars &s, ValueRange args) { return s.sub(args[0], args[1]); });
    if (failed(moved))
      return failure();
    FailureOr<Value> sums = matmul(n, *moved, weights.matrix, DataType::I32);
    if (failed(sums))
      return failure();
    Value real = e.cast(*sums, type);
    return e.elementwise({&real, &rounded->scale, &*weights.scale}, type,
                         [](Scalars &s, ValueRange args) { return s.mul(args[0], s.mul(args[1], args[2])); });
  }

  // The rows of sequences that have not ended before a place, and those of the other tensor, or zeros, for the rest.
  Value whereGoing(const Value &value, mlir::Value otherwise, OpFoldResult place) {
    mlir::Value lengths = e.tensorOf(n.in(4)), tensor = e.tensorOf(value), at = e.indexOf(place);
    return e.generate(type, value.dims, [&](Scalars &s, ValueRange indices) {
      mlir::Value isThere = s.less(at, s.toIndex(Emitter::load(s, lengths, indices[0])));
      mlir::Value other = otherwise ? Emitter::load(s, otherwise, indices) : s.constant(0, e.elementType(type));
      return s.select(isThere, Emitter::load(s, tensor, indices), other);
    });
  }

  LogicalResult runDirection(const Value &x, int64_t which, bool isReverse, bool batchFirst,
                             SmallVectorImpl<Value> &results) {
    OpFoldResult length = x.dims[0], batch = x.dims[1];
    FailureOr<Weights> ofX = weightsOf(1, which), recurrent = weightsOf(2, which);
    if (failed(ofX) || failed(recurrent))
      return failure();
    FailureOr<Value> ofInputs = product(x, *ofX);
    if (failed(ofInputs))
      return failure();
    // The bias of the recurrence is added within a reset gate, where there is one; others belong to the inputs.
    const bool resetsLast = cell == Cell::GRU && n.integer("linear_before_reset", 0) != 0;
    std::optional<Value> resetBias;
    if (n.has(3)) {
      FailureOr<Value> both = partOf(n.in(3), which);
      if (failed(both))
        return failure();
      Value ofW = gatesOf(*both, 0, gates), ofR = gatesOf(*both, gates, gates);
      if (resetsLast) {
        resetBias = gatesOf(ofR, 2, 1);
        Value first = gatesOf(ofR, 0, 2), rest = e.filled(type, {hidden}, e.constantScalar(0, type));
        FailureOr<Value> joined = e.concat({&first, &rest}, 0);
        if (failed(joined))
          return failure();
        ofR = *joined;
      }
      FailureOr<Value> bias = sum(ofW, ofR);
      if (succeeded(bias))
        ofInputs = sum(*ofInputs, *bias);
      if (failed(bias) || failed(ofInputs))
        return failure();
    }
    SmallVector<Value> states;
    FailureOr<Value> h = initialState(5, which, batchFirst, batch);
    if (failed(h))
      return failure();
    states.push_back(*h);
    if (cell == Cell::LSTM) {
      FailureOr<Value> c = initialState(6, which, batchFirst, batch);
      if (failed(c))
        return failure();
      states.push_back(*c);
    }
    std::optional<Value> peepholes;
    if (cell == Cell::LSTM && n.has(7)) {
      FailureOr<Value> p = partOf(n.in(7), which);
      if (failed(p))
        return failure();
      peepholes = *p;
    }
    mlir::Value count = e.indexOf(length);
    LoopBuilder loop(n, states);
    return loop.run(
        count, {}, {0}, {isReverse},
        [&](mlir::Value turn, mlir::Value, ArrayRef<Value> current) -> FailureOr<LoopBuilder::Turn> {
          OpFoldResult place = isReverse ? e.sub(e.sub(count, e.number(1)), turn) : OpFoldResult(turn);
          Dims offsets(3, e.number(0)), sizes = ofInputs->dims, dims(sizes.begin() + 1, sizes.end());
          offsets[0] = place;
          sizes[0] = e.number(1);
          FailureOr<Value> own = e.reshape(e.slice(*ofInputs, offsets, sizes, Dims(3, e.number(1))), dims);
          if (failed(own))
            return failure();
          SmallVector<Value> before(current);
          if (isQuantized && n.has(4)) // a sequence that ended before the last turn has no part in the scale
            before[0] = whereGoing(current[0], {}, e.sub(place, e.number(1)));
          FailureOr<SmallVector<Value>> next = step(*own, *recurrent, before, resetsLast, resetBias, peepholes);
          if (failed(next))
            return failure();
          LoopBuilder::Turn result;
          result.states = *next;
          result.collected = {next->front()};
          if (n.has(4)) {
            // Behind its end a sequence keeps its state, and gives zeros.
            for (auto [i, state] : llvm::enumerate(result.states)) {
              if (i == 0)
                result.collected = {whereGoing(state, {}, place)};
              state = whereGoing(state, e.tensorOf(current[i]), place);
            }
          }
          return result;
        },
        results);
  }

  mlir::Value clipped(Scalars &s, mlir::Value x) {
    return clip == 0 ? x : s.max(s.like(-clip, x), s.min(s.like(clip, x), x));
  }

  FailureOr<SmallVector<Value>> step(const Value &inputs, const Weights &recurrent, ArrayRef<Value> states,
                                     bool resetsLast, const std::optional<Value> &resetBias,
                                     const std::optional<Value> &peepholes) {
    const Value &h = states[0];
    auto apply = [&](size_t which, Scalars &s, mlir::Value x) { return activations[which].apply(s, clipped(s, x)); };
    if (cell == Cell::GRU)
      return stepGRU(inputs, recurrent.matrix, h, resetsLast, resetBias);
    FailureOr<Value> ofState = product(h, recurrent);
    if (failed(ofState))
      return failure();
    FailureOr<Value> all = sum(inputs, *ofState);
    if (failed(all))
      return failure();
    if (cell == Cell::RNN) {
      FailureOr<Value> next =
          e.elementwise({&*all}, type, [&](Scalars &s, ValueRange args) { return apply(0, s, args[0]); });
      if (failed(next))
        return failure();
      return SmallVector<Value>{*next};
    }
    const Value &c = states[1];
    Value i = gatesOf(*all, 0, 1), o = gatesOf(*all, 1, 1), f = gatesOf(*all, 2, 1), g = gatesOf(*all, 3, 1);
    Value none = e.filled(type, {hidden}, e.constantScalar(0, type));
    Value pi = peepholes ? gatesOf(*peepholes, 0, 1) : none, po = peepholes ? gatesOf(*peepholes, 1, 1) : none,
          pf = peepholes ? gatesOf(*peepholes, 2, 1) : none;
    const bool couples = n.integer("input_forget", 0) != 0;
    FailureOr<Value> cellState = e.elementwise({&i, &f, &g, &c, &pi, &pf}, type, [&](Scalars &s, ValueRange args) {
      mlir::Value input = apply(0, s, s.add(args[0], s.mul(args[4], args[3])));
      mlir::Value forget =
          couples ? s.sub(s.like(1, input), input) : apply(0, s, s.add(args[1], s.mul(args[5], args[3])));
      return s.add(s.mul(forget, args[3]), s.mul(input, apply(1, s, args[2])));
    });
    if (failed(cellState))
      return failure();
    FailureOr<Value> next = e.elementwise({&o, &*cellState, &po}, type, [&](Scalars &s, ValueRange args) {
      mlir::Value output = apply(0, s, s.add(args[0], s.mul(args[2], args[1])));
      return s.mul(output, activations[2].apply(s, args[1]));
    });
    if (failed(next))
      return failure();
    return SmallVector<Value>{*next, *cellState};
  }

  FailureOr<SmallVector<Value>> stepGRU(const Value &inputs, const Value &recurrent, const Value &h, bool resetsLast,
                                        const std::optional<Value> &resetBias) {
    auto apply = [&](size_t which, Scalars &s, mlir::Value x) { return activations[which].apply(s, clipped(s, x)); };
    Value xz = gatesOf(inputs, 0, 1), xr = gatesOf(inputs, 1, 1), xh = gatesOf(inputs, 2, 1);
    FailureOr<Value> products = e.multiply(h, gatesOf(recurrent, 0, 2), type);
    if (failed(products))
      return failure();
    Value hz = gatesOf(*products, 0, 1), hr = gatesOf(*products, 1, 1), last = gatesOf(recurrent, 2, 1);
    auto gate = [&](const Value &x, const Value &y) {
      return e.elementwise({&x, &y}, type,
                           [&](Scalars &s, ValueRange args) { return apply(0, s, s.add(args[0], args[1])); });
    };
    FailureOr<Value> z = gate(xz, hz), r = gate(xr, hr), candidate = failure();
    if (failed(z) || failed(r))
      return failure();
    auto times = [&](const Value &x, const Value &y) {
      return e.elementwise({&x, &y}, type, [](Scalars &s, ValueRange args) { return s.mul(args[0], args[1]); });
    };
    if (resetsLast) {
      candidate = e.multiply(h, last, type);
      if (succeeded(candidate) && resetBias)
        candidate = sum(*candidate, *resetBias);
      if (succeeded(candidate))
        candidate = times(*r, *candidate);
    } else {
      FailureOr<Value> reset = times(*r, h);
      if (failed(reset))
        return failure();
      candidate = e.multiply(*reset, last, type);
    }
    if (failed(candidate))
      return failure();
    FailureOr<Value> next = e.elementwise({&*z, &h, &xh, &*candidate}, type, [&](Scalars &s, ValueRange args) {
      mlir::Value fresh = apply(1, s, s.add(args[2], args[3]));
      return s.add(s.mul(s.sub(s.like(1, args[0]), args[0]), fresh), s.mul(args[0], args[1]));
    });
    if (failed(next))
      return failure();
    return SmallVector<Value>{*next};
  }

  NodeLowering &n;
  Emitter &e;
  const Cell cell;
  const bool isQuantized;
  static constexpr size_t kScales = 8;
  const int64_t gates;
  const DataType type;
  OpFoldResult hidden;
  double clip = 0; // 0: to nothing
  SmallVector<Activation> activations;
  size_t nextAlpha = 0, nextBeta = 0; // of the numbers of activations
};

template <Cell cell, bool isQuantized = false> LogicalResult lowerRecurrent(NodeLowering &n) {
  return Recurrence(n, cell, isQuantized).run();
}

LogicalResult lowerQuantizedLSTM(NodeLowering &n) {
  for (size_t input = 8; input < 12; ++input)
    if (!n.has(input))
      return n.refuse("has no input " + Twine(input));
  if (n.in(0).type != DataType::F32)
    return n.refuse("takes numbers that are not f32");
  return lowerRecurrent<Cell::LSTM, true>(n);
}

} // namespace

void registerRecurrent(Registry &registry) {
  registry["GRU"] = {lowerRecurrent<Cell::GRU>, 3};
  registry["LSTM"] = {lowerRecurrent<Cell::LSTM>, 3};
  registry["com.microsoft.DynamicQuantizeLSTM"] = {lowerQuantizedLSTM, 3};
  registry["RNN"] = {lowerRecurrent<Cell::RNN>, 3};
}

} // namespace kiln::onnx
