#include "kiln/base/exhaustion.h"

#include <cerrno>
#include <cstring>

#include "gtest/gtest.h"

namespace kiln {
namespace {

TEST(Exhaustion, ErrorsNameTheirLimits) {
  EXPECT_EQ(errnoStatus(EFBIG, "cannot write 'x'").toString(),
            "RESOURCE_EXHAUSTED: cannot write 'x': File too large; raise the limit of the size of files (ulimit -f), "
            "which files in memory count for too");
  EXPECT_EQ(errnoStatus(EMFILE, "cannot open 'x'").toString(),
            "RESOURCE_EXHAUSTED: cannot open 'x': Too many open files; raise the limit of open files (ulimit -n)");
  EXPECT_EQ(errnoStatus(ENOMEM, "cannot map 'x'").message(),
            std::string("cannot map 'x': Cannot allocate memory") + kMoreMemory);
  EXPECT_EQ(errnoStatus(EACCES, "cannot open 'x'").message(), "cannot open 'x': Permission denied");
}

TEST(Exhaustion, ErrorsWithinAMessageNameTheirLimits) {
  for (int error : {EMFILE, ENFILE, EFBIG, ENOMEM}) {
    EXPECT_STRNE(exhaustionAdvice(error), "") << error;
    EXPECT_STREQ(exhaustionAdvice(std::string("ld.lld: error: cannot open x: ") + std::strerror(error) + "\n"),
                 exhaustionAdvice(error));
  }
  EXPECT_STREQ(exhaustionAdvice(std::string("cannot open x: ") + std::strerror(ENOENT)), "");
}

TEST(Exhaustion, TooManyProcesses) {
  EXPECT_EQ(noProcess("tool", EAGAIN).toString(),
            "RESOURCE_EXHAUSTED: cannot start 'tool': Resource temporarily unavailable; raise the limit of processes "
            "(ulimit -u, the container's pids)");
  EXPECT_EQ(noProcess("tool", ENOENT).toString(), "NOT_FOUND: cannot start 'tool': No such file or directory");
}

} // namespace
} // namespace kiln
