"""What the tests of whole models share: which Python they run in, how Kiln compiles and runs a model, and what counts as right."""

import os
import subprocess
import sys
import time


def use_python(build, environment):
    """Goes on in the Python of build/environment, which `make` of that name installed, where there is one."""
    folder = os.path.join(build, environment)
    python = os.path.join(folder, "bin", "python3")
    if os.path.realpath(sys.prefix) != os.path.realpath(folder) and os.path.exists(python):
        os.execv(python, [python, *sys.argv])


def run_kiln(options, source, inputs, count, folder, flags=(), run_flags=()):
    """Compiles the program at `source` and runs it once; returns its `count` outputs, and the seconds that compiling took."""
    import numpy as np
    tool = lambda name: os.path.join(options.build, "bin", name)
    module = os.path.join(folder, "model.vmfb")
    target = [f"--kiln-hal-target-backends={options.backend}"]
    if options.backend == "llvm-cpu":
        target.append("--kiln-llvmcpu-target-cpu=host")
    began = time.monotonic()
    subprocess.run([tool("kiln-compile"), *target, *flags, source, "-o", module], check=True)
    seconds = time.monotonic() - began
    command = [tool("kiln-run-module"), f"--module={module}", f"--device={options.device}", *run_flags]
    for i, value in enumerate(inputs):
        np.save(f"{folder}/in{i}.npy", value)
        command.append(f"--input=@{folder}/in{i}.npy")
    outputs = [f"{folder}/out{i}.npy" for i in range(count)]
    subprocess.run([*command, *(f"--output=@{output}" for output in outputs)], check=True, stdout=subprocess.DEVNULL)
    return [np.load(output) for output in outputs], seconds


def difference(reference, outputs):
    """The largest difference, as a part of the largest number of its output; of its row where outputs have rows of different meaning, as
    boxes and scores are."""
    import numpy as np
    largest = 0.0
    for x, y in zip(reference, outputs, strict=True):
        if x.shape != y.shape or not np.isfinite(y).all():
            return float("inf")
        has_rows = x.ndim > 2 and x.size >= 16 * x.shape[1]
        axes = tuple(axis for axis in range(x.ndim) if axis != 1) if has_rows else None
        size = np.abs(x.astype(np.float64))
        scale = np.maximum(np.max(size, axis=axes, keepdims=True), 1e-6 * np.max(size))
        parts = np.abs(x.astype(np.float64) - y.astype(np.float64)) / scale
        largest = max(largest, float(np.max(parts)))
    return largest


def is_right(name, found, changes, seconds, remark="", tolerance=None):
    """Prints whether outputs that differ by `found` are right, where swapped channels change them by `changes`."""
    allowed = min(changes) / 10
    tolerance = allowed if tolerance is None else tolerance
    right = found <= tolerance and 1e-6 < tolerance <= max(changes) / 10  # of noise no tolerance can be made
    print(f"{name}: {'right' if right else 'WRONG'}: differs by {found:.2g}, and may by {tolerance:.2g}, of the largest output; "
          f"swapped channels change it by {', '.join(f'{change:.2g}' for change in changes)}; {remark}compiled in {seconds:.1f} s", flush=True)
    return right
