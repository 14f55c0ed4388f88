#!/usr/bin/env python3
"""A runtime that `kiln bench-model` compares Kiln with: loads a model, and answers one line of JSON with another.

    {"do": "load", "model": FILE, "inputs": [FILE.npy, ...], "threads": N, "setting": NAME, "other_lengths": false, "device": "cpu"|"cuda"}
                                         -> {"ok": true, "version": "1.32", "load_s": 0.2, "compile_s": 0}
    {"do": "bind", "inputs": [FILE.npy]} -> {"ok": true}: they take the place of those before, with other lengths where the model is open
    {"do": "call", "outputs": FOLDER}    -> {"ok": true, "outputs": [FILE.npy, ...]}
    {"do": "time", "seconds": S}         -> {"ok": true, "ns": [...]}: of calls one after the other
    {"do": "memory"}                     -> {"ok": true, "device_bytes": N}: the most of the device's own memory; 0 where it has none

What fails gives {"ok": false, "why": "..."}. One class for each runtime: `bind` takes the inputs, to the device, `call` is with them as they are,
and returns once the outputs are there, on the device, too; `arrays` makes arrays of them, which is not timed. Settings are those of
rival_settings.cpp; with one thread, and where there is nothing to choose, the name is empty."""

import json
import os
import subprocess
import sys
import tempfile
import time

MIN_CALLS = 3


def signedAs(value, kind):
    """Kiln's files know no signs of integers: the same bytes as the model calls them, such as tensor(uint8)."""
    return value.view("u" + value.dtype.name) if "uint" in kind and value.dtype.kind == "i" else value


class Runtime:
    devices = ("cpu",)

    def device_bytes(self):
        return 0

    def arrays(self, outputs):
        return outputs


class OnnxRuntime(Runtime):
    def __init__(self, model, inputs, threads, device, setting, otherLengths, function=""):
        import onnxruntime
        self.version = onnxruntime.__version__
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.inter_op_num_threads = 1
        settings.log_severity_level = 3
        if setting == "not spinning":
            settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
        processors = sorted(os.sched_getaffinity(0))
        bound = setting == "spinning, bound" and threads <= len(processors)
        if bound:  # the thread that calls is one of them, and the others count processors from 1
            settings.add_session_config_entry("session.intra_op_thread_affinities", ";".join(str(cpu + 1) for cpu in processors[1:threads]))
        self.session = onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
        if bound:
            os.sched_setaffinity(0, processors[:1])
        self.bind(inputs)

    def bind(self, inputs):
        puts = self.session.get_inputs()
        if len(puts) != len(inputs):
            raise ValueError(f"the model takes {len(puts)} inputs, and there are {len(inputs)}")
        self.binding, self.inputs = self.session.io_binding(), [signedAs(value, put.type) for put, value in zip(puts, inputs)]
        for put, value in zip(puts, self.inputs):
            self.binding.bind_cpu_input(put.name, value)
        for put in self.session.get_outputs():
            self.binding.bind_output(put.name)

    def call(self):
        self.session.run_with_iobinding(self.binding)

    def arrays(self, outputs):
        return self.binding.copy_outputs_to_cpu()


class OpenVino(Runtime):
    def __init__(self, model, inputs, threads, device, setting, otherLengths, function=""):
        import openvino
        self.version = openvino.__version__.split("-")[0]
        core = openvino.Core()
        network = core.read_model(model)
        if not otherLengths:
            network.reshape({put: list(value.shape) for put, value in zip(network.inputs, inputs)})
        hints = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
        if setting:
            hints["ENABLE_CPU_PINNING"] = setting == "bound"
        self.network, self.openvino = network, openvino
        self.request = core.compile_model(network, "CPU", hints).create_infer_request()
        self.bind(inputs)

    def bind(self, inputs):
        kinds = ["uint" if put.get_element_type().to_string().startswith("u") else "" for put in self.network.inputs]
        self.inputs = [signedAs(value, kind) for kind, value in zip(kinds, inputs)]
        for place, value in enumerate(self.inputs):
            self.request.set_input_tensor(place, self.openvino.Tensor(value, shared_memory=True))
        self.count = len(self.network.outputs)

    def call(self):
        self.request.infer()
        return [self.request.get_output_tensor(place).data for place in range(self.count)]


class Torch(Runtime):
    """A program of torch.export (.pt2): the model's own, or the one beside it, model.pt2 beside model.onnx. On a GPU f32 is computed in
    f32, as Kiln does."""
    devices = ("cpu", "cuda")
    compiles = False

    def __init__(self, model, inputs, threads, device, setting, otherLengths, function=""):
        import torch
        self.torch, self.version, self.device = torch, torch.__version__.split("+")[0], device
        torch.set_num_threads(threads)
        if device == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        program = os.path.splitext(model)[0] + ".pt2"
        if not os.path.exists(program):
            raise ValueError(f"PyTorch runs what torch.export.save wrote, and there is no '{program}'")
        exported = torch.export.load(program)
        if device == "cuda":
            from torch.export.passes import move_to_device_pass
            exported = move_to_device_pass(exported, "cuda:0")  # what it asserts of its tensors names the card
        self.module = exported.module()
        self.bind(inputs)
        self.compile_s = 0.0
        if self.compiles:
            began = time.monotonic()
            # On a GPU the calls of a model are one CUDA graph.
            self.module = torch.compile(self.module, mode="reduce-overhead" if device == "cuda" else "default")
            for _ in range(3):  # which is captured in the second one
                self.call()
            self.compile_s = time.monotonic() - began

    def bind(self, inputs):
        self.inputs = [self.torch.from_numpy(value).to(self.device) for value in inputs]

    def device_bytes(self):
        return self.torch.cuda.max_memory_allocated() if self.device == "cuda" else 0

    def call(self):
        with self.torch.inference_mode():
            if self.compiles and self.device == "cuda":
                self.torch.compiler.cudagraph_mark_step_begin()
            result = self.module(*self.inputs)
        if self.device == "cuda":
            self.torch.cuda.synchronize()
        return result

    def arrays(self, outputs):
        values = outputs.values() if isinstance(outputs, dict) else outputs if isinstance(outputs, (list, tuple)) else [outputs]
        return [value.cpu().numpy() for value in values]


class TorchCompile(Torch):
    compiles = True


class Iree(Runtime):
    def __init__(self, model, inputs, threads, device, setting, otherLengths, function=""):
        import iree.compiler
        import iree.runtime
        from importlib.metadata import version
        self.version = version("iree-base-compiler")
        with tempfile.TemporaryDirectory() as folder:
            source = model
            began = time.monotonic()
            if model.endswith(".onnx"):
                source = os.path.join(folder, "model.mlir")
                run([sys.executable, "-m", "iree.compiler.tools.import_onnx", model, "--opset-version", "17", "-o", source])
            program = os.path.join(folder, "model.vmfb")
            run([sys.executable, "-m", "iree.compiler.tools.scripts.iree_compile", source, "-o", program, "--iree-hal-target-backends=llvm-cpu",
                 "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "--iree-opt-data-tiling"])
            self.compile_s = time.monotonic() - began
            iree.runtime.flags.parse_flags(f"--task_topology_max_group_count={threads}")
            config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")
            module = iree.runtime.VmModule.copy_buffer(config.vm_instance, open(program, "rb").read())
        functions = [name for name in module.function_names if not name.startswith("__") and not name.endswith("$async")]
        if len(functions) != 1 and function not in functions:
            raise ValueError(f"has no function '{function}'; it has {', '.join(functions)}")
        loaded = iree.runtime.load_vm_module(module, config)
        self.function = getattr(loaded, function if function in functions else functions[0])
        self.place = lambda value: iree.runtime.asdevicearray(config.device, value)
        self.bind(inputs)

    def bind(self, inputs):
        self.inputs = [self.place(value) for value in inputs]

    def call(self):
        return self.function(*self.inputs)

    def arrays(self, outputs):
        return [value.to_host() for value in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]


RUNTIMES = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "torch": Torch, "torch-compile": TorchCompile, "iree": Iree}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = [line for line in done.stderr.strip().splitlines() if "error" in line.lower()] or done.stderr.strip().splitlines()
        raise RuntimeError(lines[0][:300] if lines else f"{command[2]} ended with {done.returncode}")


def serve(name):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    runtime = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            import numpy
            if request["do"] == "load":
                inputs = [numpy.load(path) for path in request["inputs"]]
                device = request.get("device", "cpu")
                if device not in RUNTIMES[name].devices:
                    raise ValueError(f"{name} is compared on {' and '.join(RUNTIMES[name].devices)} only, and this is {device}")
                began = time.monotonic()
                runtime = RUNTIMES[name](request["model"], inputs, request["threads"], device, request.get("setting", ""),
                                         request.get("other_lengths", False), request.get("function", ""))
                spent, compiling = time.monotonic() - began, getattr(runtime, "compile_s", 0.0)
                answer = {"version": runtime.version, "load_s": spent - compiling, "compile_s": compiling}
            elif request["do"] == "bind":
                runtime.bind([numpy.load(path) for path in request["inputs"]])
                answer = {}
            elif request["do"] == "memory":
                answer = {"device_bytes": runtime.device_bytes()}
            elif request["do"] == "call":
                paths = []
                for place, value in enumerate(runtime.arrays(runtime.call())):
                    paths.append(os.path.join(request["outputs"], f"{name}.{place}.npy"))
                    numpy.save(paths[-1], numpy.asarray(value))
                answer = {"outputs": paths}
            else:
                times, began = [], time.monotonic()
                while len(times) < MIN_CALLS or time.monotonic() - began < request["seconds"]:
                    start = time.perf_counter_ns()
                    runtime.call()
                    times.append(time.perf_counter_ns() - start)
                answer = {"ns": times}
            answer["ok"] = True
        except ImportError as error:
            answer = {"ok": False, "why": f"{error}; install it for the Python of --peers-dir, which is {sys.executable}"}
        except Exception as error:  # whatever a library throws, the next line can be asked
            answer = {"ok": False, "why": f"{type(error).__name__}: {error}".replace("\n", " ")[:400]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in RUNTIMES:
        sys.exit(__doc__ + "\n\n    kiln_model_worker.py " + "|".join(RUNTIMES))
    serve(sys.argv[1])
