// What the lab and its workers say to each other: one JSON object a line. docs/lab.md has the contract. Both sides
// parse with the functions of this header, and external programs speak the same.
#ifndef KILN_MEASURE_WORKERS_PROTOCOL_H
#define KILN_MEASURE_WORKERS_PROTOCOL_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/measure/machine/call_counters.h"
#include "kiln/measure/workload.h"

namespace kiln::measure {

inline constexpr uint32_t kProtocolVersion = 1;
// A longer line is rubbish. The largest honest one is an answer to `time`, of some hundred KiB.
inline constexpr size_t kLineLimit = size_t(16) << 20;

// A problem as providers see it.
struct ProblemText {
  std::string family;
  std::string name;
  std::vector<std::pair<std::string, std::string>> fields;

  // Null where there is no such field.
  const std::string *field(std::string_view name) const;
};
ProblemText problemText(const Problem &problem);

// A tensor in all sets: that of set i lies at offset + i * stride in the file.
struct SharedTensor {
  io::ElementType type;
  std::vector<uint64_t> shape;
  std::string path;
  uint64_t offset = 0;
  uint64_t stride = 0;
  uint64_t bytes = 0;
};

struct HelloRequest {
  uint32_t protocol = kProtocolVersion;
  uint32_t threads = 1;
};
struct LoadRequest {
  ProblemText problem;
  std::string module;   // empty where the provider needs none
  std::string function; // empty: the only one
  uint32_t sets = 1;
  std::vector<SharedTensor> inputs, outputs;
};
struct RunRequest {
  uint32_t set = 0;
};
struct TimeRequest {
  uint64_t nanoseconds = 0;
  uint32_t start = 0; // the set of the first call
  uint32_t batch = 1;
};
struct QuitRequest {};
using Request = std::variant<HelloRequest, LoadRequest, RunRequest, TimeRequest, QuitRequest>;

// "hello", "load", ...
const char *requestName(const Request &request);
// With the newline.
std::string encodeRequest(const Request &request);
// Checks all that can be checked without opening files: numbers are in range, and bytes are those of type and shape.
Result<Request> parseRequest(std::string_view line);

// The set that a call after one with `set` uses: 1 follows the last one, since set 0 is for verification.
inline uint32_t nextTimingSet(uint32_t set, uint32_t sets) {
  return set + 1 < sets ? set + 1 : (sets > 1 ? 1 : 0);
}

struct Answer {
  bool ok = true;
  bool unsupported = false; // only where not ok
  std::string error;        // only where not ok
  // hello; the note, which may be empty, says what a reader of the results has to know
  std::string provider, version, note;
  // time: nanoseconds of each batch. The last two are empty, or as long as the first.
  uint32_t batch = 0;
  std::vector<int64_t> call, device, launch;
  CallCounts counts; // of all calls of the answer, where the worker counts

  static Answer failure(const Status &status);
};

// With the newline.
std::string encodeAnswer(const Answer &answer);
Result<Answer> parseAnswer(std::string_view line);

// The line as a message may show it: its start, with escapes such as \x1b for what is not printable.
std::string quoteLine(std::string_view line);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_PROTOCOL_H
