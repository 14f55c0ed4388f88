#!/usr/bin/env python3
"""Holds what `ptxas -v` says of the kernels of all_kernels.mlir against bounds: registers of a thread, and bytes of them that it
keeps in memory.

    register_bounds.py KERNELS FILE...      files with the output of ptxas, each of so many kernels"""

import re
import sys

# Function -> registers of a thread, and bytes of registers that are stored in memory. A bound of registers is the most that
# ptxas 13.5 uses on any architecture, and about a tenth more.
BOUNDS = {"halves": (112, 0), "brains": (112, 0), "bytes": (88, 0), "floats": (104, 0), "mmasync": (248, 0), "wmma": (72, 0),
          # ptxas stores two registers of these on some of sm_80 to sm_89, to need no more than 128 and 80.
          "simt": (160, 8), "doubles": (104, 8),
          "rows": (48, 0), "total": (48, 0), "softmax": (64, 0), "transpose": (48, 0), "functions": (48, 0)}
KERNEL = re.compile(r"Compiling entry function '([a-z0-9]+)_dispatch_\w+' for '(\w+)'.*?"
                    r"(\d+) bytes spill stores.*?Used (\d+) registers", re.S)


def main():
    wrong = False
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            kernels = KERNEL.findall(file.read())
        if len(kernels) != int(sys.argv[1]):
            print(f"{path} tells of {len(kernels)} kernels, not {sys.argv[1]}")
            wrong = True
        for name, architecture, stored, registers in kernels:
            most_registers, most_stored = BOUNDS[name]
            print(f"{architecture} {name}: {registers} registers, {stored} bytes stored")
            if int(registers) > most_registers or int(stored) > most_stored:
                print(f"more than {most_registers} registers or {most_stored} bytes")
                wrong = True
    return wrong


if __name__ == "__main__":
    sys.exit(main())
