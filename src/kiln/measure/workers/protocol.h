// What the lab and its workers say to each other: one JSON object a line. docs/lab.md has the contract. Both sides
// parse with the functions of this header, and external programs speak the same.
#ifndef KILN_MEASURE_WORKERS_PROTOCOL_H
#define KILN_MEASURE_WORKERS_PROTOCOL_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kiln/base/call_facts.h"
#include "kiln/base/status.h"
#include "kiln/measure/workload.h"

namespace kiln::measure {

inline constexpr uint32_t kProtocolVersion = 2;
// The longest line that is read. Answers to `time` have some hundred KiB.
inline constexpr size_t kLineLimit = size_t(16) << 20;
// Bytes of what a worker says: of a name, a version, a device or a clock; of a note. What is longer is rubbish. An
// error is cut after as many bytes as a note may have.
inline constexpr size_t kNameLimit = 200;
inline constexpr size_t kNoteLimit = 4096;
inline constexpr size_t kMaxDevices = 64;
// A worker holds so many problems at a time.
inline constexpr uint32_t kMaxSlots = 1 << 10;

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
  bool weight = false; // an input that `load` may prepare: it changes in set 0 only, and there before `run`
};

struct HelloRequest {
  uint32_t protocol = kProtocolVersion;
  uint32_t threads = 1;
  std::string device = {}; // to compute on, as a URI: "cuda://0"; empty: the CPU
};
// A slot holds one problem with its tensors. Later requests name it, and `unload` frees it.
struct LoadRequest {
  uint32_t slot = 0;
  ProblemText problem;
  std::string module;   // empty where the provider needs none
  std::string function; // empty: the only one
  uint32_t sets = 1;
  std::vector<SharedTensor> inputs, outputs;
};
struct UnloadRequest {
  uint32_t slot = 0;
};
// Sets that follow each other as calls take them: nextTimingSet after each.
struct SetRange {
  uint32_t first = 0;
  uint32_t count = 1;

  bool operator==(const SetRange &) const = default;
};
// The inputs of these sets have changed, and their outputs hold what must not show: a worker whose device has memory of
// its own brings both there. Where it has these inputs since they were uploaded or loaded, it need bring outputs only.
struct UploadRequest {
  uint32_t slot = 0;
  SetRange sets;
  bool outputsOnly = false;
};
// The outputs of these sets are wanted: a worker whose results lie elsewhere copies those of each set's last call.
struct FetchRequest {
  uint32_t slot = 0;
  SetRange sets;
};
struct RunRequest {
  uint32_t slot = 0;
  uint32_t set = 0;
};
// Asked of who promises device checks: the device makes the inputs of a pass in set 0, the worker runs, and the device
// checks what it computed. One element is made wrong for a moment then, counted row by row, which has to be found.
struct VerifyRequest {
  uint32_t slot = 0;
  uint32_t pass = 0;
  uint64_t seed = 0;
  uint64_t planted = 0;
};
// A `time` by the device's clock comes next, with the same numbers: the calls of each batch are put together, as a
// graph where the device has such.
struct PrepareRequest {
  uint32_t slot = 0;
  uint64_t calls = 1; // a multiple of batch
  uint32_t batch = 1;
  uint32_t start = 0;

  bool operator==(const PrepareRequest &) const = default;
};
struct TimeRequest {
  uint32_t slot = 0;
  uint64_t calls = 1; // a multiple of batch
  uint32_t batch = 1;
  uint32_t start = 0;    // the set of the first call
  bool watch = false;    // also tell when the device was at work, in each call
  bool empty = false;    // time calls that launch and await no work
  bool byDevice = false; // by the device's clock, what was prepared
};
struct QuitRequest {};
using Request = std::variant<HelloRequest, LoadRequest, UnloadRequest, UploadRequest, FetchRequest, RunRequest,
                             TimeRequest, QuitRequest, PrepareRequest, VerifyRequest>;

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

// Where a worker computes.
struct WorkerDevice {
  std::string name;
  bool shared = true; // it computes in the lab's memory; otherwise tensors are uploaded and fetched
  // Whether it has a clock that puts timestamps around calls, which a simulated device may let count what it executes.
  enum class Clock { None, Device, Simulated } clock = Clock::None;
  uint64_t cacheBytes = 0; // of its last-level cache, where it tells

  bool operator==(const WorkerDevice &) const = default;
};

struct Answer {
  bool ok = true;
  bool unsupported = false; // only where not ok
  std::string error;        // only where not ok
  // hello; the note, which may be empty, says what a reader of the results has to know
  std::string provider, version, note;
  std::vector<WorkerDevice> devices;
  bool tellsDeviceTimes = false, makesEmptyCalls = false, checksOnDevice = false; // promises
  // load: whether weights were prepared ahead, and how many operations a call does where the algorithm has fewer than
  // the definition
  bool preparedWeights = false;
  std::optional<double> flops;
  // time: nanoseconds of each batch, by the worker's clock.
  uint32_t batch = 0;
  std::vector<int64_t> host;
  std::optional<DeviceTimes> device;
  std::vector<int64_t> spans; // of each batch, where the device's clock was asked for: nanoseconds
  // prepare: whether the device gets the calls of a batch at once, as a graph, or one after the other
  std::optional<bool> asGraph;
  // verify: how many rows of the output are wrong, and what making and checking took, in nanoseconds
  struct DeviceVerdict {
    uint64_t wrongRows = 0;
    uint64_t makeNanoseconds = 0, checkNanoseconds = 0;
  };
  std::optional<DeviceVerdict> verdict;
  CallCounts counts; // of all calls of the answer, where the worker counts

  static Answer failure(const Status &status);
};

// With the newline.
std::string encodeAnswer(const Answer &answer);
// Its texts are UTF-8, without control characters but newlines in notes and errors.
Result<Answer> parseAnswer(std::string_view line);

// The line as a message may show it: its start, with escapes such as \x1b for what is not printable.
std::string quoteLine(std::string_view line);

} // namespace kiln::measure

#endif // KILN_MEASURE_WORKERS_PROTOCOL_H
