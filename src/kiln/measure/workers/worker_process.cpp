#include "kiln/measure/workers/worker_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kiln::measure {

namespace {

// A round takes 10 ms, as a rule: the watch over memory wakes up in none of them.
constexpr uint64_t kMemoryWatch = 50'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

// Bytes that are this process's own: heap, stacks, private mappings. 0 where it is gone.
uint64_t privateMemory(pid_t pid) {
  FILE *file = std::fopen(fmt::format("/proc/{}/statm", pid).c_str(), "re");
  if (!file)
    return 0;
  char line[128] = {};
  bool read = std::fgets(line, sizeof(line), file) != nullptr;
  std::fclose(file);
  char *next = line;
  std::strtoull(next, &next, 10); // the address space
  uint64_t resident = std::strtoull(next, &next, 10);
  uint64_t shared = std::strtoull(next, &next, 10);
  return read && resident > shared ? (resident - shared) * uint64_t(::sysconf(_SC_PAGESIZE)) : 0;
}

// Reads what is there. False at the end of the stream.
template <typename Sink> bool drain(int file, Sink &&sink) {
  char chunk[65536];
  for (;;) {
    ssize_t count = ::read(file, chunk, sizeof(chunk));
    if (count > 0) {
      if (!sink(std::string_view(chunk, size_t(count))))
        return true;
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
}

int milliseconds(uint64_t nanoseconds) {
  return int(std::min<uint64_t>((nanoseconds + 999'999) / 1'000'000, 1'000'000));
}

// What is under way when it is stopped may end a little later; what its children run then is not waited for.
constexpr uint64_t kMostWhilePaused = 1'000'000;

std::string seconds(uint64_t nanoseconds) {
  double value = static_cast<double>(nanoseconds) / static_cast<double>(kSecond);
  return value < 0.95 ? fmt::format("{:.2f} s", value) : fmt::format("{:.0f} s", value);
}

// How a program says that it got no memory, be it in C++, Python or C.
bool soundsOutOfMemory(std::string_view text) {
  for (std::string_view phrase : {"bad_alloc", "MemoryError", "annot allocate", "ut of memory"})
    if (text.find(phrase) != text.npos)
      return true;
  return false;
}

} // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const WorkerOptions &options) {
  KILN_ASSIGN_OR_RETURN(SpawnedProcess process, spawnWorker(options));
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(options, std::move(process)));
}

WorkerProcess::WorkerProcess(const WorkerOptions &options, SpawnedProcess process)
    : options(options), process(std::move(process)) {}

WorkerProcess::~WorkerProcess() {
  kill();
}

void WorkerProcess::kill() {
  if (!alive())
    return;
  // The group first: what the worker started itself goes with it. It is gone from no group before it is reaped.
  ::kill(-process.pid, SIGKILL);
  ::kill(process.pid, SIGKILL);
  reap();
  if (end.ok())
    end = failedPrecondition("the worker was ended");
}

void WorkerProcess::reap() {
  rusage usage = {};
  exitStatus = reapWorker(process.pid, usage);
  peakBytes = uint64_t(usage.ru_maxrss) * 1024;
  readError();
  process = SpawnedProcess();
  isPaused = false;
}

void WorkerProcess::pause() {
  if (!alive() || isPaused)
    return;
  stopped = stopWorker(process.pid);
  isPaused = true;
  runWhenPaused = runningNanoseconds(process.pid, process.runTime);
}

Status WorkerProcess::checkPaused() {
  if (!alive() || !isPaused)
    return okStatus();
  uint64_t now = runningNanoseconds(process.pid, process.runTime), ran = now - std::min(now, runWhenPaused);
  if (ran <= kMostWhilePaused && !wasContinued(process.pid, stopped))
    return okStatus();
  return fail(Outcome::Rubbish, StatusCode::FailedPrecondition,
              fmt::format("runs while it is stopped: for {} us since its last answer; what continues it then lets it "
                          "compute ahead, or write into what others are asked for",
                          ran / 1000));
}

void WorkerProcess::resume() {
  if (!isPaused)
    return;
  isPaused = false;
  continueWorker(process.pid, stopped);
}

Status WorkerProcess::fail(Outcome outcome, StatusCode code, std::string what) {
  lastOutcome = outcome;
  kill();
  const std::string tail = errorOutput();
  std::string_view said = tail;
  while (!said.empty() && (said.back() == '\n' || said.back() == ' '))
    said.remove_suffix(1);
  // What was to become a line, of whoever ended or was late in the middle of it.
  if (outcome != Outcome::Rubbish && !received.empty())
    what += fmt::format("; it had written {}", quoteLine(received));
  // The last lines say most.
  constexpr size_t kShown = 500;
  if (said.size() > kShown)
    said.remove_prefix(said.size() - kShown);
  while (!said.empty() && !startsCharacter(said.front()))
    said.remove_prefix(1);
  if (!said.empty())
    what += fmt::format("; the end of its standard error:\n{}", said);
  end = Status(code, std::move(what));
  return end;
}

// It has ended, or closed its standard output: says how.
Status WorkerProcess::failEnded() {
  // Who closes its output ends within a moment, or never.
  for (int i = 0; i < 100 && !hasExited; ++i) {
    lookForExit();
    if (!hasExited)
      ::poll(nullptr, 0, 10);
  }
  if (!hasExited)
    return fail(Outcome::Rubbish, StatusCode::DataLoss,
                fmt::format("the worker closed its standard output instead of answering '{}'", asked));
  reap();
  bool memory = options.memoryLimit != 0 && soundsOutOfMemory(errorTail);
  std::string note =
      memory ? fmt::format("; it may take {} MiB of memory, or what --memory-limit=MIB says", options.memoryLimit >> 20)
             : std::string();
  if (WIFSIGNALED(exitStatus)) {
    int signal = WTERMSIG(exitStatus);
    if (signal == SIGKILL)
      note = "; perhaps the machine ran out of memory";
    return fail(memory ? Outcome::MemoryLimit : Outcome::Crashed, StatusCode::Aborted,
                fmt::format("signal {} ({}) ended the worker during '{}'{}", signal, strsignal(signal), asked, note));
  }
  return fail(memory ? Outcome::MemoryLimit : Outcome::Exited, StatusCode::Aborted,
              fmt::format("the worker ended with exit code {} during '{}'{}", WEXITSTATUS(exitStatus), asked, note));
}

Result<Answer> WorkerProcess::ask(const Request &request, Deadline deadline) {
  asked = requestName(request);
  KILN_ASSIGN_OR_RETURN(std::string line, exchange(encodeRequest(request), deadline));
  Result<Answer> answer = parseAnswer(line);
  if (!answer.ok())
    return fail(Outcome::Rubbish, StatusCode::DataLoss,
                fmt::format("the worker's answer to '{}' is no answer: {}", asked, answer.status().message()));
  if (answer->ok)
    return answer;
  lastOutcome = answer->unsupported ? Outcome::Unsupported : Outcome::Failed;
  return Status(answer->unsupported ? StatusCode::Unimplemented : StatusCode::Unknown, answer->error);
}

Status WorkerProcess::quit(Deadline deadline) {
  if (!alive())
    return end;
  resume();
  asked = "quit";
  std::string line = encodeRequest(QuitRequest());
  std::string_view unsent = line;
  while (!hasExited && !outputEnded) {
    if (deadline.remaining() == 0)
      return fail(Outcome::TimedOut, StatusCode::DeadlineExceeded, "the worker did not end when it was asked to");
    KILN_RETURN_IF_ERROR(send(unsent));
    KILN_RETURN_IF_ERROR(awaitEvent(unsent.size(), deadline));
    received.clear();
    searched = 0;
  }
  Status ended = failEnded();
  if (!WIFEXITED(exitStatus) || WEXITSTATUS(exitStatus) != 0)
    return ended;
  lastOutcome = Outcome::Ok;
  end = failedPrecondition("the worker was asked to end");
  return okStatus();
}

Result<std::string> WorkerProcess::exchange(std::string_view line, Deadline deadline) {
  if (!alive())
    return end;
  KILN_RETURN_IF_ERROR(checkPaused());
  resume();
  KILN_RETURN_IF_ERROR(checkNothingUnasked());
  std::string answer;
  std::string_view unsent = line;
  uint64_t patience = deadline.remaining(); // as a message tells it
  for (;;) {
    KILN_RETURN_IF_ERROR(send(unsent));
    KILN_RETURN_IF_ERROR(awaitEvent(unsent.size(), deadline));
    if (takeLine(answer))
      return answer;
    if (received.size() > kLineLimit)
      return fail(Outcome::Rubbish, StatusCode::DataLoss,
                  fmt::format("the worker's answer to '{}' has no end after {} MiB", asked, kLineLimit >> 20));
    if (hasExited || outputEnded)
      return failEnded();
    if (deadline.remaining() == 0)
      return fail(Outcome::TimedOut, StatusCode::DeadlineExceeded,
                  fmt::format("the worker did not answer '{}' within {}; --timeout=SECONDS gives it more", asked,
                              seconds(patience)));
    KILN_RETURN_IF_ERROR(checkMemory());
  }
}

// Between two requests it has to be silent, or answers would be taken for those of other requests.
Status WorkerProcess::checkNothingUnasked() {
  readOutput();
  if (received.empty())
    return okStatus();
  std::string_view first = std::string_view(received).substr(0, received.find('\n'));
  return fail(Outcome::Rubbish, StatusCode::DataLoss,
              fmt::format("the worker wrote what nobody asked for: {}", quoteLine(first)));
}

// Waits until something can be read, or sent, or has ended, or memory is to be looked at; then reads it.
Status WorkerProcess::awaitEvent(size_t unsent, Deadline deadline) {
  pollfd files[4] = {{process.output.get(), POLLIN, 0},
                     {process.error ? process.error.get() : -1, POLLIN, 0},
                     {unsent ? process.input.get() : -1, POLLOUT, 0},
                     {process.exited ? process.exited.get() : -1, POLLIN, 0}};
  uint64_t wait = deadline.remaining();
  if (options.memoryLimit != 0)
    wait = std::min(wait, kMemoryWatch);
  // Without a pidfd, whoever left its output open to a child would never be seen to end.
  else if (!process.exited)
    wait = std::min(wait, kSecond);
  if (::poll(files, 4, milliseconds(wait)) < 0 && errno != EINTR)
    return fail(Outcome::Failed, StatusCode::Internal, fmt::format("cannot wait for the worker: {}", strerror(errno)));
  if (files[1].revents)
    readError();
  if (files[3].revents || !process.exited)
    lookForExit();
  // After the look at its end, so that nothing which it wrote before is missed.
  if (files[0].revents || hasExited)
    readOutput();
  return okStatus();
}

Status WorkerProcess::send(std::string_view &unsent) {
  while (!unsent.empty()) {
    ssize_t sent = ::send(process.input.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      unsent.remove_prefix(size_t(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return okStatus();
    } else if (errno == EPIPE || errno == ECONNRESET) {
      // Nobody reads any more. Its last words and its end tell more than this.
      unsent = {};
    } else if (errno != EINTR) {
      return fail(Outcome::Failed, StatusCode::Internal, fmt::format("cannot ask the worker: {}", strerror(errno)));
    }
  }
  return okStatus();
}

void WorkerProcess::lookForExit() {
  siginfo_t info = {};
  hasExited = ::waitid(P_PID, id_t(process.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process.pid;
}

void WorkerProcess::readOutput() {
  if (outputEnded)
    return;
  outputEnded = !drain(process.output.get(), [this](std::string_view bytes) {
    received += bytes;
    return received.size() <= kLineLimit;
  });
}

void WorkerProcess::readError() {
  if (!process.error)
    return;
  // Bounded, in case that it writes faster than this reads.
  size_t budget = size_t(1) << 20;
  bool open = drain(process.error.get(), [&](std::string_view bytes) {
    errorTail += bytes;
    if (errorTail.size() > kErrorTail)
      errorTail.erase(0, errorTail.size() - kErrorTail);
    budget -= std::min(budget, bytes.size());
    return budget > 0;
  });
  if (!open)
    process.error = io::FileDescriptor();
}

bool WorkerProcess::takeLine(std::string &line) {
  size_t newline = received.find('\n', searched);
  if (newline == received.npos || newline > kLineLimit) {
    searched = received.size();
    return false;
  }
  line = received.substr(0, newline);
  received.erase(0, newline + 1);
  searched = 0;
  return true;
}

Status WorkerProcess::checkMemory() {
  uint64_t held = options.memoryLimit == 0 ? 0 : privateMemory(process.pid);
  if (held <= options.memoryLimit)
    return okStatus();
  return fail(
      Outcome::MemoryLimit, StatusCode::ResourceExhausted,
      fmt::format("the worker held {} MiB of memory during '{}'; it may take {} MiB, or what --memory-limit=MIB says",
                  held >> 20, asked, options.memoryLimit >> 20));
}

} // namespace kiln::measure
