#include "kiln/measure/workers/spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kiln/base/exhaustion.h"
#include "kiln/base/sanitized.h"
#include "kiln/measure/workers/cache_size.h"
#include "kiln/measure/workers/process_tree.h"

extern char **environ;

namespace kiln::measure {

namespace {

// All that the child needs, made before the fork: afterwards only async-signal-safe calls are allowed, since another
// thread may have held any lock.
struct Plan {
  std::vector<char *> argv;
  std::vector<char *> environment;
  int input = -1, output = -1, error = -1;
  int report = -1; // where the errno of what fails goes
  int gate = -1;   // gives a byte once the parent is ready
  pid_t parent = -1;
  uint64_t memoryLimit = 0;
  bool bind = false;
  cpu_set_t cpus;
};

// Threads that have no work go on spinning for about 50 microseconds, which is what Kiln's own workers do: a sequence
// of short calls needs no wake-ups, and little after a turn is over all of them sleep.
constexpr const char *kGompSpins = "GOMP_SPINCOUNT=1000";
constexpr const char *kOpenBlasSpins = "OPENBLAS_THREAD_TIMEOUT=17"; // 2^17 cycles
constexpr const char *kIntelSpins = "KMP_BLOCKTIME=0";               // in milliseconds: 1 would outlast the pause

void setVariable(std::vector<std::string> &variables, std::string assignment) {
  std::string_view name = std::string_view(assignment).substr(0, assignment.find('=') + 1);
  std::erase_if(variables, [&](const std::string &entry) { return entry.starts_with(name); });
  variables.push_back(std::move(assignment));
}

// What steers thread pools and libraries of mathematics, be it left over from another job or from an image's maker: a
// result must not depend on the shell that the lab was started from. What is wanted is given as WorkerOptions.
constexpr std::string_view kNotInherited[] = {"OMP_",    "GOMP_",  "KMP_",   "OPENBLAS_",
                                              "GOTO_",   "MKL_",   "BLIS_",  "DNNL_",
                                              "ONEDNN_", "CUBLAS", "CUDNN_", "NVIDIA_TF32_OVERRIDE"};

bool isInherited(std::string_view assignment) {
  return std::ranges::none_of(kNotInherited, [&](std::string_view prefix) { return assignment.starts_with(prefix); });
}

std::vector<std::string> environmentFor(const WorkerOptions &options) {
  std::vector<std::string> variables;
  for (char **entry = environ; entry && *entry; ++entry)
    if (isInherited(*entry))
      variables.emplace_back(*entry);
  for (const char *name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
    setVariable(variables, fmt::format("{}={}", name, options.threads));
  for (const char *assignment :
       {"OMP_WAIT_POLICY=passive", "OMP_DYNAMIC=false", kIntelSpins, kGompSpins, kOpenBlasSpins})
    setVariable(variables, assignment);
  // One thread to a core, as Kiln's own workers are. Left to itself, the system keeps threads that compute for
  // microseconds on the one core that woke them.
  size_t cores = options.cpus.empty() ? usableCpus().size() : options.cpus.size();
  if (options.threads > 1 && options.threads <= cores)
    for (const char *assignment : {"OMP_PROC_BIND=close", "OMP_PLACES=cores"})
      setVariable(variables, assignment);
  for (const std::string &assignment : options.environment)
    setVariable(variables, assignment);
  return variables;
}

// The parent sees errno instead of the end of the pipe that exec closes. This process then goes the way that runs no
// handler and flushes nothing of the parent's.
[[noreturn]] void fail(const Plan &plan) {
  int error = errno;
  [[maybe_unused]] ssize_t written = ::write(plan.report, &error, sizeof(error));
  for (;;)
    ::kill(::getpid(), SIGKILL);
}

// Where memory runs out, the kernel ends a worker rather than the lab.
void volunteerForOutOfMemory() {
  int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0)
    return;
  [[maybe_unused]] ssize_t written = ::write(file, "800", 3);
  ::close(file);
}

void limit(const Plan &plan, decltype(RLIMIT_CORE) resource, rlim_t value) {
  // A process that may not raise a limit keeps the lower one.
  rlimit before;
  if (::getrlimit(resource, &before) == 0)
    value = std::min<rlim_t>(value, before.rlim_max);
  rlimit bounds = {value, value};
  if (::setrlimit(resource, &bounds) != 0)
    fail(plan);
}

[[noreturn]] void runChild(Plan &plan) {
  if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    fail(plan);
  // A parent that ended before the call above sends no signal.
  if (::getppid() != plan.parent)
    fail(plan);
  // A program with rights of its own would be counted no longer (RunTimeCounter).
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    fail(plan);
  char ready = 0;
  ssize_t got = 0;
  while ((got = ::read(plan.gate, &ready, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1)
    fail(plan);
  limit(plan, RLIMIT_CORE, 0);
  // The parent ends a worker at its limit (WorkerProcess); this one, far above, stops what allocates too fast for that.
  // A sanitizer reserves more than any limit, of which it uses little.
  if (plan.memoryLimit != 0 && !kSanitized)
    limit(plan, RLIMIT_DATA, 2 * plan.memoryLimit + (uint64_t(1) << 30));
  if (plan.bind && ::sched_setaffinity(0, sizeof(plan.cpus), &plan.cpus) != 0)
    fail(plan);
  volunteerForOutOfMemory();
  if (::dup2(plan.input, STDIN_FILENO) < 0 || ::dup2(plan.output, STDOUT_FILENO) < 0 ||
      ::dup2(plan.error, STDERR_FILENO) < 0)
    fail(plan);
  // What other libraries left open is not the worker's business. Older kernels lack the call.
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  sigset_t nothing;
  sigemptyset(&nothing);
  ::sigprocmask(SIG_SETMASK, &nothing, nullptr);
  for (int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP})
    ::signal(signal, SIG_DFL);
  ::execvpe(plan.argv[0], plan.argv.data(), plan.environment.data());
  fail(plan);
}

std::vector<char *> pointers(std::vector<std::string> &strings) {
  std::vector<char *> list;
  for (std::string &string : strings)
    list.push_back(string.data());
  list.push_back(nullptr);
  return list;
}

// Both ends; the second is the child's. Numbers above those of the standard streams, which dup2 is to replace.
struct Channel {
  io::FileDescriptor ours, theirs;
};

Status raise(io::FileDescriptor &file) {
  if (file.get() > STDERR_FILENO)
    return okStatus();
  int raised = ::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (raised < 0)
    return errnoStatus(errno, "cannot duplicate a file descriptor");
  file = io::FileDescriptor(raised);
  return okStatus();
}

Result<Channel> openChannel(bool socket) {
  int ends[2];
  int failed = socket ? ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) : ::pipe2(ends, O_CLOEXEC);
  if (failed != 0)
    return errnoStatus(errno, "cannot open a channel to a worker");
  Channel channel{io::FileDescriptor(ends[0]), io::FileDescriptor(ends[1])};
  KILN_RETURN_IF_ERROR(raise(channel.ours));
  KILN_RETURN_IF_ERROR(raise(channel.theirs));
  // Of our end only: each end has flags of its own.
  if (::fcntl(channel.ours.get(), F_SETFL, O_NONBLOCK) != 0)
    return errnoStatus(errno, "cannot open a channel to a worker");
  return channel;
}

// 0 once the program runs, else the errno of why it does not.
int awaitExec(const io::FileDescriptor &report) {
  int error = 0;
  ssize_t count;
  do
    count = ::read(report.get(), &error, sizeof(error));
  while (count < 0 && errno == EINTR);
  return count == ssize_t(sizeof(error)) ? error : 0;
}

} // namespace

Result<SpawnedProcess> spawnWorker(const WorkerOptions &options) {
  if (options.command.empty() || options.command.front().empty())
    return invalidArgument("the command of a worker is empty");
  std::vector<std::string> command = options.command;
  std::vector<std::string> environment = environmentFor(options);
  KILN_ASSIGN_OR_RETURN(Channel input, openChannel(/*socket=*/true));
  KILN_ASSIGN_OR_RETURN(Channel output, openChannel(/*socket=*/false));
  KILN_ASSIGN_OR_RETURN(Channel error, openChannel(/*socket=*/false));
  KILN_ASSIGN_OR_RETURN(Channel report, openChannel(/*socket=*/false));
  ::fcntl(report.ours.get(), F_SETFL, 0); // reading it blocks
  int gate[2];
  if (::pipe2(gate, O_CLOEXEC) != 0)
    return errnoStatus(errno, "cannot open a channel to a worker");
  io::FileDescriptor closedGate(gate[0]), openGate(gate[1]);

  Plan plan;
  plan.argv = pointers(command);
  plan.environment = pointers(environment);
  plan.input = input.theirs.get();
  plan.output = output.theirs.get();
  plan.error = error.theirs.get();
  plan.report = report.theirs.get();
  plan.gate = closedGate.get();
  plan.parent = ::getpid();
  plan.memoryLimit = options.memoryLimit;
  plan.bind = !options.cpus.empty();
  CPU_ZERO(&plan.cpus);
  for (uint32_t cpu : options.cpus)
    if (cpu < CPU_SETSIZE)
      CPU_SET(cpu, &plan.cpus);

  pid_t pid = forkWorker();
  if (pid < 0)
    return noProcess(options.command.front(), errno);
  if (pid == 0)
    runChild(plan);
  SpawnedProcess process;
  process.runTime = RunTimeCounter::of(pid);
  [[maybe_unused]] ssize_t opened = ::write(openGate.get(), "", 1);
  report.theirs = io::FileDescriptor();
  if (int failed = awaitExec(report.ours)) {
    rusage usage = {};
    reapWorker(pid, usage);
    return noProcess(options.command.front(), failed);
  }
  process.pid = pid;
  process.input = std::move(input.ours);
  process.output = std::move(output.ours);
  process.error = std::move(error.ours);
  process.exited = io::FileDescriptor(int(::syscall(SYS_pidfd_open, pid, 0)));
  return process;
}

} // namespace kiln::measure
