#include "kiln/trace/chrome_writer.h"

#include <bit>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

namespace kiln::trace {

namespace capture = schema::capture;

static std::string inQuotes(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace {

// Rows of a device's lane: a zone goes to the first one that is free by then.
struct Rows {
  std::vector<double> freeFrom;
  size_t rowFor(double begin, double end) {
    for (size_t row = 0; row < freeFrom.size(); ++row)
      if (freeFrom[row] <= begin) {
        freeFrom[row] = end;
        return row;
      }
    freeFrom.push_back(end);
    return freeFrom.size() - 1;
  }
};

} // namespace

Status writeChromeTrace(const Capture &capture, const std::function<Status(std::string_view)> &write) {
  constexpr size_t kFlush = size_t(1) << 16;
  constexpr uint64_t kRowsOfLane = 1000; // numbers of rows; those of a thread are one
  const uint32_t process = capture.header().process;
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  bool isFirst = true;
  auto begin = [&] {
    if (!isFirst)
      text += ",\n";
    isFirst = false;
  };
  std::unordered_map<uint32_t, std::string> names;
  auto nameOf = [&](uint32_t number) -> const std::string & {
    auto [known, isNew] = names.try_emplace(number);
    if (isNew)
      known->second = inQuotes(capture.nameOf(number));
    return known->second;
  };
  std::map<uint32_t, Rows> rows;
  std::set<uint64_t> described;
  Status failure;
  auto describe = [&](uint64_t row, std::string_view name) {
    if (!described.insert(row).second)
      return;
    begin();
    text += fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", process, row,
                        inQuotes(name));
  };
  Status read = capture.forEach([&](uint32_t number, std::span<const capture::Event> events) {
    const CapturedLane &lane = capture.lanes().at(number);
    for (const capture::Event &event : events) {
      const double at = capture.toNanoseconds(lane, event.time);
      uint64_t row = number * kRowsOfLane;
      switch (event.kind) {
      case capture::EventKind::Zone: {
        if (event.value < event.time)
          break;
        const double end = capture.toNanoseconds(lane, event.value);
        size_t below = 0;
        if (lane.kind == capture::LaneKind::Device)
          below = rows[number].rowFor(at, end);
        row += below;
        describe(row, below == 0 ? lane.name : fmt::format("{} ({})", lane.name, below + 1));
        begin();
        text += fmt::format(R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f}}})", nameOf(event.name),
                            process, row, at / 1e3, (end - at) / 1e3);
        break;
      }
      case capture::EventKind::Instant:
        describe(row, lane.name);
        begin();
        text += fmt::format(R"({{"ph":"i","s":"t","name":{},"pid":{},"tid":{},"ts":{:.3f}}})", nameOf(event.name),
                            process, row, at / 1e3);
        break;
      case capture::EventKind::Counter:
        begin();
        text += fmt::format(R"({{"ph":"C","name":{},"pid":{},"ts":{:.3f},"args":{{"value":{}}}}})", nameOf(event.name),
                            process, at / 1e3, std::bit_cast<double>(event.value));
        break;
      }
    }
    if (text.size() >= kFlush && failure.ok()) {
      failure = write(text);
      text.clear();
    }
  });
  KILN_RETURN_IF_ERROR(std::move(read));
  KILN_RETURN_IF_ERROR(std::move(failure));
  return write(text + "\n]}\n");
}

} // namespace kiln::trace
