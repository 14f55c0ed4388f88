"""Elementwise operations, reductions, contractions and convolutions."""

import numpy as np

from bodies import Body
from narrow import FLOATS, INTEGERS, is_narrow
from program import WIDTH, Affine, Dim, dense, is_float, loops, tensor_type, to_type


class Arithmetic:
    """Each method makes one op, or gives None where it cannot."""

    def elementwise(self):
        """One to four inputs, broadcast and transposed, one or two results."""
        first = self.tamed(self.pick(high=5, low=0))
        rank = first.rank
        order = self.rng.permutation(rank) if self.chance(0.3) else np.arange(rank)
        # Loop i walks dimension i of the result; the first input's dimension d lies at loop order[d].
        dims = [None] * rank
        for d, loop in enumerate(order):
            dims[loop] = first.dims[d]
        space = [d.size for d in dims]
        inputs = [(first, loops(*order))]
        for _ in range(self.rng.integers(0, 3)):
            kept = [loop for loop in range(rank) if self.chance(0.75)]
            if self.chance(0.3):
                self.rng.shuffle(kept)
            other = self.tamed(self.of([dims[loop] for loop in kept], self.dtype()))
            inputs.append((other, loops(*kept)))
        body = Body(self.f)
        names = [self.f.new() for _ in inputs]
        args = [(name, value.dtype, value.exact) for name, (value, _) in zip(names, inputs)]
        updated, out_names = None, None
        if self.chance(0.15):
            updated, out_names = self.tamed(self.start(dims, self.dtype())), [self.f.new(), self.f.new()]
            args.append((out_names[0], updated.dtype, updated.exact))
        if self.chance(0.12) and rank:
            args.append(body.cast(body.index(int(self.rng.integers(rank))), "i32"))
        if self.chance(0.15):
            args.append(self.gathered(body, args))
        outs, yields = [], []
        for _ in range(1 if self.chance(0.8) else 2):
            first = updated and not outs
            dtype = updated.dtype if first else self.dtype()
            y = body.random(args, dtype, int(self.rng.integers(0, 4)))
            out_order = self.rng.permutation(rank) if self.chance(0.15) and not first else np.arange(rank)
            outs.append(([dims[loop] for loop in out_order], dtype, loops(*out_order)))
            yields.append(y)
        inits = None
        if updated:
            inits = [updated] + [None] * (len(outs) - 1)
            out_names = out_names[:len(outs)]
        elif self.chance(0.15):
            inits = [self.start(outs[0][0], outs[0][1])] + [None] * (len(outs) - 1)
        return self.generic(inputs, ["parallel"] * rank, outs, space, body, names, yields, inits, out_names)[0]

    def gathered(self, body, args):
        """An element of another tensor, whose place comes from the inputs."""
        table = self.pick(low=1, high=3, only=lambda v: 0 not in v.shape)
        places = []
        if 0 in table.shape:
            return args[0]
        for dim in table.dims:
            source = self.choice([a for a in args if not is_float(a[1])] or [body.constant(3, "i32")])
            if source[1] in ("i1", "i8") or is_narrow(source[1]):
                source = body.op(f"arith.extui {{}} : {source[1]} to i32", [source], "i32",
                                 lambda a, mask=(1 << WIDTH[source[1]]) - 1: np.asarray(a, np.int64) & mask)
            kind, size = source[1], dim.size
            if not dim.value or self.chance(0.5):  # others are held to the tensor
                mask = np.uint64((1 << WIDTH[kind]) - 1)
                source = body.op(f"arith.remui {{}}, {{}} : {kind}", [source, body.constant(size, kind)], kind,
                                 lambda a, b, m=mask, s=size: ((np.asarray(a, np.int64).astype(np.uint64) & m)
                                                               % np.uint64(s)).astype(np.int64))
            places.append(source if kind == "index" else body.cast(source, "index"))
        text = f"tensor.extract {table.name}[{', '.join(p[0] for p in places)}] : {table.type}"
        name = self.f.new()
        body.lines.append(f"{name} = {text}")

        def compute(array, *index):
            return array[tuple(np.clip(i, 0, s - 1) for i, s in zip(index, table.shape))]
        body.steps.append((name, [table.name] + [p[0] for p in places], table.dtype, compute))
        return (name, table.dtype, table.exact)

    def narrowed(self):
        """A tensor stored in a type of at most 8 bits."""
        a = self.pick(low=0, high=4, only=lambda v: v.exact)
        body, name = Body(self.f), self.f.new()
        dtype = self.choice([*FLOATS, *INTEGERS])
        every = loops(*range(a.rank))
        y = body.cast((name, a.dtype, a.exact), dtype)
        return self.generic([(a, every)], ["parallel"] * a.rank, [(a.dims, dtype, every)], a.shape, body, [name], [y])[0]

    def combiner(self, dtype):
        """How a reduction accumulates: op text, reduction of an array along axes, and with the initial value."""
        if dtype in FLOATS:  # what a sum is depends on its order
            kind = self.choice(["maximumf", "minimumf", "maxnumf"])
        elif is_float(dtype):
            kind = self.choice(["addf", "addf", "maximumf", "minimumf", "maxnumf"])
        elif dtype == "i1":
            kind = self.choice(["andi", "ori", "xori"])
        else:
            kind = self.choice(["addi", "addi", "maxsi", "minsi", "muli", "andi", "ori", "xori"] +
                               ["maxui"] * (not is_narrow(dtype)))
        ufunc = {"addf": np.add, "addi": np.add, "maximumf": np.maximum, "minimumf": np.minimum, "maxnumf": np.fmax,
                 "maxsi": np.maximum, "minsi": np.minimum, "muli": np.multiply, "andi": np.bitwise_and,
                 "ori": np.bitwise_or, "xori": np.bitwise_xor, "maxui": None}[kind]
        if kind == "maxui":
            unsigned = {"i8": np.uint8, "i16": np.uint16, "i32": np.uint32}.get(dtype, np.uint64)
            return (f"arith.maxui {{}}, {{}} : {dtype}",
                    lambda a, axes: np.max(np.ascontiguousarray(a).view(unsigned), axis=axes, initial=0),
                    lambda a, b: np.maximum(a.astype(unsigned), b.astype(unsigned)))

        def reduce(a, axes):
            if kind in ("addf",):
                return np.sum(a.astype(np.float64), axis=axes)
            if any(a.shape[axis] == 0 for axis in axes):
                return None
            a = a if kind not in ("addi", "muli") else a.astype(np.int64)
            return ufunc.reduce(a, axis=axes)

        return f"arith.{kind} {{}}, {{}} : {dtype}", reduce, ufunc

    def reduction(self):
        value = self.tamed(self.pick(low=1, high=5))
        rank = value.rank
        axes = [a for a in range(rank) if self.chance(0.5)] or [rank - 1]
        kept = [a for a in range(rank) if a not in axes]
        if self.chance(0.2):
            self.rng.shuffle(kept)
        dtype = value.dtype if self.chance(0.7) else self.dtype()
        body, name, out = Body(self.f), self.f.new(), self.f.new()
        inputs, names = [(value, loops(*range(rank)))], [name]
        if self.chance(0.3):
            some = [a for a in range(rank) if self.chance(0.6)]
            other = self.tamed(self.of([value.dims[a] for a in some], self.dtype()))
            inputs.append((other, loops(*some)))
            names.append(self.f.new())
        args = [(n, v.dtype, v.exact) for n, (v, _) in zip(names, inputs)]
        x = body.random(args, dtype, int(self.rng.integers(0, 2)))
        text, reduce, combine = self.combiner(dtype)
        result = self.f.new()
        body.lines.append(f"{result} = " + text.format(*([x[0], out] if self.chance(0.5) else [out, x[0]])))
        dims = [value.dims[a] for a in kept]
        init = self.f.fill(dims, dtype, self.rng.integers(-2, 3) if dtype != "i1" else 1) if self.chance(0.8) \
            else self.start(dims, dtype)
        whole = np.prod([value.shape[a] for a in axes]) == 0

        def with_init(a, b):
            return b if whole else combine(a, b)

        def guarded(a, axes_):
            r = None if whole else reduce(a, axes_)
            return np.zeros([a.shape[i] for i in range(a.ndim) if i not in axes_]) if r is None else r
        kinds = ["reduction" if a in axes else "parallel" for a in range(rank)]
        exact = x[2] and init.exact and "add" not in text or not is_float(dtype) and x[2] and init.exact
        return self.generic(inputs, kinds, [(dims, dtype, loops(*kept))], list(value.shape), body, names,
                            [(result, dtype, exact)], [init], [out], [(x[0], guarded, with_init)])[0]

    def argmax(self):
        value = self.pick(low=1, high=3, only=lambda v: v.exact and 0 not in v.shape and v.dtype in
                          ("f32", "f16", "i32", "bf16", "f64", "i64"))
        axis = int(self.rng.integers(value.rank))
        kept = [a for a in range(value.rank) if a != axis]
        dims = [value.dims[a] for a in kept]
        lowest = {"f16": -60000, "i32": -2**31, "i64": -2**63}.get(value.dtype, -1e38)
        low = self.f.fill(dims, value.dtype, lowest)
        zero = self.f.fill(dims, "i32", 0)
        body, name, best, place = Body(self.f), self.f.new(), self.f.new(), self.f.new()
        index = body.cast(body.index(axis), "i32")
        kind = "arith.cmpf ogt" if is_float(value.dtype) else "arith.cmpi sgt"
        which, a, b = self.f.new(), self.f.new(), self.f.new()
        body.lines += [f"{which} = {kind}, {name}, {best} : {value.dtype}",
                       f"{a} = arith.select {which}, {name}, {best} : {value.dtype}",
                       f"{b} = arith.select {which}, {index[0]}, {place} : i32"]
        kinds = ["reduction" if i == axis else "parallel" for i in range(value.rank)]
        folds = [(name, lambda t, axes: np.max(t, axis=axes), lambda a, b: a),
                 (name, lambda t, axes: np.argmax(t, axis=axes[0]), lambda a, b: a)]
        return self.generic([(value, loops(*range(value.rank)))], kinds,
                            [(dims, value.dtype, loops(*kept)), (dims, "i32", loops(*kept))],
                            list(value.shape), body, [name], [(a, value.dtype, True), (b, "i32", True)], [low, zero],
                            [best, place], folds)[1]

    def sum_of_products(self, inputs, iterators, out, space, named=None, start=None):
        """out: (dims, type, loops); named: text of a named op to write in place of linalg.generic."""
        (a, _), (b, _) = inputs
        dims, dtype, affine = out
        if np.prod(space, dtype=np.int64) > self.f.maximum:
            return None
        init = start or self.start(dims, dtype, zero=self.chance(0.75))
        reduced = tuple(i for i, kind in enumerate(iterators) if kind == "reduction")
        wide = np.float64 if is_float(dtype) else np.int64

        def compute(env):
            grids = np.indices(space, sparse=True)
            x = env[a.name][tuple(e.at(grids) for e in inputs[0][1])].astype(wide)
            y = env[b.name][tuple(e.at(grids) for e in inputs[1][1])].astype(wide)
            total = np.broadcast_to(x * y, space).sum(axis=reduced)
            kept = [loop for loop in range(len(space)) if loop not in reduced]
            total = np.transpose(total, [kept.index(next(iter(e.terms))) for e in affine])
            return total + env[init.name]
        if named:
            type_ = tensor_type(dims, dtype)
            result = self.f.define(f"{named} ins({a.name}, {b.name} : {a.type}, {b.type}) outs({init.name} : {type_}) "
                                   f"-> {type_}", dims, dtype, compute, not is_float(dtype) and a.exact and b.exact)
            return self.tamed(result)
        body, x, y, acc = Body(self.f), self.f.new(), self.f.new(), self.f.new()
        p, q = body.cast((x, a.dtype, a.exact), dtype), body.cast((y, b.dtype, b.exact), dtype)
        if (p[0] != x and not is_float(a.dtype)) or (q[0] != y and not is_float(b.dtype)):
            # integers are only extended
            body = Body(self.f)
            p = body.op(f"arith.extsi {{}} : {a.dtype} to {dtype}", [(x, a.dtype, a.exact)], dtype, lambda v: v)
            q = body.op(f"arith.extsi {{}} : {b.dtype} to {dtype}", [(y, b.dtype, b.exact)], dtype, lambda v: v)
        kind = "f" if is_float(dtype) else "i"
        t, s = self.f.new(), self.f.new()
        body.lines += [f"{t} = arith.mul{kind} {p[0]}, {q[0]} : {dtype}", f"{s} = arith.add{kind} {acc}, {t} : {dtype}"]
        product = body.steps
        name = self.f.new()
        product.append((name, [p[0], q[0]], "f64" if is_float(dtype) else "i64",
                        lambda v, w: v.astype(wide) * w.astype(wide)))
        fold = (name, lambda v, axes: v.sum(axis=axes), lambda v, w: v + w)
        result = self.generic(inputs, iterators, [out], space, body, [x, y],
                              [(s, dtype, not is_float(dtype) and a.exact and b.exact)], [init], [acc], [fold])[0]
        return self.tamed(result)

    def accumulator(self, dtype):
        """The types of a contraction's inputs and of its sum."""
        if is_narrow(dtype):
            return (dtype, "f32") if is_float(dtype) else (dtype, self.choice([dtype, "i32"]))
        if is_float(dtype):
            return self.choice([(dtype, dtype), (dtype, "f32" if dtype != "f64" else dtype)])
        if dtype in ("i1", "index"):
            return ("i8", "i32")
        return self.choice([(dtype, dtype), (dtype, "i32" if dtype == "i8" else dtype)])

    def contraction(self):
        a = self.tamed(self.pick(low=1, high=4, only=lambda v: v.dtype not in ("i1", "index")))
        dtype, total = self.accumulator(a.dtype)
        rank = a.rank
        if self.chance(0.6) and rank in (2, 3):  # a named one
            n = self.choice(self.dims)
            if rank == 2:
                m, k = a.dims
                kind = self.choice(["matmul", "matmul_t", "matvec"])
                if kind == "matvec":
                    b = self.tamed(self.of([k], dtype))
                    return self.sum_of_products([(a, loops(0, 1)), (b, loops(1))], ["parallel", "reduction"],
                                                ([m], total, loops(0)), [m.size, k.size], "linalg.matvec")
                transposed = kind == "matmul_t"
                b = self.tamed(self.of([n, k] if transposed else [k, n], dtype))
                maps = ("indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
                        "affine_map<(m, n, k) -> (m, n)>] ") if transposed else ""
                return self.sum_of_products([(a, loops(0, 2)), (b, loops(1, 2) if transposed else loops(2, 1))],
                                            ["parallel", "parallel", "reduction"], ([m, n], total, loops(0, 1)),
                                            [m.size, n.size, k.size], "linalg.matmul " + maps)
            batch, m, k = a.dims
            b = self.tamed(self.of([batch, k, n], dtype))
            return self.sum_of_products([(a, loops(0, 1, 3)), (b, loops(0, 3, 2))],
                                        ["parallel", "parallel", "parallel", "reduction"],
                                        ([batch, m, n], total, loops(0, 1, 2)),
                                        [batch.size, m.size, n.size, k.size], "linalg.batch_matmul")
        # Any: loops of a, some also of b, b's own; at least one is summed.
        kinds = [self.choice(["batch", "m", "k"]) for _ in a.dims]
        if "k" not in kinds:
            kinds[-1] = "k"
        dims = list(a.dims)
        own = [len(dims) + i for i in range(self.rng.integers(0, 3))]
        dims += [self.choice(self.dims) for _ in own]
        kinds += ["n"] * len(own)
        order = list(self.rng.permutation(len(dims)))  # place of each in the loops
        of_b = [i for i, kind in enumerate(kinds) if kind in ("batch", "k", "n")]
        self.rng.shuffle(of_b)
        of_out = [i for i, kind in enumerate(kinds) if kind != "k"]
        if self.chance(0.4):
            self.rng.shuffle(of_out)
        if (np.prod([dims[i].size for i in of_b], dtype=np.int64) > 50000 or
                np.prod([dim.size for dim in dims], dtype=np.int64) > 1 << 26):
            return None
        b = self.tamed(self.of([dims[i] for i in of_b], dtype))
        space, iterators = [0] * len(dims), [""] * len(dims)
        for i, dim in enumerate(dims):
            space[order[i]] = dim.size
            iterators[order[i]] = "reduction" if kinds[i] == "k" else "parallel"
        return self.sum_of_products([(a, loops(*(order[i] for i in range(rank)))),
                                     (b, loops(*(order[i] for i in of_b)))], iterators,
                                    ([dims[i] for i in of_out], total, loops(*(order[i] for i in of_out))), space)

    def convolution(self):
        a = self.tamed(self.pick(low=4, high=4, only=lambda v: v.dtype not in ("i1", "index") and 0 not in v.shape))
        if any(d.value for d in a.dims[1:]) and not self.chance(0.5):
            return None
        dtype, total = self.accumulator(a.dtype)
        kind = self.choice(["nhwc", "nchw", "depthwise"] + ["pool_sum", "pool_max"] * (a.dtype not in FLOATS))
        image = a.dims[2:] if kind == "nchw" else a.dims[1:3]
        channels = a.dims[1] if kind == "nchw" else a.dims[3]
        taps, strides, dilations, outs = [], [], [], []
        for dim in image:
            tap, stride, dilation = int(self.rng.integers(1, 4)), int(self.rng.integers(1, 3)), int(
                self.rng.integers(1, 3))
            if (tap - 1) * dilation + 1 > dim.size:
                tap = dilation = 1
            taps.append(Dim(tap)), strides.append(stride), dilations.append(dilation)
            size = (dim.size - (tap - 1) * dilation - 1) // stride + 1
            outs.append(self.computed(size, dim, f"(d0 - {(tap - 1) * dilation + 1}) floordiv {stride} + 1"))
        attributes = (f"{{dilations = dense<[{dilations[0]}, {dilations[1]}]> : tensor<2xi64>, "
                      f"strides = dense<[{strides[0]}, {strides[1]}]> : tensor<2xi64>}}")
        n, (oh, ow), (kh, kw) = a.dims[0], outs, taps
        walk = lambda o, k, i: Affine({o: strides[i], k: dilations[i]})
        if kind == "nhwc":
            features = self.choice(self.dims)
            b = self.tamed(self.of([kh, kw, channels, features], dtype))
            return self.sum_of_products(
                [(a, loops(0) + [walk(1, 4, 0), walk(2, 5, 1)] + loops(6)), (b, loops(4, 5, 6, 3))],
                ["parallel"] * 4 + ["reduction"] * 3, ([n, oh, ow, features], total, loops(0, 1, 2, 3)),
                [n.size, oh.size, ow.size, features.size, kh.size, kw.size, channels.size],
                f"linalg.conv_2d_nhwc_hwcf {attributes}")
        if kind == "nchw":
            features = self.choice(self.dims)
            b = self.tamed(self.of([features, channels, kh, kw], dtype))
            return self.sum_of_products(
                [(a, loops(0, 4) + [walk(2, 5, 0), walk(3, 6, 1)]), (b, loops(1, 4, 5, 6))],
                ["parallel"] * 4 + ["reduction"] * 3, ([n, features, oh, ow], total, loops(0, 1, 2, 3)),
                [n.size, features.size, oh.size, ow.size, channels.size, kh.size, kw.size],
                f"linalg.conv_2d_nchw_fchw {attributes}")
        if kind == "depthwise":
            b = self.tamed(self.of([kh, kw, channels], dtype))
            return self.sum_of_products(
                [(a, loops(0) + [walk(1, 4, 0), walk(2, 5, 1)] + loops(3)), (b, loops(4, 5, 3))],
                ["parallel"] * 4 + ["reduction"] * 2, ([n, oh, ow, channels], total, loops(0, 1, 2, 3)),
                [n.size, oh.size, ow.size, channels.size, kh.size, kw.size],
                f"linalg.depthwise_conv_2d_nhwc_hwc {attributes}")
        dims = [n, oh, ow, channels]
        space = [d.size for d in dims + [kh, kw]]
        if np.prod(space, dtype=np.int64) > self.f.maximum:
            return None
        highest = kind == "pool_max"
        start = (-60000 if is_float(a.dtype) else -128) if highest else 0
        init, window = self.f.fill(dims, a.dtype, start), self.f.empty([kh, kw], a.dtype)
        type_ = tensor_type(dims, a.dtype)
        path = loops(0) + [walk(1, 4, 0), walk(2, 5, 1)] + loops(3)

        def compute(env):
            grids = np.indices(space, sparse=True)
            windows = np.broadcast_to(env[a.name][tuple(e.at(grids) for e in path)], space)
            if highest:
                return np.maximum(windows.max(axis=(4, 5)), to_type(a.dtype, start))
            return windows.sum(axis=(4, 5), dtype=np.float64 if is_float(a.dtype) else np.int64)
        name = "linalg.pooling_nhwc_max" if highest else "linalg.pooling_nhwc_sum"
        return self.f.define(f"{name} {attributes} ins({a.name}, {window} : {a.type}, "
                             f"{tensor_type([kh, kw], a.dtype)}) outs({init.name} : {type_}) -> {type_}", dims, a.dtype,
                             compute, a.exact and (highest or not is_float(a.dtype)))

    def named(self):
        """linalg.reduce and linalg.map, and arith on whole tensors."""
        a = self.tamed(self.pick(low=1, high=4, only=lambda v: v.dtype not in ("i1", "index", *FLOATS)))
        kind, add = ("f", np.float64) if is_float(a.dtype) else ("i", np.int64)
        if self.chance(0.5):
            axis = int(self.rng.integers(a.rank))
            dims = [d for i, d in enumerate(a.dims) if i != axis]
            init, type_ = self.f.fill(dims, a.dtype, 1), tensor_type(dims, a.dtype)
            return self.tamed(self.f.define(
                f"linalg.reduce {{ arith.add{kind} }} ins({a.name} : {a.type}) outs({init.name} : {type_}) "
                f"dimensions = [{axis}]", dims, a.dtype, lambda env: env[a.name].sum(axis=axis, dtype=add) + 1,
                a.exact and kind == "i"))
        b = self.tamed(self.start(a.dims, a.dtype))
        exact = a.exact and b.exact and kind == "i"
        if self.chance(0.5):
            return self.f.define(f"arith.sub{kind} {a.name}, {b.name} : {a.type}", a.dims, a.dtype,
                                 lambda env: env[a.name] - env[b.name], exact)
        empty = self.f.empty(a.dims, a.dtype)
        return self.tamed(self.f.define(
            f"linalg.map {{ arith.mul{kind} }} ins({a.name}, {b.name} : {a.type}, {b.type}) outs({empty} : {a.type})",
            a.dims, a.dtype, lambda env: env[a.name] * env[b.name], exact))
