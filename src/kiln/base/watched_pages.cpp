#include "kiln/base/watched_pages.h"

#include <cerrno>
#include <csignal>
#include <mutex>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kiln {

namespace detail {
std::atomic<bool> anyPagesLost{false};
}

// The list of watched pages, and what is done on SIGBUS.
class PageLossHandler {
public:
  static void add(WatchedPages &pages) {
    Lock lock;
    pages.next = first;
    if (first)
      first->previous = &pages;
    first = &pages;
  }

  static void remove(WatchedPages &pages) {
    Lock lock;
    (pages.previous ? pages.previous->next : first) = pages.next;
    if (pages.next)
      pages.next->previous = pages.previous;
  }

  static Status install() {
    static std::mutex mutex;
    static bool installed = false;
    std::lock_guard lock(mutex);
    if (installed)
      return okStatus();
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigfillset(&action.sa_mask);
    // What was there before is read first: the handler may be called as soon as it is set.
    if (sigaction(SIGBUS, nullptr, &former) != 0 || sigaction(SIGBUS, &action, nullptr) != 0)
      return errnoStatus(errno, "cannot handle faults of mapped files");
    installed = true;
    return okStatus();
  }

private:
  // A signal handler must not wait for a mutex. It may spin here: a thread that holds the lock reads no mapped file, so
  // the handler never waits for the thread that it interrupts.
  struct Lock {
    Lock() {
      while (locked.test_and_set(std::memory_order_acquire))
        ;
    }
    ~Lock() { locked.clear(std::memory_order_release); }
  };

  // All pages of the range at once become zeros: what uses any of them fails, so the others are needed no more, and one
  // range faults once.
  static bool replaceLostPages(const void *address) {
    Lock lock;
    for (WatchedPages *pages = first; pages; pages = pages->next) {
      if (address < pages->begin || address >= pages->begin + pages->length)
        continue;
      // Before the zeros appear, so that nobody reads them unmarked.
      pages->isLost.store(true, std::memory_order_seq_cst);
      detail::anyPagesLost.store(true, std::memory_order_seq_cst);
      // Not through a wrapper of a sanitizer, which takes this for a write to memory that others read.
      return ::syscall(SYS_mmap, pages->begin, pages->length, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != -1;
    }
    return false;
  }

  static void handle(int signal, siginfo_t *info, void *context) {
    int error = errno;
    // A code of 0 or less: another process sent the signal, and there is no address.
    if (info->si_code <= 0 || !replaceLostPages(info->si_addr))
      passOn(signal, info, context);
    errno = error;
  }

  static void passOn(int signal, siginfo_t *info, void *context) {
    if (former.sa_flags & SA_SIGINFO) {
      former.sa_sigaction(signal, info, context);
    } else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
      former.sa_handler(signal);
    } else if (former.sa_handler == SIG_DFL || info->si_code > 0) {
      // Ends the process: a fault happens again on return, a signal that was sent is sent again.
      struct sigaction standard = {};
      standard.sa_handler = SIG_DFL;
      sigaction(signal, &standard, nullptr);
      if (info->si_code <= 0)
        raise(signal);
    }
  }

  static inline std::atomic_flag locked;
  static inline WatchedPages *first = nullptr; // guarded
  static inline struct sigaction former = {};
};

WatchedPages::WatchedPages(void *begin, size_t length) : begin(static_cast<char *>(begin)), length(length) {
  PageLossHandler::add(*this);
}

WatchedPages::~WatchedPages() {
  PageLossHandler::remove(*this);
}

Status installPageLossHandler() {
  return PageLossHandler::install();
}

} // namespace kiln
