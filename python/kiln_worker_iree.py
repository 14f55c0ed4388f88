#!/usr/bin/env python3
"""An external provider for the lab: matrix products by IREE's compiler and runtime, on the CPU.

    pip install iree-base-compiler iree-base-runtime
    kiln-dispatch sweep ... --provider-command=iree="python3 python/kiln_worker_iree.py"

The example to follow for a compiler: the program is made from the problem's fields and compiled when the problem is
loaded; calls run it on tensors where they lie in shared memory. Split-k problems are computed as plain products."""

import ctypes
import importlib.metadata

from kiln_worker import Unsupported, check, cores, serve, touch

FLAGS = ["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-opt-data-tiling=true"]
FAMILIES = ("matmul", "batch_matmul", "matmul_splitk", "matmul_bias", "matmul_bias_relu", "matmul_bias_gelu")
TYPES = {"f32": "FLOAT_32", "f16": "FLOAT_16", "bf16": "BFLOAT_16", "i8": "SINT_8", "i32": "SINT_32"}


class Body:
    """Of a linalg.generic: operations, each with a name of its own, and what is yielded."""

    def __init__(self):
        self.lines = []

    def op(self, text, type):
        self.lines.append(f"      %v{len(self.lines)} = {text} : {type}\n")
        return f"%v{len(self.lines) - 1}"

    def convert(self, value, source, target):
        if source == target:
            return value
        names = ("arith.extsi", "arith.trunci") if target[0] == "i" else ("arith.extf", "arith.truncf")
        return self.op(f"{names[int(source.strip('bfi')) > int(target.strip('bfi'))]} {value}", f"{source} to {target}")

    def text(self, value, type):
        return "".join(self.lines) + f"      linalg.yield {value} : {type}\n"


def product(fields, total, kind):
    body = Body()
    lhs, rhs = body.convert("%x", fields["lhs"][:-1], total), body.convert("%y", fields["rhs"][:-1], total)
    return body.text(body.op(f"arith.add{kind} %s, {body.op(f'arith.mul{kind} {lhs}, {rhs}', total)}", total), total)


def epilogue(family, total, result, kind):
    """From the sum %s, and the bias %x, to what is stored."""
    body, value = Body(), "%s"
    if "bias" in family:
        value = body.op(f"arith.add{kind} %s, {body.convert('%x', result, total)}", total)
    if family.endswith("relu"):
        value = body.op(f"arith.max{'imumf' if kind == 'f' else 'si'} {value}, %zero", total)
    if family.endswith("gelu"):
        scale, one, half = (body.op(f"arith.constant {number}", total) for number in (0.5 ** 0.5, 1.0, 0.5))
        erf = body.op(f"math.erf {body.op(f'arith.mulf {value}, {scale}', total)}", total)
        factor = body.op(f"arith.mulf {body.op(f'arith.addf {erf}, {one}', total)}, {half}", total)
        value = body.op(f"arith.mulf {value}, {factor}", total)
    return body.text(body.convert(value, total, result), result)


def program(family, fields, shapes):
    """MLIR of a function that writes the result to its last argument."""
    types = [fields[name][:-1] for name in ("lhs", "rhs", "result")]
    total = "i32" if types[2] == "i32" else fields.get("accumulator", "f32")
    kind, zero = ("i", "0") if total == "i32" else ("f", "0.0")
    batch = "b, " if family == "batch_matmul" else ""
    # A column-major matrix is, in memory, the row-major one of its transpose.
    maps = [f"affine_map<({batch}i, j, k) -> ({batch}{', '.join(ij if fields[name][-1] == 't' else ij[::-1])})>"
            for name, ij in (("lhs", "ik"), ("rhs", "kj"), ("result", "ij"))]
    loops = ", ".join(['"parallel"'] * len(shapes[-1]))
    tensors = ["x".join(map(str, shape)) for shape in shapes]
    lhs, rhs, out = (f"tensor<{tensor}x{type}>" for tensor, type in zip((*tensors[:2], tensors[-1]), types))
    sums, bias = f"tensor<{tensors[-1]}x{total}>", f"tensor<{tensors[2]}x{types[2]}>"
    dims, fused = ("b, i, j" if batch else "i, j"), "bias" in family
    column = f"affine_map<({dims}) -> ({'j' if fields['result'][-1] == 't' else 'i'})>, " if fused else ""
    same = f"affine_map<({dims}) -> ({dims})>"
    arguments = f"%lhs: {lhs}, %rhs: {rhs}, {f'%bias: {bias}, ' if fused else ''}%out: {out}"
    return f"""func.func @f({arguments} {{iree.abi.output = 0 : index}}) -> {out} {{
  %zero = arith.constant {zero} : {total}
  %empty = tensor.empty() : {sums}
  %start = linalg.fill ins(%zero : {total}) outs(%empty : {sums}) -> {sums}
  %sums = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{loops}, "reduction"]}}
      ins(%lhs, %rhs : {lhs}, {rhs}) outs(%start : {sums}) {{
    ^bb0(%x: {types[0]}, %y: {types[1]}, %s: {total}):
{product(fields, total, kind)}  }} -> {sums}
  %unset = tensor.empty() : {out}
  %result = linalg.generic {{indexing_maps = [{column}{same}, {same}], iterator_types = [{loops}]}}
      ins({'%bias, ' if fused else ''}%sums : {f'{bias}, ' if fused else ''}{sums}) outs(%unset : {out}) {{
    ^bb0({f'%x: {types[2]}, ' if fused else ''}%s: {total}, %u: {types[2]}):
{epilogue(family, total, types[2], kind)}  }} -> {out}
  return %result : {out}
}}"""


class Iree:
    name, version = "iree", ""

    def start(self, threads):
        try:
            import iree.compiler
            import iree.runtime
            import numpy
        except ImportError as error:
            raise Unsupported(f"{error}; pip install iree-base-compiler iree-base-runtime") from None
        self.compiler, self.rt, self.numpy = iree.compiler, iree.runtime, numpy
        self.version = importlib.metadata.version("iree-base-compiler")
        # One worker to a core, which spins as long as those of other providers do before it sleeps.
        if threads > 1:
            self.rt.flags.parse_flags(f"--task_topology_cpu_ids={','.join(map(str, cores(threads)))}",
                                      "--task_worker_spin_us=50")
        self.hal_device = self.rt.get_driver("local-sync" if threads == 1 else "local-task").create_default_device()

    def load(self, problem, module, function, sets):
        family, fields = problem["family"], problem["fields"]
        check(problem, FAMILIES)
        inputs, outputs = sets[0]
        types = {tensor.type for tensor in inputs + outputs}
        if not types <= set(TYPES) or (family.endswith("gelu") and "i32" in types):
            raise Unsupported(f"this adapter does not do {family} of {', '.join(sorted(types))}")
        text = program(family, fields, [tensor.shape for tensor in inputs + outputs])
        binary = self.compiler.compile_str(text, target_backends=["llvm-cpu"], extra_args=FLAGS)
        instance = self.rt.VmInstance()
        loaded = self.rt.VmModule.copy_buffer(instance, binary)
        self.context = self.rt.VmContext(instance, [self.rt.create_hal_module(instance, self.hal_device), loaded])
        self.function = loaded.lookup_function("f")
        self.tensors = sets  # whose memory is used as long as there are calls
        self.sets = [self.arguments(inputs + outputs) for inputs, outputs in sets]
        touch(sets)

    def arguments(self, tensors):
        arguments = self.rt.VmVariantList(len(tensors))
        for tensor in tensors:
            # In place. It takes memory that can be written to only, but does not write to inputs.
            address = self.numpy.frombuffer(tensor.memory, "u1").ctypes.data
            memory = (ctypes.c_uint8 * len(tensor.memory)).from_address(address)
            place = self.rt.MemoryType.HOST_LOCAL | self.rt.MemoryType.DEVICE_VISIBLE
            buffer = self.hal_device.allocator.import_host_allocation(memory, place, self.rt.BufferUsage.DEFAULT)
            type = getattr(self.rt.HalElementType, TYPES[tensor.type])
            arguments.push_ref(self.rt.HalBufferView(buffer, tensor.shape, type))
        return arguments

    def run(self, index):
        self.context.invoke(self.function, self.sets[index], self.rt.VmVariantList(1))

    call = run


if __name__ == "__main__":
    serve(Iree())
