"""The worker's side of the lab's protocol, for providers in Python. docs/lab.md describes the protocol, and
kiln_worker_numpy.py is an example: a provider is an object with a name, a version, where there is something that a
reader of the results has to know a note, and the methods below.

    start(threads)                        opens what it computes with
    load(problem, module, function, sets) everything that is no part of a call; raises Unsupported where it cannot.
                                          A set is a pair of lists of tensors, inputs and outputs. Sets `prepared`
                                          where it has brought weights into another form.
    run(set)                              computes, and writes the outputs of the set
    call(set)                             the same, for timing: the results may stay in other memory, and then there is
    fetch(set)                            which copies those of the set's last call to its outputs
    upload(set)                           where its device has memory of its own: the set has other inputs, and its
                                          outputs hold what must not show
    upload_outputs(set)                   the same where inputs are those that it has; without it, upload is called

A provider that computes on a device has these as well:

    use(uri)                              comes before start, where the lab asks for a device, as "cuda://0"; raises
                                          Unsupported where it is none for this provider
    device                                known after start: what docs/lab.md has `devices` of `hello` say of it, or None
                                          where it computes on the CPU
    prepare(batches)                      each batch is a list of sets. Puts the calls of each together, so that the
                                          device can have them at once, and returns as many objects: run() makes the
                                          calls and returns the nanoseconds between the device's timestamps before the
                                          first and after the last one, and is_graph says that they are in a graph
    empty()                               takes the way of a call, from launching to awaiting, and does no work
"""

import json
import mmap
import os
import sys
import time


_MATMUL = {"batch_count", "m", "n", "k", "lhs", "rhs", "result", "accumulator"}
# What is known of the problems of each family.
FIELDS = {"matmul": _MATMUL, "batch_matmul": _MATMUL,
          "matmul_splitk": _MATMUL | {"split_k_mode", "split_k_slices", "partials"},
          "matmul_bias": _MATMUL | {"epilogue"}, "matmul_bias_relu": _MATMUL | {"epilogue"},
          "matmul_bias_gelu": _MATMUL | {"epilogue"}, "matmul_bias_gelu_tanh": _MATMUL | {"epilogue"},
          "qmatmul": {"m", "n", "k", "lhs", "rhs", "result", "accumulator", "lhs_zero_point", "rhs_zero_point",
                      "result_zero_point", "scale"},
          "conv2d": {"layout", "n", "h", "w", "c", "r", "s", "f", "stride_h", "stride_w", "dilation_h", "dilation_w",
                     "pad_h", "pad_w", "groups", "input_type", "filter_type", "result_type", "accumulator"},
          "elementwise": {"op", "shape", "type"},
          "reduction": {"op", "rows", "columns", "inner", "type", "result_type", "accumulator"},
          "layer_norm": {"rows", "columns", "type", "epsilon", "accumulator"},
          "rms_norm": {"rows", "columns", "type", "epsilon", "accumulator"},
          "transpose": {"permutation", "shape", "type"},
          "softmax": {"rows", "columns", "type", "accumulator"},
          "attention": {"heads", "queries", "keys", "depth", "value_depth", "mask", "type", "accumulator"}}


class Unsupported(Exception):
    """The provider does not do this problem; that is no failure."""


def check(problem, families=tuple(FIELDS)):
    """Raises Unsupported for a problem of another family, or with a field that is not known: it may change what is to
    be computed."""
    family = problem["family"]
    if family not in families:
        raise Unsupported(f"this provider computes {', '.join(families)}; not {family}")
    unknown = set(problem["fields"]) - FIELDS[family]
    if unknown:
        raise Unsupported(f"this provider does not know what the field {min(unknown)} asks for")


class Tensor:
    """What a request says of a tensor of one set: `type` ("f32"), `shape`, and `memory`, its bytes."""

    def __init__(self, spec, memory, index):
        self.type, self.shape = spec["type"], tuple(spec["shape"])
        offset = spec["offset"] + index * spec["stride"]
        self.memory = memory[offset:offset + spec["bytes"]]


def _tensors(specs, sets, writable):
    mapped = {}
    for spec in specs:
        if spec["path"] not in mapped:
            file = os.open(spec["path"], os.O_RDWR if writable else os.O_RDONLY)
            access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
            mapped[spec["path"]] = memoryview(mmap.mmap(file, 0, access=access))
            os.close(file)
    return [[Tensor(spec, mapped[spec["path"]], i) for spec in specs] for i in range(sets)]


def cores(count):
    """A processor of each of `count` cores that this process may use; of all cores, where there are not so many."""
    chosen = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as siblings:
                chosen.setdefault(siblings.read(), cpu)
        except OSError:
            chosen[cpu] = cpu
    return list(chosen.values())[:count]


def touch(sets):
    """Pages that were never touched would be mapped while calls are timed. Set 0 is not timed, where there are more."""
    for inputs, outputs in sets[1:]:
        for tensor in inputs:
            bytes(tensor.memory[::4096])
        for tensor in outputs:
            tensor.memory[:] = bytes(len(tensor.memory))


def following(set, count):
    """The set after this one; set 0 is for verification, where there are others."""
    return set + 1 if set + 1 < count else min(1, count - 1)


def _device(provider):
    return getattr(provider, "device", None)


def _time(provider, request, count):
    """Calls, each with the next set."""
    if request.get("watch"):
        raise Unsupported("this worker did not promise device times")
    if request.get("empty") and not _device(provider):
        raise Unsupported("this worker did not promise empty calls")
    call = (lambda _: provider.empty()) if request.get("empty") else provider.call
    samples, chosen, clock = [], request["start"], time.perf_counter_ns
    for _ in range(request["calls"] // request["batch"]):
        begin = clock()
        for _ in range(request["batch"]):
            call(chosen)
            chosen = following(chosen, count)
        samples.append(max(clock() - begin, 1))
    return {"ok": True, "batch": request["batch"], "host": samples}


def _asked(request):
    return [request[name] for name in ("calls", "batch", "start")]


def _prepare(provider, request, state):
    if not _device(provider):
        raise Unsupported("this provider has no device with a clock")
    state.pop("prepared", None)
    batches, chosen = [], request["start"]
    for _ in range(request["calls"] // request["batch"]):
        batches.append([])
        for _ in range(request["batch"]):
            batches[-1].append(chosen)
            chosen = following(chosen, state["sets"])
    prepared = provider.prepare(batches)
    state["prepared"] = _asked(request), prepared
    return {"ok": True, "graph": all(batch.is_graph for batch in prepared)}


def _time_batches(request, state):
    """Each batch was put together before."""
    if request.get("watch") or request.get("empty"):
        raise ValueError("calls that are watched or empty are not timed by the device's clock")
    asked, batches = state.get("prepared", (None, []))
    if asked != _asked(request):
        raise RuntimeError("these calls were not prepared; 'prepare' comes before a 'time' by the device's clock")
    host, spans, clock = [], [], time.perf_counter_ns
    for batch in batches:
        begin = clock()
        spans.append(batch.run())
        host.append(max(clock() - begin, 1))
    return {"ok": True, "batch": request["batch"], "host": host, "spans": spans}


def _for_each(method, sets, count):
    chosen = sets["first"]
    for _ in range(sets["count"]):
        method(chosen)
        chosen = following(chosen, count)


def _answer(provider, request, state):
    op = request["op"]
    if op == "hello":
        if request["protocol"] != 2:
            raise Unsupported(f"this worker speaks protocol 2, not {request['protocol']}")
        if uri := request.get("device"):
            if not hasattr(provider, "use"):
                raise Unsupported(f"this provider computes on the CPU, and not on {uri}")
            provider.use(uri)
        provider.start(request["threads"])
        cpu = {"name": "cpu", "memory": "own" if hasattr(provider, "fetch") else "shared"}
        return {"ok": True, "provider": provider.name, "version": provider.version,
                "note": getattr(provider, "note", ""), "devices": [_device(provider) or cpu],
                "promises": ["empty calls"] if _device(provider) else []}
    if op == "load":
        if state:
            raise RuntimeError("this worker holds one problem at a time; unload it first")
        count = request["sets"]
        sets = list(zip(_tensors(request["inputs"], count, False), _tensors(request["outputs"], count, True)))
        provider.load(request["problem"], request.get("module"), request.get("function"), sets)
        state.update(slot=request.get("slot", 0), sets=count)
        return {"ok": True, "prepared": True} if getattr(provider, "prepared", False) else {"ok": True}
    if state.get("slot") != request.get("slot", 0):
        raise RuntimeError(f"slot {request.get('slot', 0)} holds no problem; 'load' comes first")
    if op == "unload":
        state.clear()
        return {"ok": True}
    if op in ("upload", "fetch"):
        if request.get("outputs_only") and hasattr(provider, "upload_outputs"):
            op = "upload_outputs"
        if hasattr(provider, op):
            _for_each(getattr(provider, op), request["sets"], state["sets"])
        return {"ok": True}
    if op == "run":
        provider.run(request["set"])
        return {"ok": True}
    if op == "prepare":
        return _prepare(provider, request, state)
    if op == "time":
        return _time_batches(request, state) if request.get("clock") else _time(provider, request, state["sets"])
    raise ValueError(f"'{op}' is no request")


def serve(provider):
    """Answers requests until there are no more. What anything prints goes to standard error, since on standard output it
    would be an answer."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    state = {}
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "quit":
            return
        try:
            answer = _answer(provider, request, state)
        except Unsupported as reason:
            answer = {"ok": False, "unsupported": True, "error": str(reason)}
        except Exception as error:  # whatever it is, it costs one row
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)
