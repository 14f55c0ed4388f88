#include "kiln/runtime/io/npy.h"

#include <cstring>

#include "kiln/runtime/io/tensor_text.h"
#include "kiln/runtime/io/test_util.h"

namespace kiln::io {
namespace {

using namespace std::string_literals;

// A file of one array, written by hand as NumPy writes it.
std::string npy(unsigned version, std::string dictionary, std::string_view data) {
  unsigned lengthBytes = version == 1 ? 2 : 4;
  dictionary.append(63 - (8 + lengthBytes + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string file = "\x93NUMPY"s + char(version) + '\0';
  for (unsigned i = 0; i < lengthBytes; ++i)
    file += char(dictionary.size() >> (8 * i));
  return file + dictionary + std::string(data);
}

// The first array of the bytes as text, or the error's message.
std::string readText(std::string_view bytes, std::optional<ElementType> wanted = std::nullopt) {
  TemporaryFolder folder;
  Result<InputFile> file = InputFile::open(folder.write("x.npy", bytes));
  EXPECT_TRUE(file.ok());
  Result<HostTensor> tensor = readNpy(*file, wanted);
  return tensor.ok() ? formatTensor(tensor->span(), 1024) : std::string(tensor.status().message());
}

std::string headerText(std::string_view dictionary, std::optional<ElementType> wanted = std::nullopt) {
  Result<NpyHeader> header = parseNpyHeader(dictionary, wanted);
  if (!header.ok())
    return std::string(header.status().message());
  Result<HostTensor> tensor = HostTensor::zeros(header->type, header->shape);
  EXPECT_TRUE(tensor.ok());
  return tensor->typeText() + (header->fortranOrder ? " fortran" : "");
}

TEST(NpyTest, Headers) {
  EXPECT_EQ(headerText("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"), "3x4xf32");
  EXPECT_EQ(headerText("{'descr': '<f8', 'fortran_order': True, 'shape': (3,), }   \n"), "3xf64 fortran");
  EXPECT_EQ(headerText("{\"shape\":(),\"fortran_order\":False,\"descr\":\"<f2\"}"), "f16");
  EXPECT_EQ(headerText("{'descr': '|b1', 'fortran_order': False, 'shape': (2L, 3L)}"), "2x3xi1");
}

TEST(NpyTest, Types) {
  struct Case {
    const char *descriptor, *type;
  };
  for (const Case &c :
       {Case{"|i1", "i8"}, Case{"<i1", "i8"}, Case{"<i2", "i16"}, Case{"<i4", "i32"}, Case{"<i8", "i64"},
        Case{"|u1", "ui8"}, Case{"<u2", "ui16"}, Case{"<u4", "ui32"}, Case{"<u8", "ui64"}, Case{"<f2", "f16"},
        Case{"<f4", "f32"}, Case{"<f8", "f64"}, Case{"<V2", "bf16"}, Case{"|V2", "bf16"}, Case{"<f1", "f8E5M2"}})
    EXPECT_EQ(headerText(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ()}}", c.descriptor)), c.type);
  EXPECT_EQ(headerText("{'descr': '|V1', 'fortran_order': False, 'shape': ()}", ElementType::F8E4M3FN), "f8E4M3FN");
  EXPECT_EQ(headerText("{'descr': '|V1', 'fortran_order': False, 'shape': ()}", ElementType::F8E5M2), "f8E5M2");
  EXPECT_CONTAINS(headerText("{'descr': '|V1', 'fortran_order': False, 'shape': ()}"), "say which");
  for (const char *descriptor : {">f4", "<c8", "|O", "<U5", "|S3", "<M8", "f4", "", "<", "|f4", "<V4", "<i3"})
    EXPECT_CONTAINS(headerText(fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ()}}", descriptor)),
                    "are not supported");
  EXPECT_CONTAINS(headerText("{'descr': '>f4', 'fortran_order': False, 'shape': ()}"), "big-endian");
  EXPECT_CONTAINS(headerText("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}"), "structured");
}

TEST(NpyTest, MalformedHeaders) {
  for (const char *dictionary :
       {"", "{", "}", "{}", "[]", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3 4)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr' '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"})
    EXPECT_CONTAINS(headerText(dictionary), "the .npy header is malformed") << dictionary;
}

// No prefix, and no byte changed, makes the parser do anything but answer.
TEST(NpyTest, DamagedHeadersAreAnswered) {
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
  for (size_t length = 0; length < dictionary.size(); ++length)
    EXPECT_FALSE(parseNpyHeader(std::string_view(dictionary).substr(0, length)).ok()) << length;
  for (size_t i = 0; i < dictionary.size(); ++i)
    for (int c = 0; c < 256; ++c) {
      std::string damaged = dictionary;
      damaged[i] = char(c);
      (void)parseNpyHeader(damaged).ok();
    }
}

TEST(NpyTest, Versions) {
  std::string dictionary = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }";
  for (unsigned version : {1, 2, 3})
    EXPECT_EQ(readText(npy(version, dictionary, "\1\0\2\0"s)), "2xi16=1 2");
  EXPECT_CONTAINS(readText(npy(4, dictionary, "\1\0\2\0"s)), "version 4.0");
  EXPECT_CONTAINS(readText("\x93NUMPY\1\1"s), "version 1.1");
}

TEST(NpyTest, DamagedFiles) {
  std::string file = npy(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }", "\1\0\2\0"s);
  for (size_t length = 0; length < file.size(); ++length)
    EXPECT_CONTAINS(readText(file.substr(0, length)), "ends early") << length;
  EXPECT_CONTAINS(readText("not numpy at all"), "is no .npy file");
  EXPECT_CONTAINS(readText("\x93NUMPY\2\0\xff\xff\xff\xff"s), "it is damaged");
  EXPECT_CONTAINS(readText(npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "")),
                  "x.npy'");
  EXPECT_CONTAINS(readText(npy(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,)}", "")),
                  "ends early: its array 1099511627776xf64 takes 8796093022208 bytes, and 0 are there");
}

TEST(NpyTest, FortranOrder) {
  // Columns of [[1 2 3], [4 5 6]].
  std::string data = "\1\4\2\5\3\6";
  EXPECT_EQ(readText(npy(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", data)),
            "2x3xi8=[1 2 3][4 5 6]");
  EXPECT_EQ(readText(npy(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (6,), }", data)), "6xi8=1 4 2 5 3 6");
  std::string cube; // element [i][j][k] of 2x3x4 is 100i + 10j + k, i fastest
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        cube += {char(100 * i + 10 * j + k), 0};
  EXPECT_EQ(readText(npy(1, "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3, 4), }", cube)),
            "2x3x4xui16=[[0 1 2 3][10 11 12 13][20 21 22 23]][[100 101 102 103][110 111 112 113][120 121 122 123]]");
  EXPECT_EQ(readText(npy(1, "{'descr': '<u4', 'fortran_order': True, 'shape': (2, 0), }", "")), "2x0xui32=[][]");
}

TEST(NpyTest, WritesWhatNumPyReads) {
  std::string header = formatNpyHeader(ElementType::F32, std::vector<uint64_t>{3, 4});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(0, 10), "\x93NUMPY\1\0\x76\0"s);
  EXPECT_EQ(header.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
  EXPECT_EQ(header.back(), '\n');
  EXPECT_CONTAINS(formatNpyHeader(ElementType::I1, {}), "'|b1', 'fortran_order': False, 'shape': (), }");
  EXPECT_CONTAINS(formatNpyHeader(ElementType::BF16, std::vector<uint64_t>{5}),
                  "'<V2', 'fortran_order': False, 'shape': (5,), }");
}

TEST(NpyTest, RoundTripOfEveryTypeInOneFile) {
  TemporaryFolder folder;
  std::string path = folder / "all.npy";
  std::vector<HostTensor> tensors;
  for (ElementType type : {
#define KILN_ELEMENT_TYPE(Name, text, number, bits) ElementType::Name,
#include "kiln/schema/element_type.def"
       }) {
    Result<HostTensor> tensor = HostTensor::zeros(type, {2, 3});
    ASSERT_TRUE(tensor.ok());
    if (hal::isPacked(type)) {
      Result<OutputFile> file = OutputFile::open(folder / "packed.npy", OutputFile::Mode::Replace);
      ASSERT_TRUE(file.ok());
      EXPECT_EQ(writeNpy(*file, tensor->span()).code(), StatusCode::Unimplemented);
      continue;
    }
    for (size_t i = 0; i < tensor->bytes().size(); ++i)
      tensor->bytes()[i] = type == ElementType::I1 ? i % 2 : i + 1;
    tensors.push_back(*std::move(tensor));
  }
  for (const HostTensor &tensor : tensors) {
    Result<OutputFile> file = OutputFile::open(path, OutputFile::Mode::Append);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(writeNpy(*file, tensor.span()).ok());
    ASSERT_TRUE(file->commit().ok());
  }
  Result<InputFile> file = InputFile::open(path);
  ASSERT_TRUE(file.ok());
  for (const HostTensor &tensor : tensors) {
    Result<HostTensor> back = readNpy(*file, tensor.type());
    ASSERT_TRUE(back.ok()) << back.status().toString();
    // si32 and i32 are one type to NumPy.
    std::string expected = tensor.typeText();
    if (size_t sign = expected.find("si"); sign != std::string::npos)
      expected.erase(sign, 1);
    EXPECT_EQ(back->typeText(), expected);
    EXPECT_EQ(std::memcmp(back->bytes().data(), tensor.bytes().data(), tensor.bytes().size()), 0) << expected;
  }
  EXPECT_TRUE(*file->atEnd());
}

TEST(NpyTest, LongHeadersAreVersion2) {
  std::vector<uint64_t> shape(30000, 1);
  TemporaryFolder folder;
  std::string header = formatNpyHeader(ElementType::I8, shape);
  EXPECT_EQ(header[6], '\2');
  EXPECT_EQ(header.size() % 64, 0u);
  Result<InputFile> file = InputFile::open(folder.write("x.npy", header + "\x07"));
  ASSERT_TRUE(file.ok());
  Result<HostTensor> tensor = readNpy(*file);
  ASSERT_TRUE(tensor.ok()) << tensor.status().toString();
  EXPECT_EQ(tensor->shape().size(), shape.size());
  EXPECT_EQ(tensor->bytes()[0], 7);
}

} // namespace
} // namespace kiln::io
