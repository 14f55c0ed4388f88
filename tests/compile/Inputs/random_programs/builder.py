"""Random programs: a number gives a module of functions, each with arguments and the results that it must give."""

import collections
import re

import numpy as np

from arithmetic import Arithmetic
from control import Control
from models import Models
from movement import Movement
from narrow import NARROW
from program import is_float
from values import NotPossible, Values

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 31, 33, 40, 64, 65, 100]
LARGE_SIZES = [2, 3, 64, 127, 130, 256, 257, 300, 512]
FLOATS = ["f32", "f32", "f32", "f16", "bf16", "f64"]
INTEGERS = ["i32", "i32", "i8", "i64", "i1", "index", "i16"]
WEIGHTS = {"elementwise": 6, "narrowed": 0.8, "reduction": 4, "argmax": 1, "contraction": 2, "dense_layer": 2, "convolution": 2,
           "transpose": 2, "broadcast": 1, "extract_slice": 2, "insert_slice": 1.5, "scatter": 1, "pad": 1.5, "concat": 1.5,
           "reshape": 2, "pack": 1, "reverse": 1, "cast": 0.7, "generate": 0.7, "named": 1, "softmax": 1.5,
           "layer_norm": 1.5, "row_work": 1.5, "attention": 0.7, "call": 0.8, "for_loop": 0.6, "while_loop": 0.3,
           "branch": 0.6, "scan": 0.4, "growing": 0.4}
CONTROL = ("for_loop", "while_loop", "branch", "scan", "growing")


class Builder(Values, Arithmetic, Movement, Models, Control):
    """Ops of all kinds, one after another, each on what is there already."""

    kinds, weights = list(WEIGHTS), WEIGHTS

    def run(self, count):
        kinds = [kind for kind in self.kinds if self.depth < 2 or kind not in CONTROL]
        weights = np.array([self.weights[kind] for kind in kinds])
        made = 0
        for _ in range(10 * count):
            if made == count:
                break
            try:
                made += getattr(self, str(self.rng.choice(kinds, p=weights / weights.sum())))() is not None
            except NotPossible:
                continue

    def finish(self):
        """What nothing uses is a result, so that nothing is dropped; or the last value is and perhaps others, the same
        one twice or an argument among them."""
        pool = self.f.pool
        if self.chance(0.5):
            self.f.results = self.unused()[-12:] or [pool[-1]]
            return self.f
        self.f.results = [pool[-1]] + [pool[-1 - int(self.rng.integers(min(len(pool), 8)))]
                                       for _ in range(self.rng.integers(0, 5) if self.chance(0.6) else 0)]
        return self.f

    def unused(self):
        uses = collections.Counter(re.findall(r"%\w+(?:#\d+)?", "\n".join(self.f.lines)))
        return [v for v in self.f.pool if uses[v.name] <= ("#" not in v.name)]


def long_rows(rng, name):
    """Work on rows that are long for what a worker keeps of them."""
    sizes = [int(rng.choice([8, 16, 33, 64])), int(rng.choice([65536, 65537, 100000, 131072, 262144]))]
    if rng.random() < 0.4:
        sizes.insert(0, int(rng.choice([2, 4])))
    builder = Builder(rng, name, [str(rng.choice(["f32", "f32", "f64", "bf16", "i32", "i8"]))],
                      [(size, False) for size in sizes])
    builder.f.maximum = 1 << 24
    dims = builder.dims if np.prod(sizes) <= builder.f.maximum else builder.dims[-2:]
    builder.row_work(builder.f.argument(dims, builder.dtypes[0]))
    return builder


def ordinary(rng, name, helpers, is_helper):
    """Any work, mostly on few elements."""
    dtypes = [str(rng.choice(FLOATS)) for _ in range(rng.integers(1, 3))]
    if rng.random() < 0.5:
        dtypes += [str(rng.choice(INTEGERS)) for _ in range(rng.integers(1, 3))]
    if rng.random() < 0.25:
        dtypes += [str(rng.choice(NARROW)) for _ in range(rng.integers(1, 3))]
    is_large = not is_helper and rng.random() < 0.03
    dims = [(int(rng.choice(LARGE_SIZES if is_large else SIZES)) if rng.random() > 0.03 else 0,
             not is_helper and rng.random() < 0.25) for _ in range(rng.integers(2, 5))]
    builder = Builder(rng, name, dtypes, dims, helpers)
    if is_large:
        builder.f.maximum = 1000000
    if is_helper:
        for _ in range(2):
            builder.f.argument(builder.shape(1, 3), builder.dtype())
        builder.f.takes_more = False
    if rng.random() < 0.4:  # few kinds of ops meet each other more often
        builder.kinds = [str(kind) for kind in rng.choice(builder.kinds, 6, replace=False)]
    count = rng.integers(1, 4) if is_helper else rng.integers(10, 31) if rng.random() < 0.25 else rng.integers(1, 10)
    builder.run(int(count))
    return builder


def random_function(rng, name, helpers=(), is_helper=False):
    while True:
        is_long = not is_helper and rng.random() < 0.04
        try:
            builder = long_rows(rng, name) if is_long else ordinary(rng, name, helpers, is_helper)
        except NotPossible:
            continue
        function = builder.finish()
        if rng.random() < 0.5:
            function.shuffle()
        # What overflows says nothing of the compiler.
        if all(np.isfinite(function.env[value.name].astype(np.float64)).all()
               for value in function.pool if is_float(value.dtype)):
            return function


def random_module(number):
    """Two functions that are called, and at times one that both may call."""
    rng = np.random.default_rng(number)
    helpers = [random_function(rng, "helper", is_helper=True)] if rng.random() < 0.3 else []
    mains = [random_function(rng, f"main{i}", helpers) for i in range(2)]
    return "\n".join(function.text() for function in helpers + mains), mains
