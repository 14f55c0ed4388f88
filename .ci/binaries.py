#!/usr/bin/env python3
"""Checks what the tools of the runtime side are made of: no symbol of MLIR or LLVM, no shared library beyond those that
are listed here, no glibc newer than Debian 12's, and a size that stays small enough to carry to a device."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNTIME_TOOLS = ["kiln-run-module", "kiln-benchmark-module", "kiln-dump-module", "kiln-dispatch", "kiln-lab-worker",
                 "kiln-calibrate", "kiln-doctor"]
SIZE_LIMIT = 6 << 20  # of kiln-run-module, stripped, with every library but the system's
GLIBC_LIMIT = (2, 36)
SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libstdc\+\+|libgcc_s)\.so[.\d]*$")
ALLOWED = re.compile(r"(libhwloc|libpfm|libbenchmark|libfmt|libsqlite3|libxxhash)\.so[.\w]*$")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path):
    """Names of the shared libraries that the file itself asks for."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", path))


def stripped_size(path):
    """Bytes of a program and of all libraries it loads but the system's, each stripped, by file name."""
    files = {os.path.basename(path): path}
    for name, where in re.findall(r"^\s*(\S+) => (\S+)", output("ldd", path), re.M):
        if not SYSTEM.match(name):
            files[name] = where
    sizes = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, where in files.items():
            copy = shutil.copy(os.path.realpath(where), os.path.join(folder, name))
            subprocess.run(["strip", copy], check=True)
            sizes[name] = os.path.getsize(copy)
    return sizes


def problems(path):
    name = os.path.basename(path)
    symbols = output("nm", "-C", path) + output("nm", "-CD", path)
    foreign = sorted(set(re.findall(r"(?<!::)\b(?:(?:mlir|llvm|lld)::[\w:~]+|(?:mlir|LLVM)[A-Z]\w+)", symbols)))
    if foreign:
        yield f"{name} holds symbols of the compiler: {', '.join(foreign[:5])}; see what its CMake target links"
    for library in needed(path):
        if not SYSTEM.match(library) and not ALLOWED.match(library):
            yield f"{name} needs {library}, which {os.path.relpath(__file__, REPO)} does not allow"
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"@GLIBC_([\d.]+)", symbols)}
    if versions and max(versions) > GLIBC_LIMIT:
        yield f"{name} needs glibc {'.'.join(map(str, max(versions)))}; {'.'.join(map(str, GLIBC_LIMIT))} has to do"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(REPO, "build"), help="the build folder")
    tools = os.path.join(parser.parse_args().build, "bin")
    found = []
    for name in RUNTIME_TOOLS:
        path = os.path.join(tools, name)
        found += list(problems(path)) if os.path.exists(path) else [f"{path} does not exist"]
    run_module = os.path.join(tools, RUNTIME_TOOLS[0])
    if os.path.exists(run_module):
        sizes = stripped_size(run_module)
        size = sum(sizes.values())
        print(f"{RUNTIME_TOOLS[0]} is {size / (1 << 20):.2f} MiB stripped ({', '.join(sizes)})")
        if size > SIZE_LIMIT:
            parts = ", ".join(f"{name} {bytes / (1 << 20):.2f}" for name, bytes in sizes.items())
            found.append(f"{RUNTIME_TOOLS[0]} is {size / (1 << 20):.2f} MiB stripped, over {SIZE_LIMIT >> 20}: {parts}")
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
