// Of the emitter: tensors that are moved, converted and multiplied.
#include "kiln/compiler/Input/Onnx/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::onnx {

Value Emitter::transpose(const Value &value, ArrayRef<int64_t> permutation) {
  Dims dims;
  bool isIdentity = true;
  for (auto [to, from] : llvm::enumerate(permutation)) {
    dims.push_back(value.dims[from]);
    isIdentity &= static_cast<int64_t>(to) == from;
  }
  if (isIdentity)
    return value;
  mlir::Value target = empty(value.type, dims).tensor;
  return wrap(linalg::TransposeOp::create(b, loc, tensorOf(value), target, permutation)->getResult(0), value.type,
              dims);
}

Value Emitter::slice(const Value &value, const Dims &offsets, const Dims &sizes, const Dims &steps) {
  if (hasNoElements(value) || llvm::any_of(sizes, [](OpFoldResult size) { return known(size) == 0; }))
    return empty(value.type, sizes);
  if (llvm::all_of(steps, [](OpFoldResult step) { return known(step).value_or(0) > 0; }))
    return wrap(
        tensor::ExtractSliceOp::create(b, loc, tensorType(value.type, sizes), tensorOf(value), offsets, sizes, steps),
        value.type, sizes);
  mlir::Value tensor = tensorOf(value);
  SmallVector<mlir::Value> starts, increments;
  for (auto [offset, step] : llvm::zip(offsets, steps)) {
    starts.push_back(indexOf(offset));
    increments.push_back(indexOf(step));
  }
  return generate(value.type, sizes, [&](Scalars &s, ValueRange indices) {
    SmallVector<mlir::Value> from;
    for (auto [index, start, step] : llvm::zip(indices, starts, increments))
      from.push_back(s.add(start, s.mul(index, step)));
    return load(s, tensor, from);
  });
}

Value Emitter::pad(const Value &value, const Dims &low, const Dims &high, mlir::Value scalar) {
  Dims dims;
  bool isNone = true;
  for (auto [extent, before, behind] : llvm::zip(value.dims, low, high)) {
    dims.push_back(add(add(extent, before), behind));
    isNone &= known(before) == 0 && known(behind) == 0;
  }
  if (isNone)
    return value;
  return wrap(tensor::PadOp::create(b, loc, tensorType(value.type, dims), tensorOf(value), low, high, scalar),
              value.type, dims);
}

FailureOr<Value> Emitter::expand(const Value &value, const Dims &dims) {
  Value shape = empty(value.type, dims);
  FailureOr<Dims> all = broadcast({&value, &shape});
  if (failed(all))
    return failure();
  if (all->size() == value.dims.size() &&
      llvm::all_of(llvm::zip(*all, value.dims), [](auto pair) { return same(std::get<0>(pair), std::get<1>(pair)); }))
    return value;
  shape = empty(value.type, *all);
  return elementwise({&value, &shape}, value.type, [](Scalars &, ValueRange args) { return args[0]; });
}

FailureOr<Value> Emitter::concat(ArrayRef<const Value *> values, int64_t axis) {
  const Value &first = *values.front();
  if (llvm::all_of(values, [](const Value *value) { return value->elements && value->rank() == 1; })) {
    Dims all;
    for (const Value *value : values)
      llvm::append_range(all, *value->elements);
    return scalars(first.type, std::move(all));
  }
  Dims dims = first.dims;
  SmallVector<mlir::Value> tensors = {tensorOf(first)};
  for (const Value *value : values.drop_front()) {
    if (value->dims.size() != dims.size())
      return refuse("has operands of different ranks");
    dims[axis] = add(dims[axis], value->dims[axis]);
    tensors.push_back(tensorOf(*value));
  }
  if (values.size() == 1)
    return first;
  for (int64_t dim = 0; dim < first.rank(); ++dim)
    for (const Value *value : values)
      if (dim != axis && known(value->dims[dim])) {
        if (known(dims[dim]) && known(dims[dim]) != known(value->dims[dim]))
          return refuse("has operands with " + Twine(*known(dims[dim])) + " and " + Twine(*known(value->dims[dim])) +
                        " elements along one dimension");
        dims[dim] = value->dims[dim];
      }
  return wrap(tensor::ConcatOp::create(b, loc, tensorType(first.type, dims), axis, tensors), first.type, dims);
}

Value Emitter::cast(const Value &value, DataType type) {
  if (value.type == type)
    return value;
  // Numbers that a shape is made of stay numbers; what fits only some of them is converted when the program runs.
  if (value.elements && isInteger(value.type) && (type == DataType::I64 || type == DataType::I32)) {
    Value converted = value;
    converted.type = type;
    converted.tensor = nullptr;
    if (type == DataType::I64 || llvm::all_of(*value.elements, [](OpFoldResult number) {
          return !known(number) || *known(number) == static_cast<int32_t>(*known(number));
        }))
      return converted;
  }
  Type element = elementType(type);
  return *elementwise({&value}, type, [&](Scalars &s, ValueRange args) {
    return s.convert(args[0], isUnsigned(value.type), element, isUnsigned(type));
  });
}

Value Emitter::unsqueeze(const Value &value, ArrayRef<int64_t> axes) {
  Dims dims;
  auto next = value.dims.begin();
  for (size_t dim = 0; dim < value.dims.size() + axes.size(); ++dim)
    dims.push_back(llvm::is_contained(axes, static_cast<int64_t>(dim)) ? number(1) : *next++);
  return *reshape(value, dims);
}

Value Emitter::unpack(const Value &bytes, int64_t bits, DataType type, ArrayRef<Value> others, Body body) {
  const int64_t perByte = 8 / bits, rank = bytes.rank();
  Dims dims = bytes.dims;
  if (perByte > 1)
    dims.push_back(number(perByte));
  SmallVector<mlir::Value> inputs;
  SmallVector<AffineMap> maps;
  const auto read = [&](const Value &value) {
    SmallVector<AffineExpr> at;
    for (int64_t dim = 0; dim < rank; ++dim)
      at.push_back(known(value.dims[dim]) == 1 ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(dim));
    inputs.push_back(tensorOf(value));
    maps.push_back(AffineMap::get(dims.size(), 0, at, b.getContext()));
  };
  read(bytes);
  llvm::for_each(others, read);
  maps.push_back(b.getMultiDimIdentityMap(dims.size()));
  mlir::Value target = empty(type, dims).tensor;
  auto generic = linalg::GenericOp::create(
      b, loc, target.getType(), inputs, target, maps, loops(dims.size()),
      [&](OpBuilder &inner, Location at, ValueRange args) {
        Scalars s(inner, at);
        SmallVector<mlir::Value> elements(args.drop_back());
        elements[0] = s.make<arith::ExtUIOp>(s.b.getI32Type(), elements[0]);
        if (perByte > 1) {
          mlir::Value place =
              s.make<arith::IndexCastOp>(s.b.getI32Type(), s.make<linalg::IndexOp>(static_cast<uint64_t>(rank)));
          elements[0] = s.make<arith::ShRUIOp>(elements[0], s.mul(place, s.like(static_cast<double>(bits), place)));
          elements[0] = s.make<arith::AndIOp>(elements[0], s.like((1 << bits) - 1, elements[0]));
        }
        linalg::YieldOp::create(inner, at, body(s, elements));
      });
  return wrap(generic.getResult(0), type, dims);
}

FailureOr<Value> Emitter::multiply(const Value &lhs, const Value &rhs, DataType type) {
  const int64_t rank = std::max(lhs.rank(), rhs.rank());
  OpFoldResult m = lhs.dims[lhs.rank() - 2], k = lhs.dims.back(), n = rhs.dims.back(), other = rhs.dims[rhs.rank() - 2];
  if (known(k) && known(other) && known(k) != known(other))
    return refuse("multiplies " + Twine(*known(k)) + " columns by " + Twine(*known(other)) + " rows");
  auto batchOf = [&](const Value &value) {
    Value batch{value.type, {}, {}};
    batch.dims.assign(value.dims.begin(), value.dims.end() - 2);
    return batch;
  };
  const Value lhsBatch = batchOf(lhs), rhsBatch = batchOf(rhs);
  FailureOr<Dims> batch = broadcast({&lhsBatch, &rhsBatch});
  if (failed(batch))
    return failure();
  // Batches that one of both has alone are rows of the other's, where nothing else is in between.
  Dims dims = *batch;
  dims.append({m, n});
  auto start = [&](const Dims &extents) { return filled(type, extents, constantScalar(0, type)).tensor; };
  if (rank == 2) {
    mlir::Value target = start(dims);
    return wrap(linalg::MatmulOp::create(b, loc, ValueRange{tensorOf(lhs), tensorOf(rhs)}, target).getResult(0), type,
                dims);
  }
  if (rhs.rank() == 2) {
    Dims rows = {product(ArrayRef(lhs.dims).drop_back(1)), k};
    FailureOr<Value> flat = reshape(lhs, rows);
    if (failed(flat))
      return failure();
    FailureOr<Value> result = multiply(*flat, rhs, type);
    if (failed(result))
      return failure();
    return reshape(*result, dims);
  }
  // All batches as one dimension, of which both have as many.
  auto flatten = [&](const Value &value, OpFoldResult rows, OpFoldResult columns) -> FailureOr<Value> {
    Dims full = *batch;
    full.append({rows, columns});
    FailureOr<Value> all = expand(value, full);
    if (failed(all))
      return failure();
    return reshape(*all, {product(*batch), rows, columns});
  };
  FailureOr<Value> x = flatten(lhs, m, k), y = flatten(rhs, other, n);
  if (failed(x) || failed(y))
    return failure();
  Dims flat = {product(*batch), m, n};
  mlir::Value target = start(flat);
  mlir::Value result =
      linalg::BatchMatmulOp::create(b, loc, ValueRange{tensorOf(*x), tensorOf(*y)}, target).getResult(0);
  return reshape(wrap(result, type, flat), dims);
}

} // namespace kiln::onnx
