#include "kiln/targets/cuda/driver/cuda_transfers.h"

#include <algorithm>
#include <cstring>

namespace kiln::hal {

namespace {

constexpr uint64_t kPieceBytes = uint64_t(2) << 20; // stays in a core's cache from one copy to the other
constexpr uint64_t kLong = uint64_t(256) << 10;     // shorter ones are over before a ring would help

} // namespace

CudaTransfers::~CudaTransfers() {
  for (Piece &piece : ring) {
    if (piece.copied)
      cuda.cuEventDestroy_v2(piece.copied);
    if (piece.memory)
      cuda.cuMemFreeHost(piece.memory);
  }
  if (stream)
    cuda.cuStreamDestroy_v2(stream);
}

Status CudaTransfers::open() {
  return cuda.check(cuda.cuStreamCreate(&stream, cuda::kStreamNonBlocking), "make a stream for transfers");
}

// Where no memory can be pinned, the driver copies by itself.
bool CudaTransfers::makeRing() {
  if (triedRing)
    return hasRing;
  triedRing = true;
  hasRing = std::ranges::all_of(ring, [&](Piece &piece) {
    return cuda.cuMemAllocHost_v2(&piece.memory, kPieceBytes) == cuda::kSuccess &&
           cuda.cuEventCreate(&piece.copied, cuda::kEventDisableTiming) == cuda::kSuccess;
  });
  return hasRing;
}

Status CudaTransfers::toDevice(CUdeviceptr target, const void *source, uint64_t length) {
  CUresult result = cuda::kSuccess;
  std::unique_lock lock(ringMutex, std::defer_lock);
  if (length >= kLong)
    lock.lock();
  if (lock && makeRing())
    result = throughRingToDevice(target, static_cast<const std::byte *>(source), length);
  else
    result = cuda.cuMemcpyHtoDAsync_v2(target, source, length, stream);
  if (result == cuda::kSuccess)
    result = cuda.cuStreamSynchronize(stream);
  return cuda.check(result, fmt::format("copy {} bytes to the device", length));
}

CUresult CudaTransfers::throughRingToDevice(CUdeviceptr target, const std::byte *source, uint64_t length) {
  CUresult result = cuda::kSuccess;
  for (uint64_t at = 0, index = 0; at < length && result == cuda::kSuccess; at += kPieceBytes, ++index) {
    const Piece &piece = ring[index % kPieces];
    const uint64_t bytes = std::min(kPieceBytes, length - at);
    if (index >= kPieces)
      result = cuda.cuEventSynchronize(piece.copied);
    if (result == cuda::kSuccess) {
      std::memcpy(piece.memory, source + at, bytes);
      result = cuda.cuMemcpyHtoDAsync_v2(target + at, piece.memory, bytes, stream);
    }
    if (result == cuda::kSuccess)
      result = cuda.cuEventRecord(piece.copied, stream);
  }
  // Nothing may still read the ring when it is used next.
  if (result != cuda::kSuccess)
    cuda.cuStreamSynchronize(stream);
  return result;
}

Status CudaTransfers::toHost(void *target, CUdeviceptr source, uint64_t length) {
  CUresult result = cuda::kSuccess;
  std::unique_lock lock(ringMutex, std::defer_lock);
  if (length >= kLong)
    lock.lock();
  if (lock && makeRing())
    result = throughRingToHost(static_cast<std::byte *>(target), source, length);
  else
    result = cuda.cuMemcpyDtoHAsync_v2(target, source, length, stream);
  if (result == cuda::kSuccess)
    result = cuda.cuStreamSynchronize(stream);
  return cuda.check(result, fmt::format("copy {} bytes from the device", length));
}

CUresult CudaTransfers::throughRingToHost(std::byte *target, CUdeviceptr source, uint64_t length) {
  const uint64_t pieces = (length + kPieceBytes - 1) / kPieceBytes;
  CUresult result = cuda::kSuccess;
  // The device is as many pieces ahead of the host as the ring has.
  for (uint64_t index = 0; index < pieces + kPieces && result == cuda::kSuccess; ++index) {
    const Piece &piece = ring[index % kPieces];
    if (index >= kPieces) {
      const uint64_t at = (index - kPieces) * kPieceBytes;
      result = cuda.cuEventSynchronize(piece.copied);
      if (result == cuda::kSuccess && at < length)
        std::memcpy(target + at, piece.memory, std::min(kPieceBytes, length - at));
    }
    if (const uint64_t at = index * kPieceBytes; index < pieces && result == cuda::kSuccess) {
      result = cuda.cuMemcpyDtoHAsync_v2(piece.memory, source + at, std::min(kPieceBytes, length - at), stream);
      if (result == cuda::kSuccess)
        result = cuda.cuEventRecord(piece.copied, stream);
    }
  }
  if (result != cuda::kSuccess)
    cuda.cuStreamSynchronize(stream);
  return result;
}

} // namespace kiln::hal
