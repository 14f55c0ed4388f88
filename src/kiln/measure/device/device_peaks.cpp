#include "kiln/measure/device/device_peaks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kiln/base/random_bits.h"
#include "kiln/measure/device/peak_code.h"
#include "kiln/measure/device/peak_tasks.h"

namespace kiln::measure {

namespace {

// Numbers of operands: ones, or random ones.
enum class Number { F16, BF16, F32, F64, I8, Word };

// By their place in the lists of exports.
enum class Common : uint32_t {
  ChainsF32,
  ChainsF64,
  MmaF16,
  MmaBF16,
  MmaTF32,
  MmaI8,
  MmaF16F16,
  MmaF64,
  ReadGlobal,
  CopyGlobal,
  ReadShared,
  FillGlobal,
  Nothing
};
constexpr hal::ExpectedExport kCommon[] = {
    {"chains_f32", 3, 0},  {"chains_f64", 3, 0},  {"mma_f16", 3, 0}, {"mma_bf16", 3, 0},    {"mma_tf32", 3, 0},
    {"mma_i8", 3, 0},      {"mma_f16_f16", 3, 0}, {"mma_f64", 3, 0}, {"read_global", 3, 0}, {"copy_global", 3, 0},
    {"read_shared", 3, 0}, {"fill_global", 3, 0}, {"nothing", 3, 0},
};
constexpr hal::ExpectedExport kWarpgroup[] = {
    {"wgmma_f16", 3, 0}, {"wgmma_bf16", 3, 0}, {"wgmma_tf32", 3, 0}, {"wgmma_i8", 3, 0}, {"mma_f64_wide", 3, 0},
};

constexpr std::string_view kPurpose = "calibration";
constexpr uint64_t kVectorBytes = 16; // of what a thread loads at a time

// A number in as many bytes as its type has, little end first.
uint64_t bitsOf(Number type, double value) {
  switch (type) {
  case Number::F16: {
    // 11 bits of a number below 2, which are enough of a random one.
    const uint16_t sign = value < 0 ? 0x8000 : 0;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent); // in [0.5, 1)
    if (fraction == 0 || exponent < -12)
      return sign;
    return sign | uint16_t(exponent + 14) << 10 | uint16_t((fraction * 2 - 1) * 1024);
  }
  case Number::BF16: return std::bit_cast<uint32_t>(float(value)) >> 16;
  case Number::F32: return std::bit_cast<uint32_t>(float(value));
  case Number::F64: return std::bit_cast<uint64_t>(value);
  case Number::I8: return uint8_t(int8_t(value == 1 ? 1 : value * 127));
  case Number::Word: return value == 1 ? 1 : uint32_t(int64_t(value * 1e9));
  }
  return 0;
}

uint64_t bytesOf(Number type) {
  switch (type) {
  case Number::F16:
  case Number::BF16: return 2;
  case Number::F64: return 8;
  case Number::I8: return 1;
  default: return 4;
  }
}

// Sums start with zeros; what follows are ones, or random numbers between -1 and 1.
std::vector<std::byte> operandsOf(Number type, bool ones) {
  std::vector<std::byte> bytes(kStartBytes + kNumberBytes);
  constexpr uint64_t kKey = 0x6b696c6e;
  for (uint64_t at = kStartBytes; at < bytes.size(); at += bytesOf(type)) {
    const double number = std::ldexp(static_cast<double>(randomBits(kKey, at) >> 11), -52) - 1;
    const uint64_t bits = bitsOf(type, ones ? 1 : number);
    std::memcpy(&bytes[at], &bits, bytesOf(type));
  }
  return bytes;
}

} // namespace

struct DevicePeaks::Kernel {
  const char *what, *how;
  Number number;
  Ref<hal::Executable> DevicePeaks::*code;
  uint32_t ordinal;
};

Status PeakWork::setRounds(uint64_t rounds) const {
  const PeakTask value{rounds, vectors};
  return task->write(0, std::as_bytes(std::span(&value, 1)));
}

Result<DevicePeaks> DevicePeaks::create(hal::Device &device, uint32_t multiprocessors) {
  DevicePeaks peaks(device);
  if (!device.clock())
    return unimplemented("the device {} has no clock of its own", device.uri());
  peaks.multiprocessors = multiprocessors;
  peaks.isSimulated = device.clock()->isSimulated();
  KILN_ASSIGN_OR_RETURN(peaks.common, loadDeviceCode(device, kPurpose, peakCode(), kCommon, kPeakThreads));
  Result<Ref<hal::Executable>> further = loadDeviceCode(device, kPurpose, warpgroupCode(), kWarpgroup, kPeakThreads);
  if (further.ok())
    peaks.warpgroup = *std::move(further);
  else if (further.status().code() != StatusCode::Unimplemented)
    return further.status(); // it is for this device, and does not load
  return peaks;
}

Result<Ref<hal::Buffer>> DevicePeaks::allocate(uint64_t bytes) {
  return device->allocator().allocate(hal::BufferUsage::Transient, bytes);
}

uint64_t DevicePeaks::blocksOf(uint32_t perMultiprocessor) const {
  return isSimulated ? 1 : uint64_t(perMultiprocessor) * multiprocessors;
}

uint64_t DevicePeaks::vectorsOfTurn(uint32_t perMultiprocessor) const {
  return blocksOf(perMultiprocessor) * kPeakThreads * kLoadsInFlight;
}

Result<PeakWork> DevicePeaks::prepare(const Kernel &kernel, uint32_t perMultiprocessor, Ref<hal::Buffer> operands,
                                      Ref<hal::Buffer> &results) {
  const uint64_t blocks = blocksOf(perMultiprocessor);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> task, allocate(sizeof(PeakTask)));
  KILN_ASSIGN_OR_RETURN(results, allocate(blocks * kPeakThreads * sizeof(float)));
  hal::Buffer *const bound[] = {task.get(), operands.get(), results.get()};
  KILN_ASSIGN_OR_RETURN(hal::Submission launch, makeLaunch(*device, *(this->*kernel.code), kernel.ordinal, blocks,
                                                           bound, hal::CommandBufferMode::Replay));
  PeakWork work{.what = kernel.what, .how = kernel.how, .launch = std::move(launch), .task = std::move(task)};
  work.buffers = {std::move(operands), results};
  return work;
}

Result<double> DevicePeaks::count(const PeakWork &work, hal::Buffer &results, uint64_t rounds) {
  // What no thread has written is no number.
  std::vector<float> values(results.byteLength() / sizeof(float), std::numeric_limits<float>::quiet_NaN());
  KILN_RETURN_IF_ERROR(results.write(0, std::as_bytes(std::span(values))));
  KILN_RETURN_IF_ERROR(work.setRounds(rounds));
  KILN_RETURN_IF_ERROR(runLaunch(*device, work.launch));
  KILN_RETURN_IF_ERROR(results.read(0, std::as_writable_bytes(std::span(values))));
  double sum = 0;
  for (float value : values)
    sum += value;
  return sum;
}

// Twice as many rounds count twice as much, all of it above zero.
static Status checkCounts(const PeakWork &work, double once, double twice) {
  if (once > 0 && twice == 2 * once)
    return okStatus();
  return internalError("the kernel that measures {} {} counts {} in one round and {} in two", work.what, work.how, once,
                       twice);
}

Result<PeakWork> DevicePeaks::arithmetic(const Kernel &kernel) {
  // The registers of two groups of warps with 128 sums each leave room for no other block.
  const uint32_t perMultiprocessor = kernel.code == &DevicePeaks::warpgroup ? 1 : 4;
  const std::vector<std::byte> ones = operandsOf(kernel.number, true), random = operandsOf(kernel.number, false);
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> operands, allocate(ones.size()));
  KILN_RETURN_IF_ERROR(operands->write(0, ones));
  Ref<hal::Buffer> results;
  KILN_ASSIGN_OR_RETURN(PeakWork work, prepare(kernel, perMultiprocessor, operands, results));
  KILN_ASSIGN_OR_RETURN(double once, count(work, *results, 1));
  KILN_ASSIGN_OR_RETURN(double twice, count(work, *results, 2));
  KILN_RETURN_IF_ERROR(checkCounts(work, once, twice));
  work.amountOfRound = 2 * once;
  KILN_RETURN_IF_ERROR(operands->write(0, random));
  return work;
}

Result<PeakWork> DevicePeaks::sharedMemory(const Kernel &kernel) {
  KILN_ASSIGN_OR_RETURN(PeakWork work, arithmetic(kernel));
  work.isArithmetic = false;
  work.bytes = kSharedBytes;
  work.amountOfRound *= sizeof(uint32_t) / 2.0; // of words that are read
  return work;
}

Status DevicePeaks::fill(hal::Buffer &buffer, uint64_t vectors, uint64_t seed) {
  const Kernel kernel{"", "fill", Number::Word, &DevicePeaks::common, uint32_t(Common::FillGlobal)};
  Ref<hal::Buffer> results;
  KILN_ASSIGN_OR_RETURN(PeakWork work, prepare(kernel, 4, Ref<hal::Buffer>::share(&buffer), results));
  work.vectors = vectors;
  KILN_RETURN_IF_ERROR(work.setRounds(seed));
  return runLaunch(*device, work.launch);
}

Result<PeakWork> DevicePeaks::transfer(const Kernel &kernel, std::string level, uint64_t aboutBytes, bool isCopy,
                                       uint32_t blocks) {
  const uint64_t turn = vectorsOfTurn(blocks), arrays = isCopy ? 2 : 1;
  const uint64_t vectors = std::max<uint64_t>(1, aboutBytes / arrays / kVectorBytes / turn) * turn;
  Result<Ref<hal::Buffer>> memory = allocate(arrays * vectors * kVectorBytes);
  if (!memory.ok())
    return std::move(memory).status().withContext(fmt::format("to measure {} {}", level, kernel.how));
  Ref<hal::Buffer> results;
  KILN_ASSIGN_OR_RETURN(PeakWork work, prepare(kernel, blocks, *memory, results));
  work.what = std::move(level);
  work.isArithmetic = false;
  work.vectors = vectors;
  work.bytes = arrays * vectors * kVectorBytes;
  if (!isCopy) {
    KILN_RETURN_IF_ERROR(fill(**memory, vectors, 0));
    KILN_ASSIGN_OR_RETURN(double once, count(work, *results, 1));
    KILN_ASSIGN_OR_RETURN(double twice, count(work, *results, 2));
    KILN_RETURN_IF_ERROR(checkCounts(work, once, twice));
    work.amountOfRound = once * sizeof(uint32_t);
  }
  constexpr uint64_t kSeed = 0x6b696c6e;
  KILN_RETURN_IF_ERROR(fill(**memory, arrays * vectors, kSeed));
  if (isCopy) {
    KILN_ASSIGN_OR_RETURN(double once, count(work, *results, 1));
    const uint64_t threads = results->byteLength() / sizeof(float);
    // The ends of both halves; in between lies what the same threads have copied.
    const uint64_t half = vectors * kVectorBytes, sample = std::min<uint64_t>(half, 1 << 16);
    std::vector<std::byte> from(sample), to(sample);
    for (uint64_t at : {uint64_t(0), half - sample}) {
      KILN_RETURN_IF_ERROR((*memory)->read(at, from));
      KILN_RETURN_IF_ERROR((*memory)->read(half + at, to));
      if (from != to || once != static_cast<double>(threads))
        return internalError("the kernel that measures copying copies something else");
    }
    work.amountOfRound = double(work.bytes);
  }
  return work;
}

Result<std::vector<PeakWork>> DevicePeaks::works() {
  const auto common = &DevicePeaks::common, further = &DevicePeaks::warpgroup;
  auto numbered = [](Common kernel) { return uint32_t(kernel); };
  const Kernel arithmetics[] = {
      {"f32", "simt_ffma", Number::F32, common, numbered(Common::ChainsF32)},
      {"f64", "simt_ffma", Number::F64, common, numbered(Common::ChainsF64)},
      {"f64", "tensorcore_mmasync", Number::F64, common, numbered(Common::MmaF64)},
      {"f64", "tensorcore_mmasync_k16", Number::F64, further, 4},
      {"tf32", "tensorcore_mmasync", Number::F32, common, numbered(Common::MmaTF32)},
      {"tf32", "tensorcore_wgmma", Number::F32, further, 2},
      {"f16", "tensorcore_mmasync", Number::F16, common, numbered(Common::MmaF16)},
      {"f16", "tensorcore_mmasync_accf16", Number::F16, common, numbered(Common::MmaF16F16)},
      {"f16", "tensorcore_wgmma", Number::F16, further, 0},
      {"bf16", "tensorcore_mmasync", Number::BF16, common, numbered(Common::MmaBF16)},
      {"bf16", "tensorcore_wgmma", Number::BF16, further, 1},
      {"i8", "tensorcore_mmasync", Number::I8, common, numbered(Common::MmaI8)},
      {"i8", "tensorcore_wgmma", Number::I8, further, 3},
  };
  std::vector<PeakWork> works;
  for (const Kernel &kernel : arithmetics)
    if (this->*kernel.code) {
      KILN_ASSIGN_OR_RETURN(PeakWork work, arithmetic(kernel));
      works.push_back(std::move(work));
    }
  KILN_ASSIGN_OR_RETURN(PeakWork shared,
                        sharedMemory({"shared", "read", Number::Word, common, numbered(Common::ReadShared)}));
  works.push_back(std::move(shared));
  const Kernel read{"", "read", Number::Word, common, numbered(Common::ReadGlobal)},
      copy{"", "copy", Number::Word, common, numbered(Common::CopyGlobal)};
  // A quarter of the L2 cache stays in it, and so does what all threads load at once where that is no more than a
  // third; of eight times as much as the cache next to nothing does.
  const uint64_t cache = device->cacheBytes(), beyond = cache ? 8 * cache : uint64_t(1) << 30;
  constexpr uint32_t kBlocks = 4; // of a multiprocessor
  for (bool isCopy : {false, true}) {
    uint32_t blocks = kBlocks;
    auto fits = [&] { return (isCopy ? 2 : 1) * vectorsOfTurn(blocks) * kVectorBytes <= cache / 3; };
    while (blocks > 1 && !fits())
      blocks /= 2;
    if (fits()) {
      KILN_ASSIGN_OR_RETURN(PeakWork work, transfer(isCopy ? copy : read, "L2", cache / 4, isCopy, blocks));
      works.push_back(std::move(work));
    }
    KILN_ASSIGN_OR_RETURN(PeakWork work, transfer(isCopy ? copy : read, "memory", beyond, isCopy, kBlocks));
    works.push_back(std::move(work));
  }
  return works;
}

Result<PeakWork> DevicePeaks::steadyWork() {
  return arithmetic({"f32", "simt_ffma", Number::F32, &DevicePeaks::common, uint32_t(Common::ChainsF32)});
}

Result<hal::Submission> DevicePeaks::nothing() {
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> operands, allocate(sizeof(uint64_t)));
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> results, allocate(sizeof(uint64_t)));
  hal::Buffer *const bound[] = {results.get(), operands.get(), results.get()};
  return makeLaunch(*device, *common, uint32_t(Common::Nothing), 1, bound, hal::CommandBufferMode::Replay);
}

} // namespace kiln::measure
