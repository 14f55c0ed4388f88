#include "kiln/base/watched_pages.h"

#include "kiln/base/sanitized.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace kiln {
namespace {

constexpr size_t kPages = 4;

// A file of four pages that is mapped, and can be truncated.
class MappedFile {
public:
  MappedFile() : page(size_t(sysconf(_SC_PAGESIZE))), file(std::tmpfile()) {
    std::vector<char> bytes(kPages * page, 'x');
    if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() || std::fflush(file) != 0)
      std::abort();
    void *memory = mmap(nullptr, bytes.size(), PROT_READ, MAP_PRIVATE, fileno(file), 0);
    if (memory == MAP_FAILED)
      std::abort();
    begin = static_cast<char *>(memory);
  }
  ~MappedFile() {
    munmap(begin, size());
    std::fclose(file);
  }
  size_t size() const { return kPages * page; }
  char at(size_t offset) const { return static_cast<const volatile char *>(begin)[offset]; }
  void truncate(size_t pages) const { ASSERT_EQ(ftruncate(fileno(file), off_t(pages * page)), 0); }

  const size_t page;
  std::FILE *const file;
  char *begin;
};

TEST(WatchedPages, LostPagesReadAsZerosAndSaySo) {
  ASSERT_TRUE(installPageLossHandler().ok());
  ASSERT_TRUE(installPageLossHandler().ok());
  MappedFile file, other;
  WatchedPages pages(file.begin, file.size()), others(other.begin, other.size());
  file.truncate(2);
  EXPECT_EQ(file.at(file.page), 'x');
  EXPECT_FALSE(pages.lost()) << "what is still there can be read";
  EXPECT_EQ(file.at(2 * file.page + 17), 0);
  EXPECT_TRUE(pages.lost());
  EXPECT_TRUE(anyPagesLost());
  EXPECT_EQ(file.at(0), 0) << "one fault is enough: all of the range is replaced";
  EXPECT_FALSE(others.lost());
  EXPECT_EQ(other.at(3 * other.page), 'x');
}

TEST(WatchedPages, AnyNumberOfThreadsMayMeetTheLoss) {
  ASSERT_TRUE(installPageLossHandler().ok());
  for (int round = 0; round < 50; ++round) {
    MappedFile file;
    WatchedPages pages(file.begin, file.size());
    file.truncate(0);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        EXPECT_EQ(file.at((i % kPages) * file.page), 0);
        EXPECT_TRUE(pages.lost());
      });
    // Ranges come and go meanwhile.
    for (int i = 0; i < 100; ++i) {
      MappedFile brief;
      WatchedPages watched(brief.begin, brief.size());
      EXPECT_EQ(brief.at(0), 'x');
    }
    for (std::thread &thread : threads)
      thread.join();
  }
}

// A fault elsewhere ends the process as it does without the handler.
void readUnwatched() {
  (void)installPageLossHandler();
  MappedFile watched, file;
  WatchedPages pages(watched.begin, watched.size());
  file.truncate(0);
  std::exit(file.at(0) == 0 ? 0 : 1);
}

TEST(WatchedPagesDeathTest, OtherFaultsEndTheProcess) {
  if (kSanitized)
    GTEST_SKIP() << "the sanitizer's handler was there before";
  EXPECT_EXIT(readUnwatched(), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(
      {
        (void)installPageLossHandler();
        raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST(WatchedPagesDeathTest, WithoutTheHandlerALossEndsTheProcess) {
  EXPECT_EXIT(
      {
        signal(SIGBUS, SIG_DFL);
        MappedFile file;
        WatchedPages pages(file.begin, file.size());
        file.truncate(0);
        std::exit(file.at(0));
      },
      testing::KilledBySignal(SIGBUS), "");
}

// What a program around the runtime has installed before is called for what is not ours.
template <typename Install> void expectCallsFormerHandler(Install install) {
  install();
  if (!installPageLossHandler().ok())
    std::exit(1);
  MappedFile watched, file;
  WatchedPages pages(watched.begin, watched.size());
  watched.truncate(0);
  if (watched.at(0) != 0 || !pages.lost())
    std::exit(2);
  file.truncate(0);
  std::exit(file.at(0) == 0 ? 3 : 4);
}

void leave(int) {
  _exit(77);
}
void leaveWithAddress(int, siginfo_t *info, void *) {
  _exit(info->si_addr ? 78 : 5);
}

TEST(WatchedPagesDeathTest, OtherFaultsGoToTheFormerHandler) {
  // In a process of its own, in which nothing is installed yet.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(expectCallsFormerHandler([] { signal(SIGBUS, leave); }), testing::ExitedWithCode(77), "");
  EXPECT_EXIT(expectCallsFormerHandler([] {
                struct sigaction action = {};
                action.sa_sigaction = leaveWithAddress;
                action.sa_flags = SA_SIGINFO;
                sigaction(SIGBUS, &action, nullptr);
              }),
              testing::ExitedWithCode(78), "");
}

} // namespace
} // namespace kiln
