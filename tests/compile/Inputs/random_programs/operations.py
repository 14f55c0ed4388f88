"""Operations of graphs, each in several spellings."""

import numpy as np

from bodies import Body, erf
from builder import Builder
from program import Affine, Dim, is_float, loops, tensor_type, to_type


class Operations(Builder):
    """What layers are made of. Nothing that is chosen depends on data, or on an extent that only a call knows."""

    def drawn(self, dims, dtype, scale=1.0, generator=None):
        shape, generator = [dim.size for dim in dims], generator or self.data
        return to_type(dtype, generator.standard_normal(shape) * scale if is_float(dtype) else generator.integers(-100, 101, shape))

    def weight(self, dims, dtype, scale=1.0, shift=0.0):
        """A constant, a global, a parameter or an argument."""
        same = [v for v in self.shared if v.dtype == dtype and list(map(repr, v.dims)) == list(map(repr, dims))]
        if same and not shift and self.chance(0.15):
            return self.choice(same)
        array = self.drawn(dims, dtype, scale, self.rng)
        array = to_type(dtype, array + to_type(dtype, shift)) if shift else array
        kind = str(self.rng.choice(["constant", "global", "parameter", "argument"]))
        if kind == "argument" and len(self.f.args) > 20:
            kind = "constant"
        self.shared.append(self.f.weight(dims, dtype, array, kind))
        return self.shared[-1]

    def extent(self, expression, *dims):
        """An extent that follows from others, which are s0, s1 and so on."""
        size = eval(expression.replace("floordiv", "//"), {f"s{i}": dim.size for i, dim in enumerate(dims)})
        known = [dim for dim in dims if dim.value]
        if not known:
            return Dim(size)
        for i, dim in enumerate(dims):
            expression = expression.replace(f"s{i}", f"x{known.index(dim)}" if dim.value else str(dim.size))
        symbols = ", ".join(f"s{i}" for i in range(len(known)))
        return Dim(size, self.f.scalar(f"affine.apply affine_map<()[{symbols}] -> ({expression.replace('x', 's')})>()"
                                       f"[{', '.join(dim.value for dim in known)}]", "index", lambda env: size))

    def map(self, a, make, others=(), dtype=None):
        """Elementwise work on a tensor and others, each with the axes of the first that it has."""
        inputs = [(a, loops(*range(a.rank)))]
        for value, axes in others:
            axes = list(axes)
            if len(axes) < a.rank and axes and self.chance(0.15):  # of the same rank, with extents of 1
                value, at = self.with_units(value, axes, a.rank), [Affine({i: 1} if i in axes else {}) for i in range(a.rank)]
                inputs.append((value, at))
                continue
            if len(axes) < a.rank and axes == sorted(axes) and self.chance(0.15):
                value, axes = self.broadcast_to(value, axes, a.dims), range(a.rank)
            inputs.append((value, loops(*axes)))
        return self.combine(inputs, a.dims, dtype or a.dtype, make)

    def with_units(self, a, axes, rank):
        """A tensor of that rank with the extents of another on some axes, in order, and 1 on the others."""
        if axes != sorted(axes):
            a, axes = self.permuted(a, np.argsort(axes)), sorted(axes)
        dims = [Dim(1)] * rank
        for axis, dim in zip(axes, a.dims):
            dims[axis] = dim
        ends = [axis + 1 for axis in axes[:-1]] + [rank]
        groups = [list(range(start, end)) for start, end in zip([0] + ends, ends)]
        return self.reshaped(a, dims, groups, "expand")

    def total(self, a, axes, kind, start, square=False):
        """A reduction along axes, of linalg.generic or linalg.reduce."""
        if square or self.chance(0.75):
            return self.fold(a, axes, kind, start, square)
        dims = [dim for i, dim in enumerate(a.dims) if i not in axes]
        init, type_, ufunc = self.f.fill(dims, a.dtype, start), tensor_type(dims, a.dtype), np.add if kind == "addf" else np.maximum
        return self.f.define(f"linalg.reduce {{ arith.{kind} }} ins({a.name} : {a.type}) outs({init.name} : {type_}) "
                             f"dimensions = {list(axes)}", dims, a.dtype, lambda env: ufunc.reduce(
                                 env[a.name].astype(np.float64), axis=tuple(axes)), False, kind == "addf")

    def broadcast_to(self, a, axes, dims):
        empty, type_ = self.f.empty(dims, a.dtype), tensor_type(dims, a.dtype)
        missing = [axis for axis in range(len(dims)) if axis not in axes]
        return self.f.define(f"linalg.broadcast ins({a.name} : {a.type}) outs({empty} : {type_}) dimensions = {missing}",
                             dims, a.dtype, lambda env: np.broadcast_to(np.expand_dims(env[a.name], missing),
                                                                        [dim.size for dim in dims]), a.exact)

    def as_type(self, a, dtype):
        return a if a.dtype == dtype else self.map(a, lambda body, x: body.cast(x, dtype), dtype=dtype)

    def scaled(self, a, factor):
        return self.map(a, lambda body, x: times(body, x, body.constant(factor, a.dtype)))

    def plus(self, a, b, axes=None):
        return self.map(a, lambda body, x, y: binary(body, "addf", x, y), [(b, axes or range(a.rank))])

    def mean(self, a, axes, square=False):
        """Sums, divided by how many there are, which a call may be the first to know."""
        total = self.total(a, axes, "addf", 0, square)
        dims = [a.dims[axis] for axis in axes]
        known = [dim.value for dim in dims if dim.value]
        if not known:
            return self.scaled(total, 1 / np.prod([dim.size for dim in dims]))
        name, size = self.extent(" * ".join(f"s{i}" for i in range(len(dims))), *dims).value, np.prod([d.size for d in dims])
        number = self.f.scalar(f"arith.index_cast {name} : index to i32", "i32", lambda env: size)
        count = self.f.scalar(f"arith.sitofp {number} : i32 to {a.dtype}", a.dtype, lambda env: size)
        return self.map(total, lambda body, x: binary(body, "divf", x, (count, a.dtype, True)))

    def contracted(self, spec, a, b, narrow=None):
        """A sum of products, as in numpy.einsum; of narrow floats in f32 or in their own type."""
        first, second, out = spec.replace("->", ",").split(",")
        dims = dict(zip(second, b.dims)) | dict(zip(first, a.dims))
        kept = [dims[letter] for letter in out]
        dtype = "i32" if a.dtype == "i8" else a.dtype
        if a.dtype in ("f16", "bf16") and self.chance(0.7):
            dtype = "f32"
        init, empty = self.f.fill(kept, dtype, 0), tensor_type(kept, dtype)
        named = {"mk,kn->mn": "matmul", "bmk,bkn->bmn": "batch_matmul", "mk,k->m": "matvec", "mk,nk->mn": "matmul ",
                 "bmk,bnk->bmn": "batch_matmul ", "k,kn->n": "vecmat"}.get(spec)
        order = list(out) + [letter for letter in dims if letter not in out]
        if self.chance(0.2):
            self.rng.shuffle(order)
        maps = ", ".join(f"affine_map<({', '.join(order)}) -> ({', '.join(part)})>" for part in (first, second, out))
        text = f"ins({a.name}, {b.name} : {a.type}, {b.type}) outs({init.name} : {empty})"
        if named and self.chance(0.7):
            text = f"linalg.{named}" + (f"indexing_maps = [{maps}] " if named.endswith(" ") else " ") + text + f" -> {empty}"
            if named.endswith(" ") and order != list(out) + [letter for letter in dims if letter not in out]:
                order = None
        else:
            order_kinds = ", ".join('"parallel"' if letter in out else '"reduction"' for letter in order)
            text = (f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{order_kinds}]}} {text} "
                    f"{self.multiply_add(a.dtype, dtype)} -> {empty}")
        if order is None:
            return self.contracted(spec, a, b)

        def compute(env):
            kind = np.float64 if is_float(dtype) else np.int64
            return np.einsum(spec, env[a.name].astype(kind), env[b.name].astype(kind))
        exact = not is_float(dtype) and a.exact and b.exact
        return self.as_type(self.f.define(text, kept, dtype, compute, exact, True), a.dtype if is_float(dtype) else dtype)

    def multiply_add(self, source, dtype):
        """The body of a sum of products."""
        kind, x, y, acc, t, s = "f" if is_float(dtype) else "i", *(self.f.new() for _ in range(5))
        lines, p, q = [], x, y
        if source != dtype:
            p, q = self.f.new(), self.f.new()
            lines = [f"{to} = arith.ext{'f' if kind == 'f' else 'si'} {of} : {source} to {dtype}" for to, of in ((p, x), (q, y))]
        lines += [f"{t} = arith.mul{kind} {p}, {q} : {dtype}", f"{s} = arith.add{kind} {acc}, {t} : {dtype}",
                  f"linalg.yield {s} : {dtype}"]
        return "{\n" + "\n".join([f"  ^bb0({x}: {source}, {y}: {source}, {acc}: {dtype}):"] + ["    " + l for l in lines]) + "\n  }"

    def permuted(self, a, order):
        order = [int(i) for i in order]
        if order == list(range(a.rank)):
            return a
        dims = [a.dims[i] for i in order]
        if self.chance(0.3):
            return self.generic([(a, loops(*order_of(order)))], ["parallel"] * a.rank, [(dims, a.dtype, loops(*range(a.rank)))],
                                [dim.size for dim in dims], Body(self.f), ["%in"], [("%in", a.dtype, a.exact)])[0]
        empty, type_ = self.f.empty(dims, a.dtype), tensor_type(dims, a.dtype)
        return self.f.define(f"linalg.transpose ins({a.name} : {a.type}) outs({empty} : {type_}) permutation = {order}",
                             dims, a.dtype, lambda env: np.transpose(env[a.name], order), a.exact)

    def reshaped(self, a, dims, groups, kind):
        type_ = tensor_type(dims, a.dtype)
        shape = f"output_shape [{', '.join(d.value or str(d.size) for d in dims)}] " if kind == "expand" else ""
        return self.f.define(f"tensor.{kind}_shape {a.name} {groups} {shape}: {a.type} into {type_}", dims, a.dtype,
                             lambda env: env[a.name].reshape([dim.size for dim in dims]), a.exact)

    def split(self, a, axis, parts):
        dims = a.dims[:axis] + list(parts) + a.dims[axis + 1:]
        return self.reshaped(a, dims, groups_of(len(dims), axis, len(parts)), "expand")

    def merged(self, a, axis, count=2):
        whole = self.extent(" * ".join(f"s{i}" for i in range(count)), *a.dims[axis:axis + count])
        dims = a.dims[:axis] + [whole] + a.dims[axis + count:]
        return self.reshaped(a, dims, groups_of(a.rank, axis, count), "collapse")

    def sliced(self, a, axis, start, dim, step=1):
        """Some of an axis."""
        dims = a.dims[:axis] + [dim] + a.dims[axis + 1:]
        at, sizes, steps = (listed(a.dims, axis, text, other) for text, other in
                            ((str(start), "0"), (extent_text(dim), None), (str(step), "1")))
        cut = (slice(None),) * axis + (slice(start, start + (dim.size - 1) * step + 1, step),)
        return self.f.define(f"tensor.extract_slice {a.name}[{at}] [{sizes}] [{steps}] : {a.type} to "
                             f"{tensor_type(dims, a.dtype)}", dims, a.dtype, lambda env: env[a.name][cut], a.exact)

    def inserted(self, a, into, axis, start):
        """A tensor in the place of some of another, from an index on."""
        at, sizes = listed(a.dims, axis, start, "0"), ", ".join(map(extent_text, a.dims))

        def compute(env):
            array, first = env[into.name].copy(), int(env[start])
            array[(slice(None),) * axis + (slice(first, first + a.shape[axis]),)] = env[a.name]
            return array
        return self.f.define(f"tensor.insert_slice {a.name} into {into.name}[{at}] [{sizes}] [{', '.join('1' for _ in a.dims)}] : "
                             f"{a.type} into {into.type}", into.dims, a.dtype, compute, a.exact and into.exact)

    def concatenated(self, parts, axis):
        dims = list(parts[0].dims)
        dims[axis] = self.extent(" + ".join(f"s{i}" for i in range(len(parts))), *(part.dims[axis] for part in parts))
        return self.f.define(f"tensor.concat dim({axis}) {', '.join(part.name for part in parts)} : "
                             f"({', '.join(part.type for part in parts)}) -> {tensor_type(dims, parts[0].dtype)}", dims,
                             parts[0].dtype, lambda env: np.concatenate([env[part.name] for part in parts], axis),
                             all(part.exact for part in parts))

    def padded(self, a, amounts, number=0.0):
        """amounts: for each axis how much before and behind."""
        dims = [self.extent(f"s0 + {sum(amount)}", dim) if sum(amount) else dim for dim, amount in zip(a.dims, amounts)]
        low, high = ([amount[i] for amount in amounts] for i in (0, 1))
        constant, type_ = self.f.constant(number, a.dtype), tensor_type(dims, a.dtype)
        indices = ", ".join(f"{self.f.new()}: index" for _ in dims)
        return self.f.define(f"tensor.pad {a.name} low{low} high{high} {{\n  ^bb0({indices}):\n    tensor.yield {constant} : "
                             f"{a.dtype}\n  }} : {a.type} to {type_}", dims, a.dtype,
                             lambda env: np.pad(env[a.name], amounts, constant_values=number), a.exact)

    def projected(self, x, n, with_bias=0.6):
        """A product of the last axis with a matrix, which may be transposed."""
        k, transposed = x.dims[-1], self.chance(0.4)
        w = self.weight([n, k] if transposed else [k, n], x.dtype, k.size ** -0.5)
        how, second = int(self.rng.integers(4)), "nk" if transposed else "kn"
        if how == 0:
            y = self.contracted(f"bmk,{second}->bmn", x, w)
        elif how == 1:  # the same matrix for each of a batch
            y = self.contracted(f"bmk,b{second}->bmn", x, self.broadcast_to(w, [1, 2], [x.dims[0], *w.dims]))
        elif how == 2 and transposed:
            w = self.permuted(w, [1, 0])
            y = self.contracted("bmk,kn->bmn", x, w)
        else:
            y = self.split(self.contracted(f"mk,{second}->mn", self.merged(x, 0), w), 0, x.dims[:2])
        return self.plus(y, self.weight([n], x.dtype, 0.3), [2]) if self.chance(with_bias) else y

    def activated(self, x):
        kind, dtype = str(self.rng.choice(["relu", "gelu", "silu", "tanh", "clip", "leaky", "gelu_tanh"])), x.dtype

        def make(body, v):
            c = lambda number: body.constant(number, dtype)
            if kind == "relu":
                return binary(body, "maximumf", v, c(0))
            if kind == "clip":
                return binary(body, "minimumf", binary(body, "maximumf", v, c(-1)), c(2))
            if kind == "leaky":
                return binary(body, "maximumf", v, times(body, v, c(0.125)))
            if kind == "tanh":
                return unary(body, "tanh", v)
            if kind == "silu":
                e = unary(body, "exp", body.op(f"arith.negf {{}} : {dtype}", [v], dtype, np.negative))
                return binary(body, "divf", v, binary(body, "addf", e, c(1)))
            inner = unary(body, "erf", times(body, v, c(0.7071))) if kind == "gelu" else unary(body, "tanh", times(
                body, c(0.797), binary(body, "addf", v, times(body, c(0.0447), times(body, v, times(body, v, v))))))
            return times(body, times(body, v, c(0.5)), binary(body, "addf", inner, c(1)))
        return self.map(x, make)

    def normalized(self, x, axes, gain_axes, rms=False):
        """Norms in several spellings; of narrow floats often in f32."""
        dtype = x.dtype
        a = self.as_type(x, "f32") if dtype in ("f16", "bf16") and self.chance(0.7) else x
        kept = [axis for axis in range(a.rank) if axis not in axes]
        center = None
        if not rms:
            center = self.mean(a, axes)
        if rms or self.chance(0.3) and a.dtype in ("f32", "f64"):  # the mean of squares, less the mean's square
            square = self.mean(a, axes, True)
            spread = square if rms else self.map(square, lambda body, q, m: binary(body, "subf", q, times(body, m, m)),
                                                 [(center, range(len(kept)))])
        else:
            a = self.map(a, lambda body, v, m: binary(body, "subf", v, m), [(center, kept)])
            spread, center = self.mean(a, axes, True), None

        def inverse(body, v):
            v = binary(body, "addf", v, body.constant(0.01, a.dtype))
            if root:
                return binary(body, "divf", body.constant(1, a.dtype), unary(body, "sqrt", v))
            return unary(body, "rsqrt", v)
        root, apart = self.chance(0.3), self.chance(0.5)
        scale = self.map(spread, inverse) if apart else spread

        def finish(body, v, s, m=None):
            v = binary(body, "subf", v, m) if m else v
            return times(body, v, s if apart else inverse(body, s))
        y = self.map(a, finish, [(scale, kept)] + ([(center, kept)] if center else []))
        y = self.as_type(y, dtype)
        if self.chance(0.8):
            y = self.map(y, times, [(self.weight([x.dims[axis] for axis in gain_axes], dtype, 0.3, 1), gain_axes)])
        return self.plus(y, self.weight([x.dims[axis] for axis in gain_axes], dtype, 0.3), gain_axes) if self.chance(0.5) else y

    def soft(self, x, axis):
        """A softmax."""
        dtype = x.dtype
        if self.chance(0.3):
            empty = self.f.empty(x.dims, dtype)

            def compute(env):
                array = env[x.name].astype(np.float64)
                e = np.exp(array - array.max(axis=axis, keepdims=True))
                return e / e.sum(axis=axis, keepdims=True)
            return self.f.define(f"linalg.softmax dimension({axis}) ins({x.name} : {x.type}) outs({empty} : {x.type}) -> "
                                 f"{x.type}", x.dims, dtype, compute, False)
        a = self.as_type(x, "f32") if dtype in ("f16", "bf16") and self.chance(0.7) else x
        kept = [i for i in range(a.rank) if i != axis]
        highest = self.total(a, [axis], "maximumf", -60000)
        e = self.map(a, lambda body, v, m: self.exponential(body, v, m, a.dtype), [(highest, kept)])
        total = self.total(e, [axis], "addf", 0)
        if self.chance(0.3):
            total = self.map(total, lambda body, v: binary(body, "divf", body.constant(1, a.dtype), v))
            y = self.map(e, times, [(total, kept)])
        else:
            y = self.map(e, lambda body, v, s: binary(body, "divf", v, s), [(total, kept)])
        return self.as_type(y, dtype)


def extent_text(dim):
    return dim.value or str(dim.size)


def listed(dims, axis, text, other):
    """A text for one axis, and for the others another, or their extents."""
    return ", ".join(text if i == axis else other or extent_text(dim) for i, dim in enumerate(dims))


def same_extent(a, b):
    return a.value == b.value and (a.value or a.size == b.size)


def same_dims(a, b):
    return a.rank == b.rank and a.dtype == b.dtype and all(map(same_extent, a.dims, b.dims))


def order_of(order):
    """The inverse of a permutation."""
    return [order.index(i) for i in range(len(order))]


def groups_of(rank, axis, count):
    return [[i] for i in range(axis)] + [list(range(axis, axis + count))] + [[i] for i in range(axis + count, rank)]


def binary(body, name, x, y, exact=None):
    compute = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide, "maximumf": np.maximum,
               "minimumf": np.minimum}[name]
    return body.op(f"arith.{name} {{}}, {{}} : {x[1]}", [x, y], x[1], compute, exact)


def times(body, x, y):
    return binary(body, "mulf", x, y)


def unary(body, name, x):
    compute = {"exp": np.exp, "tanh": np.tanh, "erf": erf, "log": np.log, "sqrt": np.sqrt, "rsqrt": lambda a: 1 / np.sqrt(a),
               "roundeven": np.rint}[name]
    return body.op(f"math.{name} {{}} : {x[1]}", [x], x[1], compute, name == "roundeven")


def select(body, which, x, y):
    return body.op(f"arith.select {{}}, {{}}, {{}} : {x[1]}", [which, x, y], x[1], np.where)


def to_float(body, x):
    return body.op(f"arith.sitofp {{}} : {x[1]} to f32", [x], "f32", lambda a: a)


def lowest(body, number, dtype):
    if np.isfinite(number):
        return body.constant(number, dtype)
    bits = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}[dtype]
    return body.op(f"arith.constant {bits} : {dtype}", [], dtype, lambda: np.float64(number), True)
