#include "kiln/measure/workers/shared_tensors.h"

#include <algorithm>
#include <cmath>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <unistd.h>

#include "kiln/base/narrow_float.h"
#include "kiln/measure/workers/cache_size.h"
#include "kiln/measure/workers/testing/tiny_matmul.h"
#include "kiln/measure/workers/timing_data.h"
#include "gtest/gtest.h"

namespace kiln::measure {

using io::ElementType;

constexpr uint64_t kMiB = 1 << 20;

TEST(SetPlan, ExceedsTheCacheTwice) {
  SetPlan plan = planColdSets(3 * kMiB, 32 * kMiB, 1024 * kMiB);
  EXPECT_EQ(plan.timingSets, 22U); // 66 MiB > 64 MiB >= 63 MiB
  EXPECT_EQ(plan.timingBytes, 66 * kMiB);
  EXPECT_EQ(plan.sets(), 23U);
  EXPECT_TRUE(plan.exceedsCache);
  EXPECT_EQ(planColdSets(64 * kMiB, 32 * kMiB, 1024 * kMiB).timingSets, 2U); // just as large as twice the cache
  EXPECT_EQ(planColdSets(65 * kMiB, 32 * kMiB, 1024 * kMiB).timingSets, 1U);
  EXPECT_TRUE(planColdSets(65 * kMiB, 32 * kMiB, 1024 * kMiB).exceedsCache);
}

TEST(SetPlan, SaysWhenItCannot) {
  SetPlan plan = planColdSets(10 * kMiB, 32 * kMiB, 35 * kMiB);
  EXPECT_EQ(plan.timingSets, 3U);
  EXPECT_FALSE(plan.exceedsCache);
  plan = planColdSets(100, 32 * kMiB, 1024 * kMiB); // tiny
  EXPECT_LE(plan.timingSets, 1U << 14);
  EXPECT_FALSE(plan.exceedsCache);
  EXPECT_EQ(planColdSets(0, 0, 0).timingSets, 1U);
  EXPECT_EQ(planWarmSets(5).sets(), 2U);
}

static Result<SharedTensors> sample(uint32_t sets) {
  std::vector<TensorType> types = {{ElementType::F32, {3, 5}}, {ElementType::I8, {7}}, {ElementType::F64, {1000}}};
  return SharedTensors::create("kiln-test", types, sets, SharedTensors::Pages::Reserved);
}

TEST(SharedTensors, AreAlignedAndApart) {
  Result<SharedTensors> tensors = sample(3);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  for (uint32_t set = 0; set < 3; ++set)
    for (const MutableTensor &tensor : tensors->set(set)) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.bytes.data()) % (tensor.bytes.size() >= 4096 ? 4096 : 64), 0U);
      for (uint8_t byte : tensor.bytes)
        ASSERT_EQ(byte, 0);
      std::ranges::fill(tensor.bytes, 0xA5);
    }
  // The description leads to the same bytes.
  std::vector<SharedTensor> described = tensors->describe();
  int file = ::open(described[1].path.c_str(), O_RDONLY);
  ASSERT_GE(file, 0);
  tensors->set(2)[1].bytes[3] = 77;
  uint8_t byte = 0;
  ASSERT_EQ(::pread(file, &byte, 1, off_t(described[1].offset + 2 * described[1].stride + 3)), 1);
  EXPECT_EQ(byte, 77);
  EXPECT_EQ(std::as_const(*tensors).view(2)[1].bytes[3], 77);
  ::close(file);
}

TEST(SharedTensors, NobodyElseWritesOrShrinksWhatIsSealed) {
  Result<SharedTensors> tensors = sample(1);
  ASSERT_TRUE(tensors.ok());
  std::string path = tensors->describe()[0].path;
  int before = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(before, 0);
  EXPECT_NE(::ftruncate(before, 0), 0);
  ASSERT_TRUE(tensors->forbidWriting().ok());
  uint8_t byte = 1;
  EXPECT_LT(::pwrite(before, &byte, 1, 0), 0);
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, before, 0), MAP_FAILED);
  void *readable = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, before, 0);
  ASSERT_NE(readable, MAP_FAILED);
  EXPECT_NE(::mprotect(readable, 4096, PROT_READ | PROT_WRITE), 0);
  ::close(before);
  // The owner still does.
  tensors->set(0)[0].bytes[0] = 9;
  EXPECT_EQ(*static_cast<uint8_t *>(readable), 9);
  ::munmap(readable, 4096);
}

// A worker whose own mapping is writable could otherwise forbid it to all that come later.
TEST(SharedTensors, NobodyForbidsOthersToWrite) {
  Result<SharedTensors> tensors = sample(1);
  ASSERT_TRUE(tensors.ok());
  ASSERT_TRUE(tensors->forbidSealing().ok());
  int file = ::open(tensors->describe()[0].path.c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  EXPECT_NE(::fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
  void *writable = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(writable, MAP_FAILED);
  ::munmap(writable, 4096);
  ::close(file);
}

TEST(SharedTensors, SmallSetsLieClose) {
  std::vector<TensorType> types = {{ElementType::F32, {4}}, {ElementType::F32, {4}}};
  Result<SharedTensors> tensors = SharedTensors::create("kiln-test", types, 1000, SharedTensors::Pages::OnDemand);
  ASSERT_TRUE(tensors.ok());
  EXPECT_EQ(tensors->describe()[0].stride, 128U);
}

TEST(SharedTensors, TooMuchIsAnError) {
  std::vector<TensorType> huge = {{ElementType::F32, {1 << 20, 1 << 20, 1 << 20}}};
  EXPECT_FALSE(SharedTensors::create("kiln-test", huge, 1, SharedTensors::Pages::OnDemand).ok());
  std::vector<TensorType> large = {{ElementType::I8, {uint64_t(1) << 45}}};
  EXPECT_FALSE(SharedTensors::create("kiln-test", large, 1000, SharedTensors::Pages::OnDemand).ok());
  std::vector<TensorType> overflow = {{ElementType::F64, {UINT64_MAX}}};
  EXPECT_FALSE(SharedTensors::create("kiln-test", overflow, 1, SharedTensors::Pages::OnDemand).ok());
}

TEST(TimingData, IsRandomInRangeAndRepeatable) {
  for (ElementType type :
       {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16, ElementType::I8, ElementType::I32}) {
    std::vector<uint64_t> shape = {100, 100};
    std::vector<uint8_t> bytes(10'000 * hal::elementTypeByteSize(type)), again = bytes, other = bytes;
    fillForTiming(5, {type, shape, bytes});
    fillForTiming(5, {type, shape, again});
    fillForTiming(6, {type, shape, other});
    EXPECT_EQ(bytes, again);
    EXPECT_NE(bytes, other);
    bool isInteger = type == ElementType::I8 || type == ElementType::I32;
    double limit = !isInteger ? 1 : type == ElementType::I8 ? 128 : 1000;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 10'000; ++i) {
      double value = testing::readElement(type, bytes.data() + i * hal::elementTypeByteSize(type)) / limit;
      ASSERT_LE(std::abs(value), 1);
      sum += value;
      squares += value * value;
    }
    EXPECT_NEAR(sum / 10'000, 0, 0.03);
    EXPECT_NEAR(squares / 10'000, 1.0 / 3, 0.03);
    EXPECT_FALSE(timingDistribution(type).empty());
  }
}

TEST(TimingData, FloatsStayInTheRangeThatIsAsked) {
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    std::vector<uint64_t> shape = {1000};
    std::vector<uint8_t> bytes(1000 * hal::elementTypeByteSize(type));
    fillForTiming(5, {type, shape, bytes}, {.low = 0.25, .high = 0.75});
    double sum = 0;
    for (size_t i = 0; i < 1000; ++i) {
      double value = testing::readElement(type, bytes.data() + i * hal::elementTypeByteSize(type));
      ASSERT_GE(value, 0.25);
      ASSERT_LE(value, 0.75);
      sum += value;
    }
    EXPECT_NEAR(sum / 1000, 0.5, 0.02);
  }
  EXPECT_EQ(timingDistribution(ElementType::F32, {.low = 0.25, .high = 0.75}), "uniform in [0.25, 0.75)");
}

// Along any dimension each row has an offset and a scale of its own, and the types' numbers are the nearest ones.
TEST(TimingData, RowsThatDifferHaveAnOffsetAndAScaleOfTheirOwn) {
  constexpr size_t kRows = 6, kColumns = 5000, kInner = 5;
  for (size_t inner : {size_t(1), kInner}) {
    TimingNumbers numbers{
        .smallestScale = 0.25, .largestScale = 4, .largestOffset = 2, .rows = {.columns = kColumns, .inner = inner}};
    std::vector<uint64_t> shape = {kRows, kColumns, inner};
    std::vector<uint8_t> single(kRows * kColumns * inner * 4);
    fillForTiming(5, {ElementType::F32, shape, single}, numbers);
    auto at = [&](size_t row, size_t column, size_t i) {
      return testing::readElement(ElementType::F32, single.data() + ((row * kColumns + column) * inner + i) * 4);
    };
    std::vector<double> centers, widths;
    for (size_t row = 0; row < kRows; ++row)
      for (size_t i = 0; i < inner; ++i) {
        double least = HUGE_VAL, most = -HUGE_VAL;
        for (size_t column = 0; column < kColumns; ++column)
          least = std::min(least, at(row, column, i)), most = std::max(most, at(row, column, i));
        centers.push_back((least + most) / 2), widths.push_back((most - least) / 2);
        EXPECT_GE(widths.back(), 0.24);
        EXPECT_LE(widths.back(), 4);
        EXPECT_LE(std::abs(centers.back()), 2.01 * widths.back());
      }
    for (std::vector<double> *list : {&centers, &widths}) {
      std::ranges::sort(*list);
      EXPECT_GT(list->back() - list->front(), 1);
      EXPECT_EQ(std::ranges::adjacent_find(*list), list->end());
    }
    for (ElementType type : {ElementType::F16, ElementType::BF16}) {
      std::vector<uint8_t> narrow(single.size() / 2);
      fillForTiming(5, {type, shape, narrow}, numbers);
      const NarrowFloat &format = type == ElementType::F16 ? kF16 : kBF16;
      for (size_t e = 0; e < narrow.size() / 2; ++e)
        ASSERT_EQ(testing::readElement(type, narrow.data() + 2 * e),
                  format.decode(format.encode(testing::readElement(ElementType::F32, single.data() + 4 * e))));
    }
  }
}

TEST(CacheSize, IsReadFromThisMachine) {
  EXPECT_FALSE(usableCpus().empty());
  if (!std::filesystem::exists("/sys/devices/system/cpu/cpu0/cache/index0/size"))
    GTEST_SKIP() << "the system does not tell";
  Result<uint64_t> bytes = lastLevelCacheBytes(usableCpus());
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_GE(*bytes, 64U << 10);
}

TEST(CacheSize, CountsEachLastLevelCacheOnce) {
  const std::vector<task::Cache> caches = {{1, "Data", 48 << 10, {0}},
                                           {1, "Data", 48 << 10, {1}},
                                           {1, "Instruction", 64 << 10, {4}},
                                           {3, "Unified", 16 * kMiB, {0, 1}},
                                           {3, "Unified", 16 * kMiB, {2, 3}}};
  EXPECT_EQ(*lastLevelCacheBytes(std::vector<uint32_t>{0, 1}, caches), 16 * kMiB);
  EXPECT_EQ(*lastLevelCacheBytes(std::vector<uint32_t>{0, 1, 2, 3}, caches), 32 * kMiB);
  EXPECT_FALSE(lastLevelCacheBytes(std::vector<uint32_t>{4, 9}, caches).ok());
}

} // namespace kiln::measure
