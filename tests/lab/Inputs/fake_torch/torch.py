"""What kiln_worker_torch.py uses of PyTorch, on NumPy, with a GPU that is made up. Its manners are those of a real one: what is
launched is computed when the stream is awaited and not before, host and device cannot touch each other's tensors but by
copies, a graph is recorded without computing anything, and no result may be asked for meanwhile. Its clock knows no other time
than that of work: KERNEL for each kernel, LAUNCH for what comes before each kernel or graph.

FAKE_TORCH has words that make it another one: `absent` has no driver, `old` puts no timestamps into graphs, `full` has 1 KiB of
memory, `idle` computes nothing in graphs, `stale` computes a graph once and then gives the same results again."""

import os
from types import SimpleNamespace

import numpy

KERNEL, LAUNCH = 2000, 7000  # nanoseconds
WORDS = os.environ.get("FAKE_TORCH", "").split()
__version__ = "0.fake"


class dtype:
    def __init__(self, name, is_floating_point=True):
        self.name, self.is_floating_point = name, is_floating_point

    def __repr__(self):
        return "torch." + self.name


float64, float32, float16 = (dtype(f"float{bits}") for bits in (64, 32, 16))
int8, int32 = dtype("int8", False), dtype("int32", False)


class OutOfMemoryError(RuntimeError):
    pass


class Device:
    """The GPU with its one stream."""

    def __init__(self):
        self.now, self.queue, self.recording, self.bytes = 0, [], None, 0

    def launch(self, kernel):
        if self.recording is not None:
            kernel.in_graph = True
            self.recording.append(kernel)
        else:
            self.queue += [self.begin_launch, kernel]

    def begin_launch(self):
        self.now += LAUNCH

    def allocate(self, array):
        self.bytes += array.nbytes
        if "full" in WORDS and self.bytes > 1024:
            raise OutOfMemoryError(f"CUDA out of memory. Tried to allocate {array.nbytes} bytes.")

    def synchronize(self):
        if self.recording is not None:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        work, self.queue = self.queue, []
        for each in work:
            each()


GPU = Device()


class Tensor:
    def __init__(self, array, type, device="cpu"):
        self.array, self.dtype, self.device = array, type, device

    def like(self, array):
        return Tensor(array, self.dtype, self.device)

    shape = property(lambda self: self.array.shape)

    def reshape(self, shape):
        return self.like(self.array.reshape(shape))

    def transpose(self, first, second):
        return self.like(self.array.swapaxes(first, second))

    def permute(self, order):
        return self.like(self.array.transpose(order))

    def data_ptr(self):
        return self.array.ctypes.data

    def to(self, device):
        assert self.device == "cpu" and device == "cuda:0"
        GPU.allocate(self.array)
        return Tensor(self.array.copy(), self.dtype, device)

    def copy_(self, source):
        if self.device == source.device != "cpu":
            return compute(lambda array: array, [source], self)
        GPU.synchronize()  # as copies between host and device do, where the host's memory is not pinned
        self.array[...] = source.array
        return self

    def zero_(self):
        return compute(lambda: 0, [], self)


class Kernel:
    def __init__(self, function, arrays, target):
        self.function, self.arrays, self.target = function, arrays, target

    def compute(self):
        self.target[...] = self.function(*self.arrays)

    def __call__(self):
        GPU.now += KERNEL
        if not ("idle" in WORDS and self.in_graph):
            self.compute()

    in_graph = False


def compute(function, inputs, out=None):
    """Into `out`, or into a new tensor."""
    devices = {tensor.device for tensor in inputs + [out] if tensor is not None}
    if len(devices) > 1:
        raise RuntimeError(f"Expected all tensors to be on the same device, but found {sorted(devices)}")
    if out is None:
        out = inputs[-1].like(numpy.full_like(function(*(tensor.array for tensor in inputs)), 77))
    kernel = Kernel(function, [tensor.array for tensor in inputs], out.array)
    GPU.launch(kernel) if devices == {"cuda:0"} else kernel.compute()
    return out


def frombuffer(memory, dtype):
    return Tensor(numpy.frombuffer(memory, dtype.name), dtype)


def empty(shape, device):
    return Tensor(numpy.empty(shape, "float32"), float32, device)


def matmul(lhs, rhs, out=None):
    return compute(numpy.matmul, [lhs, rhs], out)


def addmm(bias, lhs, rhs, out=None):
    return compute(lambda bias, lhs, rhs: lhs @ rhs + bias, [bias, lhs, rhs], out)


def softmax(matrix, dimension, out=None):
    def rows(array):
        powers = numpy.exp(array - array.max(axis=dimension, keepdims=True))
        return powers / powers.sum(axis=dimension, keepdims=True)
    return compute(rows, [matrix], out)


class Operation:
    def __init__(self, function):
        self.function = function

    def __call__(self, *inputs):
        return compute(self.function, list(inputs))

    def out(self, *inputs, out):
        return compute(self.function, list(inputs), out)


def _layer_norm(matrix, columns, gamma, beta, epsilon):
    def norm(array, gamma, beta):
        centered = array - array.mean(axis=1, keepdims=True)
        return centered / numpy.sqrt((centered * centered).mean(axis=1, keepdims=True) + epsilon) * gamma + beta
    return compute(norm, [matrix, gamma, beta])


class CUDAGraph:
    def replay(self):
        GPU.queue += [GPU.begin_launch] + self.nodes
        if "stale" in WORDS:
            GPU.queue.append(self.give_again)

    def give_again(self):
        targets = [node.target for node in self.nodes if isinstance(node, Kernel)]
        if not self.results:
            self.results = [target.copy() for target in targets]
        for target, result in zip(targets, self.results):
            target[...] = result

    results = ()


class graph:
    def __init__(self, graph, pool, stream):
        self.graph = graph

    def __enter__(self):
        GPU.synchronize()
        GPU.recording = []

    def __exit__(self, *error):
        self.graph.nodes, GPU.recording = GPU.recording, None


class Event:
    def __init__(self, enable_timing, **options):
        if "old" in WORDS:
            raise TypeError("Event.__new__() got an unexpected keyword argument 'external'")
        self.external = options["external"]

    def record(self):
        GPU.recording.append(self.stamp) if GPU.recording is not None and self.external else GPU.queue.append(self.stamp)

    def stamp(self):
        self.time = GPU.now

    def elapsed_time(self, end):
        if self.stamp in GPU.queue or end.stamp in GPU.queue:
            raise RuntimeError("Both events must be completed before calculating elapsed time.")
        return (end.time - self.time) * 1e-6


def _init():
    if "absent" in WORDS:
        raise RuntimeError("Found no NVIDIA driver on your system.")


cuda = SimpleNamespace(
    init=_init, device_count=lambda: 1, set_device=lambda index: None, set_stream=lambda stream: None, Event=Event, graph=graph,
    Stream=lambda: SimpleNamespace(synchronize=GPU.synchronize), CUDAGraph=CUDAGraph, graph_pool_handle=object,
    get_device_properties=lambda index: SimpleNamespace(L2_cache_size=1 << 16))
backends = SimpleNamespace(cuda=SimpleNamespace(matmul=SimpleNamespace()), cudnn=SimpleNamespace())
ops = SimpleNamespace(aten=SimpleNamespace(
    add=Operation(numpy.add), relu_=lambda tensor: compute(lambda array: numpy.maximum(array, 0), [tensor], tensor)))
nn = SimpleNamespace(functional=SimpleNamespace(layer_norm=_layer_norm))
compiler = SimpleNamespace(reset=lambda: None)
set_num_threads = set_num_interop_threads = set_grad_enabled = lambda value: None


def compile(function, mode, dynamic, fullgraph):
    return function
