#!/usr/bin/env python3
"""numpy's arrays become views, and views numpy's arrays, through DLPack and libkiln.so, whose path is the argument."""

import ctypes
import sys

try:
    import numpy
except ImportError:
    print("there is no numpy here")
    sys.exit(77)

kiln = ctypes.CDLL(sys.argv[1])
python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
UNUSED, USED = b"dltensor", b"used_dltensor"


class Ref(ctypes.Structure):
    _fields_ = [("object", ctypes.c_void_p), ("type", ctypes.c_void_p)]


kiln.kiln_status_message.restype = ctypes.c_char_p
kiln.kiln_buffer_view_data.restype = ctypes.c_void_p
kiln.kiln_buffer_view_data.argtypes = [Ref]
kiln.kiln_buffer_view_byte_size.restype = ctypes.c_size_t
kiln.kiln_ref_release.argtypes = [Ref]


def must(name, *arguments):
    function = getattr(kiln, name)
    function.restype = ctypes.c_void_p
    status = function(*arguments)
    if status:
        raise RuntimeError(f"{name}: {kiln.kiln_status_message(ctypes.c_void_p(status)).decode()}")


def pointer(name, *arguments):
    out = ctypes.c_void_p()
    must(name, *arguments, ctypes.byref(out))
    return out


instance = pointer("kiln_instance_create", ctypes.c_uint32(1))
device = pointer("kiln_device_create", instance, b"local-sync", None)


def view_of(array, element_type=0):
    """The array's tensor belongs to the library, whatever becomes of it: the capsule says so."""
    capsule = array.__dlpack__()
    tensor = python.PyCapsule_GetPointer(capsule, UNUSED)
    python.PyCapsule_SetName(capsule, USED)
    view = Ref()
    must("kiln_buffer_view_from_dlpack_unversioned", device, ctypes.c_void_p(tensor), ctypes.c_int(element_type),
         ctypes.byref(view))
    return view


class Exported:
    """A view as numpy takes it over."""

    def __init__(self, view):
        self.tensor = pointer("kiln_buffer_view_to_dlpack_unversioned", view)

    def __dlpack__(self, **_):
        return python.PyCapsule_New(self.tensor, UNUSED, None)

    def __dlpack_device__(self):
        return 1, 0


def same(array, expected):
    assert array.dtype == expected.dtype and array.shape == expected.shape, (array.dtype, array.shape)
    assert (array == expected).all(), (array, expected)


for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split():
    source = numpy.arange(24).reshape(2, 3, 4).astype(name)
    for array in (source, source.T, source[:, ::2, 1:], source[::-1], source[1, 2, 3, ...], source[:0]):
        view = view_of(array)
        back = numpy.from_dlpack(Exported(view))
        same(back, array)
        kiln.kiln_ref_release(view)
        same(back, array)  # which keeps the memory now

# Without a copy, both ways: 64 bytes are found in a larger array.
memory = numpy.zeros(64, numpy.float32)
start = -memory.ctypes.data % 64 // 4
array = memory[start:start + 8]
references = sys.getrefcount(memory)
view = view_of(array)
assert kiln.kiln_buffer_view_data(view) == array.ctypes.data
back = numpy.from_dlpack(Exported(view))
assert back.ctypes.data == array.ctypes.data
array[3] = 5
assert back[3] == 5
kiln.kiln_ref_release(view)
del back
assert sys.getrefcount(memory) == references, "numpy's array is free again"

# Carried as another type: bf16 in uint16.
view = view_of(numpy.array([0x3F80], numpy.uint16), 15)
assert kiln.kiln_buffer_view_element_type(view) == 15
kiln.kiln_ref_release(view)
try:
    view_of(numpy.array([1j]))
except RuntimeError as error:
    assert "code 5 of DLPack with 128 bits, is not supported" in str(error), error
else:
    raise AssertionError("complex numbers are accepted")
print("as expected")
