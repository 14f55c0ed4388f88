// A short look at the machine before something is measured: whether somebody else is at work on it.
#ifndef KILN_MEASURE_MACHINE_QUICK_LOOK_H
#define KILN_MEASURE_MACHINE_QUICK_LOOK_H

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "kiln/measure/machine/neighbours.h"

namespace kiln::measure {

// Looks while its owner prepares what is to be measured, on a thread of its own that sleeps but for a few milliseconds
// of each second. What the owner's process and those that it starts do meanwhile counts for nothing.
class QuickLook {
public:
  // Begins to look. What is told in the end is about so many last seconds, and half of them more at most.
  explicit QuickLook(double seconds, SystemFiles files = SystemFiles());
  ~QuickLook();
  QuickLook(const QuickLook &) = delete;
  QuickLook &operator=(const QuickLook &) = delete;

  // Waits only for what is left of the time. To be called once.
  Neighbours finish();

private:
  void look();
  void stop();

  const double seconds;
  const SystemFiles files;
  std::mutex mutex;
  std::condition_variable stopped;
  bool stopping = false;
  std::deque<ActivitySnapshot> snapshots; // the first is the youngest one that is old enough, if one is
  std::thread thread;                     // the last, so that it sees all others
};

// One line of at most 80 characters with what to do; empty where nothing was seen that disturbs. What this process
// itself has just done shows in the load of the last minute, so that the load alone says nothing.
std::string disturbance(const Neighbours &neighbours);

} // namespace kiln::measure

#endif // KILN_MEASURE_MACHINE_QUICK_LOOK_H
