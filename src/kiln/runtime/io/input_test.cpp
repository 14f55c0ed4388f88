#include "kiln/runtime/io/input.h"

#include "kiln/runtime/io/npy.h"
#include "kiln/runtime/io/tensor_text.h"
#include "kiln/runtime/io/test_util.h"

namespace kiln::io {
namespace {

using namespace std::string_literals;

// The inputs that a reader gives, printed and joined with " | ", or the error's message.
std::string readWith(InputReader &reader, std::string_view text) {
  std::vector<Input> inputs;
  Status status = reader.read(text, inputs);
  if (!status.ok()) {
    EXPECT_TRUE(inputs.empty());
    return std::string(status.message());
  }
  std::string out;
  for (const Input &input : inputs) {
    if (!out.empty())
      out += " | ";
    if (const Scalar *scalar = std::get_if<Scalar>(&input))
      out += "scalar " + scalar->text;
    else
      out += formatTensor(std::get<HostTensor>(input).span(), 64);
  }
  return out;
}

std::string read(std::string_view text) {
  InputReader reader;
  return readWith(reader, text);
}

TEST(InputTest, Scalars) {
  for (const char *text : {"3.14", "-2", "7", "+3", "1e6", "0x10", "0x1.8p3", "inf", "-inf", "nan",
                           "18446744073709551615", "-9223372036854775808", "true", "false"})
    EXPECT_EQ(read(text), "scalar "s + text);
}

TEST(InputTest, Tensors) {
  EXPECT_EQ(read("f32=-2"), "f32=-2");
  EXPECT_EQ(read("i32=7"), "i32=7");
  EXPECT_EQ(read("4xf32=[1 2 3 4]"), "4xf32=1 2 3 4");
  EXPECT_EQ(read("4xf32=1,2, 3 ,4"), "4xf32=1 2 3 4");
  EXPECT_EQ(read("4xf32=[[1][2],[3 4]]"), "4xf32=1 2 3 4");
  EXPECT_EQ(read("2x3xi32=[1 2 3][4 5 6]"), "2x3xi32=[1 2 3][4 5 6]");
  EXPECT_EQ(read("2x3xi32=1 2 3 4 5 6"), "2x3xi32=[1 2 3][4 5 6]");
  EXPECT_EQ(read("2x3xi32=[[1,2,3],\n [4,5,6]]"), "2x3xi32=[1 2 3][4 5 6]");
  EXPECT_EQ(read("3xi1=[1 0 true]"), "3xi1=1 0 1");
  EXPECT_EQ(read("2xf16=0.1 65504"), "2xf16=0.0999756 65504");
  EXPECT_EQ(read("3xindex=[1 -2 3]"), "3xi64=1 -2 3");
  EXPECT_EQ(read("index=7"), "i64=7");
}

TEST(InputTest, SplatsAndZeros) {
  EXPECT_EQ(read("3x5xf32=1"), "3x5xf32=[1 1 1 1 1][1 1 1 1 1][1 1 1 1 1]");
  EXPECT_EQ(read("3xi64=[-9]"), "3xi64=-9 -9 -9");
  EXPECT_EQ(read("2xi8"), "2xi8=0 0");
  EXPECT_EQ(read("f64"), "f64=0");
  EXPECT_EQ(read("0xf32"), "0xf32=");
  EXPECT_EQ(read("0x4xf32=7"), "0x4xf32=");
  EXPECT_EQ(read("1xf32=+3"), "1xf32=3");
  EXPECT_EQ(read("2xf32=+3 4"), "2xf32=3 4");
}

TEST(InputTest, WrongCounts) {
  EXPECT_EQ(read("4xf32=[1 2 3]"), "input '4xf32=[1 2 3]': 3 values are given, and 4xf32 has 4 elements; give one for "
                                   "each, or one for all");
  EXPECT_CONTAINS(read("2xf32=1 2 3"), "3 values are given, and 2xf32 has 2 elements");
  EXPECT_CONTAINS(read("f32=1 2"), "2 values are given, and f32 has 1 element;");
  EXPECT_CONTAINS(read("0xf32=1 2"), "2 values are given, and 0xf32 has 0 elements");
  EXPECT_CONTAINS(read("4xf32="), "no value stands after '='");
  EXPECT_CONTAINS(read("4xf32=[]"), "no value stands after '='");
}

TEST(InputTest, Junk) {
  EXPECT_EQ(read("4xf32=[1 2 x 4]"), "input '4xf32=[1 2 x 4]': 'x' is not a floating-point f32 number");
  EXPECT_CONTAINS(read("4xf32=1 2 3..."), "'3...' is not");
  EXPECT_CONTAINS(read("4xi8=1 2 3 300"), "300 is out of the range of i8");
  EXPECT_CONTAINS(read("4xf32=[1 2 3 4"), "a ']' is missing");
  EXPECT_CONTAINS(read("4xf32=1 2 3 4]"), "too many");
  EXPECT_CONTAINS(read("4xf32=]1 2 3 4["), "too many");
  EXPECT_CONTAINS(read("4xf33=1"), "'f33' in '4xf33' is no element type; these are: i1, i8,");
  EXPECT_CONTAINS(read("4xF32=1"), "'F32'");
  EXPECT_CONTAINS(read("abc"), "an input is a scalar (3.14)");
  EXPECT_CONTAINS(read(""), "it is empty");
  EXPECT_CONTAINS(read("?x4xf32=1"), "has a '?'");
  EXPECT_CONTAINS(read("-2xf32"), "'-2' in '-2xf32' is no extent");
  EXPECT_CONTAINS(read("4x=1"), "no element type");
  EXPECT_CONTAINS(read("4=1"), "lacks an element type, as in 4xf32");
  EXPECT_CONTAINS(read("4.5xf32=1"), "'4.5' in '4.5xf32' is no extent");
  EXPECT_CONTAINS(read("4xxf32=1"), "'xf32'");
  EXPECT_CONTAINS(read("=1"), "no element type");
  // Long values are cut in messages.
  EXPECT_LT(read("4xf32=" + std::string(5000, '9')).size(), 5200u);
  EXPECT_CONTAINS(read("4xf32=[" + std::string(5000, ' ')), "...'");
}

TEST(InputTest, ShapesThatOverflow) {
  EXPECT_CONTAINS(read("99999999999999999999xf32"), "too large");
  EXPECT_CONTAINS(read("4294967296x4294967296xf32"), "4294967296x4294967296xf32");
  EXPECT_CONTAINS(read("9223372036854775807xf32=1"), "9223372036854775807xf32");
  EXPECT_CONTAINS(read("4611686018427387904xi8"), "4611686018427387904");
}

TEST(InputTest, BinaryFiles) {
  TemporaryFolder folder;
  std::string four = folder.write("four.bin", "\1\0\0\0\2\0\0\0\3\0\0\0\xff\xff\xff\xff"s);
  EXPECT_EQ(read("2x2xi32=@" + four), "2x2xi32=[1 2][3 -1]");
  EXPECT_CONTAINS(read("5xi32=@" + four), "ends early: 20 bytes are needed from byte 0 on, and 16 are there");
  EXPECT_CONTAINS(read("3xi32=@" + four), "has 4 more bytes than 3xi32 takes; read a part of a file with +");
  InputReader reader;
  EXPECT_EQ(readWith(reader, "1xi32=+" + four), "1xi32=1");
  EXPECT_EQ(readWith(reader, "2xi32=+" + four), "2xi32=2 3");
  EXPECT_EQ(readWith(reader, "4xi8=+" + four), "4xi8=-1 -1 -1 -1");
  EXPECT_CONTAINS(readWith(reader, "1xi8=+" + four), "ends early");
  EXPECT_EQ(readWith(reader, "2x2xi32=@" + four), "2x2xi32=[1 2][3 -1]");
  EXPECT_CONTAINS(read("2xi32=@" + (folder / "none.bin")), "No such file");
  EXPECT_CONTAINS(read("2xi32=@" + folder.path), "Is a directory");
  EXPECT_CONTAINS(read("2xi32=@"), "cannot open ''");
  EXPECT_CONTAINS(read("@" + four), "must end in .npy");
  std::string bools = folder.write("bools.bin", "\1\2"s);
  EXPECT_CONTAINS(read("2xi1=@" + bools), "has the byte 2 as element 1 of 2xi1");
}

TEST(InputTest, NpyFiles) {
  TemporaryFolder folder;
  std::string path = folder.write("x.npy", formatNpyHeader(ElementType::I8, std::vector<uint64_t>{2}) + "\1\2" +
                                               formatNpyHeader(ElementType::UI8, {}) + "\x09" +
                                               formatNpyHeader(ElementType::I8, std::vector<uint64_t>{1, 1}) + "\7");
  EXPECT_EQ(read("@" + path), "2xi8=1 2");
  EXPECT_EQ(read("2xi8=@" + path), "2xi8=1 2");
  EXPECT_EQ(read("*" + path), "2xi8=1 2 | ui8=9 | 1x1xi8=[7]");
  EXPECT_CONTAINS(read("2xui8=@" + path), "x.npy' holds 2xi8");
  EXPECT_CONTAINS(read("2x1xi8=@" + path), "holds 2xi8");
  InputReader reader;
  EXPECT_EQ(readWith(reader, "@" + path), "2xi8=1 2");
  EXPECT_EQ(readWith(reader, "+" + path), "ui8=9");
  EXPECT_EQ(readWith(reader, "1x1xi8=+" + path), "1x1xi8=[7]");
  EXPECT_EQ(readWith(reader, "+" + path), "input '+" + path + "': '" + path + "' holds only 3 arrays");
  EXPECT_EQ(readWith(reader, "@" + path), "2xi8=1 2");
  InputReader fresh;
  EXPECT_EQ(readWith(fresh, "+" + path), "2xi8=1 2");
  EXPECT_EQ(readWith(fresh, "*" + path), "2xi8=1 2 | ui8=9 | 1x1xi8=[7]");
  EXPECT_CONTAINS(read("@" + (folder / "none.npy")), "none.npy");
  std::string damaged = folder.write("damaged.npy", TemporaryFolder::read(path) + "tail");
  EXPECT_CONTAINS(read("*" + damaged), "damaged.npy");
  std::string bools = folder.write("bools.npy", formatNpyHeader(ElementType::I1, std::vector<uint64_t>{2}) + "\1\5");
  EXPECT_CONTAINS(read("@" + bools), "only 0 and 1 are booleans");
}

} // namespace
} // namespace kiln::io
