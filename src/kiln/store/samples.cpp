#include "kiln/store/samples.h"

#include <algorithm>

namespace kiln::store {

// Of stores before calls were watched, and of today.
static constexpr uint8_t kParts = 1, kWatched = 2;
// A name, not a text.
static constexpr uint64_t kLongestClock = 64;

static void appendVarint(std::string &blob, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    blob.push_back(static_cast<char>(value | 0x80));
  blob.push_back(static_cast<char>(value));
}

// Differences wrap around, so that any two values have one.
static void appendTimes(std::string &blob, std::span<const int64_t> times) {
  appendVarint(blob, times.size());
  uint64_t previous = 0;
  for (int64_t time : times) {
    uint64_t difference = static_cast<uint64_t>(time) - previous;
    appendVarint(blob, (difference << 1) ^ (0 - (difference >> 63)));
    previous = static_cast<uint64_t>(time);
  }
}

std::string encodeSamples(const Samples &samples) {
  bool watched = !samples.watched.clock.empty();
  std::string blob(1, static_cast<char>(watched ? kWatched : kParts));
  appendTimes(blob, samples.call);
  appendTimes(blob, samples.device);
  appendTimes(blob, samples.launch);
  if (!watched)
    return blob;
  const WatchedCalls &calls = samples.watched;
  std::string clock = calls.clock.substr(0, kLongestClock);
  std::ranges::replace_if(clock, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  appendVarint(blob, clock.size());
  blob += clock;
  appendVarint(blob, calls.ticksPerSecond);
  for (const std::vector<int64_t> *times : {&calls.call, &calls.submitted, &calls.started, &calls.ended})
    appendTimes(blob, *times);
  return blob;
}

static Result<uint64_t> readVarint(std::span<const uint8_t> &bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (bytes.empty())
      return dataLoss("the samples of a round are truncated");
    uint8_t byte = bytes.front();
    bytes = bytes.subspan(1);
    if (shift == 63 && byte > 1)
      break;
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80)
      return value;
  }
  return dataLoss("the samples of a round hold a number of more than 64 bits");
}

static Status readTimes(std::span<const uint8_t> &bytes, std::vector<int64_t> &times) {
  KILN_ASSIGN_OR_RETURN(uint64_t count, readVarint(bytes));
  // Each takes a byte at least, so that a wrong count cannot ask for memory that the blob does not justify.
  if (count > bytes.size())
    return dataLoss("the samples of a round are truncated: {} are announced, {} bytes are left", count, bytes.size());
  times.reserve(count);
  uint64_t previous = 0;
  for (uint64_t i = 0; i < count; ++i) {
    KILN_ASSIGN_OR_RETURN(uint64_t zigzag, readVarint(bytes));
    previous += (zigzag >> 1) ^ (0 - (zigzag & 1));
    times.push_back(static_cast<int64_t>(previous));
  }
  return okStatus();
}

static Status readWatched(std::span<const uint8_t> &bytes, WatchedCalls &calls) {
  KILN_ASSIGN_OR_RETURN(uint64_t length, readVarint(bytes));
  if (length == 0 || length > kLongestClock || length > bytes.size())
    return dataLoss("the samples of a round name a clock with {} characters", length);
  calls.clock.assign(reinterpret_cast<const char *>(bytes.data()), length);
  bytes = bytes.subspan(length);
  KILN_ASSIGN_OR_RETURN(calls.ticksPerSecond, readVarint(bytes));
  for (std::vector<int64_t> *times : {&calls.call, &calls.submitted, &calls.started, &calls.ended})
    KILN_RETURN_IF_ERROR(readTimes(bytes, *times));
  if (calls.ticksPerSecond == 0 || calls.started.size() != calls.ended.size() ||
      (!calls.submitted.empty() && calls.submitted.size() != calls.started.size()))
    return dataLoss("the samples of a round have times of a device that do not belong together");
  return okStatus();
}

Result<Samples> decodeSamples(std::span<const uint8_t> blob) {
  if (blob.empty())
    return dataLoss("the samples of a round are truncated");
  uint8_t format = blob.front();
  if (format != kParts && format != kWatched)
    return dataLoss("the samples of a round have format {}; this build reads formats {} and {}", format, kParts,
                    kWatched);
  blob = blob.subspan(1);
  Samples samples;
  KILN_RETURN_IF_ERROR(readTimes(blob, samples.call));
  KILN_RETURN_IF_ERROR(readTimes(blob, samples.device));
  KILN_RETURN_IF_ERROR(readTimes(blob, samples.launch));
  if (format == kWatched)
    KILN_RETURN_IF_ERROR(readWatched(blob, samples.watched));
  if (!blob.empty())
    return dataLoss("the samples of a round have {} bytes after their end", blob.size());
  return samples;
}

} // namespace kiln::store
