"""What the scripts of this folder share: unpacking a bundle, a store of what is finished, a limit of time, the GPU's clocks, tables
of Markdown, and for those that run `kiln-dispatch` its flags and its commands with a log of each.

Exit codes: 0 where all is done and right, LEFT where the same command goes on with what is left, WRONG where nothing is left and
something failed or is wrong."""

import ctypes
import datetime
import hashlib
import json
import math
import os
import shutil
import subprocess
import tarfile
import threading
import time

LEFT, WRONG = 1, 3


def exit_code(left, wrong):
    return LEFT if left else WRONG if wrong else 0


def unpacked(bundle, folder):
    """The folder of a bundle's content: `bundle` itself where it is unpacked, else one below `folder`, which is named after what the
    archive holds, so that another bundle is not taken for it."""
    if os.path.isdir(bundle):
        return os.path.abspath(bundle)
    with open(bundle, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:12]
    content = os.path.join(os.path.abspath(folder), f"bundle-{digest}")
    if not os.path.isdir(content):
        part = content + ".part"
        shutil.rmtree(part, ignore_errors=True)
        with tarfile.open(bundle) as tar:
            tar.extractall(part)
        os.rename(part, content)
    return os.path.join(content, os.listdir(content)[0])


def version_of(tools):
    """Kiln's version, and a digest of the compiler and of what runs programs."""
    digest = hashlib.sha256()
    for name in ("kiln-compile", "kiln-run-module", "kiln-benchmark-module"):
        with open(os.path.join(tools, name), "rb") as file:
            digest.update(file.read())
    first = subprocess.run([os.path.join(tools, "kiln-compile"), "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    return first.replace("kiln-compile (Kiln)", "Kiln").strip(), digest.hexdigest()[:12]


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Store:
    """Records in a file, a line of JSON each, which are appended as things are finished and read again by the next command."""

    def __init__(self, path):
        self.path, self.records = path, []
        if os.path.exists(path):
            with open(path) as file:
                lines = file.read().split("\n")
            # What was cut off while it was written does not count.
            self.records = [json.loads(line) for line in lines[:-1] if line]
            if lines[-1]:
                with open(path, "w") as file:
                    file.write("".join(line + "\n" for line in lines[:-1]))

    def add(self, record):
        self.records.append(record)
        with open(self.path, "a") as file:
            file.write(json.dumps(record) + "\n")


class Limit:
    """Begins nothing further after so many minutes, but always the first thing, so that each command gets on."""

    def __init__(self, minutes):
        self.minutes, self.begun, self.left, self.start = minutes, 0, 0, time.monotonic()

    def begin(self):
        """Whether something may begin now; what may not is left."""
        if self.begun and time.monotonic() - self.start >= self.minutes * 60:
            self.left += 1
            return False
        self.begun += 1
        return True

    def told(self):
        return f"{self.left} are left (--limit-minutes); the same command goes on with them"


class Nvml:
    """The first GPU by NVIDIA's management library, which takes microseconds to answer. An OSError or AttributeError where it is absent."""

    SM, POWER_INSTANT = 1, 186

    class FieldValue(ctypes.Structure):
        _fields_ = [("field", ctypes.c_uint), ("scope", ctypes.c_uint), ("timestamp", ctypes.c_longlong), ("latency", ctypes.c_longlong),
                    ("type", ctypes.c_int), ("code", ctypes.c_int), ("value", ctypes.c_ulonglong)]

    def __init__(self):
        self.library, self.device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
        self.call("nvmlInit_v2")
        self.call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(0), ctypes.byref(self.device))

    def call(self, name, *arguments):
        if code := getattr(self.library, name)(*arguments):
            raise OSError(f"{name}: error {code}")

    def driver(self):
        text = ctypes.create_string_buffer(96)
        self.call("nvmlSystemGetDriverVersion", text, ctypes.c_uint(len(text)))
        return text.value.decode()

    def read(self):
        mhz, milliwatts = ctypes.c_uint(), ctypes.c_uint()
        self.call("nvmlDeviceGetClockInfo", self.device, ctypes.c_int(self.SM), ctypes.byref(mhz))
        # Power averaged over a second lags behind a turn, so the other is taken where the driver knows it.
        instant = self.FieldValue(field=self.POWER_INSTANT)
        self.call("nvmlDeviceGetFieldValues", self.device, ctypes.c_int(1), ctypes.byref(instant))
        if instant.code == 0:
            return float(mhz.value), (instant.value & 0xFFFFFFFF) / 1000
        self.call("nvmlDeviceGetPowerUsage", self.device, ctypes.byref(milliwatts))
        return float(mhz.value), milliwatts.value / 1000


class NvidiaSmi:
    """The same by NVIDIA's command, for a machine where the loader does not find the library. An OSError where it is absent."""

    def __init__(self):
        self.driver()

    def ask(self, fields):
        command = ["nvidia-smi", "-i", "0", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()

    def driver(self):
        return self.ask("driver_version")

    def read(self):
        mhz, watts = map(float, self.ask("clocks.sm,power.draw").split(","))
        return mhz, watts


class Clocks:
    """The SM clock in MHz and the power in watts of the first GPU; None where nothing tells them."""

    ERRORS = (OSError, AttributeError, ValueError, subprocess.SubprocessError)

    def __init__(self):
        self.source = None
        for kind in (Nvml, NvidiaSmi):
            try:
                source = kind()
                source.read()
                self.source = source
                return
            except self.ERRORS:
                pass

    def driver(self):
        return self.source.driver() if self.source else ""

    def read(self):
        try:
            return self.source and self.source.read()
        except self.ERRORS:
            return None

    def during(self, function):
        """What `function` returns, and of the readings while it ran the one of the most power: a clock that power holds down is up
        again as soon as the GPU idles, and a turn has pauses."""
        readings, done = [], threading.Event()

        def watch():
            while not done.wait(0.1):
                readings.append(self.read())
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            result = function()
        finally:
            done.set()
            watcher.join()
        return result, max(filter(None, [*readings, self.read()]), key=lambda reading: reading[1], default=None)


def add_flags(parser):
    parser.add_argument("--bundle", help="the archive that `make bundle` makes, or a folder that has it unpacked")
    parser.add_argument("--tools", help="in place of a bundle, the folder of a build's tools")
    parser.add_argument("--output", required=True, help="a folder for the table, and for what was printed and stored")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, help="of each measurement; as many as an interval takes where it is not said")


class Lab:
    """kiln-dispatch of the bundle that the flags name, at work in the folder of --output."""

    def __init__(self, parser, options):
        self.output, self.device = os.path.abspath(options.output), options.device
        self.flags = [f"--device={options.device}", f"--generated-dir={self.output}"]
        if options.rounds:
            self.flags.append(f"--benchmark-repetitions={options.rounds}")
        os.makedirs(self.output, exist_ok=True)
        self.tools = options.tools
        if self.tools:
            return
        if not options.bundle:
            parser.error("--bundle or --tools is missing")
        self.tools = os.path.join(unpacked(options.bundle, self.output), "bin")

    def path(self, name):
        return os.path.join(self.output, name)

    def dispatch(self, verb, log, *flags):
        """The exit code; what was printed is in the file `log`, whose end says how the command ended."""
        command = [os.path.join(self.tools, "kiln-dispatch"), verb, *self.flags, *flags]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        with open(self.path(log), "w") as file:
            file.write(f"$ {' '.join(command)}\n{done.stdout}\n--- exit code {done.returncode}\n")
        return done.returncode


class Table:
    """Lines of Markdown, printed as they come, and a file that has all of them."""

    def __init__(self, path, *columns):
        self.path, self.lines = path, []
        self.add(*columns)
        self.add(*["---"] * len(columns))

    def add(self, *cells):
        self.say(f"| {' | '.join(map(str, cells))} |")

    def say(self, line):
        self.lines.append(line)
        print(line, flush=True)
        with open(self.path, "w") as file:
            file.write("\n".join(self.lines) + "\n")
