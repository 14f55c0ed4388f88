"""Bodies of linalg.generic: random arithmetic on elements, with what it computes in numpy."""

import math
import numpy as np

from narrow import FLOATS, INFINITE, SCALE, is_narrow, largest
from program import WIDTH, is_float, scalar_literal, to_type, with_noise

erf = np.vectorize(math.erf, otypes=[np.float64])


class Body:
    """Values are (name, type, exact); exact ones have no rounding behind them that a compiler may do otherwise."""

    def __init__(self, function):
        self.function, self.rng, self.lines, self.steps = function, function.rng, [], []
        self.rounded = set()  # names of what a compiler may round otherwise

    def op(self, text, operands, dtype, compute, exact=None):
        name = self.function.new()
        names = [operand[0] for operand in operands]
        self.lines.append(f"{name} = " + text.format(*names))
        self.steps.append((name, names, dtype, compute))
        if exact is None:
            exact = (not is_float(dtype) or is_narrow(dtype)) and all(operand[2] for operand in operands)
        if not exact:
            self.rounded.add(name)
        return (name, dtype, exact)

    def evaluate(self, env):
        for name, names, dtype, compute in self.steps:
            wide = [env[each] for each in names]
            env[name] = to_type(dtype, compute(*wide))
            if name in self.rounded:
                env[name] = with_noise(env, dtype, env[name])

    def constant(self, number, dtype):
        number = to_type(dtype, number)[()]
        return self.op(f"arith.constant {scalar_literal(number, dtype)}", [], dtype, lambda: number, True)

    def index(self, loop):
        # grids come with the environment
        name = self.function.new()
        self.lines.append(f"{name} = linalg.index {loop} : index")
        self.steps.append((name, [f"loop{loop}"], "index", lambda grid: grid))
        return (name, "index", True)

    def cast(self, x, dtype):
        """The value as another type."""
        source = x[1]
        if source == dtype:
            return x
        if source in FLOATS:
            return self.cast_narrow_float(x, dtype)
        if is_float(source) and dtype in FLOATS:
            # Rounded to so few bits, what a compiler may round otherwise becomes another number.
            return self.op(f"arith.truncf {{}} : {source} to {dtype}", [x], dtype, lambda a: a, True) if x[2] else \
                self.constant(1, dtype)
        if is_float(source) and is_float(dtype):
            order = ["bf16", "f16", "f32", "f64"]
            if {source, dtype} == {"bf16", "f16"}:
                return self.cast(self.cast(x, "f32"), dtype)
            wider = order.index(dtype) > order.index(source)
            return self.op(f"arith.{'extf' if wider else 'truncf'} {{}} : {source} to {dtype}", [x], dtype,
                           lambda a: a, x[2] and wider)
        if is_float(dtype):
            if source == "index":
                return self.cast(self.cast(x, "i32"), dtype)
            if source == "i1":
                return self.op(f"arith.uitofp {{}} : i1 to {dtype}", [x], dtype, lambda a: a, x[2])
            small = x if is_narrow(source) else self.op(f"arith.andi {{}}, {{}} : {source}",
                                                        [x, self.constant(15, source)], source, lambda a, b: a & b)
            kind = self.rng.choice(["sitofp", "uitofp"])
            mask = (1 << WIDTH[source]) - 1 if is_narrow(source) and kind == "uitofp" else -1
            return self.op(f"arith.{kind} {{}} : {source} to {dtype}", [small], dtype,
                           lambda a: np.asarray(a, np.int64) & mask, x[2])
        if is_float(source):
            if not x[2]:
                return self.index_cast_constant(dtype)
            if dtype == "index":
                return self.cast(self.cast(x, "i32"), dtype)
            if dtype == "i1":
                return self.op(f"arith.cmpf olt, {{}}, {{}} : {source}", [x, self.constant(0.5, source)], "i1",
                               lambda a, b: a < b, x[2])
            limit = min(60, largest(dtype)) if is_narrow(dtype) else 60
            low, high = self.constant(-limit, source), self.constant(limit, source)
            # Not NaN, which a narrow float may have overflown to.
            y = self.op(f"arith.maxnumf {{}}, {{}} : {source}", [x, low], source, np.fmax, x[2])
            y = self.op(f"arith.minnumf {{}}, {{}} : {source}", [y, high], source, np.fmin, x[2])
            return self.op(f"arith.fptosi {{}} : {source} to {dtype}", [y], dtype, np.trunc, x[2])
        if "index" in (source, dtype):
            if "i1" in (source, dtype):
                return self.cast(self.cast(x, "i32"), dtype)
            return self.op(f"arith.index_cast {{}} : {source} to {dtype}", [x], dtype, lambda a: a)
        if WIDTH[source] > WIDTH[dtype]:
            return self.op(f"arith.trunci {{}} : {source} to {dtype}", [x], dtype,
                           (lambda a: a & 1) if dtype == "i1" else lambda a: a)
        if source != "i1" and self.rng.random() < 0.7:
            return self.op(f"arith.extsi {{}} : {source} to {dtype}", [x], dtype, lambda a: a)
        width = WIDTH[source]
        return self.op(f"arith.extui {{}} : {source} to {dtype}", [x], dtype,
                       lambda a: np.asarray(a, np.int64) & ((1 << width) - 1))

    def cast_narrow_float(self, x, dtype):
        """From a float of at most 8 bits, directly or by way of f32."""
        source, is_direct = x[1], self.rng.random() < 0.5
        if dtype in FLOATS:
            # Among them only what has 4 bits has less than others.
            narrower = dtype.startswith("f4")
            if is_direct and (narrower or source.startswith("f4") and dtype != SCALE):
                return self.op(f"arith.{'truncf' if narrower else 'extf'} {{}} : {source} to {dtype}", [x], dtype,
                               lambda a: a, x[2])
        elif is_float(dtype):
            return self.op(f"arith.extf {{}} : {source} to {dtype}", [x], dtype, lambda a: a, x[2])
        elif is_direct and source in ("f4E2M1FN", "f8E3M4") and WIDTH[dtype] >= 8 and dtype != "index":
            if source in INFINITE:  # infinity is no integer, and NaN is none
                for name, limit, compute in (("maxnumf", -8, np.fmax), ("minnumf", 8, np.fmin)):
                    x = self.op(f"arith.{name} {{}}, {{}} : {source}", [x, self.constant(limit, source)], source, compute)
            return self.op(f"arith.fptosi {{}} : {source} to {dtype}", [x], dtype, np.trunc, x[2])
        return self.cast(self.cast(x, "f32"), dtype)

    def index_cast_constant(self, dtype):
        return self.constant(1, dtype)

    def float_op(self, x, y, dtype):
        rng = self.rng
        both = x[2] and y[2]
        if is_narrow(dtype):  # each operation is one of f32, and rounded
            name, compute = [("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply), ("maximumf", np.maximum),
                             ("minimumf", np.minimum), ("maxnumf", np.fmax)][rng.integers(6)]
            return self.op(f"arith.{name} {{}}, {{}} : {dtype}", [x, y], dtype, compute)
        binary = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply}
        kinds = list(binary) + ["maximumf", "minimumf", "maxnumf", "neg", "abs", "tanh", "exp", "sqrt", "rsqrt", "div",
                                "sin", "cos", "erf", "log", "leaky", "fma", "log1p", "sigmoid", "floor", "cmp", "pow"]
        kind = kinds[rng.integers(len(kinds))]
        if kind in binary:
            return self.op(f"arith.{kind} {{}}, {{}} : {dtype}", [x, y], dtype, binary[kind])
        if kind in ("maximumf", "minimumf", "maxnumf"):
            return self.op(f"arith.{kind} {{}}, {{}} : {dtype}", [x, y], dtype,
                           {"minimumf": np.minimum, "maximumf": np.maximum, "maxnumf": np.fmax}[kind], both)
        if kind == "neg":
            return self.op(f"arith.negf {{}} : {dtype}", [x], dtype, np.negative, x[2])
        positive = self.op(f"math.absf {{}} : {dtype}", [x], dtype, np.abs, x[2])
        if kind == "abs":
            return positive
        if kind == "tanh":
            return self.op(f"math.tanh {{}} : {dtype}", [x], dtype, np.tanh)
        if kind == "exp":
            low = self.op(f"arith.minimumf {{}}, {{}} : {dtype}", [x, self.constant(2, dtype)], dtype, np.minimum, x[2])
            return self.op(f"math.exp {{}} : {dtype}", [low], dtype, np.exp)
        if kind == "sqrt":
            # Near zero a small error would grow.
            more = self.op(f"arith.addf {{}}, {{}} : {dtype}", [positive, self.constant(0.25, dtype)], dtype, np.add)
            return self.op(f"math.sqrt {{}} : {dtype}", [more], dtype, np.sqrt)
        if kind in ("rsqrt", "div", "log", "log1p", "pow"):
            more = self.op(f"arith.addf {{}}, {{}} : {dtype}", [positive, self.constant(0.5, dtype)], dtype, np.add)
            if kind == "div":
                return self.op(f"arith.divf {{}}, {{}} : {dtype}", [y, more], dtype, np.divide)
            if kind == "pow":
                return self.op(f"math.powf {{}}, {{}} : {dtype}", [more, self.constant(0.75, dtype)], dtype,
                               lambda a, b: np.power(a, b))
            return self.op(f"math.{kind} {{}} : {dtype}", [more], dtype,
                           {"rsqrt": lambda a: 1 / np.sqrt(a), "log": np.log, "log1p": np.log1p}[kind])
        if kind in ("sin", "cos"):
            return self.op(f"math.{kind} {{}} : {dtype}", [x], dtype, np.sin if kind == "sin" else np.cos)
        if kind == "erf":
            return self.op(f"math.erf {{}} : {dtype}", [x], dtype, erf)
        if kind == "leaky":
            zero, slope = self.constant(0, dtype), self.constant(0.125, dtype)
            # Continuous, so that a comparison that errors turn over does no harm.
            above = self.op(f"arith.cmpf ogt, {{}}, {{}} : {dtype}", [x, zero], "i1", np.greater, x[2])
            scaled = self.op(f"arith.mulf {{}}, {{}} : {dtype}", [x, slope], dtype, np.multiply)
            return self.op(f"arith.select {{}}, {{}}, {{}} : {dtype}", [above, x, scaled], dtype, np.where)
        if kind == "fma":
            return self.op(f"math.fma {{}}, {{}}, {{}} : {dtype}", [x, y, x], dtype,
                           lambda a, b, c: np.asarray(a, np.float64) * b + c)
        if kind == "sigmoid":
            one = self.constant(1, dtype)
            low = self.op(f"arith.minimumf {{}}, {{}} : {dtype}", [x, self.constant(3, dtype)], dtype, np.minimum, x[2])
            e = self.op(f"math.exp {{}} : {dtype}", [low], dtype, np.exp)
            more = self.op(f"arith.addf {{}}, {{}} : {dtype}", [e, one], dtype, np.add)
            return self.op(f"arith.divf {{}}, {{}} : {dtype}", [one, more], dtype, np.divide)
        if kind == "floor" and x[2]:
            name, compute = [("floor", np.floor), ("ceil", np.ceil), ("roundeven", np.rint), ("trunc", np.trunc)][
                rng.integers(4)]
            return self.op(f"math.{name} {{}} : {dtype}", [x], dtype, compute, True)
        if kind == "cmp" and both:
            name, compute = [("oeq", np.equal), ("olt", np.less), ("une", np.not_equal), ("uge", lambda a, b: ~np.less(a, b))][
                rng.integers(4)]
            which = self.op(f"arith.cmpf {name}, {{}}, {{}} : {dtype}", [x, y], "i1", compute, True)
            return self.op(f"arith.select {{}}, {{}}, {{}} : {dtype}", [which, x, self.constant(0.5, dtype)], dtype,
                           np.where, True)
        return x

    def int_op(self, x, y, dtype):
        rng = self.rng
        width = WIDTH[dtype]

        def unsigned(a):
            return np.asarray(a, np.int64).astype(np.uint64) & np.uint64((1 << width) - 1)
        logic = {"andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor}
        if dtype == "i1":
            kind = str(rng.choice(list(logic)))
            return self.op(f"arith.{kind} {{}}, {{}} : i1", [x, y], dtype, logic[kind])
        binary = dict(logic, addi=np.add, subi=np.subtract, muli=np.multiply, maxsi=np.maximum, minsi=np.minimum,
                      maxui=lambda a, b: np.where(unsigned(a) > unsigned(b), a, b),
                      minui=lambda a, b: np.where(unsigned(a) < unsigned(b), a, b))
        kinds = list(binary) + ["shl", "shrs", "shru", "div", "rem", "floordiv", "ceildiv", "divu", "remu", "cmp",
                                "cmpu"] + ["ctpop", "absi"] * (not is_narrow(dtype))
        kind = str(rng.choice(kinds))
        if kind in binary:
            return self.op(f"arith.{kind} {{}}, {{}} : {dtype}", [x, y], dtype, binary[kind])
        if kind in ("shl", "shrs", "shru"):
            amount = int(rng.integers(0, width))
            name, compute = {"shl": ("shli", lambda a, b: np.asarray(a, np.int64) << amount),
                             "shrs": ("shrsi", lambda a, b: np.asarray(a, np.int64) >> amount),
                             "shru": ("shrui", lambda a, b: (unsigned(a) >> np.uint64(amount)).astype(np.int64))}[kind]
            return self.op(f"arith.{name} {{}}, {{}} : {dtype}", [x, self.constant(amount, dtype)], dtype, compute)
        if kind in ("ctpop", "absi") and dtype != "index":
            if kind == "absi":
                return self.op(f"math.absi {{}} : {dtype}", [x], dtype, np.abs)
            return self.op(f"math.ctpop {{}} : {dtype}", [x], dtype, lambda a: sum(
                (unsigned(a) >> np.uint64(bit)) & np.uint64(1) for bit in range(width)))
        if kind in ("cmp", "cmpu"):
            name, compute = [("eq", np.equal), ("slt", np.less), ("sge", np.greater_equal),
                             ("ult", lambda a, b: unsigned(a) < unsigned(b)),
                             ("ugt", lambda a, b: unsigned(a) > unsigned(b))][rng.integers(5)]
            which = self.op(f"arith.cmpi {name}, {{}}, {{}} : {dtype}", [x, y], "i1", compute)
            return self.op(f"arith.select {{}}, {{}}, {{}} : {dtype}", [which, y, x], dtype, np.where)
        divisor = int(rng.integers(1 if width == 2 else 2, min(12, 1 << (width - 1)))) * (1 if rng.random() < 0.7 or kind in ("divu", "remu") else -1)
        wide = lambda a: np.asarray(a, np.int64)
        name, compute = {
            "div": ("divsi", lambda a, b: np.sign(wide(a)) * np.sign(divisor) * (np.abs(wide(a)) // abs(divisor))),
            "rem": ("remsi", lambda a, b: np.fmod(wide(a), divisor)),
            "floordiv": ("floordivsi", lambda a, b: wide(a) // divisor),
            "ceildiv": ("ceildivsi", lambda a, b: -(wide(a) // -divisor)),
            "divu": ("divui", lambda a, b: (unsigned(a) // np.uint64(divisor)).astype(np.int64)),
            "remu": ("remui", lambda a, b: (unsigned(a) % np.uint64(divisor)).astype(np.int64)),
        }.get(kind, (None, None))
        if not name:
            return x
        if kind in ("div", "rem", "floordiv", "ceildiv"):  # the smallest number has no absolute value
            x = self.op(f"arith.maxsi {{}}, {{}} : {dtype}", [x, self.constant(-(1 << (width - 1)) + (1 if is_narrow(dtype) else 16), dtype)], dtype,
                        np.maximum)
        return self.op(f"arith.{name} {{}}, {{}} : {dtype}", [x, self.constant(divisor, dtype)], dtype, compute)

    def random(self, values, dtype, count):
        """A random expression of the values, each of them used."""
        rng = self.rng
        pending = list(values)
        while len(pending) > 1 or count > 0:
            x = pending.pop(rng.integers(len(pending)))
            y = pending.pop(rng.integers(len(pending))) if pending else values[rng.integers(len(values))]
            kind = x[1] if rng.random() < 0.7 else dtype
            x, y = self.cast(x, kind), self.cast(y, kind)
            if is_float(kind):
                # Combine both, whatever the operation uses of them.
                z = self.float_op(x, y, kind)
                if rng.random() < 0.7:
                    z = self.op(f"arith.addf {{}}, {{}} : {kind}", [z, y], kind, np.add)
            else:
                z = self.int_op(x, y, kind)
                if kind != "i1" and rng.random() < 0.5:
                    z = self.op(f"arith.addi {{}}, {{}} : {kind}", [z, y], kind, np.add)
            pending.append(z)
            count -= 1
        last = pending[0]
        if dtype in FLOATS and not last[2]:
            last = next((value for value in values if value[2]), last)
        return self.cast(last, dtype)
