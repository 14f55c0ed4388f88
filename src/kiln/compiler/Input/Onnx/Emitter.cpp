#include "kiln/compiler/Input/Onnx/Emitter.h"

#include <limits>

#include "kiln/compiler/Dialect/Flow/IR/FlowOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::onnx {

Value Value::nothing() {
  Value value;
  value.kind = Kind::Nothing;
  return value;
}

Value Value::sequenceOf(std::vector<Value> values) {
  Value value;
  value.kind = Kind::Sequence;
  value.sequence = std::move(values);
  return value;
}

void Value::forEachTensor(function_ref<void(Value &)> visit) {
  if (kind == Kind::Tensor)
    visit(*this);
  for (Value &value : sequence)
    value.forEachTensor(visit);
}

Emitter::Emitter(MLIRContext *context) : b(context), loc(UnknownLoc::get(context)) {}

LogicalResult Emitter::refuse(const Twine &why) {
  reason = why.str();
  return failure();
}

//===--- Types ----------------------------------------------------------------------------------------------------===//

bool Emitter::isUnsigned(DataType type) {
  switch (type) {
  case DataType::U2:
  case DataType::U4:
  case DataType::U8:
  case DataType::U16:
  case DataType::U32:
  case DataType::U64:
  case DataType::Bool: return true;
  default: return false;
  }
}

bool Emitter::isFloat(DataType type) {
  switch (type) {
  case DataType::F16:
  case DataType::BF16:
  case DataType::F32:
  case DataType::F64:
  case DataType::F8E4M3FN:
  case DataType::F8E4M3FNUZ:
  case DataType::F8E5M2:
  case DataType::F8E5M2FNUZ:
  case DataType::F8E8M0:
  case DataType::F4E2M1: return true;
  default: return false;
  }
}

bool Emitter::isInteger(DataType type) {
  switch (type) {
  case DataType::I2:
  case DataType::I4:
  case DataType::I8:
  case DataType::I16:
  case DataType::I32:
  case DataType::I64: return true;
  default: return isUnsigned(type) && type != DataType::Bool;
  }
}

Type Emitter::elementType(DataType type) {
  switch (type) {
  case DataType::Bool: return b.getI1Type();
  case DataType::F16: return b.getF16Type();
  case DataType::BF16: return b.getBF16Type();
  case DataType::F32: return b.getF32Type();
  case DataType::F64: return b.getF64Type();
  case DataType::F8E4M3FN: return Float8E4M3FNType::get(b.getContext());
  case DataType::F8E4M3FNUZ: return Float8E4M3FNUZType::get(b.getContext());
  case DataType::F8E5M2: return Float8E5M2Type::get(b.getContext());
  case DataType::F8E5M2FNUZ: return Float8E5M2FNUZType::get(b.getContext());
  case DataType::F8E8M0: return Float8E8M0FNUType::get(b.getContext());
  case DataType::F4E2M1: return Float4E2M1FNType::get(b.getContext());
  default: return isInteger(type) ? b.getIntegerType(bitsOf(type)) : Type();
  }
}

RankedTensorType Emitter::tensorType(DataType type, const Dims &dims) {
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : dims)
    shape.push_back(known(extent).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, elementType(type));
}

//===--- Extents --------------------------------------------------------------------------------------------------===//

OpFoldResult Emitter::number(int64_t value) {
  return b.getIndexAttr(value);
}

std::optional<int64_t> Emitter::known(OpFoldResult extent) {
  return getConstantIntValue(extent);
}

bool Emitter::areKnown(const Dims &dims) {
  return llvm::all_of(dims, [](OpFoldResult extent) { return known(extent).has_value(); });
}

bool Emitter::hasNoElements(const Value &value) {
  return llvm::any_of(value.dims, [](OpFoldResult extent) { return known(extent) == 0; });
}

bool Emitter::same(OpFoldResult a, OpFoldResult b) {
  return isEqualConstantIntOrValue(a, b);
}

bool Emitter::isExtent(OpFoldResult number) {
  if (std::optional<int64_t> it = known(number))
    return *it >= 0;
  Operation *op = cast<mlir::Value>(number).getDefiningOp();
  return isa_and_nonnull<tensor::DimOp>(op) ||
         (isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op) &&
          llvm::all_of(op->getOperands(), [](mlir::Value operand) { return isExtent(operand); }));
}

mlir::Value Emitter::indexOf(OpFoldResult extent) {
  return getValueOrCreateConstantIndexOp(b, loc, extent);
}

OpFoldResult Emitter::compute(Arithmetic what, OpFoldResult x, OpFoldResult y) {
  std::optional<int64_t> left = known(x), right = known(y);
  const bool divides = what == Arithmetic::DivTowardsZero || what == Arithmetic::DivUp || what == Arithmetic::Mod;
  if (left && right && !(divides && (*right == 0 || *right == -1))) {
    switch (what) {
    case Arithmetic::Add: return number(static_cast<int64_t>(uint64_t(*left) + uint64_t(*right)));
    case Arithmetic::Sub: return number(static_cast<int64_t>(uint64_t(*left) - uint64_t(*right)));
    case Arithmetic::Mul: return number(static_cast<int64_t>(uint64_t(*left) * uint64_t(*right)));
    case Arithmetic::DivTowardsZero: return number(*left / *right);
    case Arithmetic::DivUp: return number(*left / *right + (*left % *right > 0 && *right > 0 ? 1 : 0));
    case Arithmetic::Max: return number(std::max(*left, *right));
    case Arithmetic::Min: return number(std::min(*left, *right));
    case Arithmetic::Mod: return number((*left % *right + *right) % *right);
    }
  }
  if ((what == Arithmetic::Add && right == 0) || (what == Arithmetic::Sub && right == 0) ||
      (what == Arithmetic::Mul && right == 1) || (what == Arithmetic::DivTowardsZero && right == 1) ||
      (what == Arithmetic::DivUp && right == 1) || (what == Arithmetic::Max && right == 0 && isExtent(x)) ||
      ((what == Arithmetic::Max || what == Arithmetic::Min) && same(x, y)))
    return x;
  if ((what == Arithmetic::Add && left == 0) || (what == Arithmetic::Mul && left == 1))
    return y;
  if (what == Arithmetic::Sub && same(x, y))
    return number(0);
  mlir::Value a = indexOf(x), c = indexOf(y);
  switch (what) {
  case Arithmetic::Add: return b.createOrFold<arith::AddIOp>(loc, a, c);
  case Arithmetic::Sub: return b.createOrFold<arith::SubIOp>(loc, a, c);
  case Arithmetic::Mul: return b.createOrFold<arith::MulIOp>(loc, a, c);
  case Arithmetic::DivTowardsZero: return b.createOrFold<arith::DivSIOp>(loc, a, c);
  case Arithmetic::DivUp: return b.createOrFold<arith::CeilDivSIOp>(loc, a, c);
  case Arithmetic::Max: return b.createOrFold<arith::MaxSIOp>(loc, a, c);
  case Arithmetic::Min: return b.createOrFold<arith::MinSIOp>(loc, a, c);
  case Arithmetic::Mod: {
    mlir::Value rest = b.createOrFold<arith::RemSIOp>(loc, a, c);
    mlir::Value moved = b.createOrFold<arith::AddIOp>(loc, rest, c);
    return b.createOrFold<arith::RemSIOp>(loc, moved, c);
  }
  }
  llvm_unreachable("all of them are there");
}

OpFoldResult Emitter::product(ArrayRef<OpFoldResult> extents) {
  OpFoldResult all = number(1);
  for (OpFoldResult extent : extents)
    all = mul(all, extent);
  return all;
}

OpFoldResult Emitter::chosen(arith::CmpIPredicate predicate, OpFoldResult x, OpFoldResult y, OpFoldResult ifTrue,
                             OpFoldResult ifFalse) {
  if (known(x) && known(y))
    return arith::applyCmpPredicate(predicate, APInt(64, *known(x), true), APInt(64, *known(y), true)) ? ifTrue
                                                                                                       : ifFalse;
  mlir::Value condition = b.createOrFold<arith::CmpIOp>(loc, predicate, indexOf(x), indexOf(y));
  return b.createOrFold<arith::SelectOp>(loc, condition, indexOf(ifTrue), indexOf(ifFalse));
}

OpFoldResult Emitter::wrapped(OpFoldResult at, OpFoldResult extent) {
  return chosen(arith::CmpIPredicate::slt, at, number(0), add(at, extent), at);
}

//===--- Tensors --------------------------------------------------------------------------------------------------===//

mlir::Value Emitter::tensorOf(const Value &value) {
  if (value.tensor)
    return value.tensor;
  Type element = elementType(value.type);
  SmallVector<mlir::Value> elements;
  SmallVector<APInt> numbers;
  const unsigned width = element.getIntOrFloatBitWidth();
  for (OpFoldResult number : *value.elements) {
    if (std::optional<int64_t> constant = known(number))
      numbers.push_back(APInt(64, static_cast<uint64_t>(*constant)).trunc(width));
  }
  RankedTensorType type = tensorType(value.type, value.dims);
  if (numbers.size() == value.elements->size())
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, numbers));
  for (OpFoldResult number : *value.elements)
    elements.push_back(arith::IndexCastOp::create(b, loc, element, indexOf(number)));
  return tensor::FromElementsOp::create(b, loc, type, elements);
}

Value Emitter::scalars(DataType type, Dims elements, bool isScalar) {
  Value value{type, {}, {}};
  if (!isScalar)
    value.dims.push_back(number(static_cast<int64_t>(elements.size())));
  value.elements = std::move(elements);
  return value;
}

std::optional<Value> Emitter::fold(ArrayRef<const Value *> operands, DataType type,
                                   function_ref<std::optional<OpFoldResult>(ArrayRef<OpFoldResult>)> one) {
  size_t count = 1;
  bool isScalar = true;
  for (const Value *operand : operands) {
    if (!operand->elements)
      return std::nullopt;
    isScalar &= operand->rank() == 0;
    const size_t own = operand->elements->size();
    if (own == 1)
      continue;
    if (count != 1 && own != count)
      return std::nullopt;
    count = own;
  }
  Dims results;
  for (size_t i = 0; i < count; ++i) {
    Dims numbers;
    for (const Value *operand : operands)
      numbers.push_back((*operand->elements)[operand->elements->size() == 1 ? 0 : i]);
    std::optional<OpFoldResult> result = one(numbers);
    if (!result)
      return std::nullopt;
    results.push_back(*result);
  }
  return scalars(type, std::move(results), isScalar);
}

FailureOr<Dims> Emitter::elementsOf(const Value &value) {
  if (value.elements)
    return *value.elements;
  if (value.rank() > 1 || !(isInteger(value.type) || value.type == DataType::Bool))
    return refuse("needs a list of integers");
  const std::optional<int64_t> count = value.rank() == 0 ? 1 : known(value.dims[0]);
  constexpr int64_t kMostElements = 1024; // which the host reads one by one
  if (!count || *count > kMostElements)
    return refuse("needs a list of integers whose length is known, and not more than " + Twine(kMostElements));
  Dims elements;
  for (int64_t i = 0; i < *count; ++i) {
    SmallVector<mlir::Value> indices;
    if (value.rank() == 1)
      indices.push_back(arith::ConstantIndexOp::create(b, loc, i));
    mlir::Value element = tensor::ExtractOp::create(b, loc, value.tensor, indices);
    if (isUnsigned(value.type))
      elements.push_back(arith::IndexCastUIOp::create(b, loc, b.getIndexType(), element).getResult());
    else
      elements.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(), element).getResult());
  }
  return elements;
}

Value Emitter::empty(DataType type, const Dims &dims) {
  return wrap(tensor::EmptyOp::create(b, loc, dims, elementType(type)), type, dims);
}

Value Emitter::filled(DataType type, const Dims &dims, mlir::Value scalar) {
  mlir::Value target = empty(type, dims).tensor;
  return wrap(linalg::FillOp::create(b, loc, scalar, target).getResult(0), type, dims);
}

mlir::Value Emitter::constantScalar(double number, DataType type) {
  return Scalars(b, loc).constant(number, elementType(type));
}

mlir::Value Emitter::extreme(DataType type, bool isLowest) {
  if (isFloat(type)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return constantScalar(isLowest ? -kInfinity : kInfinity, type);
  }
  const unsigned width = type == DataType::Bool ? 1 : bitsOf(type);
  APInt number;
  if (isUnsigned(type))
    number = isLowest ? APInt::getZero(width) : APInt::getMaxValue(width);
  else
    number = isLowest ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width);
  return arith::ConstantOp::create(b, loc, IntegerAttr::get(elementType(type), number));
}

SmallVector<utils::IteratorType> Emitter::loops(int64_t parallel, int64_t reductions) {
  SmallVector<utils::IteratorType> all(parallel, utils::IteratorType::parallel);
  all.append(reductions, utils::IteratorType::reduction);
  return all;
}

FailureOr<Dims> Emitter::broadcast(ArrayRef<const Value *> operands) {
  int64_t rank = 0;
  for (const Value *operand : operands)
    rank = std::max(rank, operand->rank());
  Dims dims(rank, number(1));
  for (int64_t dim = 0; dim < rank; ++dim)
    for (const Value *operand : operands) {
      const int64_t own = dim - rank + operand->rank();
      if (own < 0 || known(operand->dims[own]) == 1 || same(operand->dims[own], dims[dim]))
        continue;
      OpFoldResult extent = operand->dims[own];
      if (known(dims[dim]) == 1) {
        dims[dim] = extent;
        continue;
      }
      if (known(dims[dim]) && known(extent))
        return refuse("has operands with " + Twine(*known(dims[dim])) + " and " + Twine(*known(extent)) +
                      " elements along one dimension");
      // One of both may be 1 when the program runs. A known extent is what counts.
      if (known(extent))
        dims[dim] = extent;
      else if (!known(dims[dim]))
        dims[dim] = chosen(arith::CmpIPredicate::eq, dims[dim], number(1), extent, dims[dim]);
    }
  for (const Value *operand : operands)
    for (auto [own, extent] : llvm::enumerate(operand->dims))
      checkBroadcast(extent, dims[rank - operand->rank() + static_cast<int64_t>(own)]);
  return dims;
}

void Emitter::checkBroadcast(OpFoldResult extent, OpFoldResult result) {
  if (known(extent) == 1 || same(extent, result))
    return;
  auto equals = [&](OpFoldResult other) -> mlir::Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, indexOf(extent), indexOf(other));
  };
  mlir::Value fits = arith::OrIOp::create(b, loc, equals(number(1)), equals(result));
  cf::AssertOp::create(b, loc, fits, "operands have extents that do not broadcast to each other");
}

FailureOr<Value> Emitter::elementwise(ArrayRef<const Value *> operands, DataType type, Body body) {
  FailureOr<Dims> dims = broadcast(operands);
  if (failed(dims))
    return failure();
  const auto rank = static_cast<int64_t>(dims->size());
  SmallVector<mlir::Value> inputs;
  SmallVector<AffineMap> maps;
  // What may or may not be broadcast is read where the program decides.
  struct Read {
    mlir::Value tensor;
    SmallVector<mlir::Value> extents; // one for each dimension; null where the index is the loop's
  };
  SmallVector<std::optional<Read>> reads;
  for (const Value *operand : operands) {
    SmallVector<AffineExpr> results;
    Read read{tensorOf(*operand), {}};
    bool isUnclear = false;
    for (auto [own, extent] : llvm::enumerate(operand->dims)) {
      const int64_t dim = rank - operand->rank() + static_cast<int64_t>(own);
      if (known(extent) == 1 && known((*dims)[dim]) != 1) {
        results.push_back(b.getAffineConstantExpr(0));
        read.extents.push_back(indexOf(extent));
        continue;
      }
      results.push_back(b.getAffineDimExpr(dim));
      const bool isSame = same(extent, (*dims)[dim]);
      read.extents.push_back(isSame ? mlir::Value() : indexOf(extent));
      isUnclear |= !isSame;
    }
    if (isUnclear) {
      reads.push_back(std::move(read));
      continue;
    }
    inputs.push_back(read.tensor);
    maps.push_back(AffineMap::get(rank, 0, results, b.getContext()));
    reads.emplace_back();
  }
  mlir::Value target = empty(type, *dims).tensor;
  maps.push_back(b.getMultiDimIdentityMap(rank));
  auto generic = linalg::GenericOp::create(
      b, loc, target.getType(), inputs, target, maps, loops(rank), [&](OpBuilder &inner, Location at, ValueRange args) {
        Scalars s(inner, at, operands.empty() ? false : isUnsigned(operands.front()->type));
        SmallVector<mlir::Value> elements;
        size_t next = 0;
        for (auto [operand, read] : llvm::zip(operands, reads)) {
          if (!read) {
            elements.push_back(args[next++]);
            continue;
          }
          SmallVector<mlir::Value> indices;
          for (auto [own, extent] : llvm::enumerate(read->extents)) {
            const int64_t dim = rank - operand->rank() + static_cast<int64_t>(own);
            mlir::Value index = linalg::IndexOp::create(inner, at, dim);
            if (extent)
              index = s.select(s.equal(extent, s.index(1)), s.index(0), index);
            indices.push_back(index);
          }
          elements.push_back(tensor::ExtractOp::create(inner, at, read->tensor, indices));
        }
        linalg::YieldOp::create(inner, at, body(s, elements));
      });
  return wrap(generic.getResult(0), type, *dims);
}

Value Emitter::generate(DataType type, const Dims &dims, Body body) {
  mlir::Value target = empty(type, dims).tensor;
  const auto rank = static_cast<int64_t>(dims.size());
  auto generic =
      linalg::GenericOp::create(b, loc, target.getType(), ValueRange(), target, b.getMultiDimIdentityMap(rank),
                                loops(rank), [&](OpBuilder &inner, Location at, ValueRange) {
                                  Scalars s(inner, at, isUnsigned(type));
                                  SmallVector<mlir::Value> indices;
                                  for (int64_t dim = 0; dim < rank; ++dim)
                                    indices.push_back(linalg::IndexOp::create(inner, at, dim));
                                  linalg::YieldOp::create(inner, at, body(s, indices));
                                });
  return wrap(generic.getResult(0), type, dims);
}

mlir::Value Emitter::load(Scalars &s, mlir::Value tensor, ValueRange indices) {
  return s.make<tensor::ExtractOp>(tensor, indices);
}

Value Emitter::reduce(const Value &value, ArrayRef<int64_t> axes, bool keepsAxes, mlir::Value start, DataType type,
                      function_ref<mlir::Value(Scalars &, mlir::Value, mlir::Value)> combine) {
  Dims kept, withOnes;
  SmallVector<AffineExpr> results;
  SmallVector<utils::IteratorType> iterators;
  for (int64_t dim = 0; dim < value.rank(); ++dim) {
    const bool isReduced = llvm::is_contained(axes, dim);
    iterators.push_back(isReduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
    withOnes.push_back(isReduced ? number(1) : value.dims[dim]);
    if (isReduced)
      continue;
    kept.push_back(value.dims[dim]);
    results.push_back(b.getAffineDimExpr(dim));
  }
  Value target = filled(type, kept, start);
  if (hasNoElements(value))
    return keepsAxes ? filled(type, withOnes, start) : target;
  SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(value.rank()),
                                 AffineMap::get(value.rank(), 0, results, b.getContext())};
  auto generic = linalg::GenericOp::create(b, loc, target.tensor.getType(), tensorOf(value), target.tensor, maps,
                                           iterators, [&](OpBuilder &inner, Location at, ValueRange args) {
                                             Scalars s(inner, at, isUnsigned(value.type));
                                             linalg::YieldOp::create(inner, at, combine(s, args[0], args[1]));
                                           });
  Value reduced = wrap(generic.getResult(0), type, kept);
  if (!keepsAxes)
    return reduced;
  return *reshape(reduced, withOnes);
}

Dims Emitter::flags(ArrayRef<OpFoldResult> axes, int64_t rank) {
  using enum arith::CmpIPredicate;
  Dims flags;
  for (int64_t dim = 0; dim < rank; ++dim) {
    OpFoldResult flag = number(0);
    for (OpFoldResult axis : axes) {
      flag = chosen(eq, axis, number(dim), number(1), flag);
      flag = chosen(eq, axis, number(dim - rank), number(1), flag);
    }
    flags.push_back(flag);
  }
  return flags;
}

Dims Emitter::without(const Dims &dims, const Dims &flags, int64_t count) {
  using enum arith::CmpIPredicate;
  Dims kept;
  for (int64_t place = 0; place < count; ++place) {
    // Of the dimensions without a flag, the one with so many before it.
    OpFoldResult extent = number(1), before = number(0);
    for (auto [own, flag] : llvm::zip(dims, flags)) {
      OpFoldResult isHere = chosen(eq, before, number(place), number(1), number(0));
      isHere = chosen(eq, flag, number(0), isHere, number(0));
      extent = chosen(eq, isHere, number(1), own, extent);
      before = add(before, sub(number(1), flag));
    }
    kept.push_back(extent);
  }
  return kept;
}

Dims Emitter::withOnes(const Dims &dims, const Dims &flags) {
  using enum arith::CmpIPredicate;
  Dims all;
  OpFoldResult before = number(0);
  for (OpFoldResult flag : flags) {
    OpFoldResult extent = number(1);
    for (auto [place, own] : llvm::enumerate(dims))
      extent = chosen(eq, before, number(static_cast<int64_t>(place)), own, extent);
    all.push_back(chosen(eq, flag, number(1), number(1), extent));
    before = add(before, sub(number(1), flag));
  }
  return all;
}

Value Emitter::reduceWhere(const Value &value, const Dims &flags, mlir::Value start, DataType type,
                           function_ref<mlir::Value(Scalars &, mlir::Value, mlir::Value)> combine) {
  // Two loops for each dimension, of which one has an extent of 1.
  Dims dims, window;
  const int64_t rank = value.rank();
  SmallVector<AffineExpr> ofValue, ofWindow, ofResult;
  for (int64_t dim = 0; dim < rank; ++dim) {
    dims.push_back(chosen(arith::CmpIPredicate::eq, flags[dim], number(1), number(1), value.dims[dim]));
    window.push_back(chosen(arith::CmpIPredicate::eq, flags[dim], number(1), value.dims[dim], number(1)));
    ofResult.push_back(b.getAffineDimExpr(dim));
    ofWindow.push_back(b.getAffineDimExpr(rank + dim));
    ofValue.push_back(ofResult.back() + ofWindow.back());
  }
  mlir::Value shape = empty(value.type, window).tensor;
  Value target = filled(type, dims, start);
  if (hasNoElements(value))
    return target;
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> results : {ArrayRef(ofValue), ArrayRef(ofWindow), ArrayRef(ofResult)})
    maps.push_back(AffineMap::get(2 * rank, 0, results, b.getContext()));
  auto generic =
      linalg::GenericOp::create(b, loc, target.tensor.getType(), ValueRange{tensorOf(value), shape}, target.tensor,
                                maps, loops(rank, rank), [&](OpBuilder &inner, Location at, ValueRange args) {
                                  Scalars s(inner, at, isUnsigned(value.type));
                                  linalg::YieldOp::create(inner, at, combine(s, args[0], args[2]));
                                });
  return wrap(generic.getResult(0), type, dims);
}

// Whether two products of extents have the same factors.
static bool haveSameFactors(ArrayRef<OpFoldResult> a, ArrayRef<OpFoldResult> b) {
  using Factors = std::pair<int64_t, SmallVector<void *>>;
  auto factorsOf = [](ArrayRef<OpFoldResult> extents) {
    Factors factors(1, {});
    SmallVector<OpFoldResult> left(extents);
    while (!left.empty()) {
      OpFoldResult extent = left.pop_back_val();
      if (std::optional<int64_t> known = Emitter::known(extent))
        factors.first *= *known;
      else if (auto product = cast<mlir::Value>(extent).getDefiningOp<arith::MulIOp>())
        left.append({product.getLhs(), product.getRhs()});
      else
        factors.second.push_back(cast<mlir::Value>(extent).getAsOpaquePointer());
    }
    llvm::sort(factors.second);
    return factors;
  };
  return factorsOf(a) == factorsOf(b);
}

// Which dimensions of the longer of two shapes are together one of the shorter one's, if that shows.
static std::optional<SmallVector<ReassociationIndices>> groupsOf(ArrayRef<OpFoldResult> longer,
                                                                 ArrayRef<OpFoldResult> shorter) {
  if (shorter.empty() || longer.size() <= shorter.size())
    return std::nullopt;
  SmallVector<ReassociationIndices> groups;
  size_t next = 0;
  for (OpFoldResult extent : shorter) {
    ReassociationIndices &group = groups.emplace_back();
    const size_t first = next;
    do {
      if (next == longer.size())
        return std::nullopt;
      group.push_back(next++);
    } while (!haveSameFactors(extent, longer.slice(first, next - first)));
  }
  for (; next < longer.size() && Emitter::known(longer[next]) == 1; ++next)
    groups.back().push_back(next);
  return next == longer.size() ? std::optional(groups) : std::nullopt;
}

FailureOr<Value> Emitter::reshape(const Value &value, const Dims &dims) {
  const bool isSame = value.dims.size() == dims.size() && llvm::all_of(llvm::zip(value.dims, dims), [](auto pair) {
                        return same(std::get<0>(pair), std::get<1>(pair));
                      });
  if (isSame)
    return value;
  if (value.elements && dims.size() <= 1)
    return scalars(value.type, *value.elements, dims.empty());
  OpFoldResult before = product(value.dims), after = product(dims);
  if (known(before) && known(after) && *known(before) != *known(after))
    return refuse("has " + Twine(*known(before)) + " elements, and " + Twine(*known(after)) + " are asked for");
  RankedTensorType from = tensorType(value.type, value.dims), to = tensorType(value.type, dims);
  mlir::Value tensor = tensorOf(value);
  const bool isCollapse = from.getRank() > to.getRank(), areAllKnown = areKnown(value.dims) && areKnown(dims);
  if (auto groups = areAllKnown  ? getReassociationIndicesForReshape(from, to)
                    : isCollapse ? groupsOf(value.dims, dims)
                                 : groupsOf(dims, value.dims)) {
    if (isCollapse)
      return wrap(tensor::CollapseShapeOp::create(b, loc, to, tensor, *groups), value.type, dims);
    return wrap(tensor::ExpandShapeOp::create(b, loc, to, tensor, *groups, dims), value.type, dims);
  }
  SmallVector<mlir::Value> unknown;
  for (OpFoldResult extent : dims)
    if (!known(extent))
      unknown.push_back(indexOf(extent));
  return wrap(Flow::TensorReshapeOp::create(b, loc, to, tensor, unknown), value.type, dims);
}

} // namespace kiln::onnx
