"""The programs that `bars` measures, as MLIR, with the rivals and the bar of each."""

import math
import re

COLD_BYTES = 200e6  # that a short graph reads at least: more than the L2 cache of any GPU there is
LONG_BYTES, LONG_WORK = 2e9, 6e12  # and what a long one reads or computes besides, at most


class Bar:
    """A program as MLIR, from %in0, %in1, ... to %out, and what it is compared with: `rivals` are names with functions of PyTorch,
    of which the fastest counts, and `least` is the bar, the rival's time over Kiln's. `work` is the program's arithmetic, where that
    and not memory bounds it; `exact` computes the result from inputs in f64; `setup` prepares PyTorch; `beside` is a rival that the
    table shows and that does not count; `group` names the rows whose geometric mean has a bar."""

    def __init__(self, name, inputs, output, body, rivals, least, work=0, exact=None, setup=None, beside=None, group=""):
        self.name, self.inputs, self.output, self.body, self.rivals, self.least = name, inputs, output, body, rivals, least
        self.work, self.exact, self.setup, self.beside, self.group = work, exact, setup, beside, group

    def bytes(self):
        sizes = {"f16": 2, "bf16": 2, "f32": 4}
        return sum(math.prod(map(int, each.split("x")[:-1])) * sizes[each.split("x")[-1]] for each in self.inputs + [self.output])

    def lengths(self):
        """How many times the short and the long graph run the program."""
        short = max(2, math.ceil(COLD_BYTES / self.bytes()))
        most = math.ceil(LONG_BYTES / self.bytes())
        wanted = math.ceil(LONG_WORK / self.work) if self.work else 64
        return short, short + max(4, min(wanted, most, 1000))

    def program(self, count, configuration="default"):
        """The function @f, which computes it `count` times. Inputs are of each time, results too."""
        body = self.body
        if configuration != "default":
            asked = f'matmul {{kiln.configuration = "tile_config_{configuration}"}} ins'
            body = re.sub(r"matmul( \{kiln\.configuration = [^}]*\})? ins", lambda _: asked, body)
        arguments = ", ".join(f"%in{i}_{n}: tensor<{shape}>" for n in range(count) for i, shape in enumerate(self.inputs))
        results = ", ".join([f"tensor<{self.output}>"] * count)
        bodies = [re.sub(r"%([a-z]\w*)", rf"%\1_{n}", body) for n in range(count)]
        outputs = ", ".join(f"%out_{n}" for n in range(count))
        return "\n".join([f"func.func @f({arguments}) -> ({results}) {{", *bodies, f"  return {outputs} : {results}", "}"])


def product(rows, columns):
    """Of a vector and a matrix, summed up in f32."""
    return f"""
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x{columns}xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x{columns}xf32>) -> tensor<1x{columns}xf32>
  %sum = linalg.matmul ins(%in0, %in1 : tensor<1x{rows}xf16>, tensor<{rows}x{columns}xf16>) outs(%fill : tensor<1x{columns}xf32>) -> tensor<1x{columns}xf32>
  %out = arith.truncf %sum : tensor<1x{columns}xf32> to tensor<1x{columns}xf16>"""


def sums(dimension):
    return f"""
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192xf32>) -> tensor<8192xf32>
  %out = linalg.reduce {{ arith.addf }} ins(%in0 : tensor<8192x8192xf32>) outs(%fill : tensor<8192xf32>) dimensions = [{dimension}]"""


NORM = """
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8192xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8192xf32>) -> tensor<8192xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%in0 : tensor<8192x1024xf16>) outs(%fill : tensor<8192xf32>) {
  ^bb0(%a: f16, %before: f32):
    %x = arith.extf %a : f16 to f32
    %next = arith.addf %x, %before : f32
    linalg.yield %next : f32
  } -> tensor<8192xf32>
  %squares = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%in0, %sum : tensor<8192x1024xf16>, tensor<8192xf32>) outs(%fill : tensor<8192xf32>) {
  ^bb0(%a: f16, %s: f32, %before: f32):
    %x = arith.extf %a : f16 to f32
    %n = arith.constant 1024.0 : f32
    %mean = arith.divf %s, %n : f32
    %d = arith.subf %x, %mean : f32
    %square = arith.mulf %d, %d : f32
    %next = arith.addf %square, %before : f32
    linalg.yield %next : f32
  } -> tensor<8192xf32>
  %target = tensor.empty() : tensor<8192x1024xf16>
  %out = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>,
      affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%in0, %sum, %squares, %in1, %in2 : tensor<8192x1024xf16>, tensor<8192xf32>, tensor<8192xf32>, tensor<1024xf16>, tensor<1024xf16>)
      outs(%target : tensor<8192x1024xf16>) {
  ^bb0(%a: f16, %s: f32, %q: f32, %g: f16, %b: f16, %o: f16):
    %x = arith.extf %a : f16 to f32
    %n = arith.constant 1024.0 : f32
    %eps = arith.constant 1.0e-5 : f32
    %mean = arith.divf %s, %n : f32
    %variance = arith.divf %q, %n : f32
    %positive = arith.addf %variance, %eps : f32
    %scale = math.rsqrt %positive : f32
    %d = arith.subf %x, %mean : f32
    %normal = arith.mulf %d, %scale : f32
    %gf = arith.extf %g : f16 to f32
    %bf = arith.extf %b : f16 to f32
    %scaled = arith.mulf %normal, %gf : f32
    %shifted = arith.addf %scaled, %bf : f32
    %result = arith.truncf %shifted : f32 to f16
    linalg.yield %result : f16
  } -> tensor<8192x1024xf16>"""

# A rival is compiled by PyTorch where it is not a library of NVIDIA's or a copy of the same bytes.
BARS = [
    Bar("x*y+exp(z) 16Mi f32", ["16777216xf32"] * 3, "16777216xf32", """
  %e = math.exp %in2 : tensor<16777216xf32>
  %p = arith.mulf %in0, %in1 : tensor<16777216xf32>
  %out = arith.addf %p, %e : tensor<16777216xf32>""", [("compiled", lambda torch, x, y, z: x * y + torch.exp(z))], 1.0),
    Bar("transpose 8192x8192 f32", ["8192x8192xf32"], "8192x8192xf32", """
  %empty = tensor.empty() : tensor<8192x8192xf32>
  %out = linalg.transpose ins(%in0 : tensor<8192x8192xf32>) outs(%empty : tensor<8192x8192xf32>) permutation = [1, 0]""",
        [("compiled", lambda torch, x: x.t().contiguous())], 1.0),
    Bar("row sums 8192x8192 f32", ["8192x8192xf32"], "8192xf32", sums(1), [("compiled", lambda torch, x: x.sum(1))], 1.0),
    Bar("column sums 8192x8192 f32", ["8192x8192xf32"], "8192xf32", sums(0), [("compiled", lambda torch, x: x.sum(0))], 1.0),
    Bar("softmax 8192x4096 f16", ["8192x4096xf16"], "8192x4096xf16", """
  %empty = tensor.empty() : tensor<8192x4096xf16>
  %out = linalg.softmax dimension(1) ins(%in0 : tensor<8192x4096xf16>) outs(%empty : tensor<8192x4096xf16>) -> tensor<8192x4096xf16>""",
        [("copy", lambda torch, x: x.clone())], 0.8, beside=("compiled", lambda torch, x: torch.softmax(x, 1))),
    Bar("layer norm 8192x1024 f16", ["8192x1024xf16", "1024xf16", "1024xf16"], "8192x1024xf16", NORM,
        [("copy", lambda torch, x, g, b: x.clone())], 0.8,
        beside=("compiled", lambda torch, x, g, b: torch.nn.functional.layer_norm(x, x.shape[1:], g, b, 1e-5))),
    Bar("product 1x4096x4096 f16", ["1x4096xf16", "4096x4096xf16"], "1x4096xf16", product(4096, 4096),
        [("cuBLAS", lambda torch, a, b: a @ b)], 1.2),
    Bar("product 1x8192x28672 f16", ["1x28672xf16", "28672x8192xf16"], "1x8192xf16", product(28672, 8192),
        [("cuBLAS", lambda torch, a, b: a @ b)], 1.0),
]


def tf32(torch, allowed):
    torch.backends.cuda.matmul.allow_tf32 = allowed


def matmul(m, n, k, element, least, configuration="", batch=0, epilogue="", libraries=("cuBLAS", "cuBLASLt"), group=""):
    """A row for a product of row-major matrices, with what follows it."""
    lead = f"{batch}x" if batch else ""
    lhs, rhs, out = f"{lead}{m}x{k}x{element}", f"{lead}{k}x{n}x{element}", f"{lead}{m}x{n}x{element}"
    asked = f' {{kiln.configuration = "tile_config_{configuration}"}}' if configuration else ""
    value = "%out" if not epilogue else "%product"
    body = f"""
  %zero = arith.constant 0.0 : {element}
  %empty = tensor.empty() : tensor<{out}>
  %fill = linalg.fill ins(%zero : {element}) outs(%empty : tensor<{out}>) -> tensor<{out}>
  {value} = linalg.{"batch_" if batch else ""}matmul{asked} ins(%in0, %in1 : tensor<{lhs}>, tensor<{rhs}>) outs(%fill : tensor<{out}>) -> tensor<{out}>"""
    inputs = [lhs, rhs]
    if epilogue:
        inputs.append(f"{n}x{element}")
        steps = {"relu": f"%act = arith.maximumf %sum, %zero : {element}", "gelu": f"""%wide = arith.extf %sum : {element} to f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %c = arith.constant 0.044715 : f32
    %s = arith.constant 0.7978845608 : f32
    %x2 = arith.mulf %wide, %wide : f32
    %x3 = arith.mulf %x2, %wide : f32
    %x4 = arith.mulf %x3, %c : f32
    %x5 = arith.addf %wide, %x4 : f32
    %x6 = arith.mulf %x5, %s : f32
    %t = math.tanh %x6 : f32
    %t1 = arith.addf %t, %one : f32
    %h = arith.mulf %wide, %half : f32
    %g = arith.mulf %h, %t1 : f32
    %act = arith.truncf %g : f32 to {element}"""}[epilogue]
        body += f"""
  %out = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%product, %in2 : tensor<{out}>, tensor<{n}x{element}>) outs(%empty : tensor<{out}>) {{
  ^bb0(%a: {element}, %b: {element}, %o: {element}):
    %sum = arith.addf %a, %b : {element}
    {steps}
    linalg.yield %act : {element}
  }} -> tensor<{out}>"""
    isTf32 = element == "f32" and "tensorcore" in configuration
    name = f"{lead}{m}x{n}x{k} {'tf32' if isTf32 else element}{f', bias and {epilogue}' if epilogue else ''}"
    if configuration and not isTf32:
        name += f" by {configuration.split('_')[-1]}"

    def compute(torch, a, b, bias=None):
        if not epilogue:
            return a @ b
        # cuBLASLt's fused epilogues.
        return torch._addmm_activation(bias, a, b, use_gelu=epilogue == "gelu")

    def exact(torch, a, b, bias=None):
        return a @ b if not epilogue else torch.relu(a @ b + bias) if epilogue == "relu" else None

    # PyTorch fuses an epilogue with cuBLASLt alone.
    rivals = [(library, compute) for library in (["cuBLASLt"] if epilogue else libraries)]
    return Bar(name, inputs, out, body, rivals, least, 2.0 * m * n * k * max(batch, 1), exact, lambda torch: tf32(torch, isTf32), group=group)


BARS += [
    *(matmul(m, n, k, "f16", 0.97, group="large")
      for m, n, k in ((3456, 1024, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (2048, 10240, 1280), (256, 65536, 2304))),
    matmul(4096, 4096, 4096, "bf16", 0.95),
    matmul(3456, 1024, 2048, "f32", 0.95, "256x128_32x4_tensorcore_wgmma"),
    *(matmul(m, n, k, "f16", None, group="small") for m, n, k in ((768, 512, 1024), (1024, 512, 2048), (128, 128, 256), (127, 255, 513))),
    matmul(1024, 1024, 128, "f16", None, batch=64, group="small"),
    matmul(1024, 1024, 1024, "f32", 0.95, libraries=["cuBLAS"]),
    matmul(3456, 1024, 2048, "f32", 0.95, libraries=["cuBLAS"]),
    matmul(3456, 1024, 2048, "f16", 0.60, "128x256_64x4_tensorcore_mmasync", libraries=["cuBLAS"]),
    matmul(3456, 1024, 2048, "f16", 1.00, epilogue="relu"),
    matmul(4096, 4096, 1024, "f16", 1.00, epilogue="gelu"),
]


# The name of each group of rows, and the bar of the geometric mean of its ratios.
GROUPS = {"large": ("f16 products", 1.00), "small": ("small products", 0.95)}

ABS = """
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %y = math.absf %x : tensor<f32>
  return %y : tensor<f32>
}"""


def chain(count):
    """Products of 8x8 matrices, each of what the one before it gave."""
    steps = [f"  %x{i + 1} = linalg.matmul ins(%x{i}, %m : tensor<8x8xf32>, tensor<8x8xf32>) outs(%fill : tensor<8x8xf32>) -> tensor<8x8xf32>"
             for i in range(count)]
    return "\n".join(["func.func @f(%x0: tensor<8x8xf32>, %m: tensor<8x8xf32>) -> tensor<8x8xf32> {",
                      "  %zero = arith.constant 0.0 : f32", "  %empty = tensor.empty() : tensor<8x8xf32>",
                      "  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x8xf32>) -> tensor<8x8xf32>", *steps,
                      f"  return %x{count} : tensor<8x8xf32>", "}"])
