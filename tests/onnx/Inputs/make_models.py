"""Writes ONNX models for import.test into the working folder."""
from onnx import TensorProto, helper, parser, save

HEADER = '<ir_version: 10, opset_import: ["" : 21, "mine" : 1]>\n'


def write(name, text):
    save(parser.parse_model(HEADER + text), f"{name}.onnx")


# Rows of any number, twice.
write("scaled", """scaled (float[N, 4] x, float[N, 4] y) => (float[N, 4] z)
<float[4] factor = {1, 2, 3, 4}> { [named] product = Mul(x, factor)  z = Add(product, y) }""")
# Shapes that are computed: [N, 4] to [N * 2, 2] and back, by what Shape gives.
write("shapes", """shapes (float[N, 4] x) => (float[N, 4] z)
<int64[2] halves = {-1, 2}> { shape = Shape(x)  a = Reshape(x, halves)  b = Neg(a)  z = Reshape(b, shape) }""")
write("unknown", """unknown (float[4] x) => (float[4] z)
{ [one] a = Frobnicate(x)  [two] b = mine.Twist(a)  [three] c = Frobnicate(x)  [four] d = Relu(b)  z = Add(c, d) }""")
write("lacking", """lacking (float[4] x) => (float[4] z) { [half] z = Add(x) }""")
write("mismatch", """mismatch (float[4] x, float[3] y) => (float[4] z) { [sum] z = Add(x, y) }""")
# A function of the model's own, with an attribute that has a default.
write("function", """function (float[4] x) => (float[4] z) { z = mine.Leak <slope: float = 0.5> (x) }
<opset_import: ["" : 21], domain: "mine"> Leak <slope: float = 0.25> (x) => (y) { y = LeakyRelu <alpha: float = @slope> (x) }""")
# What extents are equal or 1 is known when the program runs.
write("broadcast", """broadcast (float[N] x, float[M] y) => (float[K] z) { z = Add(x, y) }""")
write("attribute", """attribute (float[4] x) => (float[4] z) { [gate] z = Relu <slope = 0.5> (x) }""")
save(parser.parse_model("""<ir_version: 8, opset_import: ["" : 6]>
old (float[2, 3] x, float[3] y) => (float[2, 3] z) { [sum] z = Add <broadcast = 1> (x, y) }"""), "old.onnx")
strings = helper.make_tensor_value_info("s", TensorProto.STRING, [2])
save(helper.make_model(helper.make_graph([helper.make_node("Identity", ["s"], ["t"])], "text", [strings],
                                         [helper.make_tensor_value_info("t", TensorProto.STRING, [2])])), "strings.onnx")
