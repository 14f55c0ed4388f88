#include "kiln/targets/cuda/sim/tensor_map.h"

#include "fmt/format.h"

namespace kiln::cudasim {

uint32_t TensorMap::boxBytes() const {
  uint32_t bytes = elementBytes;
  for (uint32_t i = 0; i < rank; ++i)
    bytes *= box[i];
  return bytes;
}

// Chunks of 16 bytes change places within rows of 32, 64 or 128 bytes, by the number of the row of 128 bytes.
uint64_t TensorMap::placeOf(uint64_t at) const {
  switch (swizzle) {
  case Swizzle::None: return at;
  case Swizzle::Bytes32: return at ^ (at >> 3 & 0x10);
  case Swizzle::Bytes64: return at ^ (at >> 3 & 0x30);
  case Swizzle::Bytes128: return at ^ (at >> 3 & 0x70);
  }
  return at;
}

std::string encodeTiled(TensorMap &map, int dataType, uint32_t rank, uint64_t address,
                        std::span<const uint64_t> extents, std::span<const uint64_t> strides,
                        std::span<const uint32_t> box, std::span<const uint32_t> elementStrides, int interleave,
                        int swizzle, bool fillsNan) {
  // Of u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, and f32 and tf32 with and without flushing.
  static constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  if (dataType < 0 || size_t(dataType) >= std::size(kBytes))
    return fmt::format("there is no data type {}", dataType);
  if (rank < 1 || rank > TensorMap::kMostRank)
    return fmt::format("a tensor has 1 to 5 dimensions, not {}", rank);
  if (interleave != 0)
    return "interleaved layouts are not simulated";
  if (swizzle < 0 || swizzle > 3)
    return fmt::format("there is no swizzle {}", swizzle);
  if (address % 16)
    return fmt::format("the address {:#x} is no multiple of 16", address);
  map = TensorMap();
  map.magic = TensorMap::kMagic;
  map.rank = uint8_t(rank);
  map.elementBytes = kBytes[dataType];
  map.swizzle = Swizzle(swizzle);
  map.fillsNan = fillsNan;
  map.address = address;
  for (uint32_t i = 0; i < rank; ++i) {
    if (extents[i] < 1 || extents[i] > UINT32_MAX)
      return fmt::format("the extent {} of dimension {} is not possible", extents[i], i);
    if (box[i] < 1 || box[i] > 256)
      return fmt::format("the box has {} elements in dimension {}; 1 to 256 are possible", box[i], i);
    if (elementStrides[i] < 1 || elementStrides[i] > 8)
      return fmt::format("the stride {} of elements of dimension {} is not possible", elementStrides[i], i);
    if (elementStrides[i] != 1)
      return "strides between elements are not simulated";
    map.extents[i] = uint32_t(extents[i]);
    map.box[i] = uint16_t(box[i]);
    map.elementStrides[i] = uint8_t(elementStrides[i]);
    if (i + 1 < rank) {
      if (strides[i] % 16 || strides[i] >= uint64_t(1) << 40)
        return fmt::format("the stride {} of dimension {} is no multiple of 16 below 2^40", strides[i], i + 1);
      map.strides[i] = strides[i];
    }
  }
  const uint32_t row = box[0] * map.elementBytes;
  if (row % 16)
    return fmt::format("a row of the box has {} bytes, which is no multiple of 16", row);
  if (swizzle && row > 16u << swizzle)
    return fmt::format("a row of the box has {} bytes, and the swizzle takes {}", row, 16u << swizzle);
  return "";
}

} // namespace kiln::cudasim
