// What the driver's cuTensorMapEncodeTiled makes, and kernels name in cp.async.bulk.tensor: 128 bytes that describe a
// tensor in global memory and the box of it that one copy moves.
#ifndef KILN_TARGETS_CUDA_SIM_TENSOR_MAP_H
#define KILN_TARGETS_CUDA_SIM_TENSOR_MAP_H

#include <cstdint>
#include <span>
#include <string>

namespace kiln::cudasim {

// As CUDA numbers them.
enum class Swizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

struct TensorMap {
  static constexpr uint32_t kMagic = 0x4b544d50;
  static constexpr uint32_t kMostRank = 5;

  uint32_t magic = 0; // kMagic, where it is one
  uint8_t rank = 0, elementBytes = 0;
  Swizzle swizzle = Swizzle::None;
  uint8_t fillsNan = 0; // what is outside of the tensor
  uint64_t address = 0;
  uint32_t extents[kMostRank] = {}; // the innermost first
  uint16_t box[kMostRank] = {};     // elements
  uint8_t elementStrides[kMostRank] = {};
  uint64_t strides[kMostRank - 1] = {}; // bytes, of all dimensions but the innermost

  uint32_t boxBytes() const;
  // Where a byte of a box lies, given where the box starts.
  uint64_t placeOf(uint64_t address) const;
};
static_assert(sizeof(TensorMap) <= 128);

// Checks what CUDA's function checks; an empty text where the map was made. `dataType` is CUDA's number of the type.
std::string encodeTiled(TensorMap &map, int dataType, uint32_t rank, uint64_t address,
                        std::span<const uint64_t> extents, std::span<const uint64_t> strides,
                        std::span<const uint32_t> box, std::span<const uint32_t> elementStrides, int interleave,
                        int swizzle, bool fillsNan);

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_TENSOR_MAP_H
