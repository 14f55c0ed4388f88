// Ensembles of decision trees: TreeEnsemble of ai.onnx.ml.
#include <cmath>
#include <cstring>
#include <limits>

#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "llvm/ADT/SetVector.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

enum class Mode : uint8_t { LessOrEqual, Less, GreaterOrEqual, Greater, Equal, NotEqual, Member };

// All trees in one list of nodes. What a node leads to is another node, or the leaf -1 - number.
struct Ensemble {
  SmallVector<int64_t> roots, features, whenTrue, whenFalse, missingIsTrue;
  SmallVector<Mode> modes;
  SmallVector<double> splits, weights, members;
  SmallVector<int64_t> memberBegins, memberEnds; // of each node in `members`
  SmallVector<int64_t> targets;                  // of leaves
  int64_t depth = 0;

  static FailureOr<Ensemble> read(NodeLowering &n);

private:
  LogicalResult readNodes(NodeLowering &n);
  LogicalResult readMembers(NodeLowering &n, ArrayRef<double> values);
  // Nodes on the longest way from one of them to a leaf.
  LogicalResult measure(NodeLowering &n);
};

FailureOr<SmallVector<double>> numbersOf(NodeLowering &n, std::string_view name) {
  SmallVector<double> numbers;
  const Attribute *attribute = n.attribute(name);
  if (!attribute)
    return numbers;
  if (attribute->tensors.empty())
    return n.refuse("has no tensor as '" + Twine(StringRef(name)) + "'");
  const Tensor &tensor = attribute->tensors.front();
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    auto read = [&](auto number) {
      std::memcpy(&number, tensor.bytes.data() + i * sizeof(number), sizeof(number));
      numbers.push_back(static_cast<double>(number));
    };
    if (tensor.type == DataType::F32)
      read(0.0F);
    else if (tensor.type == DataType::F64)
      read(0.0);
    else if (tensor.type == DataType::U8)
      read(uint8_t(0));
    else
      return n.refuse("has numbers of " + Twine(StringRef(dataTypeName(tensor.type))) + " as '" +
                      Twine(StringRef(name)) + "'");
  }
  return numbers;
}

FailureOr<Ensemble> Ensemble::read(NodeLowering &n) {
  Ensemble trees;
  if (failed(trees.readNodes(n)) || failed(trees.measure(n)))
    return failure();
  return trees;
}

LogicalResult Ensemble::readNodes(NodeLowering &n) {
  auto list = [&](std::string_view name) {
    return SmallVector<int64_t>(n.integers(name).value_or(ArrayRef<int64_t>()));
  };
  n.ignore({"nodes_hitrates"});
  roots = list("tree_roots");
  features = list("nodes_featureids");
  targets = list("leaf_targetids");
  missingIsTrue = list("nodes_missing_value_tracks_true");
  const auto count = static_cast<int64_t>(features.size()), leaves = static_cast<int64_t>(targets.size());
  FailureOr<SmallVector<double>> kinds = numbersOf(n, "nodes_modes"), limits = numbersOf(n, "nodes_splits"),
                                 values = numbersOf(n, "leaf_weights"), sets = numbersOf(n, "membership_values");
  if (failed(kinds) || failed(limits) || failed(values) || failed(sets))
    return failure();
  splits = *limits;
  weights = *values;
  for (double kind : *kinds) {
    if (!(kind >= 0 && kind <= static_cast<double>(Mode::Member)))
      return n.refuse("has a mode of nodes that is not known");
    modes.push_back(static_cast<Mode>(kind));
  }
  if (missingIsTrue.empty())
    missingIsTrue.assign(count, 0);
  auto isNumbering = [](ArrayRef<int64_t> numbers, int64_t end) {
    return llvm::all_of(numbers, [&](int64_t number) { return number >= 0 && number < end; });
  };
  for (auto [next, ids, areLeaves] : {std::tuple(&whenTrue, list("nodes_truenodeids"), list("nodes_trueleafs")),
                                      std::tuple(&whenFalse, list("nodes_falsenodeids"), list("nodes_falseleafs"))}) {
    if (static_cast<int64_t>(ids.size()) != count || ids.size() != areLeaves.size())
      return n.refuse("has nodes with too few branches");
    for (auto [id, isLeaf] : llvm::zip(ids, areLeaves)) {
      if (!isNumbering(id, isLeaf ? leaves : count))
        return n.refuse("has a branch to a node or leaf that is not there");
      next->push_back(isLeaf ? -1 - id : id);
    }
  }
  const auto all = static_cast<size_t>(count);
  if (modes.size() != all || splits.size() != all || missingIsTrue.size() != all || weights.size() != targets.size() ||
      roots.empty() || leaves == 0 || !isNumbering(roots, count) || !isNumbering(targets, n.integer("n_targets", 0)) ||
      !isNumbering(features, Emitter::known(n.in(0).dims[1]).value_or(std::numeric_limits<int64_t>::max())))
    return n.refuse("has lists of different lengths, or numbers of what is not there");
  return readMembers(n, *sets);
}

LogicalResult Ensemble::readMembers(NodeLowering &n, ArrayRef<double> values) {
  size_t next = 0;
  for (Mode mode : modes) {
    memberBegins.push_back(static_cast<int64_t>(members.size()));
    if (mode == Mode::Member) {
      for (; next < values.size() && !std::isnan(values[next]); ++next)
        members.push_back(values[next]);
      if (next++ >= values.size())
        return n.refuse("has fewer sets than nodes that look into one");
    }
    memberEnds.push_back(static_cast<int64_t>(members.size()));
  }
  return success();
}

LogicalResult Ensemble::measure(NodeLowering &n) {
  constexpr int64_t kDeepest = 64;
  SmallVector<int64_t> level = roots;
  for (; !level.empty(); ++depth) {
    if (depth == kDeepest)
      return n.refuse("has trees of more than " + Twine(kDeepest) + " levels");
    llvm::SmallSetVector<int64_t, 16> below;
    for (int64_t node : level)
      for (int64_t next : {whenTrue[node], whenFalse[node]})
        if (next >= 0)
          below.insert(next);
    level.assign(below.begin(), below.end());
  }
  return success();
}

// A list as a tensor of the program.
mlir::Value constantList(Emitter &e, ArrayRef<int64_t> numbers) {
  return arith::ConstantOp::create(
      e.b, e.loc, DenseElementsAttr::get(RankedTensorType::get({int64_t(numbers.size())}, e.b.getI64Type()), numbers));
}
mlir::Value constantList(Emitter &e, ArrayRef<double> numbers, DataType type) {
  auto element = cast<FloatType>(e.elementType(type));
  SmallVector<APFloat> converted;
  for (double number : numbers) {
    bool losesInfo = false;
    converted.emplace_back(number).convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  }
  return arith::ConstantOp::create(
      e.b, e.loc, DenseElementsAttr::get(RankedTensorType::get({int64_t(numbers.size())}, element), converted));
}

// The leaf that each row of the value (rows, features) reaches in each tree.
Value leavesOf(Emitter &e, const Ensemble &trees, const Value &value) {
  SmallVector<int64_t> modes;
  llvm::SmallSetVector<int64_t, 4> kinds;
  int64_t largestSet = 0;
  for (auto [mode, begin, end] : llvm::zip(trees.modes, trees.memberBegins, trees.memberEnds)) {
    modes.push_back(static_cast<int64_t>(mode));
    kinds.insert(modes.back());
    largestSet = std::max(largestSet, end - begin);
  }
  mlir::Value roots = constantList(e, trees.roots), features = constantList(e, trees.features),
              whenTrue = constantList(e, trees.whenTrue), whenFalse = constantList(e, trees.whenFalse),
              missing = constantList(e, trees.missingIsTrue), kind = constantList(e, modes),
              splits = constantList(e, trees.splits, value.type), tensor = e.tensorOf(value), members, begins, ends;
  if (largestSet > 0) {
    members = constantList(e, trees.members, value.type);
    begins = constantList(e, trees.memberBegins);
    ends = constantList(e, trees.memberEnds);
  }
  auto test = [&](Scalars &s, Mode mode, mlir::Value x, mlir::Value split, mlir::Value node) -> mlir::Value {
    switch (mode) {
    case Mode::LessOrEqual: return s.lessOrEqual(x, split);
    case Mode::Less: return s.less(x, split);
    case Mode::GreaterOrEqual: return s.lessOrEqual(split, x);
    case Mode::Greater: return s.less(split, x);
    case Mode::Equal: return s.equal(x, split);
    case Mode::NotEqual: return s.logicalNot(s.equal(x, split));
    case Mode::Member: break;
    }
    mlir::Value isMember = s.constant(0, s.b.getI1Type());
    if (largestSet == 0)
      return isMember;
    mlir::Value begin = s.toIndex(Emitter::load(s, begins, node)), end = s.toIndex(Emitter::load(s, ends, node));
    for (int64_t i = 0; i < largestSet; ++i) {
      mlir::Value place = s.add(begin, s.index(i)), isThere = s.less(place, end);
      mlir::Value member = Emitter::load(s, members, s.select(isThere, place, s.index(0)));
      isMember = s.make<arith::OrIOp>(isMember, s.make<arith::AndIOp>(isThere, s.equal(member, x)));
    }
    return isMember;
  };
  const Dims dims = {value.dims[0], e.number(static_cast<int64_t>(trees.roots.size()))};
  return e.generate(DataType::I64, dims, [&](Scalars &s, ValueRange at) {
    mlir::Value current = Emitter::load(s, roots, at[1]), zero = s.like(0, current);
    for (int64_t level = 0; level < trees.depth; ++level) {
      mlir::Value isLeaf = s.less(current, zero), node = s.toIndex(s.max(current, zero));
      mlir::Value feature = s.toIndex(Emitter::load(s, features, node));
      mlir::Value x = Emitter::load(s, tensor, {at[0], feature}), split = Emitter::load(s, splits, node),
                  own = Emitter::load(s, kind, node), takes;
      for (int64_t mode : kinds) {
        mlir::Value result = test(s, static_cast<Mode>(mode), x, split, node);
        takes = takes ? s.select(s.equal(own, s.like(double(mode), own)), result, takes) : result;
      }
      mlir::Value isNaN = s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
      mlir::Value tracks = s.make<arith::AndIOp>(isNaN, s.less(zero, Emitter::load(s, missing, node)));
      takes = s.make<arith::OrIOp>(takes, tracks);
      mlir::Value next = s.select(takes, Emitter::load(s, whenTrue, node), Emitter::load(s, whenFalse, node));
      current = s.select(isLeaf, current, next);
    }
    return s.sub(s.like(-1, current), current);
  });
}

LogicalResult lowerTreeEnsemble(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  enum Aggregate : uint8_t { Average, Sum, Min, Max };
  const int64_t aggregate = n.integer("aggregate_function", Sum), count = n.integer("n_targets", 0);
  if (value.rank() != 2 || (value.type != DataType::F32 && value.type != DataType::F64))
    return n.refuse("needs rows of features, of f32 or f64");
  if (aggregate < Average || aggregate > Max || n.integer("post_transform", 0) != 0)
    return n.refuse("changes what leaves add up to, or joins leaves in another way than ONNX knows");
  FailureOr<Ensemble> trees = Ensemble::read(n);
  if (failed(trees))
    return failure();
  Value leaves = leavesOf(e, *trees, value);
  mlir::Value targets = constantList(e, trees->targets), weights = constantList(e, trees->weights, value.type);
  MLIRContext *context = e.b.getContext();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double neutral = aggregate == Min ? kInfinity : aggregate == Max ? -kInfinity : 0;
  Value all = e.filled(value.type, {value.dims[0], e.number(count)}, e.constantScalar(neutral, value.type));
  auto loop = [&](unsigned at) { return getAffineDimExpr(at, context); };
  auto generic = linalg::GenericOp::create(
      e.b, e.loc, all.tensor.getType(), leaves.tensor, all.tensor,
      ArrayRef<AffineMap>{AffineMap::get(3, 0, {loop(0), loop(2)}, context),
                          AffineMap::get(3, 0, {loop(0), loop(1)}, context)},
      e.loops(2, 1), [&](OpBuilder &inner, Location loc, ValueRange args) {
        Scalars s(inner, loc);
        mlir::Value leaf = s.toIndex(args[0]), target = s.toIndex(Emitter::load(s, targets, leaf)),
                    weight = Emitter::load(s, weights, leaf), own = linalg::IndexOp::create(inner, loc, 1);
        mlir::Value next = aggregate == Min   ? s.min(args[1], weight)
                           : aggregate == Max ? s.max(args[1], weight)
                                              : s.add(args[1], weight);
        linalg::YieldOp::create(inner, loc, s.select(s.equal(target, own), next, args[1]));
      });
  Value joined = e.wrap(generic.getResult(0), value.type, all.dims);
  if (aggregate == Sum)
    return n.give(joined);
  return n.give(e.elementwise({&joined}, value.type, [&](Scalars &s, ValueRange args) {
    if (aggregate == Average)
      return s.div(args[0], s.like(double(trees->roots.size()), args[0]));
    return s.select(s.equal(args[0], s.like(neutral, args[0])), s.like(0, args[0]), args[0]); // of no leaf
  }));
}

} // namespace

void registerTrees(Registry &registry) {
  registry["ai.onnx.ml.TreeEnsemble"] = {lowerTreeEnsemble};
}

} // namespace kiln::onnx
