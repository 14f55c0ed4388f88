#include "kiln/trace/capture_summary.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace kiln::trace {

namespace capture = schema::capture;

namespace {

// Of one lane, as its events come. Zones end in turn, what is within before what is around it; those of a device may be
// side by side, and come as they began.
class LaneReader {
public:
  void add(const capture::Event &event, bool isWait, double begin, double end, LaneSummary &lane, NameSummary &name) {
    const double length = end - begin;
    ++name.count;
    name.total += length;
    name.most = std::max(name.most, length);
    name.least = name.count == 1 ? length : std::min(name.least, length);
    double own = length;
    if (lane.kind == capture::LaneKind::Thread) {
      const size_t depth = event.depth;
      within.resize(std::max(within.size(), depth + 2));
      own = std::max(0.0, length - within[depth + 1]);
      within[depth + 1] = 0;
      within[depth] += length;
      // What was around zones that are lost is not known.
      if (depth == 0)
        std::ranges::fill(within, 0);
    }
    name.own += own;
    if (isWait) {
      lane.waiting += own;
      lane.busy -= own;
    }
    if (lane.kind == capture::LaneKind::Thread)
      lane.busy += event.depth == 0 ? length : 0;
    else
      lane.busy += std::max(0.0, end - std::max(begin, busyUntil));
    busyUntil = std::max(busyUntil, end);
  }

private:
  std::vector<double> within; // by depth: what ended since the zone around it began
  double busyUntil = -std::numeric_limits<double>::infinity();
};

} // namespace

Result<CaptureSummary> CaptureSummary::of(const Capture &capture) {
  CaptureSummary result;
  std::map<uint32_t, LaneSummary> lanes;
  for (const auto &[number, lane] : capture.lanes()) {
    LaneSummary &summary = lanes[number];
    summary.number = number;
    summary.name = lane.name.empty() ? fmt::format("(lane {} is missing)", number) : lane.name;
    summary.kind = lane.kind;
    summary.lost = lane.lost;
  }
  std::map<uint32_t, LaneReader> readers;
  std::unordered_map<uint32_t, NameSummary> names[2];
  std::unordered_map<uint32_t, bool> waits;
  double first = std::numeric_limits<double>::infinity(), last = 0;
  Status read = capture.forEach([&](uint32_t number, std::span<const capture::Event> events) {
    LaneSummary &lane = lanes[number];
    const CapturedLane &captured = capture.lanes().at(number);
    LaneReader &reader = readers[number];
    for (const capture::Event &event : events) {
      ++lane.events;
      if (event.kind != capture::EventKind::Zone)
        continue;
      const double begin = capture.toNanoseconds(captured, event.time),
                   end = capture.toNanoseconds(captured, event.value);
      if (event.value < event.time) {
        ++result.senseless;
        continue;
      }
      const bool isFirst = lane.last == 0;
      lane.first = isFirst ? begin : std::min(lane.first, begin);
      lane.last = std::max(lane.last, end);
      first = std::min(first, begin);
      last = std::max(last, end);
      auto [known, isNew] = waits.try_emplace(event.name);
      if (isNew)
        known->second = capture.nameOf(event.name) == "wait";
      reader.add(event, known->second, begin, end, lane, names[lane.kind == capture::LaneKind::Device][event.name]);
    }
  });
  KILN_RETURN_IF_ERROR(std::move(read));
  result.first = last == 0 ? 0 : first;
  result.last = last;
  for (auto &[number, lane] : lanes)
    if (lane.events != 0 || lane.lost != 0)
      result.lanes.push_back(lane);
  const auto collect = [&](const std::unordered_map<uint32_t, NameSummary> &from, double NameSummary::*by) {
    std::vector<NameSummary> all;
    for (const auto &[number, summary] : from) {
      all.push_back(summary);
      all.back().name = capture.nameOf(number);
    }
    std::ranges::sort(all, [by](const NameSummary &a, const NameSummary &b) {
      return a.*by != b.*by ? a.*by > b.*by : a.name < b.name;
    });
    return all;
  };
  result.zones = collect(names[0], &NameSummary::own);
  result.dispatches = collect(names[1], &NameSummary::total);
  return result;
}

std::vector<std::string> faultsOf(const Capture &capture, const CaptureSummary &summary) {
  std::vector<std::string> faults;
  if (!capture.isComplete()) {
    std::string open;
    for (const auto &[number, lane] : capture.lanes())
      if (!lane.open.empty())
        open += fmt::format("{}{} in {}", open.empty() ? ": when it was last heard of, " : ", ", lane.name,
                            capture.nameOf(lane.open.back().name));
    faults.push_back(fmt::format("the recording was not ended; what came last is missing{}", open));
  }
  if (capture.lostCount() != 0)
    for (const LaneSummary &lane : summary.lanes)
      if (lane.lost != 0)
        faults.push_back(fmt::format("{} events of {} had no room, {:.1f} % of its own: the disk was too slow",
                                     lane.lost, lane.name,
                                     100.0 * double(lane.lost) / double(lane.lost + lane.events)));
  const CaptureDamage &damage = capture.damage();
  if (damage.bytes != 0)
    faults.push_back(fmt::format("{} bytes of the file are damaged, in {} places, from byte {} on", damage.bytes,
                                 damage.places, damage.firstPlace));
  if (damage.blocks != 0)
    faults.push_back(fmt::format("{} blocks of events are missing between others", damage.blocks));
  if (summary.senseless != 0)
    faults.push_back(fmt::format("{} zones end before they begin, and are left out", summary.senseless));
  for (const auto &[number, clock] : capture.clocks()) {
    const bool isUsed = std::ranges::any_of(capture.lanes(), [&, number = number](const auto &lane) {
      return lane.second.clock == number && lane.second.events != 0;
    });
    if (isUsed && !clock.fault.empty())
      faults.push_back(fmt::format("the clock '{}' is not known beside the host's: {}", clock.name, clock.fault));
  }
  return faults;
}

} // namespace kiln::trace
