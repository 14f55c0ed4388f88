// Operators that move weights along their gradients, of the domain ai.onnx.preview.training.
#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// Scalars of one element in the body: its rate, how many updates came before, and what the node has of it.
struct Update {
  mlir::Value rate, count;
  ArrayRef<mlir::Value> own; // the weight, the gradient, and what is kept of former updates

  // The gradient with that of the weights' size.
  mlir::Value gradient(Scalars &s, double norm) const { return s.add(s.mul(s.like(norm, own[0]), own[0]), own[1]); }
};
using Rule = function_ref<SmallVector<mlir::Value>(Scalars &, const Update &)>;

// Applies the rule to each tensor. Inputs are the rate, the count, all weights, all gradients, and what is kept, `kept`
// lists of it; results are all weights and all that is kept.
LogicalResult update(NodeLowering &n, size_t kept, Rule rule) {
  Emitter &e = n.e;
  constexpr size_t kFirst = 2;
  const size_t lists = kept + 2, count = (n.inputs.size() - kFirst) / lists;
  if (n.inputs.size() != kFirst + lists * count || count == 0 || llvm::is_contained(n.inputs, nullptr))
    return n.refuse("has another number of gradients than of weights");
  FailureOr<Value> rate = e.reshape(n.in(0), {}), turns = e.reshape(n.in(1), {});
  if (failed(rate) || failed(turns))
    return failure();
  SmallVector<Value> results((kept + 1) * count);
  for (size_t tensor = 0; tensor < count; ++tensor) {
    SmallVector<const Value *> operands;
    for (size_t list = 0; list < lists; ++list)
      operands.push_back(&n.in(kFirst + list * count + tensor));
    const DataType type = operands.front()->type;
    Value step = e.cast(*rate, type), before = e.cast(*turns, type);
    operands.append({&step, &before});
    for (size_t result = 0; result <= kept; ++result) {
      FailureOr<Value> moved = e.elementwise(operands, type, [&](Scalars &s, ValueRange args) {
        SmallVector<mlir::Value> own(args.begin(), args.begin() + static_cast<int64_t>(lists));
        return rule(s, Update{args[lists], args[lists + 1], own})[result];
      });
      if (failed(moved))
        return failure();
      results[result * count + tensor] = *moved;
    }
  }
  n.results = std::move(results);
  return success();
}

LogicalResult lowerAdagrad(NodeLowering &n) {
  const double decay = n.real("decay_factor", 0), epsilon = n.real("epsilon", 1e-6),
               norm = n.real("norm_coefficient", 0);
  return update(n, 1, [&](Scalars &s, const Update &u) -> SmallVector<mlir::Value> {
    auto number = [&](double x) { return s.like(x, u.rate); };
    mlir::Value gradient = u.gradient(s, norm), squares = s.add(u.own[2], s.mul(gradient, gradient));
    mlir::Value rate = s.div(u.rate, s.add(number(1), s.mul(u.count, number(decay))));
    mlir::Value divisor = s.add(s.make<math::SqrtOp>(squares), number(epsilon));
    return {s.sub(u.own[0], s.div(s.mul(rate, gradient), divisor)), squares};
  });
}

LogicalResult lowerAdam(NodeLowering &n) {
  const double alpha = n.real("alpha", 0.9), beta = n.real("beta", 0.999), epsilon = n.real("epsilon", 0),
               norm = n.real("norm_coefficient", 0), normAfter = n.real("norm_coefficient_post", 0);
  return update(n, 2, [&](Scalars &s, const Update &u) -> SmallVector<mlir::Value> {
    auto number = [&](double x) { return s.like(x, u.rate); };
    mlir::Value gradient = u.gradient(s, norm);
    auto mean = [&](double keeps, mlir::Value old, mlir::Value fresh) {
      return s.add(s.mul(number(keeps), old), s.mul(number(1 - keeps), fresh));
    };
    mlir::Value momentum = mean(alpha, u.own[2], gradient), squares = mean(beta, u.own[3], s.mul(gradient, gradient));
    // Both begin at zero, which the first updates make up for.
    auto rest = [&](double keeps) { return s.sub(number(1), s.make<math::PowFOp>(number(keeps), u.count)); };
    mlir::Value isFirst = s.lessOrEqual(u.count, number(0));
    mlir::Value factor = s.div(s.make<math::SqrtOp>(rest(beta)), s.select(isFirst, number(1), rest(alpha)));
    mlir::Value rate = s.mul(u.rate, s.select(isFirst, number(1), factor));
    mlir::Value divisor = s.add(s.make<math::SqrtOp>(squares), number(epsilon));
    mlir::Value moved = s.sub(u.own[0], s.mul(rate, s.div(momentum, divisor)));
    return {s.mul(number(1 - normAfter), moved), momentum, squares};
  });
}

LogicalResult lowerMomentum(NodeLowering &n) {
  const double alpha = n.real("alpha", 0), beta = n.real("beta", 0), norm = n.real("norm_coefficient", 0);
  const std::string_view mode = n.text("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return n.refuse("has the mode '" + Twine(StringRef(mode)) + "'");
  return update(n, 1, [&](Scalars &s, const Update &u) -> SmallVector<mlir::Value> {
    auto number = [&](double x) { return s.like(x, u.rate); };
    mlir::Value gradient = u.gradient(s, norm);
    mlir::Value share = s.select(s.less(number(0), u.count), number(beta), number(1));
    mlir::Value momentum = s.add(s.mul(number(alpha), u.own[2]), s.mul(share, gradient));
    mlir::Value direction = mode == "standard" ? momentum : s.add(gradient, s.mul(number(alpha), momentum));
    return {s.sub(u.own[0], s.mul(u.rate, direction)), momentum};
  });
}

} // namespace

void registerTraining(Registry &registry) {
  const auto add = [&](const char *name, Lower lower) {
    registry[std::string("ai.onnx.preview.training.") + name] = {lower, 5};
  };
  add("Adagrad", lowerAdagrad);
  add("Adam", lowerAdam);
  add("Momentum", lowerMomentum);
}

} // namespace kiln::onnx
