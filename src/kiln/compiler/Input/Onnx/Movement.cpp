// Operators that move elements.
#include "kiln/compiler/Input/Onnx/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace kiln::onnx {

namespace {

LogicalResult lowerTranspose(NodeLowering &n) {
  const Value &value = n.in(0);
  SmallVector<int64_t> permutation;
  if (std::optional<ArrayRef<int64_t>> given = n.integers("perm")) {
    FailureOr<SmallVector<int64_t>> all = n.dimensions(*given, value.rank());
    if (failed(all) || static_cast<int64_t>(all->size()) != value.rank())
      return n.refuse("permutes " + Twine(given->size()) + " of " + Twine(value.rank()) + " dimensions");
    permutation = *all;
  } else {
    for (int64_t dim = value.rank() - 1; dim >= 0; --dim)
      permutation.push_back(dim);
  }
  return n.give(n.e.transpose(value, permutation));
}

LogicalResult lowerReshape(NodeLowering &n) {
  const Value &value = n.in(0);
  FailureOr<Dims> wanted = failure();
  if (std::optional<ArrayRef<int64_t>> given = n.integers("shape")) {
    wanted.emplace();
    for (int64_t extent : *given)
      wanted->push_back(n.e.number(extent));
  } else if (!n.has(1)) {
    return n.refuse("has no shape");
  } else {
    wanted = n.e.elementsOf(n.in(1));
    if (failed(wanted))
      return failure();
  }
  const bool zerosCount = n.integer("allowzero", 0) != 0;
  Dims dims;
  std::optional<size_t> rest;
  SmallVector<size_t> mayBeRest;
  OpFoldResult others = n.e.number(1);
  for (auto [dim, extent] : llvm::enumerate(*wanted)) {
    const std::optional<int64_t> known = Emitter::known(extent);
    if (known == 0 && !zerosCount) {
      if (static_cast<int64_t>(dim) >= value.rank())
        return n.refuse("keeps dimension " + Twine(dim) + " of " + Twine(value.rank()));
      dims.push_back(value.dims[dim]);
    } else if (known == -1) {
      if (rest)
        return n.refuse("has two extents of -1");
      rest = dim;
      dims.push_back(n.e.number(1));
      continue;
    } else if (known) {
      dims.push_back(extent);
    } else {
      // 0 and -1 may be what the program computes.
      if (Emitter::isExtent(extent)) {
        dims.push_back(extent);
        others = n.e.mul(others, extent);
        continue;
      }
      OpFoldResult kept = static_cast<int64_t>(dim) < value.rank() && !zerosCount ? value.dims[dim] : extent;
      dims.push_back(n.e.chosen(arith::CmpIPredicate::eq, extent, n.e.number(0), kept, extent));
      mayBeRest.push_back(dim);
      // The rest of the elements is not among the others.
      others = n.e.mul(others, n.e.compute(Emitter::Arithmetic::Max, dims.back(), n.e.number(1)));
      continue;
    }
    others = n.e.mul(others, dims.back());
  }
  OpFoldResult all = n.e.product(value.dims);
  OpFoldResult quotient;
  if (rest || !mayBeRest.empty())
    quotient = n.e.compute(Emitter::Arithmetic::DivTowardsZero, all,
                           n.e.compute(Emitter::Arithmetic::Max, others, n.e.number(1)));
  if (rest)
    dims[*rest] = quotient;
  for (size_t dim : mayBeRest)
    dims[dim] = n.e.chosen(arith::CmpIPredicate::slt, dims[dim], n.e.number(0), quotient, dims[dim]);
  return n.give(n.e.reshape(value, dims));
}

LogicalResult lowerFlatten(NodeLowering &n) {
  const Value &value = n.in(0);
  int64_t axis = n.integer("axis", 1);
  axis = axis < 0 ? axis + value.rank() : axis;
  if (axis < 0 || axis > value.rank())
    return n.refuse("has axis " + Twine(axis) + " of " + Twine(value.rank()) + " dimensions");
  ArrayRef<OpFoldResult> dims = value.dims;
  return n.give(n.e.reshape(value, {n.e.product(dims.take_front(axis)), n.e.product(dims.drop_front(axis))}));
}

LogicalResult lowerSqueeze(NodeLowering &n) {
  const Value &value = n.in(0);
  if (n.has(1) && !n.axesAreKnown(1)) {
    FailureOr<Dims> places = n.e.elementsOf(n.in(1));
    if (failed(places))
      return failure();
    const int64_t rank = value.rank() - static_cast<int64_t>(places->size());
    return n.give(n.e.reshape(value, n.e.without(value.dims, n.e.flags(*places, value.rank()), rank)));
  }
  FailureOr<std::optional<SmallVector<int64_t>>> given = n.axes(1);
  if (failed(given))
    return failure();
  SmallVector<int64_t> axes;
  if (*given) {
    FailureOr<SmallVector<int64_t>> all = n.dimensions(**given, value.rank());
    if (failed(all))
      return failure();
    axes = *all;
  } else {
    for (auto [dim, extent] : llvm::enumerate(value.dims)) {
      if (!Emitter::known(extent))
        return n.refuse("without axes has an operand of which the extents are not known");
      if (Emitter::known(extent) == 1)
        axes.push_back(static_cast<int64_t>(dim));
    }
  }
  Dims dims;
  for (auto [dim, extent] : llvm::enumerate(value.dims))
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      dims.push_back(extent);
    else if (Emitter::known(extent).value_or(1) != 1)
      return n.refuse("leaves out dimension " + Twine(dim) + ", which has " + Twine(*Emitter::known(extent)) +
                      " elements");
  return n.give(n.e.reshape(value, dims));
}

LogicalResult lowerUnsqueeze(NodeLowering &n) {
  if (n.has(1) && !n.axesAreKnown(1)) {
    FailureOr<Dims> places = n.e.elementsOf(n.in(1));
    if (failed(places))
      return failure();
    const int64_t rank = n.in(0).rank() + static_cast<int64_t>(places->size());
    return n.give(n.e.reshape(n.in(0), n.e.withOnes(n.in(0).dims, n.e.flags(*places, rank))));
  }
  FailureOr<std::optional<SmallVector<int64_t>>> given = n.axes(1);
  if (failed(given))
    return failure();
  if (!*given)
    return n.refuse("has no axes");
  FailureOr<SmallVector<int64_t>> axes = n.dimensions(**given, n.in(0).rank() + static_cast<int64_t>((*given)->size()));
  if (failed(axes))
    return failure();
  return n.give(n.e.unsqueeze(n.in(0), *axes));
}

LogicalResult lowerConcat(NodeLowering &n) {
  if (llvm::is_contained(n.inputs, nullptr))
    return n.refuse("leaves out an input");
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", 0), n.in(0).rank());
  if (failed(axis))
    return failure();
  return n.give(n.e.concat(n.inputs, *axis));
}

LogicalResult lowerSplit(NodeLowering &n) {
  const Value &value = n.in(0);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", 0), value.rank());
  if (failed(axis))
    return failure();
  const auto parts = static_cast<int64_t>(n.node.outputs.size());
  if (n.integer("num_outputs", parts) != parts)
    return n.refuse("says another number of outputs than it has");
  Dims sizes;
  if (std::optional<ArrayRef<int64_t>> given = n.integers("split")) {
    for (int64_t size : *given)
      sizes.push_back(n.e.number(size));
  } else if (n.has(1)) {
    FailureOr<Dims> all = n.e.elementsOf(n.in(1));
    if (failed(all))
      return failure();
    sizes = *all;
  } else {
    OpFoldResult rest = value.dims[*axis];
    OpFoldResult each = n.e.compute(Emitter::Arithmetic::DivUp, rest, n.e.number(parts));
    for (int64_t part = 0; part + 1 < parts; ++part) {
      sizes.push_back(each);
      rest = n.e.sub(rest, each);
    }
    sizes.push_back(rest);
  }
  if (static_cast<int64_t>(sizes.size()) != parts)
    return n.refuse("splits into " + Twine(sizes.size()) + " parts, and has " + Twine(parts) + " outputs");
  OpFoldResult at = n.e.number(0);
  for (OpFoldResult size : sizes) {
    Dims offsets(value.rank(), n.e.number(0)), extents = value.dims;
    offsets[*axis] = at;
    extents[*axis] = size;
    n.results.push_back(n.e.slice(value, offsets, extents, Dims(value.rank(), n.e.number(1))));
    at = n.e.add(at, size);
  }
  return success();
}

LogicalResult lowerSlice(NodeLowering &n) {
  const Value &value = n.in(0);
  Dims starts, ends, axisNumbers, stepNumbers;
  if (n.opset < 10) {
    for (auto [list, name] : {std::pair(&starts, "starts"), std::pair(&ends, "ends"), std::pair(&axisNumbers, "axes")})
      for (int64_t number : n.integers(name).value_or(ArrayRef<int64_t>()))
        list->push_back(n.e.number(number));
  } else if (!n.has(1) || !n.has(2)) {
    return n.refuse("has no starts or ends");
  } else {
    FailureOr<Dims> first = n.e.elementsOf(n.in(1)), last = n.e.elementsOf(n.in(2));
    if (failed(first) || failed(last))
      return failure();
    starts = *first, ends = *last;
    for (auto [input, list] : {std::pair(size_t(3), &axisNumbers), std::pair(size_t(4), &stepNumbers)})
      if (n.has(input)) {
        FailureOr<Dims> numbers = n.e.elementsOf(n.in(input));
        if (failed(numbers))
          return failure();
        *list = *numbers;
      }
  }
  if (axisNumbers.empty())
    for (size_t dim = 0; dim < starts.size(); ++dim)
      axisNumbers.push_back(n.e.number(static_cast<int64_t>(dim)));
  if (stepNumbers.empty())
    stepNumbers.assign(starts.size(), n.e.number(1));
  if (starts.size() != axisNumbers.size() || ends.size() != starts.size() || stepNumbers.size() != starts.size())
    return n.refuse("has lists of different lengths");
  const int64_t rank = value.rank();
  Dims offsets(rank, n.e.number(0)), sizes = value.dims, steps(rank, n.e.number(1));
  using enum Emitter::Arithmetic;
  using enum arith::CmpIPredicate;
  OpFoldResult zero = n.e.number(0), one = n.e.number(1);
  for (auto [axis, start, end, step] : llvm::zip(axisNumbers, starts, ends, stepNumbers)) {
    if (Emitter::known(step) == 0)
      return n.refuse("has a step of 0");
    if (std::optional<int64_t> known = Emitter::known(axis); known && failed(n.dimension(*known, rank)))
      return failure();
    Dims isMeant = n.e.flags({axis}, rank);
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (Emitter::known(isMeant[dim]) == 0)
        continue;
      OpFoldResult extent = value.dims[dim];
      // Of a step backwards the places are -1 to extent - 1, of one forwards 0 to extent.
      OpFoldResult low = n.e.chosen(sgt, step, zero, zero, n.e.number(-1));
      OpFoldResult high = n.e.chosen(sgt, step, zero, extent, n.e.sub(extent, one));
      OpFoldResult from = n.e.compute(Min, n.e.compute(Max, n.e.wrapped(start, extent), zero), high);
      OpFoldResult to = n.e.compute(Max, n.e.compute(Min, n.e.wrapped(end, extent), high), low);
      OpFoldResult distance = n.e.chosen(sgt, step, zero, n.e.sub(to, from), n.e.sub(from, to));
      OpFoldResult stride = n.e.chosen(sgt, step, zero, step, n.e.sub(zero, step));
      OpFoldResult size = n.e.compute(Max, n.e.compute(DivUp, distance, n.e.compute(Max, stride, one)), zero);
      offsets[dim] = n.e.chosen(eq, isMeant[dim], one, from, offsets[dim]);
      sizes[dim] = n.e.chosen(eq, isMeant[dim], one, size, sizes[dim]);
      steps[dim] = n.e.chosen(eq, isMeant[dim], one, step, steps[dim]);
    }
  }
  if (value.elements && rank == 1 && Emitter::known(offsets[0]) && Emitter::known(sizes[0]) &&
      Emitter::known(steps[0])) {
    Dims elements;
    for (int64_t i = 0; i < *Emitter::known(sizes[0]); ++i)
      elements.push_back((*value.elements)[*Emitter::known(offsets[0]) + i * *Emitter::known(steps[0])]);
    return n.give(n.e.scalars(value.type, std::move(elements)));
  }
  return n.give(n.e.slice(value, offsets, sizes, steps));
}

LogicalResult lowerGather(NodeLowering &n) {
  const Value &value = n.in(0), &indices = n.in(1);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", 0), value.rank());
  if (failed(axis))
    return failure();
  if (value.elements && indices.elements && value.rank() == 1) {
    Dims elements;
    const auto count = static_cast<int64_t>(value.elements->size());
    for (OpFoldResult index : *indices.elements) {
      std::optional<int64_t> at = Emitter::known(index);
      if (!at)
        break;
      if (*at < -count || *at >= count)
        return n.refuse("takes element " + Twine(*at) + " of " + Twine(count));
      elements.push_back((*value.elements)[*at < 0 ? *at + count : *at]);
    }
    if (elements.size() == indices.elements->size())
      return n.give(n.e.scalars(value.type, std::move(elements), indices.rank() == 0));
  }
  Dims dims(value.dims.begin(), value.dims.begin() + *axis);
  llvm::append_range(dims, indices.dims);
  dims.append(value.dims.begin() + *axis + 1, value.dims.end());
  mlir::Value tensor = n.e.tensorOf(value), places = n.e.tensorOf(indices), extent = n.e.indexOf(value.dims[*axis]);
  return n.give(n.e.generate(value.type, dims, [&](Scalars &s, ValueRange at) {
    mlir::Value index = s.toIndex(Emitter::load(s, places, at.slice(*axis, indices.rank())));
    SmallVector<mlir::Value> from(at.take_front(*axis));
    from.push_back(s.select(s.less(index, s.index(0)), s.add(index, extent), index));
    llvm::append_range(from, at.drop_front(*axis + indices.rank()));
    return Emitter::load(s, tensor, from);
  }));
}

LogicalResult lowerGatherElements(NodeLowering &n) {
  const Value &value = n.in(0), &indices = n.in(1);
  FailureOr<int64_t> axis = n.dimension(n.integer("axis", 0), value.rank());
  if (failed(axis) || indices.rank() != value.rank())
    return failure();
  mlir::Value tensor = n.e.tensorOf(value), places = n.e.tensorOf(indices), extent = n.e.indexOf(value.dims[*axis]);
  return n.give(n.e.generate(value.type, indices.dims, [&](Scalars &s, ValueRange at) {
    mlir::Value index = s.toIndex(Emitter::load(s, places, at));
    SmallVector<mlir::Value> from(at);
    from[*axis] = s.select(s.less(index, s.index(0)), s.add(index, extent), index);
    return Emitter::load(s, tensor, from);
  }));
}

LogicalResult lowerGatherND(NodeLowering &n) {
  const Value &value = n.in(0), &indices = n.in(1);
  const int64_t batch = n.integer("batch_dims", 0);
  std::optional<int64_t> depth = indices.rank() > 0 ? Emitter::known(indices.dims.back()) : std::nullopt;
  if (!depth || batch < 0 || batch >= indices.rank() || batch + *depth > value.rank())
    return n.refuse("has indices of an unknown or wrong number of dimensions");
  Dims dims(indices.dims.begin(), indices.dims.end() - 1);
  dims.append(value.dims.begin() + batch + *depth, value.dims.end());
  mlir::Value tensor = n.e.tensorOf(value), places = n.e.tensorOf(indices);
  SmallVector<mlir::Value> extents;
  for (int64_t i = 0; i < *depth; ++i)
    extents.push_back(n.e.indexOf(value.dims[batch + i]));
  return n.give(n.e.generate(value.type, dims, [&](Scalars &s, ValueRange at) {
    const int64_t outer = indices.rank() - 1;
    SmallVector<mlir::Value> from(at.take_front(batch)), place(at.take_front(outer));
    place.emplace_back();
    for (int64_t i = 0; i < *depth; ++i) {
      place.back() = s.index(i);
      mlir::Value index = s.toIndex(Emitter::load(s, places, place));
      from.push_back(s.select(s.less(index, s.index(0)), s.add(index, extents[i]), index));
    }
    llvm::append_range(from, at.drop_front(outer));
    return Emitter::load(s, tensor, from);
  }));
}

LogicalResult lowerExpand(NodeLowering &n) {
  FailureOr<Dims> dims = n.e.elementsOf(n.in(1));
  if (failed(dims))
    return failure();
  return n.give(n.e.expand(n.in(0), *dims));
}

LogicalResult lowerTile(NodeLowering &n) {
  const Value &value = n.in(0);
  FailureOr<Dims> repeats = n.e.elementsOf(n.in(1));
  if (failed(repeats) || static_cast<int64_t>(repeats->size()) != value.rank())
    return n.refuse("needs one number for each dimension");
  // As rows that repeat a dimension each: [r0, d0, r1, d1, ...].
  Dims withOnes, full, dims;
  for (auto [extent, count] : llvm::zip(value.dims, *repeats)) {
    withOnes.append({n.e.number(1), extent});
    full.append({count, extent});
    dims.push_back(n.e.mul(extent, count));
  }
  FailureOr<Value> spread = n.e.reshape(value, withOnes);
  if (succeeded(spread))
    spread = n.e.expand(*spread, full);
  if (failed(spread))
    return failure();
  return n.give(n.e.reshape(*spread, dims));
}

LogicalResult lowerPad(NodeLowering &n) {
  const Value &value = n.in(0);
  const std::string_view mode = n.text("mode", "constant");
  Dims pads;
  if (n.opset < 11) {
    for (int64_t number : n.integers("pads").value_or(ArrayRef<int64_t>()))
      pads.push_back(n.e.number(number));
  } else if (!n.has(1)) {
    return n.refuse("has no pads");
  } else {
    FailureOr<Dims> numbers = n.e.elementsOf(n.in(1));
    if (failed(numbers))
      return failure();
    pads = *numbers;
  }
  const int64_t rank = value.rank();
  Dims axes;
  for (int64_t dim = 0; dim < rank; ++dim)
    axes.push_back(n.e.number(dim));
  if (n.has(3)) {
    FailureOr<Dims> given = n.e.elementsOf(n.in(3));
    if (failed(given))
      return failure();
    axes = *given;
  }
  if (pads.size() != 2 * axes.size())
    return n.refuse("has " + Twine(pads.size()) + " amounts for " + Twine(axes.size()) + " dimensions");
  Dims low(rank, n.e.number(0)), high = low, dims = value.dims;
  for (auto [i, axis] : llvm::enumerate(axes))
    for (auto [dim, isMeant] : llvm::enumerate(n.e.flags({axis}, rank))) {
      low[dim] = n.e.chosen(arith::CmpIPredicate::eq, isMeant, n.e.number(1), pads[i], low[dim]);
      high[dim] = n.e.chosen(arith::CmpIPredicate::eq, isMeant, n.e.number(1), pads[axes.size() + i], high[dim]);
    }
  bool isNegative = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    dims[dim] = n.e.add(n.e.add(dims[dim], low[dim]), high[dim]);
    isNegative |= Emitter::known(low[dim]).value_or(-1) < 0 || Emitter::known(high[dim]).value_or(-1) < 0;
  }
  mlir::Value scalar;
  if (n.opset >= 11 && n.has(2)) {
    FailureOr<Value> one = n.e.reshape(n.in(2), {});
    if (failed(one))
      return failure();
    Scalars s(n.e.b, n.e.loc);
    scalar = Emitter::load(s, n.e.tensorOf(*one), {});
  } else {
    scalar = n.e.constantScalar(n.real("value", 0), value.type);
  }
  if (mode == "constant" && !isNegative)
    return n.give(n.e.pad(value, low, high, scalar));
  mlir::Value tensor = n.e.tensorOf(value);
  SmallVector<mlir::Value> starts, extents;
  for (auto [before, extent] : llvm::zip(low, value.dims)) {
    starts.push_back(n.e.indexOf(before));
    extents.push_back(n.e.indexOf(extent));
  }
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return n.refuse("has the mode '" + Twine(StringRef(mode)) + "'");
  return n.give(n.e.generate(value.type, dims, [&](Scalars &s, ValueRange at) {
    SmallVector<mlir::Value> from;
    mlir::Value isInside = s.constant(1, s.b.getI1Type());
    for (auto [index, start, extent] : llvm::zip(at, starts, extents)) {
      mlir::Value place = s.sub(index, start), last = s.sub(extent, s.index(1));
      if (mode == "constant") {
        isInside = s.make<arith::AndIOp>(isInside, s.lessOrEqual(s.index(0), place));
        isInside = s.make<arith::AndIOp>(isInside, s.less(place, extent));
      }
      if (mode == "constant" || mode == "edge") {
        place = s.max(s.index(0), s.min(place, last));
      } else if (mode == "wrap") {
        place = s.rem(place, extent, /*hasSignOfDivisor=*/true);
      } else {
        // To and fro, without the ends twice.
        mlir::Value period = s.max(s.index(1), s.mul(s.index(2), last));
        place = s.rem(place, period, /*hasSignOfDivisor=*/true);
        place = s.select(s.less(last, place), s.sub(period, place), place);
      }
      from.push_back(place);
    }
    mlir::Value element = Emitter::load(s, tensor, from);
    return mode == "constant" ? s.select(isInside, element, scalar) : element;
  }));
}

LogicalResult lowerDepthToSpace(NodeLowering &n) {
  const Value &value = n.in(0);
  const int64_t size = n.integer("blocksize", 1);
  if (value.rank() != 4 || size < 1)
    return n.refuse("needs four dimensions and a blocksize");
  const bool depthFirst = n.text("mode", "DCR") == "DCR";
  OpFoldResult block = n.e.number(size);
  OpFoldResult rest = n.e.compute(Emitter::Arithmetic::DivTowardsZero, value.dims[1], n.e.number(size * size));
  Dims apart = depthFirst ? Dims{value.dims[0], block, block, rest, value.dims[2], value.dims[3]}
                          : Dims{value.dims[0], rest, block, block, value.dims[2], value.dims[3]};
  FailureOr<Value> split = n.e.reshape(value, apart);
  if (failed(split))
    return failure();
  Value moved =
      n.e.transpose(*split, depthFirst ? ArrayRef<int64_t>{0, 3, 4, 1, 5, 2} : ArrayRef<int64_t>{0, 1, 4, 2, 5, 3});
  return n.give(
      n.e.reshape(moved, {value.dims[0], rest, n.e.mul(value.dims[2], block), n.e.mul(value.dims[3], block)}));
}

LogicalResult lowerSpaceToDepth(NodeLowering &n) {
  const Value &value = n.in(0);
  const int64_t size = n.integer("blocksize", 1);
  if (value.rank() != 4 || size < 1)
    return n.refuse("needs four dimensions and a blocksize");
  OpFoldResult block = n.e.number(size);
  auto part = [&](OpFoldResult extent) { return n.e.compute(Emitter::Arithmetic::DivTowardsZero, extent, block); };
  OpFoldResult rows = part(value.dims[2]), columns = part(value.dims[3]);
  FailureOr<Value> split = n.e.reshape(value, {value.dims[0], value.dims[1], rows, block, columns, block});
  if (failed(split))
    return failure();
  const bool depthFirst = n.text("mode", "DCR") == "DCR";
  Value moved =
      n.e.transpose(*split, depthFirst ? ArrayRef<int64_t>{0, 3, 5, 1, 2, 4} : ArrayRef<int64_t>{0, 1, 3, 5, 2, 4});
  return n.give(n.e.reshape(moved, {value.dims[0], n.e.mul(value.dims[1], n.e.number(size * size)), rows, columns}));
}

} // namespace

void registerMovement(Registry &registry) {
  registry["Concat"] = {lowerConcat};
  registry["DepthToSpace"] = {lowerDepthToSpace};
  registry["Expand"] = {lowerExpand, 2};
  registry["Flatten"] = {lowerFlatten};
  registry["Gather"] = {lowerGather, 2};
  registry["GatherElements"] = {lowerGatherElements, 2};
  registry["GatherND"] = {lowerGatherND, 2};
  registry["Pad"] = {lowerPad};
  registry["Reshape"] = {lowerReshape};
  registry["Slice"] = {lowerSlice};
  registry["SpaceToDepth"] = {lowerSpaceToDepth};
  registry["Split"] = {lowerSplit};
  registry["Squeeze"] = {lowerSqueeze};
  registry["Tile"] = {lowerTile, 2};
  registry["Transpose"] = {lowerTranspose};
  registry["Unsqueeze"] = {lowerUnsqueeze};
}

} // namespace kiln::onnx
