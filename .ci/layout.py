#!/usr/bin/env python3
"""Checks what the design says of the tree: which folder may include which, where vendor names and the environment may be
read, how long a file may get, that each pass has a test, and that nothing of the machine it was written on is left in it."""

import argparse
import os
import re
import subprocess
import sys

WARN_LINES, MAX_LINES = 800, 1200

# Folder below src/kiln -> folders it may include. The first match counts; * stands for one folder name, the same one on
# both sides. A folder may always include itself.
MAY_INCLUDE = [
    ("base", []),
    ("schema", ["base"]),
    ("trace", ["base", "schema"]),
    ("runtime/task", ["base", "schema"]),
    ("runtime/hal", ["base", "schema", "trace", "runtime/task"]),
    ("runtime/io", ["base", "schema", "runtime/task", "runtime/hal"]),
    ("runtime/module", ["base", "schema", "runtime/task", "runtime/hal"]),
    ("runtime/parameters", ["base", "schema", "runtime/hal"]),
    ("runtime/vm", ["base", "schema", "trace", "runtime/task", "runtime/hal", "runtime/module", "runtime/parameters"]),
    ("runtime", ["base", "schema", "targets/drivers.h"]),
    ("compiler", ["base", "schema"]),
    # A device that runs the executables of another target.
    ("targets/discrete/driver", ["base", "schema", "runtime", "targets/cpu/driver"]),
    ("targets/*/driver", ["base", "schema", "trace", "runtime"]),
    ("targets/*/sim", ["base", "schema", "runtime", "targets/*/driver"]),
    ("targets/*/codegen", ["base", "schema", "compiler", "targets/*/architectures.h", "targets/*/wgmma_cost.h"]),
    # Names of devices that the compiler and the lab both take, and what both expect a product to cost.
    ("targets/*/architectures.h", []),
    ("targets/*/wgmma_cost.h", ["base"]),
    ("targets/drivers.h", ["runtime"]),
    ("targets/backends.h", ["compiler"]),
    ("families/*/lowering", ["base", "schema", "compiler"]),
    ("families/families.h", ["measure"]),
    ("families/*/workload", ["base", "schema", "runtime/io", "runtime/hal", "measure", "targets/cuda/wgmma_cost.h"]),
    ("measure/statistics", ["base"]),
    ("measure/machine", ["base", "runtime/task"]),
    ("measure/kernels", ["base", "schema", "runtime/hal"]),
    ("measure/verify", ["base", "schema", "runtime/io", "runtime/hal", "measure/kernels"]),
    ("measure/providers", ["base", "schema", "runtime", "targets/drivers.h", "targets/*/driver", "measure"]),
    ("measure", ["base", "schema", "runtime"]),
    ("store", ["base", "measure/statistics"]),
    ("report", ["base", "store", "measure/statistics"]),
    ("tools", ["base", "schema", "trace", "runtime", "compiler", "targets", "families", "measure", "store", "report"]),
]
# Tests, benchmarks, and suites that run over every target may use all of their own side.
SIDES = {
    "runtime": ["base", "schema", "trace", "runtime", "targets/drivers.h", "targets/*/driver", "targets/*/sim",
                "targets/*/wgmma_cost.h", "families", "measure", "store", "report"],
    "compiler": ["base", "schema", "compiler", "targets/backends.h", "targets/*/codegen", "targets/*/architectures.h",
                 "targets/*/wgmma_cost.h", "families/*/lowering"],
}
COMPILER_HEADERS = re.compile(r"(mlir|mlir-c|llvm|llvm-c|lld|clang)/")
VENDOR_HEADERS = re.compile(r"(cuda|cudnn|cublas|nvml|cupti|hip/|hsa/|rocm|roc|vulkan/|CL/|level_zero/)")
COMPILER_SIDE = re.compile(r"(compiler|targets/[^/]+/codegen|families/[^/]+/lowering|targets/backends\.h)")
TESTS = re.compile(r"((_t|T)est|_benchmark)\.cpp$|/conformance/|/testing/")
LONG_FILES = (".cpp", ".c", ".h", ".td", ".def", ".py", ".cmake", ".ts", ".tsx", ".css")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)
PASS = re.compile(r'\bPass<"([^"]+)"')
PASS_TESTS = re.compile(r"src/kiln/.*/test/[^/]+\.(mlir|test)$")
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]) + r")\b")


def files(root):
    """Paths below root of what git tracks or would track; of everything, where root is no checkout."""
    listing = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    inside = subprocess.run(["git", "-C", root, "rev-parse", "--show-toplevel"], capture_output=True, text=True)
    if listing.returncode == 0 and os.path.realpath(inside.stdout.strip()) == os.path.realpath(root):
        return sorted(name for name in set(listing.stdout.splitlines()) if os.path.isfile(os.path.join(root, name)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".git", "build", "__pycache__"))]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(found)


def matches(path, pattern, star=None):
    """Whether path is the pattern or lies below it. Returns what * stood for, or "" where there is none; else None."""
    expression = re.escape(pattern).replace(r"\*", re.escape(star) if star else "([^/]+)")
    match = re.match(rf"{expression}(/|$)", path)
    if not match:
        return None
    return match.group(1) if match.lastindex and match.lastindex > 1 else ""


def allowed(path, header):
    """Whether src/kiln/<path> may include "kiln/<header>"; the reason where it may not."""
    if TESTS.search(path) and not path.startswith("tools/"):
        side = "compiler" if COMPILER_SIDE.match(path) else "runtime"
        if any(matches(header, pattern) is not None for pattern in SIDES[side]):
            return None
        return f"a test of the {side} side may include: {', '.join(SIDES[side])}"
    for folder, others in MAY_INCLUDE:
        star = matches(path, folder)
        if star is None:
            continue
        own = folder.replace("*", star) if star else folder
        if any(matches(header, pattern, star) is not None for pattern in [own, *others]):
            return None
        return f"{own} may include: {', '.join([own, *others])}"
    return "its folder is not in the table of .ci/layout.py"


def check_includes(name, text):
    if not name.startswith("src/kiln/") or not name.endswith((".h", ".cpp", ".c", ".inc")):
        return
    path = name[len("src/kiln/"):]
    sides = set()
    for match in INCLUDE.finditer(text):
        quote, header = match.groups()
        line = text.count("\n", 0, match.start()) + 1
        if header.startswith("kiln/"):
            reason = allowed(path, header[len("kiln/"):])
            if reason:
                yield f'{name}:{line}: includes "{header}"; {reason}'
            if header.startswith("kiln/runtime/"):
                sides.add("the runtime")
        elif COMPILER_HEADERS.match(header):
            sides.add("MLIR or LLVM")
            if not COMPILER_SIDE.match(path) and not path.startswith("tools/"):
                yield f"{name}:{line}: includes {header}; only the compiler side includes MLIR and LLVM"
        elif VENDOR_HEADERS.match(header) and not path.startswith("targets/"):
            yield f"{name}:{line}: includes {header}; vendors' headers stay under src/kiln/targets"
        elif quote == '"' and "/" not in header:
            yield f'{name}:{line}: includes "{header}"; write includes from src/: "kiln/.../{header}"'
    if len(sides) > 1:
        yield f"{name}: includes both {' and '.join(sorted(sides))}; a file belongs to one side"


def check_environment(name, text):
    if not re.match(r"src/kiln/(?!tools/).*\.(cpp|h|c)$", name) or TESTS.search(name):
        return
    # A profiler tells any program that it starts about itself there, whoever the program's tools are.
    text = text.replace('getenv("NVTX_INJECTION64_PATH")', "")
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0]
        found = re.search(r"\b(getenv|setenv|putenv|exit|_exit|abort)\s*\(", code)
        if found and found.group(1) in ("getenv", "setenv", "putenv"):
            yield f"{name}:{number}: reads the environment; only tools/ does, and passes on what it read as options"
        elif found and found.group(1) != "abort":
            yield f"{name}:{number}: ends the process; only a tool's main does"


def check_text(name, text, leaks):
    for number, line in enumerate(text.splitlines(), 1):
        if not name.startswith("tests/documents/") and UNFINISHED.search(line):
            yield f"{name}:{number}: promises work for later: do it, or make it a clear error: {line.strip()[:80]}"
        if leaks and leaks.search(line):
            yield f"{name}:{number}: names something of this machine: {leaks.search(line).group(0)}"


def check_passes(texts):
    """Each pass is run by name, in a test beside the code."""
    runs = "\n".join(text for name, text in texts.items() if PASS_TESTS.match(name))
    for name, text in texts.items():
        for match in PASS.finditer(text) if name.startswith("src/") and name.endswith("Passes.td") else ():
            if not re.search(rf"(--|[(,=]){re.escape(match.group(1))}(?![\w-])", runs):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{name}:{line}: no test beside the code runs --{match.group(1)}"


def machine_names(root):
    """A pattern of what names the machine that this runs on: the checkout's place, the home folder, the host, and the
    hosts that package clients are set up with."""
    names = set()
    common = {"/", "/tmp", "/var/tmp", "/home", "/root", "/opt", "/srv", "/mnt", "/usr", "/usr/src", "/builds"}
    for folder in (root, os.path.dirname(root)):
        if folder not in common and folder.count("/") >= 1:
            names.add(re.escape(folder) + r"(?![\w.-])")
    home = os.path.expanduser("~")
    if home.startswith("/") and home != "/":
        names.add(r"(?<![\w.$}])" + re.escape(home) + "/")
    sources = ["/etc/apt/sources.list", "/etc/pip.conf", os.path.join(home, ".pip/pip.conf"),
               os.path.join(home, ".config/pip/pip.conf"), os.path.join(home, ".npmrc"), "/etc/npmrc"]
    if os.path.isdir("/etc/apt/sources.list.d"):
        sources += [os.path.join("/etc/apt/sources.list.d", entry) for entry in os.listdir("/etc/apt/sources.list.d")]
    text = ""
    for source in sources:
        if os.path.isfile(source):
            with open(source, errors="replace") as file:
                text += file.read()
    text += "\n".join(value for key, value in os.environ.items() if re.search(r"(?i)proxy|index_url|registry", key))
    for host in re.findall(r"https?://(?:[^/\s@]*@)?([\w.-]+\.[\w-]+)", text):
        names.add(r"(?<![\w.-])" + re.escape(host) + r"(?![\w-])")
    return re.compile("|".join(sorted(names))) if names else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    root = os.path.abspath(parser.parse_args().root)
    leaks, found, texts = machine_names(root), [], {}
    for name in files(root):
        with open(os.path.join(root, name), "rb") as file:
            data = file.read()
        if b"\0" in data:
            continue
        text = data.decode("utf-8", "replace")
        texts[name] = text
        found += [*check_includes(name, text), *check_environment(name, text), *check_text(name, text, leaks)]
        lines = 0 if name.startswith("tests/released/") else text.count("\n")
        if name.endswith(LONG_FILES) and lines > MAX_LINES:
            found.append(f"{name}: {lines} lines, over {MAX_LINES}: what is its second concept?")
        elif name.endswith(LONG_FILES) and lines > WARN_LINES:
            print(f"warning: {name}: {lines} lines, over {WARN_LINES}: what is its second concept?")
    found += check_passes(texts)
    for problem in found:
        print(problem)
    print(f"layout: {len(texts)} files, {len(found)} problems")
    return 1 if found or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
