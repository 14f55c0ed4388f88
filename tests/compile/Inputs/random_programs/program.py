"""Programs under construction: MLIR text, and beside each line what computes the same in numpy."""

import re

import numpy as np

from narrow import INTEGERS, is_narrow, random_narrow, to_narrow

NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.float32, "i1": np.bool_, "i8": np.int8,
         "i32": np.int32, "i64": np.int64, "index": np.int64, "i16": np.int16}
WIDTH = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64, **INTEGERS}
# Of the largest element: what many operations in this type, each rounded, may add up to. A fault gives more.
EPSILON = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}  # of a unit in the last place
NOISE = "noise"
TOLERANCE = {"f64": 1e-9, "f32": 1e-3, "f16": 4e-2, "bf16": 3e-1}


def is_float(dtype):
    return "f" in dtype


def to_type(dtype, array):
    """Rounds or wraps to a type, as storing does."""
    if is_narrow(dtype):
        return to_narrow(dtype, array)
    with np.errstate(all="ignore"):
        if dtype == "bf16":
            bits = np.ascontiguousarray(array, np.float32).view(np.uint32).astype(np.uint64)
            bits = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32)
            return bits.view(np.float32).reshape(np.shape(array))
        return np.asarray(array).astype(NUMPY[dtype])


def with_noise(env, dtype, array, is_sum=False):
    """The array, off by some units in the last place where the environment has a generator for that; of a sum those of what
    was added up."""
    if NOISE not in env or dtype not in EPSILON:
        return array
    generator, units = env[NOISE]
    factor = EPSILON[dtype] * units[dtype] * generator.uniform(-1, 1, np.shape(array))
    finite = array[np.isfinite(array)] if is_sum else np.empty(0)
    added = factor * np.sqrt(np.mean(np.square(finite, dtype=np.float64))) if finite.size else 0
    return to_type(dtype, array * (1 + factor) + added)


class Dim:
    """An extent: its number in this run and, if it is dynamic, the index that holds it."""

    def __init__(self, size, value=None):
        self.size, self.value = int(size), value

    def __repr__(self):
        return f"{self.value or ''}{self.size}"


class Value:
    """A tensor, or a scalar argument. Exact is what no compiler may round otherwise: comparing it is safe."""

    def __init__(self, name, dims, dtype, exact=True, is_scalar=False):
        self.name, self.dims, self.dtype, self.exact, self.is_scalar = name, list(dims), dtype, exact, is_scalar

    @property
    def shape(self):
        return tuple(dim.size for dim in self.dims)

    @property
    def rank(self):
        return len(self.dims)

    @property
    def type(self):
        return tensor_type(self.dims, self.dtype)


def tensor_type(dims, dtype):
    return "tensor<" + "".join(f"{'?' if dim.value else dim.size}x" for dim in dims) + dtype + ">"


class Affine:
    """A result of an indexing map: coefficients of loops, and a constant."""

    def __init__(self, terms, constant=0):
        self.terms, self.constant = dict(terms), constant

    def __str__(self):
        parts = [f"d{loop}" + (f" * {factor}" if factor != 1 else "") for loop, factor in self.terms.items()]
        return " + ".join(parts + ([str(self.constant)] if self.constant or not parts else []))

    def at(self, grids):
        return sum((grids[loop] * factor for loop, factor in self.terms.items()), np.int64(self.constant))


def spread(array, affine, space, grids):
    """What a map reads of an array, for all steps of a loop nest; loops that it does not know have extent 1."""
    numbers = [next(iter(each.terms), None) for each in affine]
    if all(str(each) == f"d{number}" for each, number in zip(affine, numbers)) and numbers == sorted(set(numbers)) \
            and array.shape == tuple(space[number] for number in numbers):
        return array.reshape([space[loop] if loop in numbers else 1 for loop in range(len(space))])
    return array[tuple(each.at(grids) for each in affine)] if affine else array


def loops(*numbers):
    return [Affine({number: 1}) for number in numbers]


def is_permutation(affine, rank):
    """Whether a map has each of so many loops once, and nothing else, so that it reaches all of its tensor."""
    return len({str(each) for each in affine}) == rank == len(affine) and all(
        str(each) == f"d{next(iter(each.terms), '')}" for each in affine)


class Function:
    """A function: blocks are lists of lines; a tape is a list of steps on an environment, name -> array."""

    def __init__(self, rng, name):
        self.rng, self.name, self.takes_more = rng, name, True  # more arguments
        self.args, self.lines, self.results = [], [], []
        self.env, self.tape, self.pool, self.count = {}, [], [], 0
        self.indent = "  "
        self.maximum = 300000  # steps of a loop nest
        self.globals, self.parameters = [], {}  # lines of the module; key -> (type, array)
        self.units = dict.fromkeys(EPSILON, 4)  # by how many in the last place an operation may be off

    def new(self):
        self.count += 1
        return f"%{self.count}"

    def line(self, text):
        self.lines.append(self.indent + text)

    def step(self, action):
        self.tape.append(action)
        with np.errstate(all="ignore"):
            action(self.env)

    def constant(self, number, dtype="index"):
        return self.scalar(f"arith.constant {scalar_literal(to_type(dtype, number), dtype)}", dtype, lambda env: number)

    def define(self, text, dims, dtype, compute, exact=True, is_sum=False):
        """One op with one tensor as its result."""
        value = Value(self.new(), dims, dtype, exact)
        self.line(f"{value.name} = {text}")

        def action(env):
            result = to_type(dtype, compute(env))
            assert result.shape == value.shape, (text, result.shape, value.shape)
            env[value.name] = with_noise(env, dtype, result, is_sum)
        self.step(action)
        self.pool.append(value)
        return value

    def scalar(self, text, dtype, compute):
        name = self.new()
        self.line(f"{name} = {text}")
        self.step(lambda env: env.__setitem__(name, to_type(dtype, compute(env))))
        return name

    def argument(self, dims, dtype, array=None):
        value = Value(f"%arg{len(self.args)}", dims, dtype)
        self.args.append(value)
        self.env[value.name] = random_array(self.rng, value.shape, dtype) if array is None else array
        self.pool.append(value)
        return value

    def weight(self, dims, dtype, array, kind):
        """What is the same in each call: a constant, a global, a parameter, or an argument all the same."""
        if kind == "argument":
            return self.argument(dims, dtype, array)
        type_, key = tensor_type(dims, dtype), f"w{len(self.globals)}"
        if kind == "constant":
            text = f"arith.constant {dense_bytes(array, dtype)} : {type_}"
        else:
            first = f'#flow.parameter.named<"model"::"{key}">' if kind == "parameter" else dense_bytes(array, dtype)
            self.globals.append(f"util.global private @{key} = {first} : {type_}")
            if kind == "parameter":
                self.parameters[key] = (dtype, array)
            text = f"util.global.load @{key} : {type_}"
        name = self.new()
        self.line(f"{name} = {text}")
        self.pool.append(Value(name, dims, dtype))
        self.step(lambda env: env.__setitem__(name, array))
        return self.pool[-1]

    def scalar_argument(self, dtype, number):
        value = Value(f"%arg{len(self.args)}", [], dtype, is_scalar=True)
        self.args.append(value)
        self.env[value.name] = to_type(dtype, number)
        return value.name

    def empty(self, dims, dtype):
        name = self.new()
        self.line(f"{name} = tensor.empty({', '.join(d.value for d in dims if d.value)}) : {tensor_type(dims, dtype)}")
        return name

    def fill(self, dims, dtype, number):
        number = to_type(dtype, number)
        scalar, empty = self.constant(number, dtype), self.empty(dims, dtype)
        type_ = tensor_type(dims, dtype)
        return self.define(f"linalg.fill ins({scalar} : {dtype}) outs({empty} : {type_}) -> {type_}", dims, dtype,
                           lambda env: np.full([d.size for d in dims], number))

    def statements(self):
        """The lines of each op at the top of the function, and the names that it makes."""
        found = []
        for line in self.lines:
            if re.match("  [%a-z]", line):
                found.append(([], re.findall(r"^%\w+", line.strip())))
            found[-1][0].append(line)
        return found

    def shuffle(self):
        """Puts the ops at the top into another order in which each comes after what it uses."""
        waiting, known, lines = self.statements(), set(), []
        made = {name for _, names in waiting for name in names}
        uses = [set(re.findall(r"%\w+", "\n".join(text))) & made - set(names) for text, names in waiting]
        left = list(range(len(waiting)))
        while left:
            ready = [i for i in left if uses[i] <= known]
            chosen = ready[self.rng.integers(len(ready))]
            left.remove(chosen)
            known.update(waiting[chosen][1])
            lines += waiting[chosen][0]
        self.lines = lines

    def apart(self):
        """The lines with a barrier behind each op that makes tensors, so that no two of them meet in a dispatch; but for fills,
        which are where sums start."""
        made, lines = {}, []
        for value in self.pool:
            made.setdefault(value.name.split("#")[0], []).append(value)
        for text, names in self.statements():
            values = made.get(names[0], []) if names else []
            if not values or " = linalg.fill " in text[0]:
                lines += text
                continue
            name, raw_name, count = names[0], "%raw" + names[0][1:], f":{len(values)}" if len(values) > 1 else ""
            raw = ", ".join(value.name.replace(name, raw_name) for value in values)
            lines += [text[0].replace(name, raw_name, 1), *text[1:]]
            types = ", ".join(value.type for value in values)
            lines.append(f"  {name}{count} = util.optimization_barrier {raw} : {types}")
        return lines

    def text(self, is_apart=False):
        args = ", ".join(f"{a.name}: {a.dtype if a.is_scalar else a.type}" for a in self.args)
        types = ", ".join(value.type for value in self.results)
        names = ", ".join(value.name for value in self.results)
        return "\n".join(self.globals + [f"func.func @{self.name}({args}) -> ({types}) {{"]
                         + (self.apart() if is_apart else self.lines) + [f"  return {names} : {types}", "}", ""])

    def call(self, arrays, noise=None):
        """Runs the tape on other arguments. With a generator as noise, each step is off by some units in the last place."""
        env = {arg.name: array for arg, array in zip(self.args, arrays)}
        if noise is not None:
            env[NOISE] = noise, self.units
        for action in self.tape:
            action(env)
        return [env[value.name] for value in self.results]


def literal(number, dtype):
    if dtype == "i1":
        return "true" if number else "false"
    return f"{float(number):.20e}" if is_float(dtype) else str(int(number))


def scalar_literal(number, dtype):
    return literal(number, dtype) + ("" if dtype == "i1" else f" : {dtype}")


def random_array(rng, shape, dtype):
    if is_narrow(dtype):
        return random_narrow(rng, shape, dtype)
    if is_float(dtype):
        return to_type(dtype, rng.integers(-16, 17, shape) / 8)
    if dtype == "i1":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if dtype == "i8":
        return np.asarray(rng.integers(-128, 128, shape)).astype(np.int8)
    if rng.random() < 0.2 and dtype != "index":
        info = np.iinfo(NUMPY[dtype])
        return np.asarray(rng.integers(info.min, info.max, shape, endpoint=True)).astype(NUMPY[dtype])
    return np.asarray(rng.integers(-100, 101, shape)).astype(NUMPY[dtype])


def raw_bytes(array, dtype):
    """As they lie in memory."""
    if dtype == "bf16":
        array = (np.ascontiguousarray(array, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.ascontiguousarray(array).tobytes()


def dense_bytes(array, dtype):
    return f'dense<"0x{raw_bytes(array, dtype).hex().upper()}">'


def dense(array, dtype):
    if array.size == 0:
        return "dense<>"
    if array.size > 1 and array.ndim and (array == array.flat[0]).all() or array.ndim == 0:
        return f"dense<{literal(array.flat[0], dtype)}>"

    def nest(part):
        return literal(part, dtype) if part.ndim == 0 else "[" + ", ".join(nest(each) for each in part) + "]"
    return f"dense<{nest(array)}>"
