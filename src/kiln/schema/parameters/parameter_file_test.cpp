#include "kiln/schema/parameters/parameter_file.h"

#include "gtest/gtest.h"

#include "kiln/base/file.h"
#include "kiln/base/testing/test_folder.h"
#include "kiln/schema/parameters/irpa.h"
#include "kiln/schema/parameters/irpa_writer.h"

#include <cstring>
#include <filesystem>

namespace kiln {
namespace {

using Bytes = std::vector<std::byte>;

class ParameterFileTest : public ::testing::Test {
protected:
  std::string path(const char *name) const { return folder.file(name); }

  Result<std::shared_ptr<const ParameterFile>> openBytes(const char *name, const Bytes &bytes) {
    EXPECT_TRUE(writeFile(path(name), bytes).ok());
    return ParameterFile::open(path(name));
  }
  std::string errorOf(const char *name, const Bytes &bytes) {
    auto opened = openBytes(name, bytes);
    return opened.ok() ? "" : std::string(opened.status().message());
  }
  Bytes read(const std::string &name) {
    auto contents = FileContents::open(name);
    EXPECT_TRUE(contents.ok());
    return {(*contents)->bytes().begin(), (*contents)->bytes().end()};
  }

  TestFolder folder;
};

template <typename T> void put(Bytes &bytes, T value) {
  auto from = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), from.begin(), from.end());
}
void put(Bytes &bytes, std::string_view text) {
  auto from = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), from.begin(), from.end());
}
void putString(Bytes &bytes, std::string_view text) {
  put(bytes, uint64_t(text.size()));
  put(bytes, text);
}

Bytes floats(std::initializer_list<float> values) {
  Bytes bytes;
  for (float value : values)
    put(bytes, value);
  return bytes;
}

bool holds(const ParameterFile &file, std::string_view key, const Bytes &bytes) {
  const Parameter *parameter = file.find(key);
  return parameter && !parameter->isSplat() && std::ranges::equal(file.bytesOf(*parameter), bytes);
}

TEST_F(ParameterFileTest, AnArchiveHoldsWhatWasWritten) {
  const Bytes one = floats({1, 2, 3}), two = floats({-4});
  std::vector<ParameterContents> contents(4);
  contents[0] = {.key = "one", .length = one.size(), .bytes = one, .metadata = "first"};
  contents[1] = {.key = "splat", .length = 1000, .pattern = floats({2.5F, -2.5F}), .isStored = false};
  contents[2] = {.key = "filled", .length = 64, .pattern = floats({0.5F})};
  contents[3] = {.key = "two", .length = two.size(), .bytes = two};
  uint64_t told = 0;
  ASSERT_TRUE(writeIrpa(path("a.irpa"), contents, {}, [&](uint64_t bytes) {
                told = bytes;
                return okStatus();
              }).ok());
  EXPECT_EQ(told, 132U); // each at a multiple of 64
  EXPECT_EQ(std::filesystem::file_size(path("a.irpa")) % irpa::kFileAlignment, 0U);
  auto file = ParameterFile::open(path("a.irpa"));
  ASSERT_TRUE(file.ok()) << file.status().toString();
  EXPECT_EQ((*file)->format(), "irpa");
  ASSERT_EQ((*file)->parameters().size(), 4U);
  EXPECT_EQ((*file)->parameters()[0].key, "splat");
  EXPECT_EQ((*file)->parameters()[0].splat, contents[1].pattern);
  EXPECT_EQ((*file)->parameters()[0].length, 1000U);
  EXPECT_TRUE(holds(**file, "one", one));
  EXPECT_TRUE(holds(**file, "two", two));
  EXPECT_EQ((*file)->find("one")->metadata, "first");
  for (const char *key : {"one", "filled", "two"})
    EXPECT_EQ((*file)->find(key)->offset % irpa::kDataAlignment, 0U);
  Bytes filled;
  for (int i = 0; i < 16; ++i)
    put(filled, 0.5F);
  EXPECT_TRUE(holds(**file, "filled", filled));
  EXPECT_EQ((*file)->find("three"), nullptr);
}

TEST_F(ParameterFileTest, ZerosTakeNoRoom) {
  std::vector<ParameterContents> contents(1);
  contents[0] = {.key = "zeros", .length = uint64_t(5) << 30, .pattern = Bytes(4)};
  ASSERT_TRUE(writeIrpa(path("zeros.irpa"), contents).ok());
  auto file = ParameterFile::open(path("zeros.irpa"));
  ASSERT_TRUE(file.ok()) << file.status().toString();
  EXPECT_EQ((*file)->find("zeros")->length, uint64_t(5) << 30);
  EXPECT_GE(std::filesystem::file_size(path("zeros.irpa")), uint64_t(5) << 30);
  std::filesystem::remove(path("zeros.irpa"));
}

TEST_F(ParameterFileTest, WhatCannotBeWrittenIsRefused) {
  std::vector<ParameterContents> contents(2);
  contents[0] = {.key = "a", .length = 6, .pattern = Bytes(4)};
  EXPECT_NE(writeIrpa(path("no.irpa"), contents).message().find("'a' of 6 bytes cannot be filled with 4"),
            std::string::npos);
  contents[0].length = 8;
  contents[1] = contents[0];
  EXPECT_NE(writeIrpa(path("no.irpa"), contents).message().find("'a' is given twice"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("no.irpa")));
}

// Two archives in one file, the second behind the first; an entry that is to be skipped.
TEST_F(ParameterFileTest, ArchivesAreLinked) {
  const Bytes one = floats({1}), two = floats({2});
  std::vector<ParameterContents> contents = {{.key = "one", .length = 4, .bytes = one}};
  ASSERT_TRUE(writeIrpa(path("one.irpa"), contents).ok());
  contents = {{.key = "two", .length = 4, .bytes = two}, {.key = "gone", .length = 4, .bytes = two}};
  ASSERT_TRUE(writeIrpa(path("two.irpa"), contents).ok());
  Bytes first = read(path("one.irpa")), second = read(path("two.irpa"));
  irpa::Header header;
  std::memcpy(&header, second.data(), sizeof(header));
  const auto skip = irpa::EntryType::Skip;
  std::memcpy(second.data() + header.entries.offset + 80 + offsetof(irpa::Entry, type), &skip, sizeof(skip));
  const uint64_t next = first.size();
  std::memcpy(first.data() + offsetof(irpa::Header, nextHeader), &next, sizeof(next));
  first.insert(first.end(), second.begin(), second.end());
  auto file = openBytes("both.irpa", first);
  ASSERT_TRUE(file.ok()) << file.status().toString();
  ASSERT_EQ((*file)->parameters().size(), 2U);
  EXPECT_TRUE(holds(**file, "one", one));
  EXPECT_TRUE(holds(**file, "two", two));
}

Bytes safetensors(std::string_view header, const Bytes &data) {
  Bytes bytes;
  putString(bytes, header);
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

TEST_F(ParameterFileTest, Safetensors) {
  auto file = openBytes(
      "a.safetensors",
      safetensors(R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[1,2],"data_offsets":[4,12]},)"
                  R"("a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"s":{"dtype":"F32","shape":[],)"
                  R"("data_offsets":[8,12]}})",
                  floats({1, 2, 3})));
  ASSERT_TRUE(file.ok()) << file.status().toString();
  EXPECT_EQ((*file)->format(), "safetensors");
  ASSERT_EQ((*file)->parameters().size(), 3U);
  EXPECT_TRUE(holds(**file, "b", floats({2, 3})));
  EXPECT_EQ((*file)->find("b")->type, "1x2xf32");
  EXPECT_EQ((*file)->find("a")->type, "2xbf16");
  EXPECT_EQ((*file)->find("s")->type, "f32");

  const auto error = [&](std::string_view header) {
    return errorOf("b.safetensors", safetensors(header, floats({1})));
  };
  EXPECT_NE(error("[]").find("no JSON object"), std::string::npos);
  EXPECT_NE(error(std::string(100000, '[')).find("no JSON of tensors"), std::string::npos);
  EXPECT_NE(error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})").find("data of 'a' lies at 0"),
            std::string::npos);
  EXPECT_NE(error(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})").find("data_offsets"), std::string::npos);
  EXPECT_NE(error(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})").find("has 8 bytes, and lies in 4"),
            std::string::npos);
  EXPECT_NE(error(R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})").find("type F33"), std::string::npos);
  EXPECT_NE(error(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})").find("shape"), std::string::npos);
  EXPECT_NE(error(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]}})").find("counted"),
            std::string::npos);
  EXPECT_NE(errorOf("c.safetensors", floats({1})).find("length of the header"), std::string::npos);
  EXPECT_NE(errorOf("c.other", floats({1, 2})).find("no parameter file"), std::string::npos);
}

Bytes gguf(uint32_t type, uint64_t columns, uint64_t offset, const Bytes &data) {
  Bytes bytes;
  put(bytes, std::string_view("GGUF"));
  put(bytes, uint32_t(3));
  put(bytes, uint64_t(2));
  put(bytes, uint64_t(3));
  putString(bytes, "general.alignment");
  put(bytes, uint32_t(4));
  put(bytes, uint32_t(64));
  putString(bytes, "name");
  put(bytes, uint32_t(8));
  putString(bytes, "a model");
  putString(bytes, "tokens");
  put(bytes, uint32_t(9));
  put(bytes, uint32_t(8));
  put(bytes, uint64_t(2));
  putString(bytes, "x");
  putString(bytes, "yz");
  for (const char *name : {"first", "second"}) {
    putString(bytes, name);
    put(bytes, uint32_t(2));
    put(bytes, columns);
    put(bytes, uint64_t(2));
    put(bytes, type);
    put(bytes, name[0] == 'f' ? uint64_t(0) : offset);
  }
  bytes.resize((bytes.size() + 63) / 64 * 64);
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

TEST_F(ParameterFileTest, Gguf) {
  Bytes data = floats({1, 2, 3, 4, 5, 6});
  data.resize(64);
  for (float value : {7.F, 8.F, 9.F, 10.F, 11.F, 12.F})
    put(data, value);
  auto file = openBytes("a.gguf", gguf(0, 3, 64, data));
  ASSERT_TRUE(file.ok()) << file.status().toString();
  EXPECT_EQ((*file)->format(), "gguf");
  EXPECT_EQ((*file)->find("first")->type, "2x3xf32"); // the last dimension comes first in the file
  EXPECT_TRUE(holds(**file, "first", floats({1, 2, 3, 4, 5, 6})));
  EXPECT_TRUE(holds(**file, "second", floats({7, 8, 9, 10, 11, 12})));
  // Blocks of 32 elements in 18 bytes.
  file = openBytes("q.gguf", gguf(2, 64, 0, Bytes(72)));
  ASSERT_TRUE(file.ok()) << file.status().toString();
  EXPECT_EQ((*file)->find("first")->type, "2x64xq4_0");
  EXPECT_EQ((*file)->find("first")->length, 72U);
  EXPECT_NE(errorOf("q.gguf", gguf(2, 33, 0, Bytes(72))).find("blocks of 32"), std::string::npos);
  EXPECT_NE(errorOf("q.gguf", gguf(99, 32, 0, Bytes(72))).find("type 99"), std::string::npos);
  EXPECT_NE(errorOf("q.gguf", gguf(0, 3, 128, data)).find("data of 'second'"), std::string::npos);
  EXPECT_NE(errorOf("q.gguf", gguf(0, uint64_t(1) << 63, 0, data)).find("counted"), std::string::npos);
}

// Cut off anywhere, or with any byte changed, a file is read within its bounds: as an error or as other parameters.
TEST_F(ParameterFileTest, DamagedFilesAreErrors) {
  std::vector<ParameterContents> contents(3);
  const Bytes one = floats({1, 2, 3});
  contents[0] = {.key = "one", .length = one.size(), .bytes = one};
  contents[1] = {.key = "two", .length = 16, .pattern = floats({2}), .isStored = false};
  contents[2] = {.key = "three", .length = 4, .bytes = std::span(one).first(4), .metadata = "m"};
  ASSERT_TRUE(writeIrpa(path("good.irpa"), contents).ok());
  const Bytes archive = read(path("good.irpa"));
  const Bytes tensors = safetensors(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", one);
  const Bytes blocks = gguf(2, 32, 64, Bytes(100));
  size_t refused = 0, taken = 0;
  const auto check = [&](std::string_view format, const Bytes &bytes) {
    Result<std::vector<Parameter>> read = format == "irpa"   ? readIrpa(bytes)
                                          : format == "gguf" ? readGguf(bytes)
                                                             : readSafetensors(bytes);
    (read.ok() ? taken : refused) += 1;
    if (!read.ok())
      return;
    for (const Parameter &parameter : *read)
      if (!parameter.isSplat()) {
        ASSERT_LE(parameter.offset, bytes.size());
        ASSERT_LE(parameter.length, bytes.size() - parameter.offset);
      }
  };
  for (const auto &[format, good] : {std::pair("irpa", archive), {"safetensors", tensors}, {"gguf", blocks}}) {
    const size_t interesting = std::min<size_t>(good.size(), 600);
    for (size_t length = 0; length < interesting; ++length)
      check(format, Bytes(good.begin(), good.begin() + long(length)));
    for (size_t i = 0; i < interesting; ++i)
      for (unsigned value : {0x00U, 0x01U, 0x7FU, 0x80U, 0xFFU}) {
        Bytes bad = good;
        bad[i] = std::byte(value);
        check(format, bad);
      }
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_GT(taken, 1000U);
}

} // namespace
} // namespace kiln
