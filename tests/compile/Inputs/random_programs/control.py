"""Control flow of the host."""

import numpy as np

from bodies import Body
from narrow import is_narrow
from program import Dim, Value, is_float, loops, tensor_type, to_type


class Control:
    """Loops, branches and calls."""

    def nested(self, count, finish):
        """Ops of an inner block; what they make stays in it. Gives the lines, the tape and what `finish` gives."""
        f = self.f
        lines, tape, pool, dims = f.lines, f.tape, list(f.pool), list(self.dims)
        f.lines, f.tape, f.indent = [], [], f.indent + "  "
        self.depth += 1
        self.run(count)
        results = finish()
        self.depth -= 1
        inner, steps = f.lines, f.tape
        f.lines, f.tape, f.indent, self.dims = lines, tape, f.indent[:-2], dims
        arguments = {arg.name for arg in f.args}
        f.pool[:] = pool + [v for v in f.pool[len(pool):] if v.name in arguments]
        return inner, steps, results

    def mixed(self, value):
        """Something of the type of `value` that depends on what was just made."""
        dtype = value.dtype
        fitting = [v for v in self.f.pool[-6:] if v.rank and set(v.shape) <= set(value.shape) and 0 not in v.shape and
                   len(set(value.shape)) == value.rank]
        inputs = [(self.tamed(value), loops(*range(value.rank)))]
        if fitting:
            other = self.tamed(self.choice(fitting))
            if len(set(other.shape)) == other.rank:
                inputs.append((other, loops(*(value.shape.index(s) for s in other.shape))))
        body = Body(self.f)
        names = [self.f.new() for _ in inputs]
        args = [(n, v.dtype, v.exact) for n, (v, _) in zip(names, inputs)]
        y = body.random(args, dtype, 1)
        if is_float(dtype) and not is_narrow(dtype):
            y = body.op(f"math.tanh {{}} : {dtype}", [y], dtype, np.tanh)
        rank = value.rank
        return self.generic(inputs, ["parallel"] * rank, [(value.dims, dtype, loops(*range(rank)))], value.shape, body,
                            names, [y])[0]

    def updated(self, value):
        """What a turn of a loop or a branch makes of a value: another one, or the same with an element that it puts there."""
        made = self.mixed(value)
        if not self.chance(0.4) or value.rank == 0 or any(d.value for d in value.dims) or 0 in value.shape:
            return made
        one, place = [Dim(1)] * value.rank, tuple(int(self.rng.integers(size)) for size in value.shape)
        ones = ", ".join("1" for _ in one)
        where = f"[{', '.join(map(str, place))}] [{ones}] [{ones}]"
        piece = self.f.define(f"tensor.extract_slice {made.name}{where} : {made.type} to "
                              f"{tensor_type(one, value.dtype)}", one, value.dtype,
                              lambda env: env[made.name][place].reshape([1] * value.rank), made.exact)

        def put(env):
            array = env[value.name].copy()
            array[place] = env[piece.name].reshape(())
            return array
        return self.f.define(f"tensor.insert_slice {piece.name} into {value.name}{where} : {piece.type} into "
                             f"{value.type}", value.dims, value.dtype, put, False)

    def for_loop(self):
        start = [self.tamed(self.pick(low=0, high=3)) for _ in range(self.rng.integers(1, 3))]
        return self.turns(start, int(self.rng.integers(1, 3)), lambda turn, carried: [self.updated(c) for c in carried])[0]

    def turns(self, start, count, finish):
        """A loop of some turns on values, each of so many ops and of what `finish` makes of the turn's number and the values."""
        f = self.f
        trips = int(self.rng.integers(0, 4))
        zero, one, end = f.constant(0), f.constant(1), self.maybe_dynamic(trips, 0.4)
        end = end if end.startswith("%") else f.constant(trips)
        carried = [Value(f.new(), v.dims, v.dtype, False) for v in start]
        results, turn = f.new(), f.new()
        f.env[turn] = np.int64(0)
        for c, v in zip(carried, start):
            f.env[c.name] = f.env[v.name]
        f.pool += carried
        lines, steps, ends = self.nested(count, lambda: finish(turn, carried))
        names = {c.name for c in carried}
        f.pool[:] = [v for v in f.pool if v.name not in names]
        pairs = ", ".join(f"{c.name} = {v.name}" for c, v in zip(carried, start))
        types = ", ".join(v.type for v in start)
        multiple = len(start) > 1
        f.line(f"{results}{f':{len(start)}' if multiple else ''} = scf.for {turn} = {zero} to {end} step {one} "
               f"iter_args({pairs}) -> ({types}) {{")
        f.lines += lines
        f.line(f"  scf.yield {', '.join(e.name for e in ends)} : {types}")
        f.line("}")
        outs = [Value(results + (f"#{i}" if multiple else ""), v.dims, v.dtype, False) for i, v in enumerate(start)]

        def action(env):
            state = [env[v.name] for v in start]
            for number in range(trips):
                env[turn] = np.int64(number)
                for c, s in zip(carried, state):
                    env[c.name] = s
                for step in steps:
                    step(env)
                state = [env[e.name] for e in ends]
            for out, s in zip(outs, state):
                env[out.name] = s
        f.step(action)
        f.pool += outs
        return outs

    def scan(self):
        """A running sum over slices, in a loop: a slice is taken, added, and inserted into the result."""
        f = self.f
        a = self.tamed(self.pick(low=2, high=3, only=lambda v: not any(d.value for d in v.dims) and 0 not in v.shape and
                                 v.dtype in ("f32", "f64", "i32", "i64", "i8")))
        axis, kind = int(self.rng.integers(a.rank)), "f" if is_float(a.dtype) else "i"
        dims = [d for i, d in enumerate(a.dims) if i != axis]
        slice_type = tensor_type(dims, a.dtype)
        total, into = f.fill(dims, a.dtype, 0), self.start(a.dims, a.dtype)
        zero, one, end = f.constant(0), f.constant(1), f.constant(a.dims[axis].size)
        names = [f.new() for _ in range(7)]
        i, sum_, result, row, next_, made, both = names
        place = ", ".join(i if d == axis else "0" for d in range(a.rank))
        sizes = ", ".join("1" if d == axis else str(a.dims[d].size) for d in range(a.rank))
        where = f"[{place}] [{sizes}] [{', '.join('1' for _ in a.dims)}]"
        f.line(f"{both}:2 = scf.for {i} = {zero} to {end} step {one} iter_args({sum_} = {total.name}, {result} = "
               f"{into.name}) -> ({slice_type}, {a.type}) {{")
        f.line(f"  {row} = tensor.extract_slice {a.name}{where} : {a.type} to {slice_type}")
        f.line(f"  {next_} = arith.add{kind} {sum_}, {row} : {slice_type}")
        f.line(f"  {made} = tensor.insert_slice {next_} into {result}{where} : {slice_type} into {a.type}")
        f.line(f"  scf.yield {next_}, {made} : {slice_type}, {a.type}")
        f.line("}")
        out = Value(both + "#1", a.dims, a.dtype, a.exact and not is_float(a.dtype))
        f.step(lambda env: env.__setitem__(out.name, to_type(a.dtype, np.cumsum(
            env[a.name], axis=axis, dtype=np.float64 if is_float(a.dtype) else np.int64))))
        f.pool.append(out)
        return self.tamed(out)

    def growing(self):
        """A loop whose tensor is longer, or shorter, in each turn than in the one before."""
        f = self.f
        first = self.tamed(self.pick(low=1, high=3, only=lambda v: 0 not in v.shape))
        axis, trips = int(self.rng.integers(first.rank)), int(self.rng.integers(0, 4))
        grows = self.chance(0.6)
        size = first.dims[axis].size * (1 + trips) if grows else first.dims[axis].size // 2**trips
        if np.prod(first.shape) * (1 + trips) > 30000:
            return None
        # The extent is not in the type; neither are those of the others, where concatenation would not say them.
        carried = tensor_type([Dim(d.size, "dynamic" if i == axis else d.value) for i, d in enumerate(first.dims)],
                              first.dtype)
        start, zero, one, end = first.name, f.constant(0), f.constant(1), self.maybe_dynamic(trips, 0.7)
        end = end if end.startswith("%") else f.constant(trips)
        if carried != first.type:
            start = f.new()
            f.line(f"{start} = tensor.cast {first.name} : {first.type} to {carried}")
        results, now, next_ = f.new(), f.new(), f.new()
        place, two = f.constant(axis), f.constant(2)
        f.line(f"{results} = scf.for {f.new()} = {zero} to {end} step {one} iter_args({now} = {start}) -> ({carried}) {{")
        if grows:
            parts = [(now, carried), (first.name, first.type)]
            if self.chance(0.5):
                parts.reverse()
            f.line(f"  {next_} = tensor.concat dim({axis}) {', '.join(name for name, _ in parts)} : "
                   f"({', '.join(kind for _, kind in parts)}) -> {carried}")
        else:
            extent, half = f.new(), f.new()
            zeros, ones = (f"[{', '.join([number] * first.rank)}]" for number in "01")
            sizes = ", ".join(half if i == axis else d.value or str(d.size) for i, d in enumerate(first.dims))
            f.line(f"  {extent} = tensor.dim {now}, {place} : {carried}")
            f.line(f"  {half} = arith.divui {extent}, {two} : index")
            f.line(f"  {next_} = tensor.extract_slice {now}{zeros} [{sizes}] {ones} : {carried} to {carried}")
        f.line(f"  scf.yield {next_} : {carried}")
        f.line("}")
        out = Value(results, [Dim(size, "dynamic") if i == axis else Dim(d.size, d.value)
                              for i, d in enumerate(first.dims)], first.dtype, first.exact)

        def action(env):
            array = env[first.name]
            for _ in range(trips):
                array = (np.concatenate([array, env[first.name]], axis=axis) if grows else
                         np.take(array, range(array.shape[axis] // 2), axis=axis))
            env[results] = array
        f.step(action)
        if self.chance(0.5):
            # What it has become is claimed, and true.
            out = f.define(f"tensor.cast {results} : {carried} to {tensor_type([Dim(d.size) for d in out.dims], out.dtype)}",
                           [Dim(d.size) for d in out.dims], out.dtype, lambda env: env[results], out.exact)
            return out
        f.pool.append(self.own_extents(out))
        return out

    def while_loop(self):
        """Doubles a counter in a tensor that the host reads, and works on another value."""
        f = self.f
        start = self.tamed(self.pick(low=0, high=3))
        limit = int(self.rng.integers(0, 20))
        counter = f.fill([], "i32", 1)
        bound = f.constant(limit, "i32")
        a, b, c, d = f.new(), f.new(), f.new(), f.new()
        carried = Value(f.new(), start.dims, start.dtype, False)
        f.env[carried.name] = f.env[start.name]
        f.pool.append(carried)
        lines, steps, end = self.nested(1, lambda: self.updated(carried))
        f.pool[:] = [v for v in f.pool if v.name != carried.name]
        results, types = f.new(), f"tensor<i32>, {start.type}"
        f.line(f"{results}:2 = scf.while ({a} = {counter.name}, {b} = {start.name}) : ({types}) -> ({types}) {{")
        e, g, sum_ = f.new(), f.new(), f.new()
        f.line(f"  {e} = tensor.extract {a}[] : tensor<i32>")
        f.line(f"  {g} = arith.cmpi slt, {e}, {bound} : i32")
        f.line(f"  scf.condition({g}) {a}, {b} : {types}")
        f.line("} do {")
        f.line(f"^bb0({c}: tensor<i32>, {carried.name}: {start.type}):")
        f.lines += lines
        f.line(f"  {sum_} = arith.addi {c}, {c} : tensor<i32>")
        f.line(f"  scf.yield {sum_}, {end.name} : {types}")
        f.line("}")
        out = Value(results + "#1", start.dims, start.dtype, False)

        def action(env):
            state, count = env[start.name], 1
            while count < limit:
                env[carried.name] = state
                for step in steps:
                    step(env)
                state, count = env[end.name], count * 2
            env[out.name] = state
        f.step(action)
        f.pool.append(out)
        return out

    def branch(self):
        f = self.f
        source = self.pick(low=1, high=4,
                           only=lambda v: v.dtype in ("i32", "i1", "i8", "i4", "i2") and v.exact and 0 not in v.shape)
        places = [f.constant(int(self.rng.integers(s))) for s in source.shape]
        numbers = [int(line.split("constant ")[1].split(" ")[0]) for line in f.lines[-len(places):]]
        x, condition = f.new(), f.new()
        f.line(f"{x} = tensor.extract {source.name}[{', '.join(places)}] : {source.type}")
        if source.dtype == "i1":
            condition = x
        else:
            zero = f.constant(0, source.dtype)
            f.line(f"{condition} = arith.cmpi sgt, {x}, {zero} : {source.dtype}")
        like = self.tamed(self.pick(low=0, high=3))
        # A branch may pass on what was there, or update it.
        blocks = [self.nested(int(self.rng.integers(0, 3)), lambda: like if self.chance(0.3) else self.updated(like))
                  for _ in range(2)]
        out = Value(f.new(), like.dims, like.dtype, False)
        f.line(f"{out.name} = scf.if {condition} -> ({like.type}) {{")
        for i, (lines, _, end) in enumerate(blocks):
            f.lines += lines
            f.line(f"  scf.yield {end.name} : {like.type}")
            f.line("} else {" if i == 0 else "}")

        def action(env):
            _, steps, end = blocks[0 if env[source.name][tuple(numbers)] > 0 else 1]
            for step in steps:
                step(env)
            env[out.name] = env[end.name]
        f.step(action)
        f.pool.append(out)
        return out

    def own_extents(self, value):
        """The result of a call; the indices that hold its extents are the helper's."""
        f = self.f
        for i, dim in enumerate(value.dims):
            if dim.value:
                place = f.constant(i)
                value.dims[i] = Dim(dim.size, f.scalar(f"tensor.dim {value.name}, {place} : {value.type}", "index",
                                                       lambda env, size=dim.size: size))
        return value

    def call(self):
        if not self.helpers:
            return None
        helper = self.choice(self.helpers)
        values = [self.tamed(self.of(arg.dims, arg.dtype)) for arg in helper.args]
        # Types must be equal.
        for i, (value, arg) in enumerate(zip(values, helper.args)):
            if value.type != arg.type:
                value = self.f.define(f"tensor.cast {value.name} : {value.type} to {arg.type}", arg.dims, arg.dtype,
                                      lambda env, v=value: env[v.name], value.exact)
                values[i] = value
        f = self.f
        name = f.new()
        multiple = len(helper.results) > 1
        f.line(f"{name}{f':{len(helper.results)}' if multiple else ''} = func.call @{helper.name}("
               f"{', '.join(v.name for v in values)}) : ({', '.join(v.type for v in values)}) -> "
               f"({', '.join(r.type for r in helper.results)})")
        outs = [self.own_extents(Value(name + (f"#{i}" if multiple else ""), r.dims, r.dtype, False))
                for i, r in enumerate(helper.results)]

        def action(env):
            for out, array in zip(outs, helper.call([env[v.name] for v in values])):
                env[out.name] = array
        f.step(action)
        f.pool += outs
        return outs[0]
