"""A text encoder, a UNet's step and a decoder, as far as their compilers' commands are concerned: three programs of the same
entry point, each compiled as SHARK does it, from standard input."""
import os
import subprocess
import sys

PROGRAM = """
func.func @forward(%x: tensor<{rows}x{depth}xf32>, %w: tensor<{depth}x{columns}xf32>) -> tensor<{rows}x{columns}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{rows}x{columns}xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  %product = linalg.matmul ins(%x, %w : tensor<{rows}x{depth}xf32>, tensor<{depth}x{columns}xf32>) outs(%start : tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  %rows = tensor.empty() : tensor<{rows}xf32>
  %none = linalg.fill ins(%zero : f32) outs(%rows : tensor<{rows}xf32>) -> tensor<{rows}xf32>
  %sums = linalg.reduce {{arith.addf}} ins(%product : tensor<{rows}x{columns}xf32>) outs(%none : tensor<{rows}xf32>) dimensions = [1]
  %wide = linalg.broadcast ins(%sums : tensor<{rows}xf32>) outs(%empty : tensor<{rows}x{columns}xf32>) dimensions = [1]
  %result = linalg.div ins(%product, %wide : tensor<{rows}x{columns}xf32>, tensor<{rows}x{columns}xf32>) outs(%empty : tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  return %result : tensor<{rows}x{columns}xf32>
}}
"""
MODELS = {"clip": (64, 32, 48), "unet": (128, 48, 96), "vae": (32, 96, 16)}

# All three at the same time.
running = []
for name, (rows, depth, columns) in MODELS.items():
    process = subprocess.Popen(["iree-compile", "-", "--iree-input-type=none", f"--iree-hal-target-backends={sys.argv[1]}", "-o", f"{name}.vmfb"],
                               stdin=subprocess.PIPE, text=True, env=os.environ)
    process.stdin.write(PROGRAM.format(rows=rows, depth=depth, columns=columns))
    process.stdin.close()
    running.append(process)
sys.exit(max(process.wait() for process in running))
