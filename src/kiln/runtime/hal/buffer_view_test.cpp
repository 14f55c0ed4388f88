#include "kiln/runtime/hal/buffer_view.h"

#include "kiln/runtime/hal/heap_allocator.h"

#include "gtest/gtest.h"

namespace kiln::hal {
namespace {

Ref<Buffer> allocate(uint64_t length) {
  return *makeRef<HeapAllocator>()->allocate(BufferUsage::Result, length);
}

std::string create(Ref<Buffer> buffer, ElementType type, std::vector<uint64_t> shape) {
  Result<Ref<BufferView>> view = BufferView::create(std::move(buffer), type, shape);
  return view.ok() ? (*view)->typeText() : view.status().toString();
}

TEST(ElementTypeTest, NamesAndNumbersRoundTrip) {
  int count = 0;
  for (uint32_t number = 0; number < 1000; ++number) {
    std::optional<ElementType> type = elementTypeFromNumber(number);
    if (!type)
      continue;
    ++count;
    EXPECT_EQ(uint32_t(*type), number);
    EXPECT_EQ(parseElementType(elementTypeName(*type)), type);
    EXPECT_GT(elementTypeByteSize(*type), 0u);
  }
  EXPECT_EQ(count, 28);
  EXPECT_EQ(elementTypeByteSize(ElementType::BF16), 2u);
  EXPECT_EQ(elementTypeByteSize(ElementType::I1), 1u);
  EXPECT_FALSE(parseElementType("f33"));
  EXPECT_EQ(elementTypeName(ElementType(77)), "?");
}

TEST(BufferViewTest, HoldsJustItsElements) {
  Ref<Buffer> buffer = allocate(100);
  std::vector<uint64_t> shape = {2, 3};
  Result<Ref<BufferView>> view = BufferView::create(buffer, ElementType::F32, shape);
  ASSERT_TRUE(view.ok());
  EXPECT_EQ((*view)->rank(), 2u);
  EXPECT_EQ((*view)->dimension(1), 3u);
  EXPECT_EQ((*view)->elementCount(), 6u);
  EXPECT_EQ((*view)->byteLength(), 24u);
  EXPECT_EQ((*view)->typeText(), "2x3xf32");
  EXPECT_EQ((*view)->buffer()->allocation(), buffer.get());
  shape = {25};
  view = BufferView::create(buffer, ElementType::F32, shape);
  EXPECT_EQ((*view)->buffer(), buffer.get());
}

TEST(BufferViewTest, AllowsScalarsAndEmptyShapes) {
  EXPECT_EQ(create(allocate(8), ElementType::F64, {}), "f64");
  EXPECT_EQ(create(allocate(0), ElementType::I8, {0}), "0xi8");
  // A zero makes everything zero, whatever stands beside it.
  EXPECT_EQ(create(allocate(0), ElementType::I8, {UINT64_MAX, 0, UINT64_MAX}),
            "18446744073709551615x0x18446744073709551615xi8");
}

TEST(BufferViewTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(create(allocate(23), ElementType::F32, {2, 3}), "OUT_OF_RANGE: 2x3xf32 takes 24 bytes; the buffer has 23");
  EXPECT_EQ(create(allocate(8), ElementType::F32, {UINT64_MAX, 2}),
            "OUT_OF_RANGE: a shape has more elements than 64 bits can count");
  EXPECT_EQ(create(allocate(8), ElementType::F32, {uint64_t(1) << 62}),
            "OUT_OF_RANGE: 4611686018427387904xf32 takes more bytes than a memory has");
  EXPECT_EQ(create(allocate(8), ElementType::I8, {uint64_t(1) << 63}),
            "OUT_OF_RANGE: 9223372036854775808xi8 takes more bytes than a memory has");
  EXPECT_EQ(create(nullptr, ElementType::F32, {}), "INVALID_ARGUMENT: a view of a null buffer was asked for");
  EXPECT_EQ(create(allocate(8), ElementType(0), {}), "INVALID_ARGUMENT: 0 is the number of no element type");
  EXPECT_EQ(create(allocate(8), ElementType::I8, std::vector<uint64_t>(33, 1)),
            "INVALID_ARGUMENT: a view of rank 33 was asked for; at most 32 dimensions are possible");
}

} // namespace
} // namespace kiln::hal
