// Operators between real numbers and quantized ones.
#include "kiln/compiler/Input/Onnx/Quantize.h"

#include <cmath>

#include "kiln/compiler/Input/Onnx/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

double lowestOf(DataType type) {
  return Emitter::isUnsigned(type) ? 0 : -std::ldexp(1, bitsOf(type) - 1);
}
double highestOf(DataType type) {
  return std::ldexp(1, bitsOf(type) - (Emitter::isUnsigned(type) ? 0 : 1)) - 1;
}

// Scales or zero points as a tensor that is broadcast to a value: one for all, one for each place of an axis, or one
// for each block of an axis.
FailureOr<Value> spread(NodeLowering &n, const Value &numbers, const Value &value, int64_t axis, int64_t block) {
  Emitter &e = n.e;
  if (numbers.rank() == 0 || (numbers.rank() == 1 && Emitter::known(numbers.dims[0]) == 1 && block == 0))
    return e.reshape(numbers, {});
  FailureOr<int64_t> dim = n.dimension(axis, value.rank());
  if (failed(dim))
    return failure();
  if (block == 0) {
    if (numbers.rank() != 1)
      return n.refuse("has scales of " + Twine(numbers.rank()) + " dimensions");
    Dims dims(value.rank(), e.number(1));
    dims[*dim] = numbers.dims[0];
    return e.reshape(numbers, dims);
  }
  if (numbers.rank() != value.rank())
    return n.refuse("has scales of blocks with other dimensions than its input");
  mlir::Value tensor = e.tensorOf(numbers);
  return e.generate(numbers.type, value.dims, [&](Scalars &s, ValueRange at) {
    SmallVector<mlir::Value> from(at);
    from[*dim] = s.make<arith::DivUIOp>(at[*dim], s.index(block));
    return Emitter::load(s, tensor, from);
  });
}

// round(x) + zero, held to what the type has; of a real number.
mlir::Value quantized(Scalars &s, mlir::Value x, mlir::Value zero, DataType type, Type element) {
  mlir::Value rounded = s.make<math::RoundEvenOp>(x);
  if (zero)
    rounded = s.add(rounded, zero);
  rounded = s.max(s.like(lowestOf(type), x), s.min(s.like(highestOf(type), x), rounded));
  return s.convert(rounded, false, element, Emitter::isUnsigned(type));
}

LogicalResult lowerQuantize(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const int64_t axis = n.integer("axis", 1), block = n.integer("block_size", 0);
  FailureOr<DataType> given = n.dataType("output_dtype", n.has(2) ? n.in(2).type : DataType::U8);
  if (failed(given))
    return failure();
  const DataType type = *given;
  Type element = e.elementType(type);
  // In which scales are divided by; that of the input where it is not said.
  const DataType inside = Emitter::isFloat(value.type) && bitsOf(value.type) >= 32 ? value.type : DataType::F32;
  FailureOr<Value> scale = spread(n, n.in(1), value, axis, block);
  if (failed(scale))
    return failure();
  Value x = e.cast(value, inside), by = e.cast(*scale, inside);
  if (Emitter::isFloat(type)) {
    FailureOr<Value> scaled = e.elementwise({&x, &by}, inside, [](Scalars &s, ValueRange args) {
      return s.add(s.div(args[0], args[1]), s.like(0, args[0])); // the zero point, which makes 0 of -0
    });
    if (failed(scaled))
      return failure();
    const double largest = largestOfNarrow(type);
    if (largest > 0 && n.integer("saturate", 1))
      scaled = e.elementwise({&*scaled}, inside, [&](Scalars &s, ValueRange args) {
        return s.max(s.like(-largest, args[0]), s.min(s.like(largest, args[0]), args[0]));
      });
    return n.give(e.cast(*scaled, type));
  }
  if (!n.has(2))
    return n.give(e.elementwise({&x, &by}, type, [&](Scalars &s, ValueRange args) {
      return quantized(s, s.div(args[0], args[1]), {}, type, element);
    }));
  FailureOr<Value> zero = spread(n, n.in(2), value, axis, block);
  if (failed(zero))
    return failure();
  Value offset = e.cast(*zero, inside);
  return n.give(e.elementwise({&x, &by, &offset}, type, [&](Scalars &s, ValueRange args) {
    return quantized(s, s.div(args[0], args[1]), args[2], type, element);
  }));
}

// The numbers of rows [rows, columns] as those of rows [columns, rows], packed likewise; nothing where those fill no
// bytes, or are no constant of the model's.
Value turnPacked(NodeLowering &n, const Value &value) {
  const int64_t bits = bitsOf(value.type), perByte = 8 / bits, rows = *Emitter::known(value.dims[0]),
                columns = *Emitter::known(value.dims[1]);
  DenseResourceElementsAttr elements;
  if (rows % perByte != 0 || !matchPattern(value.packed, m_Constant(&elements)))
    return {};
  ArrayRef<char> from = elements.getData();
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(from.size(), /*align=*/64, /*dataIsMutable=*/true);
  MutableArrayRef<char> to = blob.getMutableData();
  llvm::fill(to, 0);
  const int64_t mask = (1 << bits) - 1;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t source = row * columns + column, target = column * rows + row;
      const int64_t number = static_cast<uint8_t>(from[source / perByte]) >> (source % perByte * bits) & mask;
      to[target / perByte] = static_cast<char>(to[target / perByte] | number << (target % perByte * bits));
    }
  auto type = RankedTensorType::get({columns, rows / perByte}, n.e.b.getI8Type());
  auto turned = DenseResourceElementsAttr::get(type, elements.getRawHandle().getKey(), std::move(blob));
  mlir::Value tensor = arith::ConstantOp::create(n.e.b, n.e.loc, turned);
  return n.e.wrap(tensor, DataType::U8, {value.dims[1], n.e.number(rows / perByte)});
}

// Numbers of few bits that lie in bytes, in blocks along an axis with a scale and a zero point each, as they would be
// in an operator that multiplies by them. Nothing where they do not lie so.
FailureOr<Value> dequantizePacked(NodeLowering &n, int64_t axis, int64_t block, DataType inside) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const int64_t bits = bitsOf(value.type), perByte = 8 / bits, rank = value.rank();
  FailureOr<int64_t> dim = n.dimension(axis, rank);
  if (failed(dim))
    return failure();
  const int64_t extent = Emitter::known(value.dims[*dim]).value_or(0);
  const bool isTurned = *dim == 0 && rank == 2;
  if (!value.packed || block % perByte != 0 || extent % block != 0 || n.in(1).rank() != rank ||
      !(isTurned || *dim == rank - 1))
    return Value();
  Dims dims = value.dims;
  dims.back() = e.number(*Emitter::known(dims.back()) / perByte);
  Value bytes = isTurned ? turnPacked(n, value) : e.wrap(value.packed, DataType::U8, dims);
  if (!bytes.tensor)
    return Value();
  Dims blocks = isTurned ? Dims{value.dims[1]} : Dims(ArrayRef(value.dims).drop_back()), whole = blocks;
  whole.push_back(value.dims[*dim]);
  blocks.append({e.number(extent / block), e.number(block / perByte)});
  FailureOr<Value> packed = e.reshape(bytes, blocks);
  blocks.back() = e.number(1);
  SmallVector<Value> others;
  for (size_t input : {1, 2}) {
    if (!n.has(input))
      continue;
    Value numbers = e.cast(n.in(input), input == 1 ? inside : DataType::I32);
    FailureOr<Value> perBlock = e.reshape(isTurned ? e.transpose(numbers, {1, 0}) : numbers, blocks);
    if (failed(perBlock))
      return failure();
    others.push_back(*perBlock);
  }
  if (failed(packed))
    return failure();
  const bool isSigned = !Emitter::isUnsigned(value.type);
  Value numbers = e.unpack(*packed, bits, inside, others, [&](Scalars &s, ValueRange args) {
    mlir::Value number = args[0];
    if (isSigned) {
      mlir::Value sign = s.like(1 << (bits - 1), number);
      number = s.sub(s.make<arith::XOrIOp>(number, sign), sign);
    }
    if (args.size() == 3)
      number = s.sub(number, args[2]);
    return s.mul(s.toFloat(number, args[1].getType()), args[1]);
  });
  FailureOr<Value> result = e.reshape(numbers, whole);
  return failed(result) || !isTurned ? result : e.transpose(*result, {1, 0});
}

LogicalResult lowerDequantize(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &value = n.in(0);
  const int64_t axis = n.integer("axis", 1), block = n.integer("block_size", 0);
  FailureOr<DataType> given = n.dataType("output_dtype", n.in(1).type);
  if (failed(given))
    return failure();
  const DataType type = *given;
  const DataType inside = bitsOf(n.in(1).type) < 32 ? DataType::F32 : n.in(1).type;
  if (block != 0) {
    FailureOr<Value> packed = dequantizePacked(n, axis, block, inside);
    if (failed(packed) || packed->tensor)
      return failed(packed) ? failure() : n.give(e.cast(*packed, type));
  }
  FailureOr<Value> scale = spread(n, n.in(1), value, axis, block);
  if (failed(scale))
    return failure();
  Value by = e.cast(*scale, inside), x = e.cast(value, inside);
  auto times = [](Scalars &s, ValueRange args) { return s.mul(args[0], args[1]); };
  FailureOr<Value> result = failure();
  if (n.has(2) && !Emitter::isFloat(value.type)) {
    FailureOr<Value> zero = spread(n, n.in(2), value, axis, block);
    if (failed(zero))
      return failure();
    Value offset = e.cast(*zero, inside);
    result = e.elementwise({&x, &by, &offset}, inside,
                           [](Scalars &s, ValueRange args) { return s.mul(s.sub(args[0], args[2]), args[1]); });
  } else {
    result = e.elementwise({&x, &by}, inside, times);
  }
  return failed(result) ? failure() : n.give(e.cast(*result, type));
}

LogicalResult lowerDynamicQuantize(NodeLowering &n) {
  FailureOr<Quantized> quantized = quantizeDynamically(n.e, n.in(0));
  if (failed(quantized))
    return failure();
  n.results = {quantized->integers, quantized->scale, quantized->zero};
  return success();
}

// Sums of products of integers as the quantized result: times both scales, by that of the result.
FailureOr<Value> requantize(NodeLowering &n, const Value &sums, const Value &lhsScale, const Value &rhsScale,
                            size_t scaleInput) {
  Emitter &e = n.e;
  const DataType type = n.in(scaleInput + 1).type;
  Type element = e.elementType(type);
  FailureOr<Value> scale = e.reshape(e.cast(n.in(scaleInput), DataType::F32), {}),
                   zero = e.reshape(e.cast(n.in(scaleInput + 1), DataType::F32), {});
  if (failed(scale) || failed(zero))
    return failure();
  Value real = e.cast(sums, DataType::F32), left = e.cast(lhsScale, DataType::F32),
        right = e.cast(rhsScale, DataType::F32);
  return e.elementwise({&real, &left, &right, &*scale, &*zero}, type, [&](Scalars &s, ValueRange args) {
    mlir::Value factor = s.div(s.mul(args[1], args[2]), args[3]);
    return quantized(s, s.mul(args[0], factor), args[4], type, element);
  });
}

LogicalResult lowerQLinearMatMul(NodeLowering &n) {
  // a, its scale and zero point, b with its two, and those of the result.
  const Value &a = n.in(0), &b = n.in(3);
  FailureOr<Value> lhs = withoutZeroPoint(n, a, 2, std::max<int64_t>(a.rank() - 2, 0)),
                   rhs = withoutZeroPoint(n, b, 5, b.rank() - 1);
  if (failed(lhs) || failed(rhs))
    return failure();
  FailureOr<Value> sums = matmul(n, *lhs, *rhs, DataType::I32);
  if (failed(sums))
    return failure();
  FailureOr<Value> left = spread(n, n.in(1), *sums, -2, 0), right = spread(n, n.in(4), *sums, -1, 0);
  if (failed(left) || failed(right))
    return failure();
  return n.give(requantize(n, *sums, *left, *right, 6));
}

LogicalResult lowerQLinearConv(NodeLowering &n) {
  Emitter &e = n.e;
  const Value &x = n.in(0), &w = n.in(3);
  FailureOr<Value> image = withoutZeroPoint(n, x, 2, 1), filter = withoutZeroPoint(n, w, 5, 0);
  if (failed(image) || failed(filter))
    return failure();
  FailureOr<Value> sums = convolve(n, *image, *filter, DataType::I32);
  if (succeeded(sums) && n.has(8))
    sums = withBias(n, *sums, n.in(8));
  if (failed(sums))
    return failure();
  FailureOr<Value> left = e.reshape(n.in(1), {}), right = spread(n, n.in(4), *sums, 1, 0);
  if (failed(left) || failed(right))
    return failure();
  return n.give(requantize(n, *sums, *left, *right, 6));
}

} // namespace

FailureOr<Quantized> quantizeDynamically(Emitter &e, const Value &value) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(value.rank()));
  mlir::Value zero = e.constantScalar(0, DataType::F32);
  Value high = e.reduce(value, axes, false, zero, DataType::F32,
                        [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.max(soFar, x); });
  Value low = e.reduce(value, axes, false, zero, DataType::F32,
                       [](Scalars &s, mlir::Value x, mlir::Value soFar) { return s.min(soFar, x); });
  FailureOr<Value> scale = e.elementwise({&high, &low}, DataType::F32, [](Scalars &s, ValueRange args) {
    mlir::Value range = s.sub(args[0], args[1]);
    return s.select(s.equal(range, s.like(0, range)), s.like(1, range), s.div(range, s.like(255, range)));
  });
  if (failed(scale))
    return failure();
  Type element = e.elementType(DataType::U8);
  FailureOr<Value> offset = e.elementwise({&low, &*scale}, DataType::U8, [&](Scalars &s, ValueRange args) {
    return quantized(s, s.div(s.neg(args[0]), args[1]), {}, DataType::U8, element);
  });
  if (failed(offset))
    return failure();
  Value real = e.cast(*offset, DataType::F32);
  FailureOr<Value> result = e.elementwise({&value, &*scale, &real}, DataType::U8, [&](Scalars &s, ValueRange args) {
    return quantized(s, s.div(args[0], args[1]), args[2], DataType::U8, element);
  });
  if (failed(result))
    return failure();
  return Quantized{*result, *scale, *offset};
}

void registerQuantize(Registry &registry) {
  registry["DequantizeLinear"] = {lowerDequantize, 2};
  registry["DynamicQuantizeLinear"] = {lowerDynamicQuantize};
  registry["QLinearConv"] = {lowerQLinearConv, 8};
  registry["QLinearMatMul"] = {lowerQLinearMatMul, 8};
  registry["QuantizeLinear"] = {lowerQuantize, 2};
}

} // namespace kiln::onnx
