// A capture on disk: what a program did and when. A header, then blocks that each stand for themselves, so that a file
// that was cut off, or damaged, still tells the rest. All numbers are little-endian. docs/formats.md has it in words.
#ifndef KILN_SCHEMA_CAPTURE_H
#define KILN_SCHEMA_CAPTURE_H

#include <cstddef>
#include <cstdint>

namespace kiln::schema::capture {

inline constexpr char kMagic[8] = {'k', 'i', 'l', 'n', 't', 'r', 'c', '\0'};
inline constexpr uint32_t kVersion = 1;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t process;            // its id
  uint64_t startedNanoseconds; // of the host's monotonic clock
  int64_t startedUnix;         // the same moment, in nanoseconds since 1970
};
static_assert(sizeof(FileHeader) == 32);

inline constexpr uint32_t kBlockMagic = 0x6b636c62; // "blck"
inline constexpr uint32_t kMaxBlockBytes = uint32_t(1) << 22;

enum class BlockKind : uint32_t {
  Definitions = 1, // Definition records: what the numbers of events mean
  Events = 2,      // Event records of one lane, each lane's in the order in which they ended
  ClockSamples = 3,
  Losses = 4,
  OpenZones = 5, // what a lane was in when its events were last written; the last such block of a lane counts
  End = 6,       // the recording was ended, and nothing is missing but what Losses tell
};

struct BlockHeader {
  uint32_t magic;
  BlockKind kind;
  uint32_t lane;      // of Events and OpenZones
  uint32_t byteCount; // of what follows
  uint64_t sequence;  // counts blocks from 0
  uint64_t checksum;  // XXH3-64 of this header with checksum = 0, then of what follows
};
static_assert(sizeof(BlockHeader) == 32);

enum class EventKind : uint8_t {
  Zone = 1,    // from `time` to `value`, in ticks of the lane's clock
  Instant = 2, // `value` is free for whoever records it
  Counter = 3, // `value` holds the bits of a double
};

struct Event {
  uint64_t time; // ticks of the lane's clock
  uint64_t value;
  uint32_t name; // of a Definition::Name
  EventKind kind;
  uint8_t depth; // of a zone: how many zones of its lane are around it; 255 for that many and more
  uint16_t reserved;
};
static_assert(sizeof(Event) == 24);

enum class DefinitionKind : uint32_t {
  Name = 1,  // text: what events are called
  Lane = 2,  // text: its name; `a` a LaneKind, `b` the number of its clock
  Clock = 3, // text: its name; `a` is 1 where its ticks are nanoseconds of the host's monotonic clock
  Facts = 4, // text: a JSON object of what is known of the name `number`
};

enum class LaneKind : uint32_t { Thread = 1, Device = 2 };

// Followed by `byteCount` bytes of UTF-8, and zeros up to a multiple of eight.
struct Definition {
  DefinitionKind kind;
  uint32_t number;
  uint32_t a, b;
  uint32_t byteCount;
  uint32_t reserved;
};
static_assert(sizeof(Definition) == 24);

// Two readings of the host's monotonic clock, in nanoseconds, and one of another clock between them.
struct ClockReading {
  uint32_t clock;
  uint32_t reserved;
  uint64_t before, ticks, after;
};
static_assert(sizeof(ClockReading) == 32);

// Events of a lane for which there was no room, and the ticks between which that was.
struct Loss {
  uint32_t lane;
  uint32_t reserved;
  uint64_t count, first, last;
};
static_assert(sizeof(Loss) == 32);

struct OpenZone {
  uint64_t begin;
  uint32_t name;
  uint32_t depth;
};
static_assert(sizeof(OpenZone) == 16);

struct End {
  uint64_t events, lost;
};
static_assert(sizeof(End) == 16);

} // namespace kiln::schema::capture

#endif // KILN_SCHEMA_CAPTURE_H
