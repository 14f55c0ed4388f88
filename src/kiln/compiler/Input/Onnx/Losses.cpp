// Losses of classification.
#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

// -logs[n, target, ...] times the class's weight; with a mean or sum of it. Targets that are ignored count nothing.
FailureOr<Value> likelihoodLoss(NodeLowering &n, const Value &logs, const Value &targets, const Value *weights) {
  Emitter &e = n.e;
  const std::string_view reduction = n.text("reduction", "mean");
  const Attribute *ignored = n.attribute("ignore_index");
  if (logs.rank() != targets.rank() + 1 || targets.rank() < 1)
    return n.refuse("needs a target for each place of its scores");
  mlir::Value scores = e.tensorOf(logs), classes = e.tensorOf(targets), ofClass;
  if (weights)
    ofClass = e.tensorOf(*weights);
  mlir::Value count = e.indexOf(logs.dims[1]);
  // A class, and whether it counts.
  auto classAt = [&](Scalars &s, ValueRange at) {
    mlir::Value raw = Emitter::load(s, classes, at), index = s.toIndex(raw);
    mlir::Value counts = s.constant(1, s.b.getI1Type());
    if (ignored)
      counts = s.logicalNot(s.equal(index, s.index(ignored->ints.front())));
    mlir::Value wrapped = s.select(s.less(index, s.index(0)), s.add(index, count), index);
    return std::pair(s.select(counts, wrapped, s.index(0)), counts);
  };
  Type element = e.elementType(logs.type);
  auto weightAt = [&](Scalars &s, mlir::Value index, mlir::Value counts) {
    mlir::Value weight = weights ? Emitter::load(s, ofClass, index) : s.constant(1, element);
    return s.select(counts, weight, s.constant(0, element));
  };
  Value each = e.generate(logs.type, targets.dims, [&](Scalars &s, ValueRange at) {
    auto [index, counts] = classAt(s, at);
    SmallVector<mlir::Value> from(at);
    from.insert(from.begin() + 1, index);
    return s.neg(s.mul(Emitter::load(s, scores, from), weightAt(s, index, counts)));
  });
  if (reduction == "none")
    return each;
  SmallVector<int64_t> axes;
  for (int64_t dim = 0; dim < targets.rank(); ++dim)
    axes.push_back(dim);
  auto total = [&](const Value &value) {
    return e.reduce(value, axes, false, e.constantScalar(0, logs.type), logs.type,
                    [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.add(soFar, x); });
  };
  Value sum = total(each);
  if (reduction == "sum")
    return sum;
  if (reduction != "mean")
    return n.refuse("has the reduction '" + Twine(StringRef(reduction)) + "'");
  Value all = total(e.generate(logs.type, targets.dims, [&](Scalars &s, ValueRange at) {
    auto [index, counts] = classAt(s, at);
    return weightAt(s, index, counts);
  }));
  return e.elementwise({&sum, &all}, logs.type, [](Scalars &s, ValueRange args) { return s.div(args[0], args[1]); });
}

LogicalResult lowerLikelihoodLoss(NodeLowering &n) {
  return n.give(likelihoodLoss(n, n.in(0), n.in(1), n.has(2) ? &n.in(2) : nullptr));
}

LogicalResult lowerSoftmaxLoss(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &scores = n.in(0);
  if (scores.rank() < 2)
    return n.refuse("needs scores of classes");
  mlir::Value lowest = e.constantScalar(-std::numeric_limits<double>::infinity(), scores.type);
  Value most = e.reduce(scores, {1}, true, lowest, scores.type,
                        [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.max(soFar, x); });
  FailureOr<Value> shifted =
      e.elementwise({&scores, &most}, scores.type, [](Scalars &s, ValueRange args) { return s.sub(args[0], args[1]); });
  if (failed(shifted))
    return failure();
  FailureOr<Value> powers =
      e.elementwise({&*shifted}, scores.type, [](Scalars &s, ValueRange args) { return s.make<math::ExpOp>(args[0]); });
  Value total = e.reduce(*powers, {1}, true, e.constantScalar(0, scores.type), scores.type,
                         [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.add(soFar, x); });
  FailureOr<Value> logs = e.elementwise({&*shifted, &total}, scores.type, [](Scalars &s, ValueRange args) {
    return s.sub(args[0], s.make<math::LogOp>(args[1]));
  });
  if (failed(logs))
    return failure();
  FailureOr<Value> loss = likelihoodLoss(n, *logs, n.in(1), n.has(2) ? &n.in(2) : nullptr);
  if (failed(loss))
    return failure();
  n.results = {*loss, *logs};
  return success();
}

} // namespace

void registerLosses(Registry &registry) {
  registry["NegativeLogLikelihoodLoss"] = {lowerLikelihoodLoss, 2};
  registry["SoftmaxCrossEntropyLoss"] = {lowerSoftmaxLoss, 2};
}

} // namespace kiln::onnx
