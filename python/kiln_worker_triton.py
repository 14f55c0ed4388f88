#!/usr/bin/env python3
"""An external provider for the lab: kernels in Triton on an NVIDIA GPU; the tiles of products are tuned when they are loaded.

    pip install torch triton
    kiln-dispatch sweep --device=cuda ... --provider-command=triton="python3 python/kiln_worker_triton.py"

PyTorch holds the tensors, captures the graphs and reads the device's clock. With TRITON_INTERPRET=1 the kernels are interpreted
on the CPU, which says whether they are right and nothing of their speed."""

import os
import sys

from kiln_worker import Unsupported, serve
from kiln_worker_torch import Torch

os.environ.setdefault("TRITON_CACHE_AUTOTUNING", "1")  # a worker begins anew many times
try:
    import triton
    import triton.language as tl
except ImportError as error:
    class Absent:
        use = lambda self, uri: None

        def start(self, threads, reason=str(error)):
            raise Unsupported(f"{reason}; pip install torch triton")
    serve(Absent())
    sys.exit()

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
MOST_COLUMNS = 1 << 15  # that one block holds of a row
# Rows, columns and depth of a tile, tiles on their way, warps. What does not fit into shared memory is left out.
TILES = [(128, 256, 64, 3, 8), (256, 128, 64, 3, 8), (128, 128, 64, 4, 8), (128, 128, 64, 3, 4), (128, 128, 32, 4, 8),
         (128, 64, 64, 4, 4), (64, 128, 64, 4, 4), (64, 64, 64, 5, 4), (64, 64, 32, 5, 4), (32, 64, 64, 5, 2),
         (64, 32, 64, 5, 2), (16, 128, 128, 4, 4), (16, 32, 128, 5, 2)]
TUNED = [triton.Config({"M": m, "N": n, "K": k}, num_stages=stages, num_warps=warps) for m, n, k, stages, warps in TILES]


@triton.jit
def gelu(x):
    return 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))


@triton.jit
def gelu_tanh(x):
    # (1 + tanh(u)) / 2 is the sigmoid of 2 u.
    return x / (1 + tl.exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)))


@triton.autotune(TUNED[-2:-1] if INTERPRETED else TUNED, key=[
    "rows", "columns", "depth", "lhs_batch", "lhs_row", "lhs_column", "rhs_batch", "rhs_row", "rhs_column", "out_row", "out_column", "ACTIVATION"])
@triton.heuristics({"WHOLE": lambda of: of["rows"] % of["M"] == of["columns"] % of["N"] == of["depth"] % of["K"] == 0})
@triton.jit
def multiply(lhs, rhs, bias, out, rows, columns, depth, lhs_batch, lhs_row, lhs_column, rhs_batch, rhs_row, rhs_column,
             out_batch, out_row, out_column, ACTIVATION: tl.constexpr, TOTAL: tl.constexpr, BAND: tl.constexpr,
             WHOLE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    # Blocks with neighbouring numbers work on a band of tiles, down its columns: they read the same rows and columns.
    place, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    tiles_of_band = BAND * tl.cdiv(columns, N)
    top = place // tiles_of_band * BAND
    height = tl.minimum(tl.cdiv(rows, M) - top, BAND)
    place %= tiles_of_band
    m = (top + place % height) * M + tl.arange(0, M)
    n = place // height * N + tl.arange(0, N)
    k = tl.arange(0, K)
    left = lhs + batch * lhs_batch + m[:, None] * lhs_row + k[None, :] * lhs_column
    right = rhs + batch * rhs_batch + k[:, None] * rhs_row + n[None, :] * rhs_column
    total = tl.zeros((M, N), dtype=TOTAL)
    for done in range(0, depth, K):
        if WHOLE:
            a, b = tl.load(left), tl.load(right)
        else:
            inside = k < depth - done
            a = tl.load(left, mask=(m < rows)[:, None] & inside[None, :], other=0)
            b = tl.load(right, mask=inside[:, None] & (n < columns)[None, :], other=0)
        total = tl.dot(a, b, total, input_precision="ieee", out_dtype=TOTAL)
        left += K * lhs_column
        right += K * rhs_row
    if bias is not None:
        total += tl.load(bias + n, mask=n < columns, other=0).to(TOTAL)[None, :]
    if ACTIVATION == "relu":
        total = tl.maximum(total, 0)
    elif ACTIVATION == "gelu":
        total = gelu(total)
    elif ACTIVATION == "gelu_tanh":
        total = gelu_tanh(total)
    result = out + batch * out_batch + m[:, None] * out_row + n[None, :] * out_column
    tl.store(result, total.to(out.dtype.element_ty), mask=(m < rows)[:, None] & (n < columns)[None, :])


@triton.jit
def apply(x, y, out, count, OP: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < count, other=0).to(WIDE)
    if OP == "add":
        a += tl.load(y + at, mask=at < count, other=0).to(WIDE)
    elif OP == "mul":
        a *= tl.load(y + at, mask=at < count, other=0).to(WIDE)
    elif OP == "relu":
        a = tl.maximum(a, 0)
    elif OP == "exp":
        a = tl.exp(a)
    elif OP == "sigmoid":
        a = 1 / (1 + tl.exp(-a))
    elif OP == "sqrt":
        a = tl.sqrt_rn(a)
    elif OP == "gelu":
        a = gelu(a)
    elif OP == "gelu_tanh":
        a = gelu_tanh(a)
    tl.store(out + at, a.to(out.dtype.element_ty), mask=at < count)


@triton.jit
def along_rows(matrix, gamma, beta, out, rows, columns, epsilon, OP: tl.constexpr, WIDE: tl.constexpr, ROWS: tl.constexpr,
               COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    here = column[None, :] < columns
    at, inside = row[:, None].to(tl.int64) * columns + column[None, :], (row < rows)[:, None] & here
    outside = float("-inf") if OP == "max" or OP == "softmax" else float("inf") if OP == "min" else 0
    x = tl.load(matrix + at, mask=inside, other=outside).to(WIDE)
    if OP == "sum" or OP == "mean" or OP == "max" or OP == "min":
        number = tl.max(x, 1) if OP == "max" else tl.min(x, 1) if OP == "min" else tl.sum(x, 1)
        if OP == "mean":
            number = number / columns
        tl.store(out + row, number.to(out.dtype.element_ty), mask=row < rows)
    else:
        if OP == "softmax":
            x = tl.exp(x - tl.max(x, 1)[:, None])
            x = x / tl.sum(x, 1)[:, None]
        else:
            if OP == "layer_norm":
                x = tl.where(here, x - (tl.sum(x, 1) / columns)[:, None], 0)
            x = x / tl.sqrt_rn(tl.sum(x * x, 1) / columns + epsilon)[:, None]
            x *= tl.load(gamma + column, mask=column < columns, other=0).to(WIDE)[None, :]
            if OP == "layer_norm":
                x += tl.load(beta + column, mask=column < columns, other=0).to(WIDE)[None, :]
        tl.store(out + at, x.to(out.dtype.element_ty), mask=inside)


@triton.jit
def turn(matrix, out, rows, columns, SIDE: tl.constexpr):
    row = (tl.program_id(0) * SIDE + tl.arange(0, SIDE)).to(tl.int64)
    column = (tl.program_id(1) * SIDE + tl.arange(0, SIDE)).to(tl.int64)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    tile = tl.load(matrix + row[:, None] * columns + column[None, :], mask=inside)
    tl.store(out + column[:, None] * rows + row[None, :], tl.trans(tile), mask=tl.trans(inside))


class Triton(Torch):
    name = "triton"
    note = ("kernels of the adapter's own, one for each call: products of tiles that are tuned when they are loaded; split-k "
            "problems as plain products")

    def start(self, threads):
        super().start(threads)
        self.version = f"{triton.__version__}, PyTorch {self.torch.__version__}"
        if not self.gpu and not INTERPRETED:
            raise Unsupported("Triton computes on NVIDIA's GPUs, as with --device=cuda")

    def function(self, family, fields, tensors):
        """Each writes its result to `out`."""
        if any(tensor.numel() >= 1 << 31 for tensor in tensors):
            raise Unsupported("this adapter counts the elements of a tensor in 32 bits")
        if family in ("conv2d", "qmatmul", "attention"):
            raise Unsupported(f"this adapter has no {family}")
        name = "matmul" if "matmul" in family else "norm" if "norm" in family else family
        return getattr(self, name)(family, fields, *tensors)

    def wide(self, tensor):
        """What is computed in."""
        if tensor.dtype == self.torch.float64:
            raise Unsupported("this adapter does not compute in f64")
        return tl.float32 if tensor.dtype.is_floating_point else tl.int32

    def matmul(self, family, fields, *tensors):
        lhs, rhs, output = (tensor.transpose(-1, -2) if fields[name][-1] == "n" else tensor
                            for name, tensor in zip(("lhs", "rhs", "result"), (*tensors[:2], tensors[-1])))
        total, bias = self.wide(lhs), tensors[2] if "bias" in family else None
        if lhs.dtype != rhs.dtype or fields["accumulator"] != ("f32" if total == tl.float32 else "i32"):
            raise Unsupported(f"this adapter does not multiply {lhs.dtype} x {rhs.dtype} with sums of {fields['accumulator']}")
        activation = fields.get("epilogue", "").removeprefix("bias").removeprefix("_")
        (rows, depth), columns = lhs.shape[-2:], rhs.shape[-1]
        strides = [step for tensor in (lhs, rhs, output) for step in ((0,) + tensor.stride())[-3:]]
        grid = lambda tile: (triton.cdiv(rows, tile["M"]) * triton.cdiv(columns, tile["N"]), fields["batch_count"])

        def compute(lhs, rhs, *, out):
            multiply[grid](lhs, rhs, bias, out, rows, columns, depth, *strides, ACTIVATION=activation, TOTAL=total, BAND=8)
            return out
        return compute, lhs, rhs, output

    def elementwise(self, family, fields, *tensors):
        if fields["op"] not in ("add", "mul", "relu", "gelu", "gelu_tanh", "exp", "sigmoid", "sqrt"):
            raise Unsupported(f"this adapter does not know the operation {fields['op']}")
        count, wide, block = tensors[0].numel(), self.wide(tensors[0]), 2048

        def compute(x, y=None, *, out):
            apply[(triton.cdiv(count, block),)](x, y, out, count, OP=fields["op"], WIDE=wide, BLOCK=block, num_warps=8)
            return out
        return compute, *tensors

    def rows(self, op, matrix, gamma, beta, output, epsilon=0.0):
        (rows, columns), wide = matrix.shape, self.wide(matrix)
        if columns > MOST_COLUMNS:
            raise Unsupported(f"this adapter takes rows of up to {MOST_COLUMNS} columns, not {columns}")
        width = triton.next_power_of_2(columns)
        together, warps = max(2048 // width, 1), min(max(width // 512, 4), 16)

        def compute(matrix, *, out):
            along_rows[(triton.cdiv(rows, together),)](matrix, gamma, beta, out, rows, columns, epsilon, OP=op, WIDE=wide,
                                                       ROWS=together, COLUMNS=width, num_warps=warps)
            return out
        return compute, matrix, output

    def reduction(self, family, fields, matrix, output):
        if len(matrix.shape) != 2:
            raise Unsupported("this adapter reduces rows alone")
        if not matrix.dtype.is_floating_point and fields["op"] != "sum":
            raise Unsupported(f"this adapter does not do {fields['op']} of integers")
        return self.rows(fields["op"], matrix, None, None, output)

    def softmax(self, family, fields, matrix, output):
        return self.rows("softmax", matrix, None, None, output)

    def norm(self, family, fields, matrix, gamma, *rest):
        return self.rows(family, matrix, gamma, rest[0], rest[-1], float(fields["epsilon"]))

    def transpose(self, family, fields, matrix, output):
        if fields["permutation"] != "10":
            raise Unsupported("this adapter transposes matrices alone")
        (rows, columns), side = matrix.shape, 64

        def compute(matrix, *, out):
            turn[(triton.cdiv(rows, side), triton.cdiv(columns, side))](matrix, out, rows, columns, SIDE=side, num_warps=8)
            return out
        return compute, matrix, output


if __name__ == "__main__":
    serve(Triton())
