#include "kiln/tools/bench_model/model_inputs.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using hal::ElementType;

TEST(Lengths, AreNumbersFromOneOnEachOnce) {
  EXPECT_EQ(*parseLengths(""), std::vector<uint64_t>());
  EXPECT_EQ(*parseLengths("64,128,64"), (std::vector<uint64_t>{64, 128}));
  EXPECT_EQ(*parseLengths("1000000000"), std::vector<uint64_t>{1'000'000'000});
  for (const char *wrong : {",", "1,", ",1", "0", "-1", "+1", " 1", "1x", "1000000001", "99999999999999999999", "N"})
    EXPECT_FALSE(parseLengths(wrong).ok()) << wrong;
}

ModelInput inputOf(ElementType type, std::vector<uint64_t> shape) {
  ModelInput input;
  input.type = type;
  input.shape = std::move(shape);
  return input;
}

TEST(Items, FollowFromTheFirstInput) {
  const CallItems tokens = itemsOf({inputOf(ElementType::I64, {3, 128}), inputOf(ElementType::F32, {2, 3, 4, 4})});
  EXPECT_EQ(tokens.count, 384U);
  EXPECT_EQ(tokens.name, "tokens");
  EXPECT_FALSE(tokens.because.empty());
  for (const std::vector<uint64_t> &shape :
       {std::vector<uint64_t>{8, 3, 224, 224}, std::vector<uint64_t>{8, 224, 224, 3}}) {
    const CallItems images = itemsOf({inputOf(ElementType::F16, shape)});
    EXPECT_EQ(images.count, 8U);
    EXPECT_EQ(images.name, "images");
  }
}

TEST(Items, OfOtherInputsAreNotKnown) {
  EXPECT_EQ(itemsOf({}).count, 0U);
  for (const ModelInput &input :
       {inputOf(ElementType::F32, {3, 128}), inputOf(ElementType::I64, {3}), inputOf(ElementType::I1, {3, 128}),
        inputOf(ElementType::F32, {1, 64, 32, 32}), inputOf(ElementType::I64, {1, 3, 4, 4})})
    EXPECT_EQ(itemsOf({input}).count, 0U);
}

} // namespace
} // namespace kiln
