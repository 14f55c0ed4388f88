#!/usr/bin/env python3
"""An external provider for the lab: PyTorch on the CPU or an NVIDIA GPU, eagerly, as most people run it, or compiled.

    pip install torch
    kiln-dispatch sweep ... --provider-command=torch="python3 python/kiln_worker_torch.py"
    kiln-dispatch sweep --device=cuda ... --provider-command=compiled="python3 python/kiln_worker_torch.py --compiled"

The example to follow for a library of functions: each family of problems is one method below, which turns a problem's
fields and the tensors of one set into a function, and into what it is to be called with. It is computed on the device that
the lab asks for."""

import argparse
import os
import re
import warnings

from kiln_worker import Unsupported, check, serve, touch

TYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i32": "int32"}


class Gpu:
    """The device of a URI, in PyTorch's words. All work goes into one stream."""

    def __init__(self, torch, uri):
        found = re.fullmatch(r"cuda(?:://(\d*))?", uri)
        if not found:
            raise Unsupported(f"this provider computes on the CPU and on NVIDIA's GPUs, as cuda://0, and not on {uri}")
        try:
            torch.cuda.init()
        except (RuntimeError, AssertionError) as error:  # no driver, one that is too old, a build for CPUs
            raise Unsupported(f"PyTorch {torch.__version__} cannot compute on {uri}: {error}") from None
        index, count = int(found[1] or 0), torch.cuda.device_count()
        if index >= count:
            raise ValueError(f"PyTorch sees no GPU {index}; it sees {count}, from cuda://0 on")
        self.torch, self.name = torch, f"cuda:{index}"
        torch.cuda.set_device(index)
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        self.scratch = torch.empty([16], device=self.name)
        self.description = {"name": uri, "memory": "own", "clock": "device",
                            "cache_bytes": torch.cuda.get_device_properties(index).L2_cache_size}
        self.timestamp()

    def timestamp(self):
        """One that becomes a node of the graph that it is recorded in."""
        try:
            return self.torch.cuda.Event(enable_timing=True, external=True)
        except TypeError:
            raise Unsupported(f"PyTorch {self.torch.__version__} cannot put timestamps into graphs; "
                              "pip install --upgrade torch") from None

    def empty(self):
        self.scratch.zero_()
        self.stream.synchronize()


class Batch:
    """Calls in a CUDA graph, with the device's timestamps before the first and after the last one."""
    is_graph = True

    def __init__(self, gpu, pool, sets, calls, results):
        self.gpu, self.results, self.of_sets = gpu, results, {}
        self.graph, self.begin, self.end = gpu.torch.cuda.CUDAGraph(), gpu.timestamp(), gpu.timestamp()
        with gpu.torch.cuda.graph(self.graph, pool=pool, stream=gpu.stream):
            self.begin.record()
            for index in sets:
                self.of_sets[index] = calls[index]()
            self.end.record()
        self.run()  # a graph's first launch brings it to the device

    def run(self):
        self.graph.replay()
        self.gpu.stream.synchronize()
        self.results.update(self.of_sets)
        return max(round(self.begin.elapsed_time(self.end) * 1e6), 1)


class Torch:
    name, version, device = "torch", "", None
    note = ("eager; filters of channels-last convolutions are brought into PyTorch's layout before they are timed; "
            "activations after a product are calls of their own; split-k problems as plain products")
    mode = None  # of torch.compile, where that is asked for
    uri, gpu, problem, compiled = "", None, None, None

    def use(self, uri):
        self.uri = uri

    def start(self, threads):
        # What compiles in processes of its own would have to be stopped with this one.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        try:
            import torch
        except ImportError as error:
            raise Unsupported(f"{error}; pip install torch") from None
        warnings.filterwarnings("ignore", message=".*buffer is not writable")  # inputs are not written to
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)
        self.torch, self.aten, self.version = torch, torch.ops.aten, torch.__version__
        if not self.uri:
            return
        self.gpu = Gpu(torch, self.uri)
        self.device = self.gpu.description
        # Products are of the types that the problem says, and summed up in f32.
        products = torch.backends.cuda.matmul
        products.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        products.allow_fp16_reduced_precision_reduction = products.allow_bf16_reduced_precision_reduction = False

    def tensor(self, tensor):
        if tensor.type not in TYPES:
            raise Unsupported(f"PyTorch is not asked for {tensor.type}")
        dtype = getattr(self.torch, TYPES[tensor.type])
        return self.torch.frombuffer(tensor.memory, dtype=dtype).reshape(tensor.shape)

    def load(self, problem, module, function, sets):
        check(problem)
        if self.problem != problem:
            self.compiled = None  # else only weights have changed
        self.problem, self.prepared = problem, False
        self.tensors = self.calls = self.batches = self.results = None  # what was loaded before goes first
        self.host = [[self.tensor(tensor) for tensor in inputs + outputs] for inputs, outputs in sets]
        self.tensors = [[tensor.to(self.gpu.name) for tensor in each] for each in self.host] if self.gpu else self.host
        self.outputs, self.calls = [None] * len(sets), [None] * len(sets)
        for index in range(len(sets)):
            self.bind(index)
        self.results = {}  # each set has its own, until its turn comes again
        try:
            for index in {0, len(sets) - 1}:  # what PyTorch cannot do shows now, and nothing is compiled later
                self.calls[index]()
        except NotImplementedError as error:
            raise Unsupported(f"PyTorch: {str(error).splitlines()[0]}") from None
        if self.gpu:
            self.gpu.stream.synchronize()
        else:
            touch(sets)

    def bind(self, index):
        """Makes the call of a set, and says where its result belongs."""
        function, *inputs, output = self.function(self.problem["family"], self.problem["fields"], self.tensors[index])
        self.outputs[index] = output
        if self.mode is None:
            self.calls[index] = lambda: function(*inputs, out=output)
            return
        if not self.compiled:
            self.torch.compiler.reset()  # it compiles a function for so many shapes, and then no longer
            self.compiled = self.torch.compile(function, mode=self.mode, dynamic=False, fullgraph=True)
        compiled = self.compiled
        self.calls[index] = lambda: compiled(*inputs)

    def function(self, family, fields, tensors):
        """A function, the inputs that it takes, and the output. Called with `out` it may write there; what it returns is
        the result in each case."""
        if family == "qmatmul":
            raise Unsupported("PyTorch has no product with zero points")
        method = self.matmul if "matmul" in family else getattr(self, family)
        return method(family, fields, *tensors)

    def run(self, index):
        self.upload(index)
        if self.prepared:
            self.bind(index)  # weights have changed
        self.call(index)
        self.fetch(index)

    def call(self, index):
        self.results[index] = None
        self.results[index] = self.calls[index]()
        if self.gpu:
            self.gpu.stream.synchronize()

    def fetch(self, index):
        self.place(self.results.get(index), self.outputs[index])
        if self.gpu:
            self.host[index][-1].copy_(self.tensors[index][-1])

    def upload(self, index):
        if not self.gpu:
            return
        for target, source in zip(self.tensors[index][:-1], self.host[index]):
            target.copy_(source)
        self.upload_outputs(index)

    def upload_outputs(self, index):
        if not self.gpu:
            return
        self.tensors[index][-1].copy_(self.host[index][-1])
        # What a graph did not compute must not pass for a result of it.
        self.place(self.outputs[index], self.results.get(index))

    def place(self, source, target):
        if source is not None and target is not None and source.data_ptr() != target.data_ptr():
            target.copy_(source)

    def prepare(self, batches):
        self.batches, self.results = {}, {}  # graphs of before go, and their results
        pool = self.torch.cuda.graph_pool_handle()
        for sets in map(tuple, batches):
            if sets not in self.batches:
                self.batches[sets] = Batch(self.gpu, pool, sets, self.calls, self.results)
        return [self.batches[tuple(sets)] for sets in batches]

    def empty(self):
        self.gpu.empty()

    def matmul(self, family, fields, lhs, rhs, *rest):
        torch, aten, output = self.torch, self.aten, rest[-1]
        if lhs.dtype != rhs.dtype or (lhs.dtype != output.dtype and output.dtype != torch.int32):
            raise Unsupported(f"PyTorch does not multiply {lhs.dtype} x {rhs.dtype} to {output.dtype}")
        # A column-major matrix is, in memory, the row-major one of its transpose.
        lhs, rhs, result = (tensor.transpose(-1, -2) if fields[name][-1] == "n" else tensor
                            for name, tensor in (("lhs", lhs), ("rhs", rhs), ("result", output)))
        multiply = torch.matmul
        if lhs.dtype == torch.int8:
            if family != "matmul":
                raise Unsupported(f"PyTorch has no {family} of int8")
            multiply = torch._int_mm
        elif "bias" in family:
            multiply = lambda lhs, rhs, bias, **out: torch.addmm(bias, lhs, rhs, **out)
        activate = lambda product: product
        if family.endswith("relu"):
            activate = aten.relu_
        if "gelu" in family:
            form = "tanh" if family.endswith("tanh") else "none"
            activate = lambda product: aten.gelu_(product, approximate=form)
        return lambda *inputs, **out: activate(multiply(*inputs, **out)), lhs, rhs, *rest[:-1], result

    def conv2d(self, family, fields, image, kernel, output):
        if not image.dtype == kernel.dtype == output.dtype or not image.dtype.is_floating_point:
            raise Unsupported(f"PyTorch does not convolve {image.dtype} x {kernel.dtype} to {output.dtype}")
        torch, last = self.torch, fields["layout"] == "nhwc_hwcf"
        if last:
            self.prepared = True
            image = image.permute(0, 3, 1, 2)
            kernel = kernel.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
            output = output.permute(0, 3, 1, 2)
        pair = lambda name: (fields[name + "_h"], fields[name + "_w"])
        options = (pair("stride"), pair("pad"), pair("dilation"), fields["groups"])
        return lambda image, kernel, **_: torch.conv2d(image, kernel, None, *options), image, kernel, output

    def elementwise(self, family, fields, *tensors):
        op, options = fields["op"], {}
        if op in ("gelu", "gelu_tanh"):
            op, options = "gelu", {"approximate": "tanh" if op == "gelu_tanh" else "none"}
        elif op not in ("add", "mul", "relu", "exp", "tanh", "sigmoid", "sqrt"):
            raise Unsupported(f"this adapter does not know the operation {op}")
        function = getattr(self.aten, op)
        return (lambda *inputs, **out: (function.out if out else function)(*inputs, **options, **out)), *tensors

    def reduction(self, family, fields, matrix, output):
        op, torch, options = fields["op"], self.torch, {}
        if op in ("sum", "mean"):
            function, options = getattr(torch, op), {"dtype": output.dtype}
        elif op in ("max", "min") and matrix.dtype == output.dtype:
            function = torch.amax if op == "max" else torch.amin
        else:
            raise Unsupported(f"PyTorch does not do {op} of {matrix.dtype} to {output.dtype}")
        return lambda matrix, **out: function(matrix, 1, **options, **out), matrix, output

    def layer_norm(self, family, fields, matrix, gamma, beta, output):
        function, columns, epsilon = self.torch.nn.functional.layer_norm, matrix.shape[1:], float(fields["epsilon"])
        return lambda *inputs, **_: function(inputs[0], columns, *inputs[1:], epsilon), matrix, gamma, beta, output

    def rms_norm(self, family, fields, matrix, gamma, output):
        function, columns, epsilon = self.torch.nn.functional.rms_norm, matrix.shape[1:], float(fields["epsilon"])
        return lambda *inputs, **_: function(inputs[0], columns, inputs[1], epsilon), matrix, gamma, output

    def transpose(self, family, fields, tensor, output):
        moved = tensor.permute([int(digit) for digit in fields["permutation"]])
        copy = lambda moved: moved.clone(memory_format=self.torch.contiguous_format)
        return lambda moved, **out: out["out"].copy_(moved) if out else copy(moved), moved, output

    def softmax(self, family, fields, matrix, output):
        softmax = self.torch.softmax
        return lambda matrix, **out: softmax(matrix, 1, **out), matrix, output

    def attention(self, family, fields, queries, keys, values, output):
        if fields["type"] != "f32" and not self.gpu:
            raise Unsupported(f"this adapter has no attention of {fields['type']}")
        function, causal = self.torch.nn.functional.scaled_dot_product_attention, fields["mask"] == "causal"
        compute = lambda *inputs, **_: function(*(tensor[None] for tensor in inputs), is_causal=causal)[0]
        return compute, queries, keys, values, output


class Compiled(Torch):
    name = "torch-compiled"
    note = ("compiled by torch.compile when it is loaded, and calls give their results in memory of their own; filters of "
            "channels-last convolutions are brought into PyTorch's layout before they are timed; split-k problems as "
            "plain products")
    mode = "default"

    def use(self, uri):
        super().use(uri)
        self.mode = "max-autotune-no-cudagraphs"  # a batch is a graph anyhow


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="speaks the protocol of docs/lab.md")
    parser.add_argument("--compiled", action="store_true", help="by torch.compile, in place of eagerly")
    serve(Compiled() if parser.parse_args().compiled else Torch())
