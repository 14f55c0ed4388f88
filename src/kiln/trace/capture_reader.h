// Reads a capture, also one that is damaged or was cut off: what can be read is, and what is missing is told. Memory
// does not grow with the number of events.
#ifndef KILN_TRACE_CAPTURE_READER_H
#define KILN_TRACE_CAPTURE_READER_H

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/clock_fit.h"
#include "kiln/base/file_descriptor.h"
#include "kiln/base/status.h"
#include "kiln/schema/capture.h"

namespace kiln::trace {

// What of a file could not be read.
struct CaptureDamage {
  uint64_t bytes = 0, places = 0, firstPlace = 0; // bytes that are no block, and where those begin
  uint64_t blocks = 0;                            // that are missing between others
};

// One pass over the blocks of a file. What is no block is skipped up to the next one.
class BlockReader {
public:
  BlockReader(int file, uint64_t size, uint64_t begin) : file(file), size(size), at(begin) {}

  struct Block {
    schema::capture::BlockHeader header;
    std::span<const std::byte> data; // until the next one is read
  };
  // False at the end.
  Result<bool> next(Block &block);
  const CaptureDamage &damage() const { return found; }

private:
  Result<bool> readAt(uint64_t offset, Block &block);
  Result<uint64_t> findBlock(uint64_t from);

  int file;
  uint64_t size, at, expected = 0;
  CaptureDamage found;
  std::vector<std::byte> buffer;
};

struct CapturedLane {
  schema::capture::LaneKind kind = schema::capture::LaneKind::Thread;
  uint32_t clock = 0;
  std::string name;
  uint64_t events = 0, lost = 0;
  std::vector<schema::capture::OpenZone> open; // when it was looked at last
};

struct CapturedClock {
  std::string name;
  bool isMonotonic = false;
  std::vector<ClockSample> samples;
  ClockFit fit;
  std::string fault; // why there is no fit; its ticks are taken for nanoseconds then
};

class Capture {
public:
  // Reads all but the events. The error is of a file that is no capture.
  static Result<Capture> open(const std::string &path);

  const schema::capture::FileHeader &header() const { return fileHeader; }
  const std::string &path() const { return fileName; }
  // By their numbers.
  const std::map<uint32_t, CapturedLane> &lanes() const { return laneTable; }
  const std::map<uint32_t, CapturedClock> &clocks() const { return clockTable; }
  std::string nameOf(uint32_t number) const;
  // A JSON object, or empty.
  std::string_view factsOf(uint32_t name) const;
  bool isComplete() const { return complete; }
  uint64_t eventCount() const { return events; }
  uint64_t lostCount() const { return lost; }
  const CaptureDamage &damage() const { return found; }

  // Nanoseconds from the start of the recording.
  double toNanoseconds(const CapturedLane &lane, uint64_t ticks) const;

  // Runs of events of one lane, in the order of the file.
  Status forEach(const std::function<void(uint32_t lane, std::span<const schema::capture::Event> events)> &visit) const;

private:
  Capture() = default;
  void define(std::span<const std::byte> data);
  void addSamples(std::span<const std::byte> data);

  std::string fileName;
  FileDescriptor file;
  uint64_t size = 0;
  schema::capture::FileHeader fileHeader = {};
  std::map<uint32_t, CapturedLane> laneTable;
  std::map<uint32_t, CapturedClock> clockTable;
  std::map<uint32_t, std::string> names, facts;
  bool complete = false;
  uint64_t events = 0, lost = 0;
  CaptureDamage found;
};

} // namespace kiln::trace

#endif // KILN_TRACE_CAPTURE_READER_H
