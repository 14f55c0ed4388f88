#include "kiln/compiler/Input/Onnx/OnnxModel.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

namespace kiln::onnx {
namespace {

using Writer = protozero::pbf_writer;

std::string tensorOf(std::string_view name, DataType type, std::initializer_list<int64_t> dims,
                     const std::function<void(Writer &)> &elements) {
  std::string text;
  Writer tensor(text);
  tensor.add_packed_int64(1, dims.begin(), dims.end());
  tensor.add_int32(2, static_cast<int32_t>(type));
  tensor.add_bytes(8, name.data(), name.size());
  elements(tensor);
  return text;
}

// y = Add(x, c), with one initializer.
std::string modelOf(std::string_view initializer) {
  std::string graphText, nodeText, text;
  Writer node(nodeText);
  node.add_string(1, "x");
  node.add_string(1, "c");
  node.add_string(2, "y");
  node.add_string(3, "sum");
  node.add_string(4, "Add");
  Writer graph(graphText);
  graph.add_message(1, nodeText);
  graph.add_string(2, "example");
  graph.add_message(5, initializer.data(), initializer.size());
  Writer model(text);
  model.add_int64(1, 8);
  model.add_message(7, graphText);
  return text;
}

Result<std::unique_ptr<Model>> parse(const std::string &text, std::string path = "m.onnx") {
  return parseModel(std::as_bytes(std::span(text)), std::move(path));
}

std::string ofFloats() {
  const float numbers[] = {1, 2, 3};
  return tensorOf("c", DataType::F32, {3},
                  [&](Writer &tensor) { tensor.add_packed_float(4, std::begin(numbers), std::end(numbers)); });
}

TEST(OnnxModel, listsBecomeBytes) {
  const std::string text = modelOf(ofFloats());
  auto model = parse(text);
  ASSERT_TRUE(model.ok()) << model.status().message();
  const Graph &graph = (*model)->graph;
  EXPECT_EQ(graph.name, "example");
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].op, "Add");
  EXPECT_EQ(graph.nodes[0].inputs, (std::vector<std::string_view>{"x", "c"}));
  const Tensor &c = graph.initializers[0];
  ASSERT_EQ(c.bytes.size(), 12U);
  float third = 0;
  std::memcpy(&third, c.bytes.data() + 8, 4);
  EXPECT_EQ(third, 3);
}

TEST(OnnxModel, anyPrefixIsAnErrorOrAModel) {
  const std::string text = modelOf(ofFloats());
  for (size_t length = 0; length < text.size(); ++length) {
    auto model = parse(text.substr(0, length));
    EXPECT_FALSE(model.ok()) << length;
  }
}

TEST(OnnxModel, anyByteMayBeAnother) {
  const std::string text = modelOf(ofFloats());
  for (size_t at = 0; at < text.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      std::string other = text;
      other[at] = static_cast<char>(value);
      (void)parse(other); // under the sanitizers
    }
}

TEST(OnnxModel, tellsWhatATensorLacks) {
  auto message = [](const std::string &tensor) { return std::string(parse(modelOf(tensor)).status().message()); };
  EXPECT_NE(message(tensorOf("c", DataType::F32, {3}, [](Writer &) {})).find("tensor 'c' has no elements"),
            std::string::npos);
  EXPECT_NE(message(tensorOf("c", DataType::F32, {3}, [](Writer &tensor) { tensor.add_bytes(9, "12345678"); }))
                .find("has 8 bytes, and 3 elements of float32 are expected"),
            std::string::npos);
  EXPECT_NE(message(tensorOf("c", DataType(99), {1}, [](Writer &tensor) { tensor.add_bytes(9, "1"); }))
                .find("has the element type 99"),
            std::string::npos);
  EXPECT_NE(message(tensorOf("c", DataType::F32, {int64_t(1) << 40, int64_t(1) << 40}, [](Writer &) {}))
                .find("has an extent of"),
            std::string::npos);
}

class External : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::path(testing::TempDir()) / ("onnx_external_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "weights.bin") << "0123456789abcdef";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Result<std::unique_ptr<Model>> read(std::string_view location, std::string_view offset, std::string_view length) {
    text = modelOf(tensorOf("c", DataType::F32, {2}, [&](Writer &tensor) {
      for (auto [key, value] : {std::pair<std::string_view, std::string_view>{"location", location},
                                {"offset", offset},
                                {"length", length}}) {
        if (value.empty())
          continue;
        std::string entryText;
        Writer entry(entryText);
        entry.add_string(1, key.data(), key.size());
        entry.add_string(2, value.data(), value.size());
        tensor.add_message(13, entryText);
      }
      tensor.add_int32(14, 1);
    }));
    return parse(text, (folder / "m.onnx").string());
  }

  std::filesystem::path folder;
  std::string text;
};

TEST_F(External, bytesLieBesideTheModel) {
  auto model = read("weights.bin", "4", "8");
  ASSERT_TRUE(model.ok()) << model.status().message();
  const std::span<const std::byte> bytes = (*model)->graph.initializers[0].bytes;
  EXPECT_EQ(std::string_view(reinterpret_cast<const char *>(bytes.data()), bytes.size()), "456789ab");
  EXPECT_TRUE(read("weights.bin", "8", "").ok());
}

TEST_F(External, nothingElseIsRead) {
  for (std::string_view location : {"/etc/passwd", "../weights.bin", "a/../../weights.bin", ""})
    EXPECT_FALSE(read(location, "0", "8").ok()) << location;
  EXPECT_FALSE(read("weights.bin", "12", "8").ok());
  EXPECT_FALSE(read("weights.bin", "18446744073709551615", "8").ok());
  EXPECT_FALSE(read("weights.bin", "x", "8").ok());
  EXPECT_FALSE(read("weights.bin", "0", "16").ok());
  EXPECT_FALSE(read("none.bin", "0", "8").ok());
}

} // namespace
} // namespace kiln::onnx
