"""Layers of language models, on tensors of batch, length and width."""

import numpy as np

from bodies import Body
from operations import Operations, binary, lowest, same_dims, same_extent, select, times, to_float, unary
from program import Dim, Value, loops, tensor_type, to_type


class TokenLayers(Operations):
    """A layer takes values of `tokens`, and adds to them what it makes."""

    def token(self):
        if not self.tokens or self.chance(0.05):
            dims = [self.batch, self.length, self.wide()]
            if self.chance(0.3):
                self.tokens.append(self.embedded(dims))
            else:
                self.tokens.append(self.f.argument(dims, self.main_type, self.drawn(dims, self.main_type)))
        return self.latest(self.tokens)

    def add_tokens(self, value):
        self.tokens.append(value)
        return value

    def embedded(self, dims):
        """Rows of a table."""
        rows, dtype = Dim(self.choice([11, 50])), self.choice(["i32", "i64"])
        table = self.weight([rows, dims[2]], self.main_type)
        ids = self.f.argument(dims[:2], dtype, to_type(dtype, self.data.integers(0, rows.size, [d.size for d in dims[:2]])))
        body, name, element = Body(self.f), self.f.new(), self.f.new()
        row, column = body.cast((name, dtype, True), "index"), body.index(2)
        body.lines.append(f"{element} = tensor.extract {table.name}[{row[0]}, {column[0]}] : {table.type}")
        body.steps.append((element, [table.name, row[0], column[0]], table.dtype, lambda array, i, j: array[i, j]))
        return self.generic([(ids, loops(0, 1))], ["parallel"] * 3, [(dims, table.dtype, loops(0, 1, 2))],
                            [dim.size for dim in dims], body, [name], [(element, table.dtype, True)])[0]

    def linear(self):
        y = self.projected(self.token(), self.wide())
        return self.add_tokens(self.activated(y) if self.chance(0.4) else y)

    def fanned(self):
        """Several products of one operand, of widths that are equal or not, some of them with more behind."""
        x, n = self.token(), self.wide()
        parts = []
        for _ in range(int(self.rng.integers(2, 5))):
            y = self.projected(x, n if self.chance(0.7) else self.wide(), 0.4)
            parts.append(self.activated(y) if self.chance(0.3) else y)
        self.returned += [y for y in parts if self.chance(0.1)]
        if self.chance(0.3) and sum(y.dims[2].size for y in parts) <= 300:
            return self.add_tokens(self.concatenated(parts, 2))
        whole = parts[0]
        for y in parts[1:]:
            whole = self.plus(whole, y) if same_dims(whole, y) else self.add_tokens(y)
        return self.add_tokens(whole)

    def gated(self):
        """Two products of one operand, one a gate of the other."""
        x, n = self.token(), self.wide()
        a, b = self.projected(x, n, 0.2), self.activated(self.projected(x, n, 0.2))
        return self.add_tokens(self.projected(self.map(a, times, [(b, range(3))]), x.dims[2], 0.2))

    def activation(self):
        if self.images and self.chance(0.5):
            image, last = self.image()
            return self.add_image(self.activated(image), last)
        return self.add_tokens(self.activated(self.token()))

    def residual(self):
        """The sum of two values of one shape, or of one and what was made of it."""
        if self.images and (not self.tokens or self.chance(0.5)):
            a, last = self.image()
            found = [v for v, l in self.images if l == last and same_dims(v, a) and v is not a]
            return self.add_image(self.plus(a, self.choice(found) if found else self.activated(a)), last)
        a = self.token()
        found = [v for v in self.tokens if same_dims(v, a) and v is not a]
        return self.add_tokens(self.plus(a, self.choice(found) if found else self.projected(a, a.dims[2])))

    def norm(self):
        return self.add_tokens(self.normalized(self.token(), [2], [2], self.chance(0.4)))

    def softmax_of(self):
        return self.add_tokens(self.scaled(self.soft(self.token(), int(self.rng.integers(1, 3))), 4))

    def logits(self):
        """Products with the rows of a table, and the softmax of them."""
        x = self.token()
        rows = self.weight([Dim(self.choice([11, 50, 96])), x.dims[2]], x.dtype, x.dims[2].size ** -0.5)
        y = self.contracted("bmk,nk->bmn", x, rows)
        self.returned.append(y)
        return self.soft(y, 2)

    def experts(self):
        """Several products of the same tokens, and their sum with weights that each token gives them."""
        x, count = self.token(), Dim(self.choice([2, 3]))
        n = self.wide()
        gates = self.soft(self.contracted("bmk,ek->bme", x, self.weight([count, x.dims[2]], x.dtype, x.dims[2].size ** -0.5)), 2)
        y = self.contracted("bmk,ekn->bemn", x, self.weight([count, x.dims[2], n], x.dtype, x.dims[2].size ** -0.5))
        return self.add_tokens(self.contracted("bme,bemn->bmn", gates, self.activated(y)))

    def log_sum(self):
        """The logarithm of a sum of exponentials, along the length or the width."""
        x, axis = self.token(), int(self.rng.integers(1, 3))
        rest = [i for i in range(3) if i != axis]
        highest = self.total(x, [axis], "maximumf", -60000)
        e = self.map(x, lambda body, v, m: self.exponential(body, v, m, x.dtype), [(highest, rest)])
        log = self.map(self.total(e, [axis], "addf", 0), lambda body, v: unary(body, "log", v))
        log = self.plus(log, highest)
        self.returned.append(log)
        return self.add_tokens(self.map(x, lambda body, v, s: binary(body, "subf", v, s), [(log, rest)]))

    def any_op(self):
        """What other random programs are made of, on values of this one."""
        self.dtypes, self.dims = [self.main_type], [self.batch, self.length, *map(Dim, self.sizes)]
        kinds = ["elementwise", "reduction", "contraction", "transpose", "extract_slice", "insert_slice", "pad", "concat",
                 "pack", "reverse", "scatter", "row_work", "broadcast", "reshape"]
        return getattr(self, self.choice(kinds))()

    def biased(self, scores):
        """What comes before a mask: a cap, or a bias that grows with the distance."""
        rank, dtype = scores.rank, scores.dtype
        if self.chance(0.15):
            return self.scaled(self.map(self.scaled(scores, 0.25), lambda body, v: unary(body, "tanh", v)), 4)
        if self.chance(0.15):
            def distance(body, v):
                apart = body.op("arith.subi {}, {} : index", [body.index(rank - 1), body.index(rank - 2)], "index", np.subtract)
                small = body.op("arith.index_cast {} : index to i32", [apart], "i32", lambda a: a)
                real = body.op(f"arith.sitofp {{}} : i32 to {dtype}", [small], dtype, lambda a: a)
                return binary(body, "addf", v, times(body, real, body.constant(-1 / 64, dtype)))
            return self.map(scores, distance)
        return scores

    def masked(self, scores, shift):
        """Scores (..., queries, keys) under a mask; a query sees no key that comes more than `shift` behind its place."""
        rank, dtype = scores.rank, scores.dtype
        queries, keys = scores.dims[-2:]
        kind = str(self.rng.choice(["causal", "causal", "causal_tensor", "added", "chosen"])) if shift or self.chance(0.6) else ""
        shift = shift or ("", 0)

        def sees(body, i, j):
            if shift[0]:
                i = body.op("arith.addi {}, {} : index", [i, (shift[0], "index", True)], "index", np.add)
            seen = body.op("arith.cmpi sle, {}, {} : index", [j, i], "i1", np.less_equal)
            if not window:
                return seen
            first = body.op("arith.subi {}, {} : index", [i, body.constant(window, "index")], "index", np.subtract)
            near = body.op("arith.cmpi sge, {}, {} : index", [j, first], "i1", np.greater_equal)
            return body.op("arith.andi {}, {} : i1", [seen, near], "i1", np.logical_and)
        window = self.choice([0, 0, 0, 3, 9])
        low = float(self.choice([-1e4, -3e4] if window else [-1e4, -3e4, -np.inf]))
        if kind == "causal":
            return self.map(scores, lambda body, v: select(body, sees(body, body.index(rank - 2), body.index(rank - 1)), v,
                                                           lowest(body, low, dtype)))
        if kind == "causal_tensor":
            body = Body(self.f)
            y = select(body, sees(body, body.index(0), body.index(1)), body.constant(0, dtype), lowest(body, low, dtype))
            mask = self.generic([], ["parallel"] * 2, [([queries, keys], dtype, loops(0, 1))], [queries.size, keys.size], body,
                                [], [y])[0]
            return self.plus(scores, mask, [rank - 2, rank - 1])
        if not kind:
            return scores
        axes = [0, rank - 1] if self.chance(0.5) else [rank - 2, rank - 1]
        dims = [scores.dims[axis] for axis in axes]
        seen = self.data.random([dim.size for dim in dims]) < 0.7
        if kind == "added":
            mask = self.f.argument(dims, dtype, to_type(dtype, np.where(seen, 0, -1e4)))
            return self.plus(scores, mask, axes)
        mask = self.f.argument(dims, "i1", seen)
        return self.map(scores, lambda body, v, m: select(body, m, v, body.constant(-1e4, dtype)), [(mask, axes)])

    def attended(self, q, k, v, queries_per_key, shift=None):
        """q: (batch, length, heads, depth); k and v: (batch, keys, heads or fewer, depth)."""
        depth, groups = q.dims[3], k.dims[2]
        factor, place = depth.size ** -0.5, int(self.rng.integers(3))
        q = self.scaled(q, factor) if place == 0 else q
        k = self.scaled(k, factor) if place == 1 else k
        if queries_per_key > 1 and self.chance(0.5):  # each head gets keys of its own
            def repeat(x):
                dims = [*x.dims[:3], Dim(queries_per_key), x.dims[3]]
                return self.merged(self.broadcast_to(x, [0, 1, 2, 4], dims), 2)
            k, v, queries_per_key = repeat(k), repeat(v), 1
        if queries_per_key > 1:
            q = self.split(q, 2, [groups, Dim(queries_per_key)])
            if self.chance(0.5):
                specs = "bmgrd,bngd->bgrmn", "bgrmn,bngd->bmgrd"
            else:
                q, k, v = self.permuted(q, [0, 2, 3, 1, 4]), self.permuted(k, [0, 2, 1, 3]), self.permuted(v, [0, 2, 1, 3])
                specs = "bgrmd,bgnd->bgrmn", "bgrmn,bgnd->bgrmd"
        elif self.chance(0.3):
            specs = "bmhd,bnhd->bhmn", "bhmn,bnhd->bmhd"
        else:
            turned = self.chance(0.3)
            q, v = self.permuted(q, [0, 2, 1, 3]), self.permuted(v, [0, 2, 1, 3])
            k = self.permuted(k, [0, 2, 3, 1] if turned else [0, 2, 1, 3])
            keys = "dn" if turned else "nd"
            specs = f"bhmd,bh{keys}->bhmn", "bhmn,bhnd->bhmd"
            if self.chance(0.5):  # batch and heads as one
                q, k, v = (self.merged(x, 0) for x in (q, k, v))
                specs = f"bmk,b{keys.replace('d', 'k')}->bmn", "bmk,bkn->bmn"
        scores = self.contracted(specs[0], q, k)
        scores = self.scaled(scores, factor) if place == 2 else scores
        weights = self.soft(self.masked(self.biased(scores), shift), scores.rank - 1)
        self.returned += [weights] if self.chance(0.1) else []
        y = self.contracted(specs[1], weights, v)
        return y, specs[1].split("->")[1]

    def heads_of(self, x, heads, depth):
        return self.split(x, 2, [heads, depth])

    def rotated(self, x):
        """Rotary positions: halves of each head, turned by angles."""
        half, last = Dim(x.dims[3].size // 2), x.rank - 1
        a, b = self.sliced(x, last, 0, half), self.sliced(x, last, half.size, half)
        minus = self.map(b, lambda body, v: body.op(f"arith.negf {{}} : {x.dtype}", [v], x.dtype, np.negative))
        turned = self.concatenated([minus, a], last)
        cos, sin = (self.weight([x.dims[1], x.dims[3]], x.dtype, 0.7) if not x.dims[1].value else self.f.argument(
            [x.dims[1], x.dims[3]], x.dtype, self.drawn([x.dims[1], x.dims[3]], x.dtype, 0.7)) for _ in range(2))
        return self.plus(self.map(x, times, [(cos, [1, 3])]), self.map(turned, times, [(sin, [1, 3])]))

    def attention(self, cached=False):
        x = self.token()
        heads, depth = Dim(self.choice([1, 2, 4])), Dim(self.choice([4, 8] if self.is_small else [4, 8, 16, 32]))
        per_key = self.choice([n for n in (1, 1, 2, 4) if heads.size % n == 0])
        groups = Dim(heads.size // per_key)
        n, m = Dim(heads.size * depth.size), Dim(groups.size * depth.size)
        source = x if cached or self.chance(0.8) else self.token()
        if source is x and self.chance(0.4):  # one product, and slices of it
            whole = self.projected(x, Dim(n.size + 2 * m.size))
            q, k, v = self.sliced(whole, 2, 0, n), self.sliced(whole, 2, n.size, m), self.sliced(whole, 2, n.size + m.size, m)
        else:
            q, k, v = self.projected(x, n), self.projected(source, m), self.projected(source, m)
        shift = None
        if cached:
            place = int(self.data.integers(0, 8))
            shift = (self.f.scalar_argument("index", place), place) if self.chance(0.6) else (str(3), 3)
            if not shift[0].startswith("%"):
                shift = (self.f.constant(3), 3)
            rooms = [x.dims[0], Dim(112), m]
            k, v = (self.inserted(new, self.f.argument(rooms, x.dtype, self.drawn(rooms, x.dtype)), 1, shift[0]) for new in (k, v))
            self.returned += [k, v]
            if self.chance(0.4):  # only what is there already
                known = Dim(shift[1] + x.shape[1], self.f.scalar(
                    f"arith.addi {shift[0]}, {x.dims[1].value or self.f.constant(x.shape[1])} : index", "index",
                    lambda env: shift[1] + x.shape[1]))
                k, v = self.sliced(k, 1, 0, known), self.sliced(v, 1, 0, known)
        q, k, v = self.heads_of(q, heads, depth), self.heads_of(k, groups, depth), self.heads_of(v, groups, depth)
        if self.chance(0.3) and not cached:
            q, k = self.rotated(q), self.rotated(k)
        y, form = self.attended(q, k, v, per_key, shift)
        if form == "bmn":
            y, form = self.split(y, 0, [x.dims[0], heads]), "bhmd"
        y = self.permuted(y, [form.index(letter) for letter in form if letter in "bm"][:1] + [form.index("m")] + [
            form.index(letter) for letter in form if letter in "hgrd"])
        while y.rank > 3:
            y = self.merged(y, 2)
        y = self.projected(y, x.dims[2])
        return self.add_tokens(self.plus(y, x) if self.chance(0.5) else y)

    def cached_attention(self):
        return self.attention(True)

    def repeated(self):
        """Layers in a loop, with rows that each turn puts into a cache."""
        if self.depth:
            return None
        x = self.token()
        rooms = [x.dims[0], Dim(8), x.dims[2]]
        cache = self.f.argument(rooms, x.dtype, self.drawn(rooms, x.dtype))
        lists = (self.tokens, self.images, self.shared, self.returned)
        before = [list(each) for each in lists]

        def finish(turn, carried):
            self.tokens.append(carried[0])
            self.run(int(self.rng.integers(0, 3)))
            y = self.plus(self.projected(self.token(), x.dims[2]), carried[0])
            y = self.normalized(y, [2], [2], True)
            filled = self.inserted(self.sliced(y, 1, 0, Dim(1)), carried[1], 1, turn)
            return [self.plus(y, self.mean(filled, [1]), [0, 2]) if self.chance(0.6) else y, filled]

        y, filled = self.turns([x, cache], 0, finish)
        for each, old in zip(lists, before):
            each[:] = old
        self.returned.append(filled)
        return self.add_tokens(y)

    def moved(self):
        """Data moves that leave a tensor of the same rank."""
        x, kind = self.token(), str(self.rng.choice(["slice", "stride", "concat", "pad", "units", "there_and_back", "merge"]))
        width = x.dims[2].size
        if kind == "slice" and width > 4:
            start = int(self.rng.integers(1, width // 2))
            return self.add_tokens(self.sliced(x, 2, start, Dim(width - start - int(self.rng.integers(2)))))
        if kind == "stride" and width > 4:
            return self.add_tokens(self.sliced(x, 2, 1, Dim((width - 2) // 2 + 1), 2))
        if kind == "concat":
            found = [v for v in self.tokens if same_extent(v.dims[1], x.dims[1])]
            y = self.choice(found)
            if width + y.dims[2].size <= 200:
                return self.add_tokens(self.concatenated([x, y], 2))
        if kind == "pad":
            amounts = [(0, 0), (0, 0), (int(self.rng.integers(3)), int(self.rng.integers(4)))]
            return self.add_tokens(self.padded(x, amounts, float(self.choice([0, 0, 1]))))
        if kind == "units":
            axis = int(self.rng.integers(3))
            y = self.activated(self.split(x, axis, [Dim(1), x.dims[axis]]))
            return self.add_tokens(self.merged(y, axis))
        if kind == "merge" and width % 4 == 0:
            y = self.permuted(self.split(x, 2, [Dim(4), Dim(width // 4)]), [0, 1, 3, 2])
            return self.add_tokens(self.merged(y, 2))
        y = self.activated(self.permuted(x, [0, 2, 1]))
        return self.add_tokens(self.permuted(y, [0, 2, 1]))

    def mean_of_tokens(self):
        """A mean over the length, a product of it, and the tokens that it scales."""
        x = self.token()
        mean = self.mean(x, [1])
        n = x.dims[2]
        y = self.contracted("mk,kn->mn", mean, self.weight([n, n], x.dtype, n.size ** -0.5))
        if x.dims[0].size == 1 and not x.dims[0].value and self.chance(0.5):
            y = self.contracted("k,kn->n", self.merged(y, 0), self.weight([n, n], x.dtype, n.size ** -0.5))
            y = self.split(y, 0, [Dim(1), n])
        self.returned += [y] if self.chance(0.3) else []
        return self.add_tokens(self.map(x, times, [(self.activated(y), [0, 2])]))

    def quantize(self, x, steps):
        """Rounded to multiples of a step, as i8. steps: how many for 1, or a tensor of how many for each row."""
        body, name = Body(self.f), self.f.new()
        given = [self.f.new()] if isinstance(steps, Value) else []
        v = times(body, (name, x.dtype, False), (given[0], "f32", False) if given else body.constant(steps, x.dtype))
        v = unary(body, "roundeven", v)
        v = binary(body, "maximumf", v, body.constant(-127, x.dtype), True)
        v = binary(body, "minimumf", v, body.constant(127, x.dtype), True)
        y = body.op(f"arith.fptosi {{}} : {x.dtype} to i8", [v], "i8", np.trunc, False)
        every = loops(*range(x.rank))
        inputs = [(x, every)] + ([(steps, every[:-1])] if given else [])
        return self.generic(inputs, ["parallel"] * x.rank, [(x.dims, "i8", every)], x.shape, body, [name, *given], [y])[0]

    def quantized(self):
        """A product of integers, of weights that are integers, or of both."""
        x, n = self.as_type(self.token(), "f32"), self.wide()
        k, how = x.dims[2], int(self.rng.integers(3))
        w = self.weight([k, n], "i8")
        scale = self.weight([n], "f32", 0.01, 0.02)
        if how == 0:  # only the weights
            if self.chance(0.5):
                shift = self.weight([n], "i8")
                real = self.map(w, lambda body, v, z, s: times(body, binary(body, "subf", to_float(body, v), to_float(body, z)), s),
                                [(shift, [1]), (scale, [1])], "f32")
            else:
                real = self.map(w, lambda body, v, s: times(body, to_float(body, v), s), [(scale, [1])], "f32")
            y = self.contracted("mk,kn->mn", self.merged(x, 0), real)
        else:
            rows, steps = None, 32
            if how == 1 and self.chance(0.5):  # as many steps as the largest of a row leaves
                size = self.map(x, lambda body, v: body.op("math.absf {} : f32", [v], "f32", np.abs))
                rows = self.map(self.total(size, [2], "maximumf", 0), lambda body, v: binary(body, "maximumf", v, body.constant(
                    0.01, "f32")))
                steps = self.map(rows, lambda body, v: binary(body, "divf", body.constant(127, "f32"), v))
            q = self.quantize(x, steps)
            self.returned += [q] if self.chance(0.2) else []
            if how == 1:
                total = self.contracted("mk,kn->mn", self.merged(q, 0), w)
                y = self.map(total, lambda body, v, s: times(body, body.op("arith.sitofp {} : i32 to f32", [v], "f32", lambda a: a),
                                                             s), [(scale, [1])], "f32")
                if rows:
                    y = self.map(y, lambda body, v, r: times(body, times(body, v, r), body.constant(1 / 127, "f32")),
                                 [(self.merged(rows, 0), [0])])
                else:
                    y = self.scaled(y, 1 / 32)
            else:
                real = self.map(q, lambda body, v: times(body, to_float(body, v), body.constant(1 / 32, "f32")), dtype="f32")
                y = self.contracted("mk,kn->mn", self.merged(real, 0), self.weight([k, n], "f32", k.size ** -0.5))
        y = self.scaled(y, float(0.5 * k.size ** -0.5) if how < 2 else 1)
        return self.add_tokens(self.as_type(self.split(y, 0, x.dims[:2]), self.main_type))

    def signal(self):
        """A convolution along the length of tokens."""
        x, last = self.token(), self.chance(0.5)
        tap, dilation = self.choice([1, 3, 4]), self.choice([1, 1, 2])
        reach = (tap - 1) * dilation
        y = x if last else self.permuted(x, [0, 2, 1])
        pads = [(0, 0)] * 3
        pads[1 if last else 2] = (reach, 0) if self.chance(0.5) else (reach // 2, reach - reach // 2)
        y = self.padded(y, pads) if reach else y
        groups = 2 if x.dims[2].size % 2 == 0 and self.chance(0.3) else 1
        y = self.convolve(y, last, 2 * self.choice([4, 8]), [tap], [1], [dilation], groups)
        if self.chance(0.5):
            y = self.activated(y)
        return self.add_tokens(self.as_length(y if last else self.permuted(y, [0, 2, 1]), x))

    def as_length(self, y, x):
        """The same tensor with the extent of length that others have, which it has by another way of computing it."""
        if y.dims[1].value == x.dims[1].value:
            return y
        return self.sliced(y, 1, 0, x.dims[1])
