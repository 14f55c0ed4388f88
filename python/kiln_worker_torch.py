#!/usr/bin/env python3
"""An external provider for the lab: PyTorch on the CPU, eagerly, as most people run it.

    pip install torch
    kiln-dispatch sweep ... --provider-command=torch="python3 python/kiln_worker_torch.py"

The example to follow for a library of functions: each family of problems is one method below, which turns a problem's
fields and the tensors of one set into a function without arguments that computes the result."""

import warnings

from kiln_worker import Unsupported, check, serve, touch

TYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "i32": "int32"}


class Torch:
    name, version = "torch", ""
    note = ("eager; filters of channels-last convolutions are brought into PyTorch's layout before they are timed; "
            "activations after a product are calls of their own; split-k problems as plain products")

    def start(self, threads):
        try:
            import torch
        except ImportError as error:
            raise Unsupported(f"{error}; pip install torch") from None
        warnings.filterwarnings("ignore", message=".*buffer is not writable")  # inputs are not written to
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)
        self.torch, self.aten, self.version = torch, torch.ops.aten, torch.__version__

    def tensor(self, tensor):
        if tensor.type not in TYPES:
            raise Unsupported(f"PyTorch is not asked for {tensor.type}")
        dtype = getattr(self.torch, TYPES[tensor.type])
        return self.torch.frombuffer(tensor.memory, dtype=dtype).reshape(tensor.shape)

    def load(self, problem, module, function, sets):
        family, fields = problem["family"], problem["fields"]
        check(problem)
        if family == "qmatmul":
            raise Unsupported("PyTorch has no product with zero points")
        method = self.matmul if "matmul" in family else getattr(self, family)
        self.make = lambda index: method(family, fields, *self.tensors[index])
        self.tensors = [[self.tensor(tensor) for tensor in inputs + outputs] for inputs, outputs in sets]
        self.calls = [self.make(index) for index in range(len(sets))]
        self.results = [None] * len(sets)  # each set has its own, until its turn comes again
        self.calls[0]()  # what PyTorch cannot do shows now
        touch(sets)

    def run(self, index):
        result, output = self.make(index)(), self.tensors[index][-1]
        if result.data_ptr() != output.data_ptr():
            output.copy_(result)

    def fetch(self, index):
        result, output = self.results[index], self.tensors[index][-1]
        if result is not None and result.data_ptr() != output.data_ptr():
            output.copy_(result)

    def call(self, index):
        self.results[index] = None
        self.results[index] = self.calls[index]()

    def matmul(self, family, fields, lhs, rhs, *rest):
        torch, output = self.torch, rest[-1]
        if lhs.dtype != rhs.dtype or (lhs.dtype != output.dtype and output.dtype != torch.int32):
            raise Unsupported(f"PyTorch does not multiply {lhs.dtype} x {rhs.dtype} to {output.dtype}")
        # A column-major matrix is, in memory, the row-major one of its transpose.
        lhs, rhs, result = (tensor.transpose(-1, -2) if fields[name][-1] == "n" else tensor
                            for name, tensor in (("lhs", lhs), ("rhs", rhs), ("result", output)))
        if lhs.dtype == torch.int8:
            if family != "matmul":
                raise Unsupported(f"PyTorch has no {family} of int8")
            product = lambda: torch._int_mm(lhs, rhs, out=result)
        elif "bias" in family:
            product = lambda: torch.addmm(rest[0], lhs, rhs, out=result)
        else:
            product = lambda: torch.matmul(lhs, rhs, out=result)
        if family.endswith("relu"):
            return lambda: (product(), self.aten.relu_(result))[-1]
        if "gelu" in family:
            form = "tanh" if family.endswith("tanh") else "none"
            return lambda: (product(), self.aten.gelu.out(result, approximate=form, out=result))[-1]
        return product

    def conv2d(self, family, fields, image, kernel, output):
        if not image.dtype == kernel.dtype == output.dtype or not image.dtype.is_floating_point:
            raise Unsupported(f"PyTorch does not convolve {image.dtype} x {kernel.dtype} to {output.dtype}")
        last = fields["layout"] == "nhwc_hwcf"
        if last:
            image = image.permute(0, 3, 1, 2)
            kernel = kernel.permute(3, 2, 0, 1).contiguous(memory_format=self.torch.channels_last)
        pair = lambda name: (fields[name + "_h"], fields[name + "_w"])
        stride, padding, dilation = pair("stride"), pair("pad"), pair("dilation")

        def convolve():
            result = self.torch.conv2d(image, kernel, None, stride, padding, dilation, fields["groups"])
            return result.permute(0, 2, 3, 1) if last else result
        return convolve

    def elementwise(self, family, fields, *tensors):
        op, output = fields["op"], tensors[-1]
        if op in ("gelu", "gelu_tanh"):
            form = "tanh" if op == "gelu_tanh" else "none"
            return lambda: self.aten.gelu.out(tensors[0], approximate=form, out=output)
        if op not in ("add", "mul", "relu", "exp", "tanh", "sigmoid", "sqrt"):
            raise Unsupported(f"this adapter does not know the operation {op}")
        function = getattr(self.aten, op).out
        return lambda: function(*tensors[:-1], out=output)

    def reduction(self, family, fields, matrix, output):
        op, torch = fields["op"], self.torch
        if op in ("sum", "mean"):
            return lambda: getattr(torch, op)(matrix, 1, dtype=output.dtype, out=output)
        if op not in ("max", "min") or matrix.dtype != output.dtype:
            raise Unsupported(f"PyTorch does not do {op} of {matrix.dtype} to {output.dtype}")
        function = torch.amax if op == "max" else torch.amin
        return lambda: function(matrix, 1, out=output)

    def layer_norm(self, family, fields, matrix, gamma, beta, output):
        columns, epsilon = matrix.shape[1:], float(fields["epsilon"])
        return lambda: self.torch.nn.functional.layer_norm(matrix, columns, gamma, beta, epsilon)

    def rms_norm(self, family, fields, matrix, gamma, output):
        columns, epsilon = matrix.shape[1:], float(fields["epsilon"])
        return lambda: self.torch.nn.functional.rms_norm(matrix, columns, gamma, epsilon)

    def transpose(self, family, fields, tensor, output):
        moved = tensor.permute([int(digit) for digit in fields["permutation"]])
        return lambda: output.copy_(moved)

    def softmax(self, family, fields, matrix, output):
        return lambda: self.torch.softmax(matrix, 1, out=output)

    def attention(self, family, fields, queries, keys, values, output):
        if fields["type"] != "f32":
            raise Unsupported(f"this adapter has no attention of {fields['type']}")
        function, causal = self.torch.nn.functional.scaled_dot_product_attention, fields["mask"] == "causal"
        return lambda: function(queries[None], keys[None], values[None], is_causal=causal)[0]


if __name__ == "__main__":
    serve(Torch())
