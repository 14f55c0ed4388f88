"""What the scripts of this folder that run `kiln-dispatch` share: its flags, finding it, and its commands with a log of each."""

import os
import shutil
import subprocess
import tarfile
import time


def add_flags(parser):
    parser.add_argument("--bundle", help="the archive that `make bundle` makes")
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
        self.began = time.monotonic()
        self.tools = options.tools
        if self.tools:
            return
        if not options.bundle:
            parser.error("--bundle or --tools is missing")
        scratch = os.path.join(self.output, "bundle")
        if not os.path.isdir(scratch):
            part = scratch + ".part"
            shutil.rmtree(part, ignore_errors=True)
            with tarfile.open(options.bundle) as tar:
                tar.extractall(part)
            os.rename(part, scratch)
        self.tools = os.path.join(scratch, os.listdir(scratch)[0], "bin")

    def path(self, name):
        return os.path.join(self.output, name)

    def dispatch(self, verb, log, *flags):
        """The exit code; what was printed is in the file `log`, whose end says how the command ended."""
        command = [os.path.join(self.tools, "kiln-dispatch"), verb, *self.flags, *flags]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        with open(self.path(log), "w") as file:
            file.write(f"$ {' '.join(command)}\n{done.stdout}\n--- exit code {done.returncode}\n")
        return done.returncode

    def minutes(self):
        return (time.monotonic() - self.began) / 60


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
