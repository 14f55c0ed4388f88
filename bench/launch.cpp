// launch N command...: runs a command N times, one after the other, its output discarded, and prints for each run one
// line: wall time in nanoseconds, from before fork to after wait, and peak resident memory in KiB. A run that fails
// ends it with the command's exit code and its error output in place.
//
// This is a program of its own because the kernel counts into a process's peak the memory of the process that started
// it: this one's is the smallest that a launcher can have, about 1 MiB.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t(time.tv_sec) * 1000000000 + time.tv_nsec;
}

int main(int argc, char **argv) {
  long runs = argc > 2 ? strtol(argv[1], nullptr, 10) : 0;
  if (runs < 1) {
    fputs("usage: launch RUNS COMMAND [ARGUMENT...]\n", stderr);
    return 2;
  }
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (long i = 0; i < runs; ++i) {
    int64_t start = now();
    pid_t child = fork();
    if (child < 0) {
      perror("launch: cannot start a process");
      return 1;
    }
    if (child == 0) {
      dup2(null, STDIN_FILENO);
      dup2(null, STDOUT_FILENO);
      execvp(argv[2], argv + 2);
      perror(argv[2]);
      _exit(127);
    }
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child) {
      perror("launch: cannot wait for the process");
      return 1;
    }
    int64_t end = now();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      fprintf(stderr, "launch: %s %s %d\n", argv[2], WIFEXITED(status) ? "exited with" : "was killed by signal",
              WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
      return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    printf("%lld %ld\n", static_cast<long long>(end - start), usage.ru_maxrss);
  }
  return 0;
}
