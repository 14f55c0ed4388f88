// Operators that make tensors of numbers and extents.
#include "kiln/compiler/Input/Onnx/GraphImporter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

LogicalResult lowerConstant(NodeLowering &n) {
  if (const Attribute *value = n.attribute("value")) {
    if (value->tensors.size() != 1 || !n.e.elementType(value->tensors[0].type))
      return n.refuse("is a tensor of " +
                      Twine(value->tensors.empty() ? "nothing" : StringRef(dataTypeName(value->tensors[0].type))));
    return n.give(n.importer.constant(value->tensors[0]));
  }
  const Attribute *ints = n.attribute("value_ints"), *one = n.attribute("value_int");
  if (ints || one) {
    Dims elements;
    for (int64_t number : (ints ? ints : one)->ints)
      elements.push_back(n.e.number(number));
    return n.give(n.e.scalars(DataType::I64, std::move(elements), /*isScalar=*/one != nullptr));
  }
  const Attribute *floats = n.attribute("value_floats"), *single = n.attribute("value_float");
  if (floats || single) {
    const std::vector<float> &numbers = (floats ? floats : single)->floats;
    Dims dims;
    if (floats)
      dims.push_back(n.e.number(static_cast<int64_t>(numbers.size())));
    RankedTensorType type = n.e.tensorType(DataType::F32, dims);
    mlir::Value tensor = arith::ConstantOp::create(n.e.b, n.e.loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
    return n.give(n.e.wrap(tensor, DataType::F32, dims));
  }
  return n.refuse("is no tensor of numbers");
}

LogicalResult lowerShape(NodeLowering &n) {
  const Dims &dims = n.in(0).dims;
  const auto rank = static_cast<int64_t>(dims.size());
  auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = place(n.integer("start", 0)), end = place(n.integer("end", rank));
  return n.give(n.e.scalars(DataType::I64, start < end ? Dims(dims.begin() + start, dims.begin() + end) : Dims()));
}

LogicalResult lowerSize(NodeLowering &n) {
  return n.give(n.e.scalars(DataType::I64, {n.e.product(n.in(0).dims)}, /*isScalar=*/true));
}

LogicalResult lowerConstantOfShape(NodeLowering &n) {
  FailureOr<Dims> dims = n.e.elementsOf(n.in(0));
  if (failed(dims))
    return failure();
  const Attribute *value = n.attribute("value");
  if (!value)
    return n.give(n.e.filled(DataType::F32, *dims, n.e.constantScalar(0, DataType::F32)));
  if (value->tensors.size() != 1 || value->tensors[0].elements() != 1 || !n.e.elementType(value->tensors[0].type))
    return n.refuse("has a value that is not one number");
  Value one = n.importer.constant(value->tensors[0]);
  if (one.elements && dims->size() == 1 && Emitter::known((*dims)[0]).value_or(1024) <= 64)
    return n.give(n.e.scalars(one.type, Dims(*Emitter::known((*dims)[0]), (*one.elements)[0])));
  FailureOr<Value> scalar = n.e.reshape(one, {});
  if (failed(scalar))
    return failure();
  return n.give(n.e.expand(*scalar, *dims));
}

LogicalResult lowerRange(NodeLowering &n) {
  const Value &start = n.in(0), &limit = n.in(1), &step = n.in(2);
  for (const Value *value : n.inputs)
    if (Emitter::known(n.e.product(value->dims)) != 1 || value->type != start.type)
      return n.refuse("needs three numbers of one type");
  if (start.elements && limit.elements && step.elements) {
    const OpFoldResult first = (*start.elements)[0], by = (*step.elements)[0];
    OpFoldResult count = n.e.compute(Emitter::Arithmetic::DivUp, n.e.sub((*limit.elements)[0], first), by);
    count = n.e.compute(Emitter::Arithmetic::Max, count, n.e.number(0));
    std::optional<int64_t> known = Emitter::known(count);
    if (known && *known <= 64) {
      Dims elements;
      for (int64_t i = 0; i < *known; ++i)
        elements.push_back(n.e.add(first, n.e.mul(n.e.number(i), by)));
      return n.give(n.e.scalars(start.type, std::move(elements)));
    }
    Type type = n.e.elementType(start.type);
    mlir::Value from = n.e.indexOf(first), increment = n.e.indexOf(by);
    return n.give(n.e.generate(start.type, {count}, [&](Scalars &s, ValueRange indices) -> mlir::Value {
      return s.make<arith::IndexCastOp>(type, s.add(from, s.mul(indices[0], increment)));
    }));
  }
  // Numbers that the program computes: how many there are does, too.
  auto scalarOf = [&](const Value &value) {
    Scalars s(n.e.b, n.e.loc);
    return Emitter::load(s, n.e.tensorOf(*n.e.reshape(value, {})), {});
  };
  Scalars s(n.e.b, n.e.loc);
  mlir::Value first = scalarOf(start), last = scalarOf(limit), by = scalarOf(step);
  Type type = first.getType();
  mlir::Value count;
  if (isa<FloatType>(type)) {
    mlir::Value steps = s.make<math::CeilOp>(s.div(s.sub(last, first), by));
    count = s.toIndex(s.make<arith::FPToSIOp>(n.e.b.getI64Type(), steps));
  } else {
    count = s.toIndex(s.make<arith::CeilDivSIOp>(s.sub(last, first), by));
  }
  OpFoldResult extent = n.e.compute(Emitter::Arithmetic::Max, count, n.e.number(0));
  return n.give(n.e.generate(start.type, {extent}, [&](Scalars &inner, ValueRange indices) {
    mlir::Value at =
        isa<FloatType>(type) ? inner.toFloat(indices[0], type) : inner.make<arith::IndexCastOp>(type, indices[0]);
    return inner.add(first, inner.mul(at, by));
  }));
}

LogicalResult lowerEyeLike(NodeLowering &n) {
  if (n.in(0).rank() != 2)
    return n.refuse("needs a matrix");
  FailureOr<DataType> given = n.dataType("dtype", n.in(0).type);
  if (failed(given))
    return failure();
  const DataType type = *given;
  const int64_t diagonal = n.integer("k", 0);
  Type element = n.e.elementType(type);
  return n.give(n.e.generate(type, n.in(0).dims, [&](Scalars &s, ValueRange indices) {
    mlir::Value isOne = s.equal(s.add(indices[0], s.index(diagonal)), indices[1]);
    return s.select(isOne, s.constant(1, element), s.constant(0, element));
  }));
}

LogicalResult lowerTrilu(NodeLowering &n) {
  if (failed(n.needRank(0, 2)))
    return failure();
  const bool isUpper = n.integer("upper", 1) != 0;
  const Value &value = n.in(0);
  OpFoldResult diagonal = n.e.number(0);
  if (n.has(1)) {
    FailureOr<Dims> k = n.e.elementsOf(n.in(1));
    if (failed(k) || k->size() != 1)
      return failure();
    diagonal = (*k)[0];
  }
  mlir::Value tensor = n.e.tensorOf(value), shift = n.e.indexOf(diagonal);
  return n.give(n.e.generate(value.type, value.dims, [&](Scalars &s, ValueRange indices) {
    mlir::Value x = Emitter::load(s, tensor, indices);
    mlir::Value border = s.add(indices[indices.size() - 2], shift), column = indices.back();
    mlir::Value stays = isUpper ? s.lessOrEqual(border, column) : s.lessOrEqual(column, border);
    return s.select(stays, x, s.like(0, x));
  }));
}

LogicalResult lowerOneHot(NodeLowering &n) {
  const Value &indices = n.in(0);
  if (n.in(2).rank() != 1)
    return n.refuse("needs two values");
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", -1), indices.rank() + 1);
  Value depthNumber = n.e.cast(n.in(1), DataType::I64);
  FailureOr<Dims> depth = n.e.elementsOf(depthNumber);
  if (failed(axis) || failed(depth) || depth->size() != 1)
    return failure();
  Dims dims = indices.dims;
  dims.insert(dims.begin() + *axis, (*depth)[0]);
  mlir::Value tensor = n.e.tensorOf(n.e.cast(indices, DataType::I64)), values = n.e.tensorOf(n.in(2));
  mlir::Value count = n.e.indexOf((*depth)[0]);
  return n.give(n.e.generate(n.in(2).type, dims, [&](Scalars &s, ValueRange at) {
    SmallVector<mlir::Value> of(at);
    of.erase(of.begin() + *axis);
    mlir::Value index = s.toIndex(Emitter::load(s, tensor, of));
    mlir::Value wrapped = s.select(s.less(index, s.index(0)), s.add(index, count), index);
    return s.select(s.equal(wrapped, at[*axis]), Emitter::load(s, values, s.index(1)),
                    Emitter::load(s, values, s.index(0)));
  }));
}

} // namespace

void registerShapes(Registry &registry) {
  registry["Constant"] = {lowerConstant, 0};
  registry["ConstantOfShape"] = {lowerConstantOfShape};
  registry["EyeLike"] = {lowerEyeLike};
  registry["OneHot"] = {lowerOneHot, 3};
  registry["Range"] = {lowerRange, 3};
  registry["Shape"] = {lowerShape};
  registry["Size"] = {lowerSize};
  registry["Trilu"] = {lowerTrilu};
}

} // namespace kiln::onnx
