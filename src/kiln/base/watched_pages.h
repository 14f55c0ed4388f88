// Pages of files that are mapped, not copied, and what happens to a program that reads them when they are gone: because
// the file was truncated, or because its disk fails.
//
// The system ends a process that reads such a page (SIGBUS). Where `installPageLossHandler` was called, which the tools
// do and a program around the runtime may do, the process lives on: the pages read as zeros from then on and are marked
// as lost, so that what has used them can be failed.
#ifndef KILN_BASE_WATCHED_PAGES_H
#define KILN_BASE_WATCHED_PAGES_H

#include "kiln/base/status.h"

#include <atomic>
#include <cstddef>

namespace kiln {

// A range of whole pages that are mapped read-only from a file. Stays where it is; is destroyed before the pages are
// unmapped. Any number of threads may read the pages and ask for them.
class WatchedPages {
public:
  WatchedPages(void *begin, size_t length);
  ~WatchedPages();
  WatchedPages(const WatchedPages &) = delete;
  WatchedPages &operator=(const WatchedPages &) = delete;

  // True from the moment at which a page could not be read. A thread that has read zeros in place of a page, or waits
  // for one that has, sees it.
  bool lost() const { return isLost.load(std::memory_order_acquire); }

private:
  friend class PageLossHandler;

  char *const begin;
  const size_t length;
  std::atomic<bool> isLost{false};
  WatchedPages *previous = nullptr, *next = nullptr; // all that live; guarded
};

// Handles SIGBUS of this process for watched pages; any other SIGBUS goes to the handler that was there before, or ends
// the process as without this. Calls after the first do nothing.
Status installPageLossHandler();

namespace detail {
extern std::atomic<bool> anyPagesLost;
}

// Whether any pages of this process were lost so far: a test that costs nothing before one that does.
inline bool anyPagesLost() {
  return detail::anyPagesLost.load(std::memory_order_relaxed);
}

} // namespace kiln

#endif // KILN_BASE_WATCHED_PAGES_H
