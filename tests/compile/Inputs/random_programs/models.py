"""What models are made of."""

import numpy as np

from bodies import Body
from narrow import NARROW, is_narrow
from program import Dim, is_float, loops


class Models:
    """Each method makes several ops, or gives None where it cannot."""

    def softmax(self):
        a = self.tamed(self.pick(low=1, high=4, only=lambda v: is_float(v.dtype) and not is_narrow(v.dtype)))
        axis = a.rank - 1 if self.chance(0.6) else int(self.rng.integers(a.rank))
        if a.dims[axis].size == 0:
            return None
        if self.chance(0.4):
            empty = self.f.empty(a.dims, a.dtype)

            def compute(env):
                x = env[a.name].astype(np.float64)
                e = np.exp(x - x.max(axis=axis, keepdims=True, initial=-np.inf if x.size else 0))
                return e / e.sum(axis=axis, keepdims=True)
            return self.f.define(f"linalg.softmax dimension({axis}) ins({a.name} : {a.type}) "
                                 f"outs({empty} : {a.type}) -> {a.type}", a.dims, a.dtype, compute, False)
        rank, dtype = a.rank, a.dtype
        every, kept = loops(*range(rank)), loops(*(i for i in range(rank) if i != axis))
        highest = self.fold(a, axis, "maximumf", -60000)
        e = self.combine([(a, every), (highest, kept)], a.dims, dtype, lambda body, x, m: self.exponential(
            body, x, m, dtype))
        total = self.fold(e, axis, "addf", 0)
        return self.combine([(e, every), (total, kept)], a.dims, dtype, lambda body, x, s: body.op(
            f"arith.divf {{}}, {{}} : {dtype}", [x, s], dtype, np.divide))

    @staticmethod
    def exponential(body, x, highest, dtype):
        below = body.op(f"arith.subf {{}}, {{}} : {dtype}", [x, highest], dtype, np.subtract)
        return body.op(f"math.exp {{}} : {dtype}", [below], dtype, np.exp)

    def row_work(self, a=None):
        """Reductions of rows and elementwise work on rows and what they were reduced to, each used by any of the rest."""
        a = a or self.tamed(self.pick(low=2, high=4, only=lambda v: 0 not in v.shape and v.dtype not in ("i1", "index", *NARROW)))
        wholes, rows, fresh, dtype, rank = [a], [], [], a.dtype, a.rank  # fresh: rows that nothing has used on purpose
        every, kept = loops(*range(rank)), loops(*range(rank - 1))
        kinds = ["fold", "both"] + [kind for kind in ("fold", "row", "whole", "product") if self.chance(0.5)]
        for _ in range(self.rng.integers(3, 16)):
            kind = self.choice(kinds)
            whole = wholes[-1] if self.chance(0.6) else self.choice(wholes)
            if kind == "fold" or not rows:
                rows.append(self.fold_rows(whole))
                fresh.append(rows[-1])
            elif kind == "row":
                row = self.tamed(fresh.pop() if fresh else self.choice(rows))
                rows.append(self.combine([(row, kept)], row.dims, dtype, lambda body, x: body.random([x], dtype, 1)))
            elif kind == "product":
                if self.product(whole) is None:
                    continue
            else:
                other = (self.tamed(self.choice(rows[-3:])), kept) if kind == "both" else (self.choice(wholes), every)
                whole = self.combine([(whole, every), other], a.dims, dtype,
                                     lambda body, x, y: body.random([x, y], dtype, 0))
                wholes.append(self.tamed(whole) if self.chance(0.5) else whole)
        return rows[-1]

    def fold_rows(self, a):
        """Sums are of magnitudes: what cancels out leaves only errors of rounding."""
        dims, dtype, rank = a.dims[:-1], a.dtype, a.rank
        text, reduce, combine = self.combiner(dtype)
        body, name, out, result = Body(self.f), self.f.new(), self.f.new(), self.f.new()
        x = (name, dtype, a.exact)
        if "addf" in text:
            x = body.op(f"math.absf {{}} : {dtype}", [x], dtype, np.abs, a.exact)
        body.lines.append(f"{result} = " + text.format(x[0], out))
        init = self.f.fill(dims, dtype, 1)
        return self.generic([(a, loops(*range(rank)))], ["parallel"] * (rank - 1) + ["reduction"],
                            [(dims, dtype, loops(*range(rank - 1)))], list(a.shape), body, [name],
                            [(result, dtype, "add" not in text and a.exact)], [init], [out], [(x[0], reduce, combine)])[0]

    def product(self, a):
        """A contraction of the last dimension with a matrix."""
        if np.prod(a.shape, dtype=np.int64) * 4 > self.f.maximum:
            return None
        a, n, rank = self.tamed(a), self.choice([d for d in self.dims if d.size <= 100] or [Dim(5)]), a.rank
        b = self.tamed(self.of([a.dims[-1], n], a.dtype))
        return self.sum_of_products([(a, loops(*range(rank - 1), rank)), (b, loops(rank, rank - 1))],
                                    ["parallel"] * rank + ["reduction"],
                                    ([*a.dims[:-1], n], a.dtype, loops(*range(rank))),
                                    [*a.shape[:-1], n.size, a.shape[-1]])

    def fold(self, a, axis, kind, start, square=False):
        """A reduction along an axis, or along several."""
        axes = [axis] if isinstance(axis, int) else axis
        dims = [d for i, d in enumerate(a.dims) if i not in axes]
        init = self.f.fill(dims, a.dtype, start)
        body, name, out, result = Body(self.f), self.f.new(), self.f.new(), self.f.new()
        x = (name, a.dtype, False)
        if square:
            x = body.op(f"arith.mulf {{}}, {{}} : {a.dtype}", [x, x], a.dtype, np.multiply)
        body.lines.append(f"{result} = arith.{kind} {x[0]}, {out} : {a.dtype}")
        ufunc = np.add if kind == "addf" else np.maximum
        kinds = ["reduction" if i in axes else "parallel" for i in range(a.rank)]
        kept = [i for i in range(a.rank) if i not in axes]
        return self.generic([(a, loops(*range(a.rank)))], kinds, [(dims, a.dtype, loops(*kept))], list(a.shape), body,
                            [name], [(result, a.dtype, False)], [init], [out],
                            [(x[0], lambda v, reduced: ufunc.reduce(v.astype(np.float64), axis=reduced), ufunc)])[0]

    def combine(self, inputs, dims, dtype, make):
        body = Body(self.f)
        names = [self.f.new() for _ in inputs]
        y = make(body, *[(name, value.dtype, False) for name, (value, _) in zip(names, inputs)])
        rank = len(dims)
        return self.generic(inputs, ["parallel"] * rank, [(dims, dtype, loops(*range(rank)))], [d.size for d in dims],
                            body, names, [y])[0]

    def layer_norm(self):
        a = self.tamed(self.pick(low=1, high=4, only=lambda v: is_float(v.dtype) and not is_narrow(v.dtype)))
        axis = a.rank - 1 if self.chance(0.8) else int(self.rng.integers(a.rank))
        size, dtype = a.dims[axis].size, a.dtype
        array = self.f.env[a.name].astype(np.float64)
        if size == 0 or 0 in a.shape:
            return None
        # Where numbers are nearly equal, what their mean leaves of them is errors of rounding.
        apart = np.abs(array - array.mean(axis=axis, keepdims=True)).max()
        if size > 1 and apart < 0.1 * np.abs(array).max():
            return None
        every, kept = loops(*range(a.rank)), loops(*(i for i in range(a.rank) if i != axis))
        total = self.fold(a, axis, "addf", 0)
        scaled = lambda body, x, k: body.op(f"arith.mulf {{}}, {{}} : {dtype}", [x, body.constant(k, dtype)], dtype,
                                            np.multiply)
        centered = self.combine([(a, every), (total, kept)], a.dims, dtype, lambda body, x, s: body.op(
            f"arith.subf {{}}, {{}} : {dtype}", [x, scaled(body, s, 1 / size)], dtype, np.subtract))
        spread = self.fold(centered, axis, "addf", 0, square=True)
        gain = self.of([a.dims[axis]], dtype)

        def finish(body, x, v, g):
            v = body.op(f"arith.addf {{}}, {{}} : {dtype}", [scaled(body, v, 1 / size), body.constant(0.25, dtype)],
                        dtype, np.add)
            r = body.op(f"math.rsqrt {{}} : {dtype}", [v], dtype, lambda u: 1 / np.sqrt(u))
            r = body.op(f"arith.mulf {{}}, {{}} : {dtype}", [x, r], dtype, np.multiply)
            return body.op(f"arith.mulf {{}}, {{}} : {dtype}", [r, g], dtype, np.multiply)
        return self.combine([(centered, every), (spread, kept), (gain, loops(axis))], a.dims, dtype, finish)

    def dense_layer(self):
        """A product, a bias and an activation."""
        product = self.contraction()
        if product is None or not is_float(product.dtype) or product.rank == 0:
            return product
        product = self.tamed(product)
        bias, dtype = self.of([product.dims[-1]], product.dtype), product.dtype
        every = loops(*range(product.rank))
        return self.combine([(product, every), (bias, every[-1:])], product.dims, dtype,
                            lambda body, x, b: body.random([x, b], dtype, 1))

    def attention(self):
        q = self.tamed(self.pick(low=3, high=3, only=lambda v: v.dtype in ("f32", "f16", "bf16")))
        batch, m, d = q.dims
        n, dtype = self.choice(self.dims), q.dtype
        if n.size == 0 or d.size == 0:
            return None
        k, v = self.tamed(self.of([batch, n, d], dtype)), self.tamed(self.of([batch, n, d], dtype))
        scores = self.sum_of_products([(q, loops(0, 1, 3)), (k, loops(0, 2, 3))],
                                      ["parallel"] * 3 + ["reduction"], ([batch, m, n], dtype, loops(0, 1, 2)),
                                      [batch.size, m.size, n.size, d.size])
        if scores is None:
            return None
        highest = self.fold(scores, 2, "maximumf", -60000)
        every = loops(0, 1, 2)
        e = self.combine([(scores, every), (highest, loops(0, 1))], scores.dims, dtype,
                         lambda body, x, s: self.exponential(body, x, s, dtype))
        total = self.fold(e, 2, "addf", 0)
        p = self.combine([(e, every), (total, loops(0, 1))], scores.dims, dtype, lambda body, x, s: body.op(
            f"arith.divf {{}}, {{}} : {dtype}", [x, s], dtype, np.divide))
        return self.sum_of_products([(p, loops(0, 1, 3)), (v, loops(0, 3, 2))], ["parallel"] * 3 + ["reduction"],
                                    ([batch, m, d], dtype, loops(0, 1, 2)), [batch.size, m.size, d.size, n.size],
                                    "linalg.batch_matmul")
