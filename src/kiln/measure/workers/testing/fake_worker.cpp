// A worker for tests: multiplies f32 matrices and answers as it should, but for what its arguments ask.
//
//   fake_worker                  behaves
//   fake_worker crash time 2     crashes when it is asked to time for the second time
//   fake_worker crash rerun      crashes when it is asked to run after it was asked to time
//   fake_worker crash time 2 slow  also takes long to start
//   fake_worker tell always      in every answer
//
// See `misbehave` for what there is.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
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

// True where an answer is still to be given.
bool misbehave(const std::string &how) {
  if (how == "crash")
    std::raise(SIGSEGV);
  if (how == "exit") {
    std::fprintf(stderr, "first line\nlast words\n");
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
    say("{\"ok\":true}\n");
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
    std::raise(SIGSEGV);
  }
  if (how == "files")
    listFiles();
  if (how == "environment")
    for (const char *name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_PROC_BIND", "GOMP_SPINCOUNT",
                             "KMP_BLOCKTIME", "OPENBLAS_THREAD_TIMEOUT", "OPENBLAS_CORETYPE", "FAKE"})
      std::fprintf(stderr, "%s=%s\n", name, std::getenv(name) ? std::getenv(name) : "");
  return how != "rubbish" && how != "nojson" && how != "noanswer";
}

class FakeWorker {
public:
  explicit FakeWorker(std::string how) : how(std::move(how)) {}

  Answer answer(const Request &request) {
    Answer answer;
    if (how == "unsupported" || how == "refuse")
      return Answer::failure(how == "refuse" ? invalidArgument("no, thanks") : unimplemented("I only do sums"));
    if (const auto *hello = std::get_if<HelloRequest>(&request)) {
      answer.provider = "fake";
      answer.version = std::to_string(hello->threads);
      if (how == "tell")
        answer.note = "made up for a test";
    } else if (const auto *message = std::get_if<LoadRequest>(&request)) {
      load(*message);
    } else if (const auto *run = std::get_if<RunRequest>(&request)) {
      multiply(run->set);
    } else if (const auto *time = std::get_if<TimeRequest>(&request)) {
      answer.batch = time->batch;
      timeCalls(*time, answer.call);
    }
    if (how == "tell")
      for (int64_t call : answer.call) {
        answer.device.push_back(call - call / 4);
        answer.launch.push_back(call / 4);
      }
    if (how == "lie")
      answer.call.assign(3, INT64_MAX / 8);
    if (how == "wrap")
      answer.call = {INT64_MAX, INT64_MAX, 1000, 1020, 1010};
    if (how == "parts") {
      answer.device.assign(answer.call.size(), INT64_MAX / 2);
      answer.launch.assign(answer.call.size(), 7);
    }
    if (how == "uneven")
      answer.device.assign(answer.call.size() + 1, 1);
    if (how == "hide")
      for (int64_t &call : answer.call)
        call -= call / 4;
    if (how == "zero")
      answer.call.assign(3, 0);
    if (how == "batch")
      answer.batch += 1;
    if (how == "nothing")
      answer.call.clear();
    return answer;
  }

  std::string how; // for the next answer

private:
  void load(const LoadRequest &request) {
    loaded = request;
    bool writable = how == "scribble"; // which has to fail
    for (const SharedTensor &tensor : request.inputs)
      bases.push_back(mapFile(tensor.path, writable));
    if (writable)
      *bases[0] = 42;
    bases.push_back(mapFile(request.outputs[0].path, true));
    m = request.outputs[0].shape[0];
    n = request.outputs[0].shape[1];
    k = request.inputs[0].shape[1];
  }

  float *at(size_t tensor, uint32_t set) {
    const SharedTensor &shared = tensor < 2 ? loaded.inputs[tensor] : loaded.outputs[0];
    return reinterpret_cast<float *>(bases[tensor] + shared.offset + set * shared.stride);
  }

  void multiply(uint32_t set) {
    const float *lhs = at(0, set), *rhs = at(1, set);
    float *result = at(2, set);
    for (uint64_t i = 0; how != "idle" && i < m; ++i)
      for (uint64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (uint64_t l = 0; l < k; ++l)
          sum += lhs[i * k + l] * rhs[l * n + j];
        if (how == "add")
          sum += result[i * n + j];
        result[i * n + j] = sum + (how == "wrong" && i == 1 && j == 1 ? 1.0F : 0.0F);
      }
  }

  void timeCalls(const TimeRequest &request, std::vector<int64_t> &samples) {
    uint32_t set = request.start;
    std::fprintf(stderr, "start %u\n", set);
    uint64_t begin = monotonicNanoseconds();
    for (uint64_t now = begin; samples.empty() || now < begin + request.nanoseconds;) {
      for (uint32_t i = 0; i < request.batch; ++i, set = nextTimingSet(set, loaded.sets))
        multiply(set);
      uint64_t end = monotonicNanoseconds();
      samples.push_back(int64_t(end - now) + 1);
      now = end;
    }
    // What it rounded up has to have passed.
    std::this_thread::sleep_for(std::chrono::microseconds(5));
  }

  LoadRequest loaded;
  std::vector<uint8_t *> bases;
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
  char *line = nullptr;
  size_t capacity = 0;
  while (::getline(&line, &capacity, stdin) > 0) {
    Result<Request> request = parseRequest(line);
    if (!request.ok()) {
      say(encodeAnswer(Answer::failure(request.status())));
      continue;
    }
    std::string name = requestName(*request);
    timed = timed || name == "time";
    std::string event = name == "run" && timed ? "rerun" : name;
    worker.how = when == "always" || (event == when && ++seen[event] == nth) ? how : "";
    if (!worker.how.empty() && !misbehave(worker.how))
      continue;
    if (name == "quit")
      return 0;
    say(encodeAnswer(worker.answer(*request)));
  }
  return 0;
}
