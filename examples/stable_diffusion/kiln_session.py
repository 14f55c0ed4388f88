"""Kiln's C API (kiln.h) from Python, as much of it as calling a compiled module with NumPy arrays takes."""

import ctypes

import numpy as np

API_VERSION = 1
ELEMENT_TYPES = {"bool": 1, "int32": 4, "int64": 5, "float16": 14, "float32": 16, "float64": 17}  # KILN_ELEMENT_TYPE_*
KIND_REF = ord("r")


class Ref(ctypes.Structure):
    _fields_ = [("object", ctypes.c_void_p), ("type", ctypes.c_void_p)]


class Number(ctypes.Union):
    _fields_ = [("i64", ctypes.c_int64), ("ref", Ref)]


class Value(ctypes.Structure):
    _anonymous_ = ("number",)
    _fields_ = [("kind", ctypes.c_int), ("number", Number)]


class SessionOptions(ctypes.Structure):  # kiln_session_options_t
    _fields_ = [("struct_size", ctypes.c_size_t), ("modules", ctypes.c_void_p), ("module_count", ctypes.c_size_t),
                ("devices", ctypes.c_void_p), ("device_count", ctypes.c_size_t), ("native_modules", ctypes.c_void_p),
                ("native_module_count", ctypes.c_size_t), ("max_call_depth", ctypes.c_uint32), ("stack_bytes", ctypes.c_size_t),
                ("program", ctypes.c_void_p), ("limit", ctypes.c_void_p), ("parameters", ctypes.c_void_p)]


class Device:
    """A device that sessions share, and the library that it comes from."""

    def __init__(self, library, uri):
        self.api = ctypes.CDLL(library)
        for name, result, arguments in (
                ("kiln_status_message", ctypes.c_char_p, [ctypes.c_void_p]),
                ("kiln_status_free", None, [ctypes.c_void_p]),
                ("kiln_instance_create", ctypes.c_void_p, [ctypes.c_uint32, ctypes.c_void_p]),
                ("kiln_device_create", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]),
                ("kiln_module_load_file", ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_void_p]),
                ("kiln_module_release", None, [ctypes.c_void_p]),
                ("kiln_session_create", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p]),
                ("kiln_session_release", None, [ctypes.c_void_p]),
                ("kiln_session_function", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]),
                ("kiln_function_result_count", ctypes.c_size_t, [ctypes.c_void_p]),
                ("kiln_session_call", ctypes.c_void_p,
                 [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]),
                ("kiln_buffer_view_create", ctypes.c_void_p,
                 [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]),
                ("kiln_buffer_view_element_type", ctypes.c_int, [Ref]),
                ("kiln_buffer_view_rank", ctypes.c_size_t, [Ref]),
                ("kiln_buffer_view_dimension", ctypes.c_uint64, [Ref, ctypes.c_size_t]),
                ("kiln_buffer_view_read", ctypes.c_void_p, [Ref, ctypes.c_void_p, ctypes.c_size_t]),
                ("kiln_ref_release", None, [Ref])):
            function = getattr(self.api, name)
            function.restype, function.argtypes = result, arguments
        instance, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.api.kiln_instance_create(API_VERSION, ctypes.byref(instance)))
        self.check(self.api.kiln_device_create(instance, uri.encode(), None, ctypes.byref(self.handle)))

    def check(self, status):
        if status:
            message = self.api.kiln_status_message(status).decode(errors="replace")
            self.api.kiln_status_free(status)
            raise RuntimeError(message)

    def to_view(self, array):
        array = np.ascontiguousarray(array)
        shape, view = (ctypes.c_uint64 * array.ndim)(*array.shape), Ref()
        self.check(self.api.kiln_buffer_view_create(self.handle, ELEMENT_TYPES[array.dtype.name], shape, array.ndim, array.ctypes.data,
                                                    array.nbytes, ctypes.byref(view)))
        return view

    def from_view(self, view):
        types = {number: name for name, number in ELEMENT_TYPES.items()}
        shape = [self.api.kiln_buffer_view_dimension(view, i) for i in range(self.api.kiln_buffer_view_rank(view))]
        array = np.empty(shape, types[self.api.kiln_buffer_view_element_type(view)])
        self.check(self.api.kiln_buffer_view_read(view, array.ctypes.data, array.nbytes))
        return array


class Session:
    """A loaded module; calling it calls its first function."""

    def __init__(self, device, path):
        self.device, self.api = device, device.api
        module, self.handle = ctypes.c_void_p(), ctypes.c_void_p()
        device.check(self.api.kiln_module_load_file(path.encode(), ctypes.byref(module)))
        options = SessionOptions(ctypes.sizeof(SessionOptions), ctypes.addressof(module), 1, ctypes.addressof(device.handle), 1)
        try:
            device.check(self.api.kiln_session_create(ctypes.byref(options), ctypes.byref(self.handle)))
        finally:
            self.api.kiln_module_release(module)
        self.function = self.api.kiln_session_function(self.handle, 0)
        self.results = self.api.kiln_function_result_count(self.function)

    def __call__(self, *arrays):
        arguments, results = (Value * len(arrays))(), (Value * self.results)()
        for argument, array in zip(arguments, arrays):
            argument.kind, argument.ref = KIND_REF, self.device.to_view(array)
        try:
            self.device.check(self.api.kiln_session_call(self.handle, self.function, arguments, len(arrays), results, self.results))
            return [self.device.from_view(result.ref) for result in results]
        finally:
            for value in [*arguments, *results]:
                self.api.kiln_ref_release(value.ref)

    def release(self):
        self.api.kiln_session_release(self.handle)
