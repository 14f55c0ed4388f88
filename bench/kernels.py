"""Single kernels of the CPU beside the libraries of the lab: who has to be met, and how fast Kiln's own choice of a configuration is."""

import csv
import math
import os
import random

import measure

WORKER = os.path.join(measure.REPO, "python", "kiln_worker_onnxruntime.py")


def conv(size, channels, kernel, filters, stride=1, groups=1):
    """Of one image whose channels are last; the result has the image's size, or half of it."""
    pad = kernel // 2
    return (f"conv2d_nhwc_hwcf_1x{size}x{size}x{channels}_{kernel}x{kernel}x{filters}_s{stride}x{stride}_d1x1_p{pad}x{pad}_"
            f"g{groups}_f32_f32_f32")


def depthwise(size, channels, stride):
    return conv(size, channels, 3, channels, stride, channels)


RESNET = [conv(224, 3, 7, 64, 2),
          conv(56, 64, 1, 64), conv(56, 64, 3, 64), conv(56, 64, 1, 256), conv(56, 256, 1, 64),
          conv(56, 256, 1, 128), conv(56, 128, 3, 128, 2), conv(28, 128, 1, 512), conv(56, 256, 1, 512, 2), conv(28, 512, 1, 128),
          conv(28, 128, 3, 128), conv(28, 512, 1, 256), conv(28, 256, 3, 256, 2), conv(14, 256, 1, 1024),
          conv(28, 512, 1, 1024, 2), conv(14, 1024, 1, 256), conv(14, 256, 3, 256), conv(14, 1024, 1, 512),
          conv(14, 512, 3, 512, 2), conv(7, 512, 1, 2048), conv(14, 1024, 1, 2048, 2), conv(7, 2048, 1, 512), conv(7, 512, 3, 512)]
MOBILENET = [conv(224, 3, 3, 32, 2), depthwise(112, 32, 1), conv(112, 32, 1, 16), conv(112, 16, 1, 96), depthwise(112, 96, 2),
             conv(56, 96, 1, 24), conv(56, 24, 1, 144), depthwise(56, 144, 1), conv(56, 144, 1, 24), depthwise(56, 144, 2),
             conv(28, 144, 1, 32), conv(28, 32, 1, 192), depthwise(28, 192, 1), conv(28, 192, 1, 32), depthwise(28, 192, 2),
             conv(14, 192, 1, 64), conv(14, 64, 1, 384), depthwise(14, 384, 1), conv(14, 384, 1, 64), conv(14, 384, 1, 96),
             conv(14, 96, 1, 576), depthwise(14, 576, 1), conv(14, 576, 1, 96), depthwise(14, 576, 2), conv(7, 576, 1, 160),
             conv(7, 160, 1, 960), depthwise(7, 960, 1), conv(7, 960, 1, 160), conv(7, 960, 1, 320), conv(7, 320, 1, 1280)]

# What a row measures, the problems whose geometric mean counts, and the least part of the fastest library's speed.
ROWS = [
    ("f32 512x512x512", ["matmul_512x512x512_f32t_f32t_f32t"], 1.0),
    ("i8 to i32 512x512x512", ["matmul_512x512x512_i8t_i8n_i32t"], 0.95),
    ("i8 to i32 512x512x512, zero points", ["qmatmul_512x512x512_i8t_i8n_i32t_za3_zbm5"], 0.95),
    ("bf16 512x512x512", ["matmul_512x512x512_bf16t_bf16t_f32t"], 0.95),
    ("f16 512x512x512", ["matmul_512x512x512_f16t_f16t_f16t"], 0.95),
    ("sums over columns 4096x4096 f32", ["reduction_sum_1x4096x4096_f32_f32"], 1.0),
    ("depthwise 3x3, strides 1 and 2", [depthwise(112, 32, 1), depthwise(112, 96, 2)], 1.05),
    ("1x4096x4096 f32", ["matmul_1x4096x4096_f32t_f32t_f32t"], 1.0),
    ("softmax 1024x1024 f32", ["softmax_1024x1024_f32"], 1.05),
    ("attention 8x512x64 f32", ["attention_8x512x512x64x64_f32"], 1.05),
    ("causal attention 8x2048x64 f32", ["attention_causal_8x2048x2048x64x64_f32"], 1.05),
    ("convolutions of ResNet-50", RESNET, 1.0),
    ("convolutions of MobileNetV2", MOBILENET, 1.0),
]


def sweep(context, problem, *flags):
    """The right rows of a sweep over one problem on one thread; `problem` names it, or is a list of flags that do."""
    path = context.path("kernels.csv")
    if os.path.exists(path):
        os.remove(path)
    context.build.run("kiln-dispatch", "sweep", f"--generated-dir={context.scratch}",
                      *([f"--dispatches={problem}"] if isinstance(problem, str) else problem),
                      "--threads=1", "--fresh", f"--output={path}", *flags, allowed=(0, 1))
    if not os.path.exists(path):
        raise measure.Failed(f"the sweep over {problem} has measured nothing")
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] == "ok"]
    if not any(row["provider"] == "kiln" for row in rows):
        raise measure.Failed(f"Kiln has no right result of {problem}")
    return rows


def fastest(rows, is_kiln):
    return min((float(row["call_median_ns"]) for row in rows if (row["provider"] == "kiln") == is_kiln), default=None)


def is_default(row):
    return row["configuration"] == "tile_config_default"


def beside_libraries(context, problems):
    """The fastest library's time over that of Kiln's own choice, as the geometric mean over the problems."""
    python, samples = os.path.join(context.build.folder, "peers", "bin", "python3"), []
    if not os.path.exists(python):
        raise measure.Failed("libraries to compare with are missing: run 'make peers' first")
    for _ in range(1 if len(problems) > 2 else 3):
        logs = []
        for problem in problems:
            rows = sweep(context, problem, "--configurations=1", "--providers=kiln,onednn,openblas,mkl",
                         f"--provider-command=onnxruntime={python} {WORKER}")
            rival = fastest(rows, False)
            if rival is None:
                raise measure.Failed(f"no library has a right result of {problem}")
            logs.append(math.log(rival / fastest([row for row in rows if is_default(row)], True)))
        samples.append(math.exp(sum(logs) / len(logs)))
    return samples


def untuned(context, count, seed):
    """How many percent of so many products, drawn by seed, run at 0.9 or more of the speed of the fastest configuration with
    the one that is chosen without tuning. The fastest three are measured again beside it, as who is the fastest of many is
    faster than he will be the next time."""
    dice, good = random.Random(seed), 0
    for _ in range(count):
        sizes = [round(math.exp(dice.uniform(math.log(least), math.log(1500)))) for least in (1, 8, 8)]
        problem = ["--operation-kind=matmul", "--dtypes=f32t_f32t_f32t", *(f"--problem-{name}={size}" for name, size in zip("mnk", sizes))]
        rows = [row for row in sweep(context, problem, "--providers=kiln") if not is_default(row)]
        best = sorted(rows, key=lambda row: float(row["call_median_ns"]))[:3]
        again = sweep(context, problem, "--providers=kiln", "--dispatches=" + ",".join(f"{row['configuration']}$" for row in best))
        if not 1 < len(again) <= 4:
            raise measure.Failed(f"{len(again)} configurations of {sizes} were measured again")
        good += fastest([row for row in again if is_default(row)], True) <= fastest(again, True) / 0.9
    return 100 * good / count
