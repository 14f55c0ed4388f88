"""What ops take: tensors of the pool, arguments, constants; and linalg.generic, which most of them are."""

import numpy as np

from bodies import Body
from narrow import FLOATS
from program import (Dim, Function, Value, dense, is_float, is_permutation, loops, random_array, spread, tensor_type, to_type,
                     with_noise)


class NotPossible(Exception):
    """Nothing in the pool fits, and what was made to fit does not either."""


class Values:
    """Chooses operands, and writes linalg.generic."""

    def __init__(self, rng, name, dtypes, dims, helpers=()):
        self.f = Function(rng, name)
        self.rng, self.dtypes, self.helpers, self.depth = rng, dtypes, list(helpers), 0
        self.dims, self.starts = [], set()
        for size, dynamic in dims:
            self.dims.append(self.dynamic_dim(size) if dynamic else Dim(size))

    def dynamic_dim(self, size):
        return Dim(size, self.f.scalar_argument("index", size))

    def chance(self, p):
        return self.rng.random() < p

    def choice(self, items):
        return items[self.rng.integers(len(items))]

    def dtype(self, only=None):
        kinds = [d for d in self.dtypes if only is None or only(d)]
        return self.choice(kinds) if kinds else "f32"

    def shape(self, low=1, high=4):
        for _ in range(20):
            dims = [self.choice(self.dims) for _ in range(self.rng.integers(low, high + 1))]
            if np.prod([d.size for d in dims], dtype=np.int64) <= self.f.maximum // 15:
                return dims
        return dims[:low]

    def pick(self, only=None, low=1, high=6):
        """A tensor, mostly one of the latest."""
        found = [v for v in self.f.pool if low <= v.rank <= high and (only is None or only(v))]
        if found and self.chance(0.2):
            return self.choice(found)
        if found and not self.chance(0.15):
            return found[-1 - min(int(self.rng.geometric(0.35)) - 1, len(found) - 1)]
        dtype = self.dtype()
        if only:
            fitting = [d for d in self.dtypes + ["f32", "i32", "i1"] if only(Value("", [Dim(1)], d))]
            if not fitting:
                raise NotPossible
            dtype = self.choice(fitting)
        value = self.of(self.shape(low, min(high, 4)), dtype)
        if only and not only(value):
            raise NotPossible
        return value

    def of(self, dims, dtype):
        """A tensor of these extents and this type: of the pool, an argument, a constant, or a fill."""
        sizes = tuple(d.size for d in dims)
        if np.prod(sizes, dtype=np.int64) > self.f.maximum // 3:
            raise NotPossible
        found = [v for v in self.f.pool if v.shape == sizes and v.dtype == dtype]
        if found and self.chance(0.6):
            return self.choice(found)
        static = not any(d.value for d in dims)
        if self.depth == 0 and self.chance(0.1):
            return self.f.fill(dims, dtype, self.rng.integers(-8, 9) / 4 if is_float(dtype) else
                               self.rng.integers(0, 2 if dtype == "i1" else 10))
        if static and self.chance(0.25) and np.prod(sizes) < 3000:
            array = random_array(self.rng, sizes, dtype)
            if self.chance(0.2) and array.size:
                array = np.full(sizes, array.flat[0])
            value = self.f.define(f"arith.constant {dense(array, dtype)} : {tensor_type(dims, dtype)}", dims, dtype,
                                  lambda env: array)
            return value
        if any(d.value and not d.value.startswith("%arg") for d in dims):
            return self.f.fill(dims, dtype, 1)
        if not self.f.takes_more or len(self.f.args) > 12:
            return self.f.fill(dims, dtype, 1)
        return self.f.argument(dims, dtype)

    def start(self, dims, dtype, zero=False):
        """A tensor of just these extents, dynamic or not, as outputs of linalg ops need it; often one that others start from."""
        type_ = tensor_type(dims, dtype)
        shape = tuple(d.size for d in dims)
        earlier = [v for v in self.f.pool if v.name in self.starts and v.type == type_ and v.shape == shape]
        if earlier and self.chance(0.4):
            return self.choice(earlier)
        value = self.f.fill(dims, dtype, 0) if zero else self.of(dims, dtype)
        if value.type != type_:
            value = self.f.define(f"tensor.cast {value.name} : {value.type} to {type_}", dims, dtype,
                                  lambda env, cast=value.name: env[cast], value.exact)
        self.starts.add(value.name)
        return value

    def tamed(self, value):
        """Floats of a size that the next op can take."""
        if not is_float(value.dtype) or value.dtype in FLOATS:
            return value
        array = self.f.env[value.name]
        largest = float(np.max(np.abs(array.astype(np.float64)), initial=0))
        if largest < 6:
            return value
        factor = 2.0 ** -np.ceil(np.log2(largest / 2))
        body = Body(self.f)
        x = ("%in", value.dtype, value.exact)
        y = body.op(f"arith.mulf {{}}, {{}} : {value.dtype}", [x, body.constant(factor, value.dtype)], value.dtype,
                    np.multiply)
        rank = value.rank
        return self.generic([(value, loops(*range(rank)))], ["parallel"] * rank,
                            [(value.dims, value.dtype, loops(*range(rank)))], value.shape, body, ["%in"], [y])[0]

    def maybe_dynamic(self, number, probability=0.2):
        """A number, as text or as an index of the host."""
        if not self.chance(probability):
            return str(number)
        if not self.f.takes_more or len(self.f.args) > 12:
            return self.f.constant(number)
        return self.f.scalar_argument("index", number)

    def computed(self, size, dim, expression):
        """An extent that follows from another."""
        if not dim.value:
            return Dim(size)
        return Dim(size, self.f.scalar(f"affine.apply affine_map<(d0) -> ({expression})>({dim.value})", "index",
                                       lambda env: size))

    def generic(self, inputs, iterators, outs, space, body, names, yields, inits=None, out_names=None, folds=None,
                spelled=None):
        """inputs: (value, affine results); outs: (dims, type, loops). folds: for each output of a reduction
        (how it accumulates, combine(accumulated, init)), applied along the reduction loops."""
        f = self.f
        inits = inits or [None] * len(outs)
        out_names = out_names or [f.new() for _ in outs]
        count = ", ".join(f"d{i}" for i in range(len(space)))
        maps = ", ".join(f"affine_map<({count}) -> ({', '.join(map(str, m))})>"
                         for m in [m for _, m in inputs] + [m for _, _, m in outs])
        types = [tensor_type(dims, dtype) for dims, dtype, _ in outs]
        init_names = [init.name if init else f.empty(dims, dtype) for (dims, dtype, _), init in zip(outs, inits)]
        results = [Value(f.new() if i == 0 else None, dims, dtype) for i, (dims, dtype, _) in enumerate(outs)]
        base = results[0].name
        for i, result in enumerate(results):
            result.name = base + (f"#{i}" if len(outs) > 1 else "")
            result.exact = yields[i][2]
        ins = f"ins({', '.join(v.name for v, _ in inputs)} : {', '.join(v.type for v, _ in inputs)}) " if inputs else ""
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        f.line(f"{base}{f':{len(outs)}' if len(outs) > 1 else ''} = linalg.generic {{indexing_maps = [{maps}], "
               f"iterator_types = [{kinds}]}} {ins}outs({', '.join(init_names)} : {', '.join(types)}) {{")
        arguments = [f"{name}: {value.dtype}" for name, (value, _) in zip(names, inputs)]
        arguments += [f"{name}: {dtype}" for name, (_, dtype, _) in zip(out_names, outs)]
        f.line(f"^bb0({', '.join(arguments)}):")
        for line in body.lines:
            f.line("  " + line)
        f.line(f"  linalg.yield {', '.join(y[0] for y in yields)} : {', '.join(y[1] for y in yields)}")
        f.line(f"}} -> {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'}")
        reduced = tuple(i for i, kind in enumerate(iterators) if kind == "reduction")

        def action(env):
            grids = np.indices(space, sparse=True)
            local = dict(env)
            for i, grid in enumerate(grids):
                local[f"loop{i}"] = grid
            for name, (value, affine) in zip(names, inputs):
                local[name] = spread(env[value.name], affine, space, grids)
            for name, (_, _, affine), init in zip(out_names, outs, inits):
                if init and not folds:
                    local[name] = spread(env[init.name], affine, space, grids)
            body.evaluate(local)
            for i, (result, (dims, dtype, affine), init) in enumerate(zip(results, outs, inits)):
                if folds:
                    term = np.broadcast_to(local[folds[i][0]], space)
                    array = folds[i][1](term, reduced)
                else:
                    array = np.broadcast_to(local[yields[i][0]], space)
                kept = [loop for loop in range(len(space)) if loop not in reduced]
                if not is_permutation(affine, len(kept)):
                    whole = env[init.name].copy()
                    whole[tuple(each.at(grids) for each in affine)] = to_type(dtype, array)
                    env[result.name] = whole
                    continue
                order = [kept.index(next(iter(each.terms))) for each in affine]
                array = np.transpose(array, order)
                if folds:
                    array = folds[i][2](to_type(dtype, array), env[init.name])
                    array = array if result.exact else with_noise(env, dtype, array, True)
                env[result.name] = to_type(dtype, array).reshape(result.shape)
        f.step(action)
        f.pool.extend(results)
        return results

    def same_shape(self, value):
        """A little arithmetic that keeps shape and type."""
        body, name = Body(self.f), self.f.new()
        y = body.random([(name, value.dtype, value.exact)], value.dtype, 1)
        rank = value.rank
        return self.generic([(value, loops(*range(rank)))], ["parallel"] * rank,
                            [(value.dims, value.dtype, loops(*range(rank)))], value.shape, body, [name], [y])[0]
