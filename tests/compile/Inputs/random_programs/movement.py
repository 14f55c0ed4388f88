"""What moves data."""

import numpy as np

from bodies import Body
from program import Affine, Dim, Value, is_permutation, loops, tensor_type, to_type


class Movement:
    """Each method makes one op, or gives None where it cannot."""

    def transpose(self):
        a = self.pick(low=2, high=6)
        order = [int(i) for i in self.rng.permutation(a.rank)]
        dims = [a.dims[i] for i in order]
        empty, type_ = self.f.empty(dims, a.dtype), tensor_type(dims, a.dtype)
        return self.f.define(f"linalg.transpose ins({a.name} : {a.type}) outs({empty} : {type_}) permutation = {order}",
                             dims, a.dtype, lambda env: np.transpose(env[a.name], order), a.exact)

    def broadcast(self):
        a = self.pick(low=0, high=3)
        place = int(self.rng.integers(a.rank + 1))
        dims = a.dims[:place] + [self.choice(self.dims)] + a.dims[place:]
        if np.prod([d.size for d in dims]) > 30000:
            return None
        empty, type_ = self.f.empty(dims, a.dtype), tensor_type(dims, a.dtype)
        shape = [d.size for d in dims]
        return self.f.define(f"linalg.broadcast ins({a.name} : {a.type}) outs({empty} : {type_}) "
                             f"dimensions = [{place}]",
                             dims, a.dtype, lambda env: np.broadcast_to(np.expand_dims(env[a.name], place), shape),
                             a.exact)

    def extract_slice(self):
        a = self.pick(low=1, high=4)
        if 0 in a.shape:
            return None
        offsets, sizes, strides, slices, dims, types = [], [], [], [], [], []
        drop = [self.chance(0.15) for _ in a.dims]
        for dim, dropped in zip(a.dims, drop):
            stride = 1 if self.chance(0.7) else int(self.rng.integers(2, 4))
            if dim.size == 0:
                dropped = False
            offset = int(self.rng.integers(0, max(1, dim.size)))
            most = max(0, (dim.size - offset + stride - 1) // stride)
            size = 1 if dropped else int(self.rng.integers(min(1, most), most + 1))
            slices.append(slice(offset, offset + (size - 1) * stride + 1 if size else offset, stride))
            offsets.append(self.maybe_dynamic(offset)), strides.append(str(stride))
            if dropped:
                sizes.append("1")
                slices[-1] = offset
                continue
            extent = Dim(size)
            if self.chance(0.2):
                extent = Dim(size, self.maybe_dynamic(size, 1))
            sizes.append(extent.value or str(size))
            dims.append(extent)
        return self.f.define(f"tensor.extract_slice {a.name}[{', '.join(offsets)}] [{', '.join(sizes)}] "
                             f"[{', '.join(strides)}] : {a.type} to {tensor_type(dims, a.dtype)}", dims, a.dtype,
                             lambda env: env[a.name][tuple(slices)], a.exact)

    def insert_slice(self):
        a = self.pick(low=1, high=4)
        dims, offsets, strides, slices = [], [], [], []
        for dim in a.dims:
            stride = 1 if self.chance(0.75) else 2
            offset = int(self.rng.integers(0, 4))
            size = offset + max(0, (dim.size - 1)) * stride + 1 + int(self.rng.integers(0, 3))
            dims.append(self.computed(size, dim, f"d0 * {stride} + {size - dim.size * stride}"))
            offsets.append(self.maybe_dynamic(offset)), strides.append(str(stride))
            slices.append(slice(offset, offset + max(0, dim.size - 1) * stride + 1 if dim.size else offset, stride))
        if np.prod([d.size for d in dims]) > 30000:
            return None
        into = self.of(dims, a.dtype)
        sizes = [d.value or str(d.size) for d in a.dims]

        def compute(env):
            array = env[into.name].copy()
            array[tuple(slices)] = env[a.name]
            return array
        return self.f.define(f"tensor.insert_slice {a.name} into {into.name}[{', '.join(offsets)}] "
                             f"[{', '.join(sizes)}] [{', '.join(strides)}] : {a.type} into {into.type}", into.dims,
                             a.dtype, compute, a.exact and into.exact)

    def scatter(self):
        """Stores to some elements of a tensor, each loop at an offset and with a stride, on a diagonal, in one row."""
        a = self.tamed(self.pick(low=1, high=3))
        if any(dim.size == 0 and not dim.value for dim in a.dims):
            return None  # MLIR's verifier asks for places of the step before the first one.
        dims, affine = [], []
        for loop, dim in enumerate(a.dims):
            stride = 1 if self.chance(0.6) else 2
            offset = 0 if self.chance(0.6) else int(self.rng.integers(1, 4))
            size = offset + max(0, dim.size - 1) * stride + 1 + int(self.rng.integers(0, 3))
            place = (dim, Affine({loop: 1})) if stride == 1 and offset == 0 else (
                self.computed(size, dim, f"d0 * {stride} + {size - dim.size * stride}"), Affine({loop: stride}, offset))
            for extent, at in [place] * (2 if self.chance(0.2) else 1):
                dims.append(extent), affine.append(at)
        if self.chance(0.4):
            size, at = int(self.rng.integers(1, 4)), int(self.rng.integers(len(dims) + 1))
            dims.insert(at, Dim(size)), affine.insert(at, Affine({}, int(self.rng.integers(size))))
        if is_permutation(affine, a.rank) or np.prod([d.size for d in dims]) > 30000:
            return None
        into = self.tamed(self.start(dims, a.dtype))
        body, names, before = Body(self.f), [self.f.new()], self.f.new()
        args = [(names[0], a.dtype, a.exact)] + ([(before, into.dtype, into.exact)] if self.chance(0.3) else [])
        name, dtype, exact = body.random(args, a.dtype, int(self.rng.integers(0, 3)))
        return self.generic([(a, loops(*range(a.rank)))], ["parallel"] * a.rank, [(into.dims, a.dtype, affine)],
                            a.shape, body, names, [(name, dtype, exact and into.exact)], [into], [before])[0]

    def pad(self):
        a = self.pick(low=1, high=4)
        amounts = [(int(self.rng.integers(0, 3)), int(self.rng.integers(0, 3))) for _ in a.dims]
        low, high = ([self.maybe_dynamic(amount[i], 0.1) for amount in amounts] for i in (0, 1))
        dims = []
        for dim, (first, last), x, y in zip(a.dims, amounts, low, high):
            extent = self.computed(dim.size + first + last, dim, f"d0 + {first + last}")
            if not extent.value and ("%" in x or "%" in y):
                extent = Dim(extent.size, self.f.constant(extent.size))
            dims.append(extent)
        number = to_type(a.dtype, 0 if self.chance(0.6) else 1)[()]
        constant = self.f.constant(number, a.dtype)
        value = Value(self.f.new(), dims, a.dtype)
        index = ", ".join(f"{self.f.new()}: index" for _ in dims)
        return self.f.define(f"tensor.pad {a.name} low[{', '.join(low)}] high[{', '.join(high)}] {{\n{self.f.indent}"
                             f"^bb0({index}):\n{self.f.indent}  tensor.yield {constant} : {a.dtype}\n{self.f.indent}}} "
                             f": {a.type} to {value.type}", dims, a.dtype,
                             lambda env: np.pad(env[a.name], amounts, constant_values=number), a.exact)

    def concat(self):
        a = self.pick(low=1, high=4)
        axis = int(self.rng.integers(a.rank))
        others = [self.of(a.dims[:axis] + [self.choice(self.dims)] + a.dims[axis + 1:], a.dtype)
                  for _ in range(self.rng.integers(1, 3))]
        parts = [a] + others
        self.rng.shuffle(parts)
        size = sum(p.dims[axis].size for p in parts)
        if np.prod(a.shape) // max(1, a.dims[axis].size) * size > 30000:
            return None
        dims = []
        for i in range(a.rank):
            dynamic = [p.dims[i].value for p in parts if p.dims[i].value]
            if i == axis:
                dims.append(Dim(size, self.f.constant(size) if dynamic else None))
            else:
                static = [p for p in parts if not p.dims[i].value]
                dims.append(Dim(a.dims[i].size, None if static else dynamic[0]))
        return self.f.define(f"tensor.concat dim({axis}) {', '.join(p.name for p in parts)} : "
                             f"({', '.join(p.type for p in parts)}) -> {tensor_type(dims, a.dtype)}", dims, a.dtype,
                             lambda env: np.concatenate([env[p.name] for p in parts], axis=axis),
                             all(p.exact for p in parts))

    def reshape(self):
        a = self.pick(low=1, high=6)
        if self.chance(0.5) and a.rank > 1:
            cut = int(self.rng.integers(0, a.rank - 1))
            width = int(self.rng.integers(2, a.rank - cut + 1))
            merged = a.dims[cut:cut + width]
            size = int(np.prod([d.size for d in merged]))
            extent = Dim(size, self.f.constant(size) if any(d.value for d in merged) else None)
            dims = a.dims[:cut] + [extent] + a.dims[cut + width:]
            groups = [[i] for i in range(cut)] + [list(range(cut, cut + width))] + [
                [i] for i in range(cut + width, a.rank)]
            return self.f.define(f"tensor.collapse_shape {a.name} {groups} : {a.type} into "
                                 f"{tensor_type(dims, a.dtype)}",
                                 dims, a.dtype, lambda env: env[a.name].reshape([d.size for d in dims]), a.exact)
        if a.rank > 5:
            return None
        place = int(self.rng.integers(a.rank))
        dim = a.dims[place]
        factors = [k for k in range(1, dim.size + 1) if dim.size % k == 0] or [1]
        factor = self.choice(factors)
        parts = [Dim(dim.size // factor, dim.value and (dim.value if factor == 1 else self.f.scalar(
            f"affine.apply affine_map<(d0) -> (d0 floordiv {factor})>({dim.value})", "index",
            lambda env: dim.size // factor))), Dim(factor)]
        if self.chance(0.4):
            parts.reverse()
        dims = a.dims[:place] + parts + a.dims[place + 1:]
        groups = [[i] for i in range(place)] + [[place, place + 1]] + [[i + 1] for i in range(place + 1, a.rank)]
        sizes = ", ".join(d.value or str(d.size) for d in dims)
        return self.f.define(f"tensor.expand_shape {a.name} {groups} output_shape [{sizes}] : {a.type} into "
                             f"{tensor_type(dims, a.dtype)}", dims, a.dtype,
                             lambda env: env[a.name].reshape([d.size for d in dims]), a.exact)

    def pack(self):
        """Tiles, padded with any number, or with nothing where tiles are full; and often what undoes it."""
        a = self.pick(low=2, high=3, only=lambda v: 0 not in v.shape)
        positions = [int(i) for i in self.rng.permutation(a.rank)[:self.rng.integers(1, a.rank + 1)]]
        tiles = [int(self.rng.integers(1, 6)) for _ in positions]
        outer = [int(i) for i in self.rng.permutation(a.rank)] if self.chance(0.4) else list(range(a.rank))
        grid = list(a.dims)
        for position, tile in zip(positions, tiles):
            grid[position] = self.computed(-(-a.shape[position] // tile), a.dims[position], f"d0 ceildiv {tile}")
        padded = [grid[i].size * dict(zip(positions, tiles)).get(i, 1) for i in range(a.rank)]
        dims = [grid[i] for i in outer] + [Dim(tile) for tile in tiles]
        number = to_type(a.dtype, self.rng.integers(0, 2) if self.chance(0.5) else 0)
        padding = f"padding_value({self.f.constant(number, a.dtype)} : {a.dtype}) "
        if padded == list(a.shape) and self.chance(0.4):
            padding = ""
        empty, type_ = self.f.empty(dims, a.dtype), tensor_type(dims, a.dtype)
        form = (f"outer_dims_perm = {outer} " if outer != list(range(a.rank)) or self.chance(0.3) else "") + \
            f"inner_dims_pos = {positions} inner_tiles = {tiles}"

        def compute(env):
            array = np.pad(env[a.name], [(0, p - s) for p, s in zip(padded, a.shape)], constant_values=number)
            split, places = [], {}
            axis = 0
            for i in range(a.rank):
                split.append(grid[i].size)
                places[("outer", i)] = axis
                axis += 1
                if i in positions:
                    split.append(tiles[positions.index(i)])
                    places[("inner", i)] = axis
                    axis += 1
            order = [places[("outer", i)] for i in outer] + [places[("inner", i)] for i in positions]
            return array.reshape(split).transpose(order)
        packed = self.f.define(f"linalg.pack {a.name} {padding}{form} into {empty} : {a.type} "
                               f"-> {type_}", dims, a.dtype, compute, a.exact)
        if self.chance(0.4):
            return packed
        # What is unpacked may end anywhere in the last tile, in the padding too.
        ends = list(a.dims)
        for position, tile in zip(positions, tiles):
            if not a.dims[position].value and self.chance(0.3):
                ends[position] = Dim(padded[position] - int(self.rng.integers(tile)))
        back, source = self.f.empty(ends, a.dtype), packed
        if self.chance(0.5):
            source = self.same_shape(packed)
        inverse_type = tensor_type(ends, a.dtype)

        def unpack(env):
            array = env[source.name]
            inner = {p: a.rank + i for i, p in enumerate(positions)}
            order = []
            for i in range(a.rank):
                order.append(outer.index(i))
                if i in inner:
                    order.append(inner[i])
            return array.transpose(order).reshape(padded)[tuple(slice(0, d.size) for d in ends)]
        return self.f.define(f"linalg.unpack {source.name} {form} into {back} : {source.type} -> {inverse_type}",
                             ends, a.dtype, unpack, source.exact)

    def reverse(self):
        a = self.pick(low=1, high=3)
        axis = int(self.rng.integers(a.rank))
        if 0 in a.shape:
            return None
        body = Body(self.f)
        places = []
        for i, dim in enumerate(a.dims):
            index = body.index(i)
            if i == axis:
                if dim.value:
                    one = self.f.constant(1)
                    last = (self.f.new(), "index", True)
                    self.f.line(f"{last[0]} = arith.subi {dim.value}, {one} : index")
                    self.f.step(lambda env, n=last[0], s=dim.size: env.__setitem__(n, np.int64(s - 1)))
                else:
                    last = body.constant(dim.size - 1, "index")
                index = body.op("arith.subi {}, {} : index", [last, index], "index", np.subtract)
            places.append(index)
        name = self.f.new()
        body.lines.append(f"{name} = tensor.extract {a.name}[{', '.join(p[0] for p in places)}] : {a.type}")
        body.steps.append((name, [a.name] + [p[0] for p in places], a.dtype, lambda array, *i: array[tuple(i)]))
        y = (name, a.dtype, a.exact)
        if self.chance(0.5):
            y = body.random([y], a.dtype, 1)
        return self.generic([], ["parallel"] * a.rank, [(a.dims, a.dtype, loops(*range(a.rank)))], a.shape, body, [],
                            [y])[0]

    def cast(self):
        """Forgets or learns an extent."""
        a = self.pick(low=1, high=4)
        place = int(self.rng.integers(a.rank))
        dims = list(a.dims)
        dims[place] = Dim(dims[place].size, None if dims[place].value else self.f.constant(dims[place].size))
        return self.f.define(f"tensor.cast {a.name} : {a.type} to {tensor_type(dims, a.dtype)}", dims, a.dtype,
                             lambda env: env[a.name], a.exact)

    def generate(self):
        """Each element from its place, and from an element of another tensor."""
        f = self.f
        a = self.pick(low=1, high=3, only=lambda v: 0 not in v.shape)
        dims = self.shape(1, 3)
        shape = [d.size for d in dims]
        indices = [f.new() for _ in dims]
        lines, places = [], []
        for d, size in enumerate(a.shape):
            index, limit, place = indices[d % len(indices)], f.new(), f.new()
            lines += [f"{limit} = arith.constant {size} : index", f"{place} = arith.remui {index}, {limit} : index"]
            places.append(place)
        element = f.new()
        lines.append(f"{element} = tensor.extract {a.name}[{', '.join(places)}] : {a.type}")
        lines.append(f"tensor.yield {element} : {a.dtype}")
        extents = ", ".join(d.value for d in dims if d.value)
        body = "".join(f"\n{f.indent}  {line}" for line in lines)

        def compute(env):
            grids = np.indices(shape, sparse=True)
            return np.broadcast_to(env[a.name][tuple(grids[d % len(dims)] % s for d, s in enumerate(a.shape))], shape)
        return f.define(f"tensor.generate {extents} {{\n{f.indent}^bb0({', '.join(f'{i}: index' for i in indices)}):"
                        f"{body}\n{f.indent}}} : {tensor_type(dims, a.dtype)}", dims, a.dtype, compute, a.exact)
