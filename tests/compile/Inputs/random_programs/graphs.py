"""Graphs as models have them: layers on values with several users, weights of all kinds, extents that only a call knows.

Nothing that is chosen depends on the data or on an extent of a call, so that one number gives one program, and another
variant of it calls that with other extents and other data."""

import numpy as np

from images import ImageLayers
from program import Dim, is_float
from tokens import TokenLayers

LAYERS = {"linear": 3, "gated": 1, "fanned": 1.5, "attention": 3, "cached_attention": 1, "norm": 2, "softmax_of": 0.7,
          "residual": 2.5, "activation": 1, "moved": 2, "mean_of_tokens": 0.7, "quantized": 1, "signal": 0.7, "logits": 0.5,
          "experts": 0.5, "log_sum": 0.5, "any_op": 1.5, "repeated": 0.4, "convolved": 4, "batch_norm": 1, "group_norm": 1,
          "pooled": 1.5, "joined": 1, "enlarged": 0.5, "excited": 0.7, "turned": 1, "flattened": 0.7}
IMAGES = ("convolved", "batch_norm", "group_norm", "pooled", "joined", "enlarged", "excited", "turned", "flattened")


class Graph(TokenLayers, ImageLayers):
    """A layer takes values of `tokens` (batch, length, width) or of `images` and adds what it makes to one of them."""

    weights = LAYERS

    def __init__(self, number, variant, is_small):
        super().__init__(np.random.default_rng([*number, 0]), "main0", [], [])
        self.data, self.f.units = np.random.default_rng([*number, 1 + variant]), {"f64": 4, "f32": 4, "f16": 1, "bf16": 1}
        self.main_type = str(self.rng.choice(["f32", "f32", "f32", "f32", "f16", "f16", "bf16", "f64"]))
        sizes = [4, 8, 12, 16, 17] if is_small else [8, 16, 24, 32, 33, 48, 64, 64, 100, 128, 256]
        self.sizes = [int(size) for size in self.rng.choice(sizes, 3)]
        self.is_small = is_small
        self.batch = self.extent_of_call([1, 1, 2, 3], 0.3)
        self.length = self.extent_of_call([1, 4, 9] if is_small else [1, 4, 8, 16, 17, 32, 33, 65, 96], 0.3)
        self.height, self.width = (self.extent_of_call([5, 6, 8] if is_small else [7, 8, 12, 16, 19], 0.1) for _ in range(2))
        self.tokens, self.images, self.shared, self.returned = [], [], [], []
        style = self.rng.integers(4)  # of language, of images, of both
        few = [kind for kind in LAYERS if (kind in IMAGES) == (style == 1)] if style < 3 else list(LAYERS)
        self.kinds = few if self.chance(0.5) else [str(kind) for kind in self.rng.choice(few, min(5, len(few)), replace=False)]

    def extent_of_call(self, sizes, probability):
        if self.chance(probability):
            return self.dynamic_dim(int(self.data.choice(sizes)))
        return Dim(int(self.rng.choice(sizes)))

    def wide(self):
        return Dim(self.choice(self.sizes))

    def made(self):
        """Some layers. Results are what nothing uses, and at times what something does."""
        self.run(int(self.rng.integers(1, 5) if self.is_small else self.rng.integers(3, 10 if self.chance(0.85) else 20)))
        results = self.unused() + self.returned + [v for v in self.tokens + [v for v, _ in self.images] if self.chance(0.15)]
        found = {value.name: value for value in results if value not in self.f.args or self.chance(0.1)}
        self.f.results = list(found.values()) or self.f.pool[-1:]
        if self.chance(0.3):
            self.f.shuffle()
        return self.f

    def latest(self, values):
        return values[-1 - min(int(self.rng.geometric(0.5)) - 1, len(values) - 1)]


def is_told(value, array):
    """Whether what is wrong with a result can be seen: numbers that are finite, not too large, and not all the same."""
    if not is_float(value.dtype) or array.size == 0:
        return True
    wide = array.astype(np.float64)
    return np.isfinite(wide).all() and np.abs(wide).max() < 1000 and (array.size < 8 or wide.std() > 1e-4)


def random_graphs(number, is_small=False):
    """The function of a graph for a call, and for another one with other extents and data if there are any."""
    for attempt in range(1000):
        graphs = [Graph([number, attempt], variant, is_small) for variant in range(2)]
        functions = [graph.made() for graph in graphs]
        if not all(is_told(value, f.env[value.name]) for f in functions for value in f.results):
            continue
        shapes = [[f.env[arg.name].shape for arg in f.args] for f in functions]
        return functions if shapes[0] != shapes[1] and functions[0].text() == functions[1].text() else functions[:1]
