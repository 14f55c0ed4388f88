# Lit's configuration for the tests beside the code (src/, through src/lit.cfg.py) and the end-to-end tests (tests/).
#
#   lit-22 src tests                           all of them, against build/
#   lit-22 -v src/kiln/compiler/Dialect/Flow   those of one folder, or of one file
#   lit-22 -D build=build-runtime src tests    against another build
#   lit-22 -D slow=1 src tests                 with the tests that say REQUIRES: slow
#   lit-22 -D all=1 src tests                  without those, but both halves of the longest
#
# A test is a .mlir or .test file outside folders named Inputs; its RUN lines are run by bash, with this build's tools,
# the compat links, FileCheck and not on the PATH. Features for REQUIRES: are set below. A test may take 10 minutes,
# with slow ones two hours, and its processes 6 GiB each; %limit before a command holds it to 2 seconds of processor
# time and 1 GiB. In a build with sanitizers memory is not limited; what is about such limits says UNSUPPORTED: sanitized.
# Of tests that take half a minute, those that say REQUIRES: drawn-a are run on one day, and those of drawn-b on the next.
# Without the compiler, what tests IR is left out, and a test of the tools that compiles says
# REQUIRES: compiler.
import ctypes
import glob
import os
import re
import resource
import shutil
import subprocess
import time

import lit.formats
import lit.util

repo = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(lit_config.params.get("build", os.path.join(repo, "build")))
llvm = lit_config.params.get("llvm", "/usr/lib/llvm-22")
tools = os.path.join(build, "bin")
if not os.path.isdir(tools):
    lit_config.fatal(f"there are no tools in {tools}: run 'make build', or name the build with -D build=FOLDER")

if config.name == "<unnamed>":
    config.name = "tests"
config.test_format = lit.formats.ShTest(execute_external=True)
config.test_source_root = os.path.join(repo, config.name)
config.test_exec_root = os.path.join(build, "lit", config.name)
config.suffixes = {".mlir", ".test"}
config.excludes = {"Inputs", "__pycache__"}

# Programs with sanitizers take several times as long, and reserve more addresses than any limit allows.
try:
    with open(os.path.join(build, "CMakeCache.txt")) as cache:
        sanitized = re.search(r"^KILN_SANITIZE:\w+=.", cache.read(), re.M) is not None
except OSError:
    sanitized = False

features = config.available_features
if sanitized:
    features.add("sanitized")
if os.access(os.path.join(tools, "kiln-opt"), os.X_OK):
    features.add("compiler")
else:
    config.suffixes = {".test"}
    config.excludes |= {"compiler", "codegen"}
# Where tests that draw programs and numbers start to: on each day elsewhere, and where KILN_DRAW_SEED says. The longest
# tests are drawn too: one half of them, or the other. With slow ones, and where tests are named, all are run.
drawn = os.environ.get("KILN_DRAW_SEED") or str(int(time.time()) // 86400 * 1000)
features.add(("drawn-a", "drawn-b")[int(drawn) // 1000 % 2])
if lit_config.params.get("slow"):
    features.add("slow")
if lit_config.params.get("slow") or lit_config.params.get("all"):
    features.update({"drawn-a", "drawn-b"})
for tool in ("chromium", "gdb", "perf"):
    if shutil.which(tool):
        features.add(tool)


def has_package(python, package):
    # Large ones are not imported, only looked for.
    code = f"import importlib.util; importlib.util.find_spec('{package}').name"
    try:
        return subprocess.run([python, "-c", code], capture_output=True).returncode == 0
    except OSError:
        return False


# The tests of adapters run %python: what `make peers` installed, or another one that has numpy.
pythons = [os.path.join(build, "peers", "bin", "python3"), "python3", "/usr/bin/python3"]
python = next((each for each in pythons if has_package(each, "numpy")), "python3")
features.update(feature for package, feature in (("numpy", "numpy"), ("torch", "torch"), ("triton", "triton"), ("iree.compiler", "iree"), ("onnxruntime", "onnxruntime"), ("onnx", "onnx"), ("skimage", "models"), ("tosa_converter_for_tflite", "tflite"),
                                          ("scipy_openblas32", "peers"))
                if has_package(python, package.split(".")[0]) and has_package(python, package))
# What `make frameworks` installs.
if os.path.exists(os.path.join(build, "frameworks", "installed")):
    features.add("frameworks")
# NVIDIA's assembler, which `make peers` installs.
ptxas = next(iter(glob.glob(os.path.join(build, "peers", "lib", "python3*", "site-packages", "nvidia", "cu*", "bin", "ptxas"))),
             shutil.which("ptxas"))
if ptxas:
    features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
try:
    ctypes.CDLL("libcuda.so.1")
    features.add("cuda")
except OSError:
    pass
features.add(os.uname().machine)  # x86_64, aarch64
with open("/proc/cpuinfo") as cpuinfo:
    flags = next((line.split() for line in cpuinfo if line.startswith("flags")), [])
features.update(flag for flag in ("avx2", "fma", "avx512f") if flag in flags)

compat = os.path.join(tools, "compat")
config.environment["PATH"] = os.pathsep.join([tools, compat, os.path.join(llvm, "bin"), os.environ.get("PATH", "")])
config.environment["XDG_CACHE_HOME"] = os.path.join(build, "lit", "cache")
config.environment["IREE_OPT"] = compat  # how the documents name the folder of the tools
# kiln-compile with flags that plant wrong and slow code, for tests of what has to notice it.
config.environment["LYING_COMPILE"] = os.path.join(build, "test", "kiln-lying-compile")
config.substitutions.append(("%limit", "timeout 60 prlimit --cpu=20 --" if sanitized
                             else "timeout 60 prlimit --cpu=2 --data=1073741824 --"))
config.substitutions.extend([("%drawn", drawn), ("%repo", repo), ("%build", build), ("%python", python)])

if not sanitized:
    resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if lit.util.killProcessAndChildrenIsSupported()[0] and not lit_config.maxIndividualTestTime:
    lit_config.maxIndividualTestTime = 7200 if lit_config.params.get("slow") else 600
