// A worker for tests: multiplies f32 matrices and answers as it should, but for what its arguments ask.
//
//   fake_worker                  behaves
//   fake_worker crash time 2     crashes when it is asked to time for the second time
//   fake_worker crash rerun      crashes when it is asked to run after it was asked to time
//   fake_worker crash time 2 slow  also takes long to start
//   fake_worker tell always      in every answer
//   fake_worker part timed       in every answer but those to `run`
//
// See `misbehave` for what there is.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <map>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "kiln/base/clock.h"
#include "kiln/measure/workers/protocol.h"

using namespace kiln;
using namespace kiln::measure;

namespace {

constexpr auto kForever = std::chrono::hours(10);

void say(const std::string &text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

uint8_t *mapFile(const std::string &path, bool writable) {
  int file = ::open(path.c_str(), writable ? O_RDWR : O_RDONLY);
  struct stat info = {};
  ::fstat(file, &info);
  void *memory =
      ::mmap(nullptr, size_t(info.st_size), writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  return static_cast<uint8_t *>(memory);
}

void listFiles() {
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
    std::fprintf(stderr, "fd %s\n", entry.path().filename().c_str());
}

// Known to everybody, so that no compiler leaves an allocation out.
std::vector<std::vector<char>> hoard;

void growForever() {
  for (;;) {
    hoard.emplace_back(size_t(8) << 20, 'x');
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// A child that holds this process's files open, and outlives it if nobody does anything about it.
void leaveChild() {
  pid_t child = ::fork();
  if (child == 0) {
    std::this_thread::sleep_for(kForever);
    std::_Exit(0);
  }
  std::fprintf(stderr, "child %d\n", int(child));
}

// Computes until it is ended, or for some seconds: a test that fails must not leave it behind.
constexpr uint64_t kBurnFor = uint64_t(20) * 1'000'000'000;

[[noreturn]] void burn() {
  for (Deadline end = Deadline::after(kBurnFor); end.remaining() > 0;) {
  }
  ::_exit(0);
}

// Timers of this process continue it after somebody has stopped it, soon, and then twice a second for 20 seconds.
// Stopping ends a timer whose signal is not delivered yet: there are several.
void continueLater() {
  for (long milliseconds = 1; milliseconds < 20'000; milliseconds = std::min(2 * milliseconds, milliseconds + 500)) {
    sigevent event = {};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer;
    itimerspec once = {{}, {milliseconds / 1000, milliseconds % 1000 * 1'000'000}};
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || ::timer_settime(timer, 0, &once, nullptr) != 0)
      ::_exit(4);
  }
}

// A child that sleeps. Timers of its own continue it where it is to awake: it runs for some microseconds.
void startSleepingChild(bool awakes) {
  pid_t child = ::fork();
  if (child == 0) {
    if (awakes)
      continueLater();
    std::fprintf(stderr, "child %d\n", int(::getpid()));
    std::this_thread::sleep_for(kForever);
    std::_Exit(0);
  }
}

// A child that has ended, and that nobody has asked how.
void leaveZombie() {
  pid_t child = ::fork();
  if (child == 0)
    std::_Exit(0);
  siginfo_t info = {};
  ::waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT);
}

// A child in a session of its own, which computes until it is ended.
void startSession() {
  pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    burn();
  }
  std::fprintf(stderr, "child %d\n", int(child));
}

// A process in a session of its own that has no parent here any more. It computes, or goes on from one process to the
// next as fast as it can, for 20 seconds.
void startDaemon(bool hops) {
  pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    pid_t daemon = ::fork();
    if (daemon != 0) {
      std::fprintf(stderr, "child %d\n", int(daemon));
      std::_Exit(0);
    }
    for (Deadline end = Deadline::after(kBurnFor); hops && end.remaining() > 0;)
      if (::fork() != 0)
        ::_exit(0);
    if (!hops)
      burn();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

// True where an answer is still to be given.
// As by a fault, which a sanitizer would handle itself.
void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

bool misbehave(const std::string &how) {
  if (how == "crash")
    crash();
  if (how == "exit") {
    std::fprintf(stderr, "first line\nlast words\n");
    std::exit(3);
  }
  if (how == "garble") {
    std::fwrite("last \xff\0\x1b[2J words\n", 1, 18, stderr);
    std::exit(3);
  }
  if (how == "hang")
    std::this_thread::sleep_for(kForever);
  if (how == "late")
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  if (how == "rubbish")
    say("Segmentation fault (core dumped)\n");
  if (how == "nojson")
    say("{\"ok\":maybe}\n");
  if (how == "noanswer")
    say("{\"result\":1}\n");
  if (how == "twice")
    say("{\"ok\":true}\n{\"ok\":true}\n"); // at once
  if (how == "endless")
    for (std::string text(1 << 20, 'x');;)
      say(text);
  if (how == "close") {
    ::close(STDOUT_FILENO);
    std::this_thread::sleep_for(kForever);
  }
  if (how == "grow")
    growForever();
  if (how == "huge")
    hoard.emplace_back(size_t(1) << 36, 'x');
  if (how == "noise")
    for (int i = 0; i < 100'000; ++i)
      std::fprintf(stderr, "line %d of a long complaint\n", i);
  if (how == "orphan") {
    leaveChild();
    crash();
  }
  if (how == "session")
    startSession();
  if (how == "daemon" || how == "hop")
    startDaemon(how == "hop");
  if (how == "zombie")
    leaveZombie();
  if (how == "sleepchild" || how == "awakechild")
    startSleepingChild(how == "awakechild");
  if (how == "spin")
    std::thread(burn).detach();
  if (how == "awake") {
    continueLater();
    std::thread(burn).detach();
  }
  if (how == "files")
    listFiles();
  if (how == "environment")
    for (const char *name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_PROC_BIND", "GOMP_SPINCOUNT",
                             "KMP_BLOCKTIME", "OPENBLAS_THREAD_TIMEOUT", "OPENBLAS_CORETYPE", "FAKE"})
      std::fprintf(stderr, "%s=%s\n", name, std::getenv(name) ? std::getenv(name) : "");
  return how != "rubbish" && how != "nojson" && how != "noanswer" && how != "twice";
}

// What it does for the calls of one request, in the words of docs/verification.md:
//   nothing     computes nothing            part      computes the upper half
//   memory      has computed all sets when it loaded, and copies that
//   recognize   the same, but computes where inputs are not those that it has seen
//   previous    computes what the call before asked for
//   early       answers, and computes afterwards
//   hide        leaves a quarter of the time out      shave     leaves a tenth of each call out
//   ahead       computes before its first sample
//   bunch       computes all in its first sample
//   sometimes   is 'ahead' in two of five processes, by chance
//   device      says that its device took a tenth of what it did
//   clockless   has a device without a clock
// sneak: a thread that computes whenever nothing is asked, as one would that wants to be ahead of the others' turns.
class ComputesAhead {
public:
  // An error where it could do so between requests that are far apart: a busy system may leave it some of the time
  // between some of them, until whoever stops it runs.
  Status asked() {
    idle = false;
    uint64_t gap = monotonicNanoseconds() - answeredAt;
    if (answeredAt == 0 || gap < kFarApart)
      return okStatus();
    gaps += gap, computed += burnt - burntBefore;
    if (++count >= kTelling && computed > gaps / 4)
      return failedPrecondition("it computed for {} of {} ns in which nothing was asked", computed, gaps);
    return okStatus();
  }
  void answered() {
    if (answeredAt == 0)
      std::thread([this] { run(); }).detach();
    answeredAt = monotonicNanoseconds();
    burntBefore = burnt;
    idle = true;
    idle.notify_one();
  }

private:
  static constexpr uint64_t kFarApart = 20'000'000, kStep = 20'000;
  static constexpr int kTelling = 3;

  // What it uses while something is asked would be time that its samples leave out.
  void run() {
    for (;;)
      if (!idle)
        idle.wait(false);
      else
        for (uint64_t begin = threadTime(), end = begin; end - begin < kStep;) {
          uint64_t before = end;
          end = threadTime();
          burnt += end - before;
        }
  }
  static uint64_t threadTime() {
    timespec time;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
  }

  uint64_t gaps = 0, computed = 0; // nanoseconds
  int count = 0;
  std::atomic<bool> idle = false;
  std::atomic<uint64_t> burnt = 0; // nanoseconds
  uint64_t answeredAt = 0, burntBefore = 0;
};

ComputesAhead ahead; // outlives its thread

class FakeWorker {
public:
  explicit FakeWorker(std::string how) : how(std::move(how)) {}
  ~FakeWorker() {
    if (later.joinable())
      later.join();
  }

  Answer answer(const Request &request) {
    if (how != "sneak")
      return answerTo(request);
    if (Status alone = ahead.asked(); !alone.ok())
      return Answer::failure(alone);
    Answer answer = answerTo(request);
    ahead.answered();
    return answer;
  }

  std::string how; // for the next answer

private:
  Answer answerTo(const Request &request) {
    if (later.joinable())
      later.join();
    Answer answer;
    if (how == "unsupported" || how == "refuse")
      return Answer::failure(how == "refuse" ? invalidArgument("no, thanks") : unimplemented("I only do sums"));
    if (how == "complain")
      return Answer::failure(invalidArgument("no {}", std::string(10'000, 'x')));
    if (const auto *hello = std::get_if<HelloRequest>(&request)) {
      answer.provider = "fake";
      answer.version = std::to_string(hello->threads);
      if (how == "tell")
        answer.note = "made up for a test";
      if (how == "longnote" || how == "longversion")
        (how == "longnote" ? answer.note : answer.version).assign(5'000, 'x');
      if (how == "control")
        answer.note = answer.version = std::string("a\0b\x1b[2J\nc", 9);
      answer.devices = {{"a made-up device", how != "own" && how != "lazy"}};
      answer.checksOnDevice = how.starts_with("check");
      answer.tellsDeviceTimes = answer.makesEmptyCalls = how == "tell" || how == "device";
      if (!hello->device.empty() && how != "clockless") {
        answer.devices[0].clock = WorkerDevice::Clock::Device;
        answer.makesEmptyCalls = true;
      }
    } else if (const auto *message = std::get_if<LoadRequest>(&request)) {
      load(*message);
      answer.preparedWeights = how == "prepare";
      if (how == "fewer")
        answer.flops = 1;
    } else if (const auto *run = std::get_if<RunRequest>(&request)) {
      if (how == "own")
        upload(run->set);
      multiply(run->set, run->set);
    } else if (const auto *time = std::get_if<TimeRequest>(&request)) {
      answer.batch = time->batch;
      timeCalls(*time, answer);
    } else if (std::holds_alternative<PrepareRequest>(request)) {
      answer.asGraph = true;
    } else if (const auto *fetch = std::get_if<FetchRequest>(&request)) {
      std::fprintf(stderr, "fetch %u %u\n", fetch->sets.first, fetch->sets.count);
      fetchResults(fetch->sets);
    } else if (std::holds_alternative<VerifyRequest>(request)) {
      std::fprintf(stderr, "verify\n");
      if (how == "checkunknown")
        return Answer::failure(unimplemented("this device has no kernels for it"));
      if (how == "checklost")
        return Answer::failure(internalError("the device is lost"));
      if (how != "checksilent")
        answer.verdict = Answer::DeviceVerdict{how == "checkright" ? 0U : 3U};
    } else if (const auto *message = std::get_if<UploadRequest>(&request)) {
      std::fprintf(stderr, "upload\n");
      for (uint32_t i = 0, set = message->sets.first; how == "own" && !message->outputsOnly && i < message->sets.count;
           ++i) {
        upload(set);
        set = nextTimingSet(set, loaded.sets);
      }
    }
    answered = monotonicNanoseconds();
    if (how == "lie")
      answer.host.assign(std::max<size_t>(answer.host.size(), 1), INT64_MAX / 8);
    if (how == "wrap" && answer.host.size() > 1)
      answer.host[0] = answer.host[1] = INT64_MAX;
    if (how == "hide")
      for (int64_t &call : answer.host)
        call -= call / 4;
    if (how == "shave")
      for (int64_t &call : answer.host)
        call -= call / 10;
    if (how == "zero")
      std::ranges::fill(answer.host, 0);
    if (how == "batch")
      answer.batch += 1;
    if (how == "fewersamples")
      answer.host.clear();
    if (how == "count")
      answer.counts.instructions = 1'000'000'000'000;
    return answer;
  }

  void load(const LoadRequest &request) {
    loaded = request;
    bases.clear();
    bool writable = how == "scribble"; // which has to fail
    for (const SharedTensor &tensor : request.inputs)
      bases.push_back(mapFile(tensor.path, writable));
    if (writable) {
      std::signal(SIGSEGV, SIG_DFL); // which a sanitizer would handle itself
      *bases[0] = 42;
    }
    bases.push_back(mapFile(request.outputs[0].path, true));
    if (how == "seal") { // so that only who maps them now can write them
      int file = ::open(request.outputs[0].path.c_str(), O_RDWR);
      ::fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
      ::close(file);
    }
    if (how == "wreck") {
      continueLater();
      std::thread([this] { wreck(); }).detach();
    }
    m = request.outputs[0].shape[0];
    n = request.outputs[0].shape[1];
    k = request.inputs[0].shape[1];
    for (uint32_t set = 0; set < loaded.sets && how == "own"; ++set)
      upload(set);
    if (how != "memory" && how != "recognize")
      return;
    for (uint32_t set = 0; set < loaded.sets; ++set) {
      std::vector<float> &answer = remembered.emplace_back(m * n);
      product(set, answer.data(), m);
      seen.emplace_back(at(0, set), at(0, set) + m * k);
    }
  }

  float *at(size_t tensor, uint32_t set) {
    const SharedTensor &shared = tensor < 2 ? loaded.inputs[tensor] : loaded.outputs[0];
    return reinterpret_cast<float *>(bases[tensor] + shared.offset + set * shared.stride);
  }

  // Inputs, as the memory has them that it computes in.
  const float *operand(size_t tensor, uint32_t set) {
    return how == "own" ? uploaded[{tensor, set}].data() : at(tensor, set);
  }
  void upload(uint32_t set) {
    for (size_t tensor : {0, 1})
      uploaded[{tensor, set}].assign(at(tensor, set), at(tensor, set) + loaded.inputs[tensor].bytes / sizeof(float));
  }

  // Writes into others' results while they have their turns.
  [[noreturn]] void wreck() {
    for (;; std::this_thread::sleep_for(std::chrono::microseconds(200)))
      if (monotonicNanoseconds() - answered > 20'000'000)
        for (uint32_t set = 0; set < loaded.sets; ++set)
          *at(2, set) = 1e30F;
  }

  void product(uint32_t set, float *result, uint64_t rows) {
    const float *lhs = operand(0, set), *rhs = operand(1, set);
    for (uint64_t i = 0; i < rows; ++i)
      for (uint64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (uint64_t l = 0; l < k; ++l)
          sum += lhs[i * k + l] * rhs[l * n + j];
        result[i * n + j] = sum;
      }
  }

  // The inputs of one set into the outputs of another, which are those of the same set for the honest.
  void multiply(uint32_t from, uint32_t to) {
    float *result = at(2, to);
    if (how == "idle" || how == "nothing")
      return;
    if (how == "lazy") {
      late[to] = from;
      return;
    }
    if (how == "own") {
      kept[to].resize(m * n);
      result = kept[to].data();
    }
    if (how == "add") {
      std::vector<float> before(result, result + m * n);
      product(from, result, m);
      for (uint64_t i = 0; i < m * n; ++i)
        result[i] += before[i];
      return;
    }
    bool known =
        !remembered.empty() && (how == "memory" || std::memcmp(seen[from].data(), at(0, from), m * k * 4) == 0);
    if (known)
      std::memcpy(result, remembered[from].data(), m * n * 4);
    else
      product(from, result, how == "part" ? m / 2 : m);
    if (how == "recognize" && !known) {
      remembered[from].assign(result, result + m * n);
      seen[from].assign(at(0, from), at(0, from) + m * k);
    }
    if (how == "wrong")
      result[n + 1] += 1.0F;
  }

  // On its own processor, where it waits for it as for another process, and before anybody looks for children again.
  template <typename Work> void multiplyInChild(Work work) {
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(::sched_getcpu(), &here);
    ::sched_setaffinity(0, sizeof(here), &here);
    pid_t child = ::fork();
    if (child == 0) {
      work();
      ::_exit(0);
    }
    sched_param none = {};
    ::sched_setscheduler(0, SCHED_IDLE, &none);
    while (::waitpid(child, nullptr, WNOHANG) == 0) {
    }
  }

  void fetchResults(SetRange sets) {
    if (how == "checkdiffers") // right, so that the host finds nothing wrong
      return product(0, at(2, 0), m);
    for (uint32_t i = 0, set = sets.first; i < sets.count; ++i, set = nextTimingSet(set, loaded.sets))
      if (auto found = kept.find(set); found != kept.end())
        std::memcpy(at(2, set), found->second.data(), m * n * 4);
    for (auto [to, from] : late)
      product(from, at(2, to), m);
    late.clear();
  }

  void timeCalls(const TimeRequest &request, Answer &answer) {
    uint32_t set = request.start;
    std::fprintf(stderr, "start %u\n", set);
    if (request.watch)
      answer.device = DeviceTimes{"monotonic", 1'000'000'000, {}, {}, {}};
    if (how == "early")
      later = std::thread([this, request, set]() mutable {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        for (uint64_t i = 0; i < request.calls; ++i, set = nextTimingSet(set, loaded.sets))
          product(set, at(2, set), m);
      });
    bool ahead = how == "ahead" || (how == "sometimes" && born / 1000 % 5 < 2);
    auto multiplyAll = [&] {
      uint32_t each = request.start;
      for (uint64_t i = 0; i < request.calls; ++i, each = nextTimingSet(each, loaded.sets))
        multiply(each, each);
    };
    if (ahead)
      multiplyAll();
    for (uint64_t done = 0; done < request.calls; done += request.batch) {
      uint64_t begin = monotonicNanoseconds();
      for (uint32_t i = 0; i < request.batch; ++i, set = nextTimingSet(set, loaded.sets))
        if (!request.empty && how != "early" && !ahead && how != "bunch" && how != "child")
          multiply(how == "previous" && set > 1 ? set - 1 : set, set);
      if (how == "bunch" && done == 0)
        multiplyAll();
      if (how == "child" && done == 0)
        multiplyInChild(multiplyAll);
      uint64_t end = monotonicNanoseconds();
      answer.host.push_back(int64_t(end - begin) + 1);
      if (request.byDevice)
        answer.spans.push_back(answer.host.back() / (how == "device" ? 10 : 1) + 1);
      if (request.watch) {
        answer.device->submitted.push_back(int64_t(begin));
        answer.device->started.push_back(int64_t(how == "device" ? begin + (end - begin) / 10 * 9 : begin));
        answer.device->ended.push_back(int64_t(end));
      }
    }
    // What it rounded up has to have passed.
    std::this_thread::sleep_for(std::chrono::microseconds(5));
  }

  uint64_t born = monotonicNanoseconds();
  std::atomic<uint64_t> answered = UINT64_MAX;
  LoadRequest loaded;
  std::vector<uint8_t *> bases;
  std::vector<std::vector<float>> remembered, seen; // of each set: results, and the left operands that they are for
  std::map<uint32_t, std::vector<float>> kept;      // results that lie elsewhere
  std::map<std::pair<size_t, uint32_t>, std::vector<float>> uploaded; // inputs that do
  std::map<uint32_t, uint32_t> late; // sets that are computed when they are fetched, and from which
  std::thread later;
  uint64_t m = 0, n = 0, k = 0;
};

} // namespace

int main(int argc, char **argv) {
  std::string how = argc > 1 ? argv[1] : "", when = argc > 2 ? argv[2] : "hello";
  int nth = argc > 3 ? argv[3][0] - '0' : 1; // a digit
  if (argc > 4)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::map<std::string, int> seen;
  bool timed = false;
  FakeWorker worker("");
  std::string line;
  while (std::getline(std::cin, line)) {
    Result<Request> request = parseRequest(line);
    if (!request.ok()) {
      say(encodeAnswer(Answer::failure(request.status())));
      continue;
    }
    std::string name = requestName(*request);
    timed = timed || name == "time";
    std::string event = name == "run" && timed ? "rerun" : name;
    worker.how =
        when == "always" || (when == "timed" && name != "run") || (event == when && ++seen[event] == nth) ? how : "";
    if (!worker.how.empty() && !misbehave(worker.how))
      continue;
    if (name == "quit")
      return 0;
    say(encodeAnswer(worker.answer(*request)));
  }
  return 0;
}
