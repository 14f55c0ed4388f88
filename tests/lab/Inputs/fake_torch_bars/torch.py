"""What tests/gpu/bars uses of PyTorch, on NumPy and without a GPU. Each call of a product in a graph takes 3 us with cuBLAS and 2 us
with cuBLASLt, by a clock that knows nothing else. With FAKE_TORCH=wrong what Kiln is compared with is of other inputs."""

import os
import time
from types import SimpleNamespace

import numpy

__version__ = "0.fake"
version = SimpleNamespace(cuda="0.0")
float16, float32, bfloat16, float64 = numpy.float16, numpy.float32, "bfloat16", numpy.float64
MICROSECONDS = {"cublas": 3, "cublaslt": 2, "default": 5}
state = SimpleNamespace(library="default", recorded=None)


class Tensor:
    def __init__(self, array):
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __matmul__(self, other):
        if state.recorded is not None:
            state.recorded.append(MICROSECONDS[state.library])
        return Tensor(self.array @ other.array)

    def __ne__(self, other):
        return Tensor(self.array != other.array)

    def __int__(self):
        return int(self.array)

    def div_(self, number):
        return Tensor(self.array / number)

    def to(self, type):
        return Tensor(self.array.astype(type))

    def double(self):
        return Tensor(self.array + float("wrong" in os.environ.get("FAKE_TORCH", "")))

    def cuda(self):
        return self

    cpu = cuda

    def sum(self):
        return Tensor(self.array.sum())

    def numel(self):
        return self.array.size


class Graph:
    def replay(self):
        state.now += sum(self.times) * 1e-3


class Recording:
    def __init__(self, graph):
        self.graph = graph

    def __enter__(self):
        state.recorded = self.graph.times = []

    def __exit__(self, *error):
        state.recorded = None


class Event:
    def __init__(self, enable_timing):
        pass

    def record(self):
        self.time = state.now

    def synchronize(self):
        time.sleep(0.0001)

    def elapsed_time(self, end):
        return end.time - self.time


def prefer(library):
    state.library = library


state.now = 0
cuda = SimpleNamespace(get_device_name=lambda: "a GPU that is made up", CUDAGraph=Graph, graph=Recording, Event=Event,
                       synchronize=lambda: None, empty_cache=lambda: None)
backends = SimpleNamespace(cuda=SimpleNamespace(preferred_blas_library=prefer, matmul=SimpleNamespace()))
from_numpy = Tensor


def randn(shape, device):
    return Tensor(numpy.ones(shape))


def full(shape, value, device):
    return Tensor(numpy.full(shape, value))


def empty(shape, device):
    return Tensor(numpy.empty(shape))


def abs(x, out):
    out.array = numpy.abs(x.array)
