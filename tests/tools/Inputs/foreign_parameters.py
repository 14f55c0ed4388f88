"""Writes the parameters of parameters.test in two formats of others: model.safetensors and model.gguf."""
import json
import struct

VALUES = {
    "weight": ("F32", 0, [4, 8], struct.pack("<32f", *[2.5] * 32)),
    "bias": ("F32", 0, [8], struct.pack("<8f", *range(1, 9))),
    "scale": ("F32", 0, [8], struct.pack("<8f", *[0.5] * 8)),
    "packed": ("U8", 24, [4], bytes([0xE1, 0xC3, 0xA5, 0x87])),
    "flags": ("BOOL", 24, [4], bytes([1] * 4)),
    "half": ("F16", 1, [4], struct.pack("<4e", *[-1.5] * 4)),
}

header, data = {}, b""
for name, (dtype, _, shape, values) in VALUES.items():
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
    data += values
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open("model.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)


def string(text):
    return struct.pack("<Q", len(text)) + text.encode()


head, data = b"GGUF" + struct.pack("<IQQ", 3, len(VALUES), 1), b""
head += string("general.architecture") + struct.pack("<I", 8) + string("test")
for name, (_, number, shape, values) in VALUES.items():
    data += b"\0" * (-len(data) % 32)
    head += string(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
    head += struct.pack("<IQ", number, len(data))
    data += values
with open("model.gguf", "wb") as file:
    file.write(head + b"\0" * (-len(head) % 32) + data)
