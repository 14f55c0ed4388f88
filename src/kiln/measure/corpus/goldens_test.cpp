#include "kiln/measure/corpus/goldens.h"

#include "kiln/runtime/io/npy.h"
#include "kiln/runtime/io/test_util.h"
#include "gtest/gtest.h"

namespace kiln::measure::corpus {
namespace {

using io::ElementType;

Signature signature() {
  return {{{ElementType::F32, {2, 2}}, {ElementType::I32, {3}}}, {{ElementType::F32, {2, 2}}}};
}

class GoldensTest : public ::testing::Test {
protected:
  void save(const char *name, ElementType type, std::vector<uint64_t> shape) {
    Result<io::HostTensor> tensor = io::HostTensor::zeros(type, std::move(shape));
    ASSERT_TRUE(tensor.ok());
    tensor->bytes()[0] = 7;
    Result<OutputFile> file = OutputFile::open(folder / name);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(io::writeNpy(*file, tensor->span()).ok());
    ASSERT_TRUE(file->commit().ok());
  }
  void saveInputs() {
    save("add.in0.npy", ElementType::F32, {2, 2});
    save("add.in1.npy", ElementType::I32, {3});
  }
  Result<Goldens> load() { return loadGoldens(folder / "add", signature()); }
  std::string error() {
    Result<Goldens> goldens = load();
    EXPECT_FALSE(goldens.ok());
    std::string text(goldens.status().message());
    // The folder has another name each time.
    for (size_t at = text.find(folder / ""); at != text.npos; at = text.find(folder / ""))
      text.erase(at, (folder / "").size());
    return text;
  }

  io::TemporaryFolder folder;
};

TEST_F(GoldensTest, NothingIsFine) {
  Result<Goldens> goldens = load();
  ASSERT_TRUE(goldens.ok());
  EXPECT_TRUE(goldens->inputs.empty() && goldens->outputs.empty());
}

TEST_F(GoldensTest, InputsAloneAreFine) {
  saveInputs();
  Result<Goldens> goldens = load();
  ASSERT_TRUE(goldens.ok()) << goldens.status().message();
  EXPECT_EQ(goldens->inputs.size(), 2u);
  EXPECT_TRUE(goldens->outputs.empty());
}

TEST_F(GoldensTest, AllOfThem) {
  saveInputs();
  save("add.out0.npy", ElementType::F32, {2, 2});
  Result<Goldens> goldens = load();
  ASSERT_TRUE(goldens.ok()) << goldens.status().message();
  ASSERT_EQ(goldens->outputs.size(), 1u);
  EXPECT_EQ(goldens->outputs[0].bytes()[0], 7);
}

TEST_F(GoldensTest, IntegersOfTheSameWidthAreTheSame) {
  save("add.in0.npy", ElementType::F32, {2, 2});
  save("add.in1.npy", ElementType::UI32, {3});
  Result<Goldens> goldens = load();
  ASSERT_TRUE(goldens.ok()) << goldens.status().message();
  EXPECT_EQ(goldens->inputs[1].type(), ElementType::I32);
}

TEST_F(GoldensTest, WhatDoesNotFitIsSaid) {
  saveInputs();
  save("add.out0.npy", ElementType::F32, {4});
  EXPECT_EQ(error(), "'add.out0.npy' is 4xf32; the function has 2x2xf32");
  save("add.out0.npy", ElementType::F64, {2, 2});
  EXPECT_EQ(error(), "'add.out0.npy' is 2x2xf64; the function has 2x2xf32");
  save("add.in1.npy", ElementType::I64, {3});
  EXPECT_EQ(error(), "'add.in1.npy' is 3xi64; the function has 3xi32");
}

TEST_F(GoldensTest, WhatIsMissingOrTooMuchIsSaid) {
  save("add.out0.npy", ElementType::F32, {2, 2});
  EXPECT_EQ(error(),
            "there are 'add.out0.npy' and no 'add.in0.npy': expected results say nothing without their inputs");
  save("add.in1.npy", ElementType::I32, {3});
  EXPECT_EQ(error(), "'add.in0.npy' is missing; the function has 2 of them");
  saveInputs();
  save("add.out1.npy", ElementType::F32, {2, 2});
  EXPECT_EQ(error(), "'add.out1.npy' is one too many: the function has 1 of them");
}

TEST_F(GoldensTest, ABrokenFileIsSaid) {
  saveInputs();
  folder.write("add.out0.npy", "\x93NUMPY\x01");
  EXPECT_NE(error().find("add.out0.npy"), std::string::npos);
  folder.write("add.out0.npy", "no array");
  EXPECT_NE(error().find("add.out0.npy"), std::string::npos);
}

} // namespace
} // namespace kiln::measure::corpus
