#!/usr/bin/env python3
"""An external provider for the lab: ONNX Runtime on the CPU, each problem as a small graph of standard operators.

    pip install onnx onnxruntime
    kiln-dispatch sweep ... --provider-command=onnxruntime="python3 python/kiln_worker_onnxruntime.py"

The graph is made from the problem's fields and optimized when the problem is loaded; calls run it on tensors where they
lie in shared memory. Each family is one method of Graph below."""

import os

from kiln_worker import Unsupported, check, cores, serve, touch

TYPES = {"f64": "DOUBLE", "f32": "FLOAT", "f16": "FLOAT16", "bf16": "BFLOAT16", "i8": "INT8", "ui8": "UINT8",
         "i32": "INT32", "i64": "INT64"}
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i8": 1, "ui8": 1, "i32": 4}
OPERATORS = {"add": "Add", "mul": "Mul", "relu": "Relu", "gelu": "Gelu", "exp": "Exp", "tanh": "Tanh",
             "sigmoid": "Sigmoid", "sqrt": "Sqrt", "gelu_tanh": "Gelu"}


def wide(*types):
    """What is computed in: f32 for types that are narrower."""
    if "i32" in types:
        return "i32"
    return "f32" if types[0] in ("f16", "bf16") else types[0]


class Graph:
    """Nodes are added by methods, which return the names of their results; x0, x1, ... are the problem's inputs."""

    def __init__(self, onnx, inputs, output):
        self.onnx, self.inputs, self.output = onnx, inputs, output
        self.nodes, self.constants = [], []

    def type(self, name):
        return getattr(self.onnx.TensorProto, TYPES[name])

    def op(self, name, *values, **attributes):
        result = f"v{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(name, list(values), [result], **attributes))
        return result

    def cast(self, value, source, target):
        return value if source == target else self.op("Cast", value, to=self.type(target))

    def constant(self, type, values, shape):
        self.constants.append(self.onnx.helper.make_tensor(f"c{len(self.constants)}", self.type(type), shape, values))
        return self.constants[-1].name

    def matmul(self, family, fields):
        types = [tensor.type for tensor in self.inputs]
        integers = self.output.type == "i32"
        total = wide(types[0], self.output.type)
        if (types[0] != types[1] or (total == "i32") != (types[0] in ("i8", "i32"))
                or (integers and (types[0] != "i8" or "gelu" in family))):
            raise Unsupported(f"this adapter has no {family} of {types[0]} x {types[1]} to {self.output.type}")
        rank = len(self.inputs[0].shape)
        swap = list(range(rank - 2)) + [rank - 1, rank - 2]
        # A column-major matrix is, in memory, the row-major one of its transpose.
        lhs, rhs = ((self.op("Transpose", name, perm=swap) if fields[field][-1] == "n" else name)
                    for name, field in (("x0", "lhs"), ("x1", "rhs")))
        if not integers:
            lhs, rhs = (self.cast(name, types[0], total) for name in (lhs, rhs))
        value = self.op("MatMulInteger" if integers else "MatMul", lhs, rhs)
        if "bias" in family:
            value = self.op("Add", value, self.cast("x2", types[2], total))
        if family.endswith("relu"):
            value = self.op("Relu", value)
        if "gelu" in family:
            value = self.op("Gelu", value, approximate="tanh" if family.endswith("tanh") else "none")
        value = self.cast(value, total, self.output.type)
        return self.op("Transpose", value, perm=swap) if fields["result"][-1] == "n" else value

    def qmatmul(self, family, fields):
        """Of a column-major rhs, x1 is its transpose."""
        types = [tensor.type for tensor in self.inputs]
        lhs = self.op("Transpose", "x0", perm=[1, 0]) if fields["lhs"][-1] == "n" else "x0"
        zeros = [self.constant(type, [int(fields[name + "_zero_point"])], [])
                 for type, name in zip(types, ("lhs", "rhs"))]
        if self.output.type == "i32":
            return self.op("MatMulInteger", lhs, "x1", *zeros)
        one = self.constant("f32", [1], [])
        result = self.constant(self.output.type, [int(fields["result_zero_point"])], [])
        # Its scales are multiplied with each other first: with 1 that changes nothing.
        return self.op("QLinearMatMul", lhs, one, zeros[0], "x1", "x2", self.columns(zeros[1], fields), one, result)

    def columns(self, zero, fields):
        """Where there is a scale for each column, there is a zero point for each, too."""
        if fields["scale"] == "tensor":
            return zero
        return self.constant("i8", [int(fields["rhs_zero_point"])] * int(fields["n"]), [int(fields["n"])])

    def conv2d(self, family, fields):
        types = [tensor.type for tensor in self.inputs]
        total = wide(types[0], self.output.type)
        if types[0] != types[1] or total != "f32":
            raise Unsupported(f"this adapter has no conv2d of {types[0]} x {types[1]} to {self.output.type}")
        last = fields["layout"] == "nhwc_hwcf"
        image = self.cast("x0", types[0], total)
        image = self.op("Transpose", image, perm=[0, 3, 1, 2]) if last else image
        pair = lambda name: [int(fields[name + "_h"]), int(fields[name + "_w"])]
        value = self.op("Conv", image, self.cast("x1", types[1], total), group=int(fields["groups"]),
                        strides=pair("stride"), dilations=pair("dilation"), pads=pair("pad") * 2)
        value = self.op("Transpose", value, perm=[0, 2, 3, 1]) if last else value
        return self.cast(value, total, self.output.type)

    def elementwise(self, family, fields):
        if fields["op"] not in OPERATORS:
            raise Unsupported(f"this adapter does not know the operation {fields['op']}")
        total = wide(self.output.type)
        names = [self.cast(f"x{i}", tensor.type, total) for i, tensor in enumerate(self.inputs)]
        options = {"approximate": "tanh"} if fields["op"] == "gelu_tanh" else {}
        return self.cast(self.op(OPERATORS[fields["op"]], *names, **options), total, self.output.type)

    def reduction(self, family, fields):
        if fields["op"] not in ("sum", "mean", "max", "min"):
            raise Unsupported(f"this adapter does not know the reduction {fields['op']}")
        source = self.inputs[0].type
        total = wide(source, self.output.type)
        axes = self.onnx.helper.make_tensor("axes", self.onnx.TensorProto.INT64, [1], [1])
        self.constants.append(axes)
        value = self.op("Reduce" + fields["op"].capitalize(), self.cast("x0", source, total), "axes", keepdims=0)
        return self.cast(value, total, self.output.type)

    def layer_norm(self, family, fields):
        return self.norm("LayerNormalization", fields)

    def rms_norm(self, family, fields):
        return self.norm("RMSNormalization", fields)

    def norm(self, operator, fields):
        total = wide(self.output.type)
        names = [self.cast(f"x{i}", tensor.type, total) for i, tensor in enumerate(self.inputs)]
        value = self.op(operator, *names, axis=1, epsilon=float(fields["epsilon"]))
        return self.cast(value, total, self.output.type)

    def transpose(self, family, fields):
        return self.op("Transpose", "x0", perm=[int(digit) for digit in fields["permutation"]])

    def softmax(self, family, fields):
        total = wide(self.output.type)
        value = self.op("Softmax", self.cast("x0", self.output.type, total), axis=1)
        return self.cast(value, total, self.output.type)

    def attention(self, family, fields):
        total = wide(self.output.type)
        queries, keys, values = (self.cast(f"x{i}", self.output.type, total) for i in range(3))
        if fields["mask"] == "causal":
            # The operator has a mask of its own, of tensors of batches and heads.
            axes = self.constant("i64", [0], [1])
            parts = (self.op("Unsqueeze", name, axes) for name in (queries, keys, values))
            value = self.op("Squeeze", self.op("Attention", *parts, is_causal=1), axes)
        else:
            # Elsewhere it is no faster than its parts.
            scale = self.constant(total, [int(fields["depth"]) ** -0.5], [])
            scores = self.op("MatMul", queries, self.op("Transpose", keys, perm=[0, 2, 1]))
            value = self.op("MatMul", self.op("Softmax", self.op("Mul", scores, scale), axis=2), values)
        return self.cast(value, total, self.output.type)

    def model(self, shapes):
        """The bytes of a model whose output is that of the last node. Inputs have these shapes."""
        helper = self.onnx.helper
        self.nodes[-1].output[0] = "y"
        inputs = [helper.make_tensor_value_info(f"x{i}", self.type(tensor.type), shape)
                  for i, (tensor, shape) in enumerate(zip(self.inputs, shapes))]
        output = helper.make_tensor_value_info("y", self.type(self.output.type), self.output.shape)
        graph = helper.make_graph(self.nodes, "problem", inputs, [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
        return model.SerializeToString()


class OnnxRuntime:
    name, version = "onnxruntime", ""
    note = ("standard operators; products of f16 and bf16 and all else of these types in f32, with casts around it; "
            "filters of channels-last convolutions are brought into ONNX's layout before they are timed, inputs and "
            "results in each call; so are column-major weights of products with zero points, which are inputs, "
            "so that they are packed in each call; split-k problems as plain products")

    def start(self, threads):
        try:
            import numpy
            import onnx
            import onnxruntime
        except ImportError as error:
            raise Unsupported(f"{error}; pip install onnx onnxruntime") from None
        self.numpy, self.onnx, self.runtime = numpy, onnx, onnxruntime
        self.version = onnxruntime.__version__
        self.options = onnxruntime.SessionOptions()
        self.options.log_severity_level = 3
        self.options.intra_op_num_threads, self.options.inter_op_num_threads = threads, 1
        # Threads spin as long as those of other providers do before they sleep.
        self.options.add_session_config_entry("session.intra_op.spin_duration_us", "50")
        own = cores(threads)
        if 1 < threads <= len(own):
            # One to a core; the thread that calls is one of them, and the runtime counts processors from 1.
            os.sched_setaffinity(0, own[:1])
            affinities = ";".join(str(cpu + 1) for cpu in own[1:])
            self.options.add_session_config_entry("session.intra_op_thread_affinities", affinities)

    def load(self, problem, module, function, sets):
        family, fields = problem["family"], problem["fields"]
        check(problem)
        inputs, (output,) = sets[0]
        types = {tensor.type for tensor in inputs + [output]}
        if not types <= set(TYPES):
            raise Unsupported(f"this adapter does not do {', '.join(sorted(types - set(TYPES)))}")
        graph = Graph(self.onnx, inputs, output)
        products = "matmul" in family and family != "qmatmul"
        getattr(graph, "matmul" if products else family)(family, fields)
        # ONNX has filters as fchw, and weights of integers in rows.
        self.relaid = {1: (3, 2, 0, 1)} if family == "conv2d" and fields["layout"] == "nhwc_hwcf" else {}
        if family == "qmatmul" and fields["rhs"][-1] == "n":
            self.relaid = {1: (1, 0)}
        self.prepared = bool(self.relaid)
        self.sets = sets
        self.weights = [{i: self.relay(tensors[i], order) for i, order in self.relaid.items()} for tensors, _ in sets]
        shapes = [self.weights[0][i].shape if i in self.relaid else tensor.shape for i, tensor in enumerate(inputs)]
        try:
            self.session = self.runtime.InferenceSession(graph.model(shapes), self.options,
                                                         providers=["CPUExecutionProvider"])
        except self.runtime.capi.onnxruntime_pybind11_state.NotImplemented as error:
            raise Unsupported(f"ONNX Runtime: {error}") from None
        self.bindings = [self.bind(graph, index, shapes) for index in range(len(sets))]
        touch(sets)

    def relay(self, tensor, order):
        array = self.numpy.frombuffer(tensor.memory, f"u{BYTES[tensor.type]}").reshape(tensor.shape)
        return self.numpy.ascontiguousarray(array.transpose(order))

    def bind(self, graph, index, shapes):
        binding = self.session.io_binding()
        inputs, (output,) = self.sets[index]
        address = lambda tensor: self.numpy.frombuffer(tensor.memory, "u1").ctypes.data
        for i, (tensor, shape) in enumerate(zip(inputs, shapes)):
            place = self.weights[index][i].ctypes.data if i in self.relaid else address(tensor)
            binding.bind_input(f"x{i}", "cpu", 0, graph.type(tensor.type), shape, place)
        binding.bind_output("y", "cpu", 0, graph.type(output.type), output.shape, address(output))
        return binding

    def run(self, index):
        for i, order in self.relaid.items():
            self.weights[index][i][:] = self.relay(self.sets[index][0][i], order)
        self.call(index)

    def call(self, index):
        self.session.run_with_iobinding(self.bindings[index])


if __name__ == "__main__":
    serve(OnnxRuntime())
