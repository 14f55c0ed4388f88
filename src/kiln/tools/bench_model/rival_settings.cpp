#include "kiln/tools/bench_model/rival_settings.h"

#include <algorithm>

#include "fmt/format.h"

namespace kiln {

namespace {

struct Rival {
  const char *name;
  std::vector<RivalSetting> settings; // of several threads
};

// torch.compile takes longer to compile than all rounds take, and IREE has one pool whose threads are bound: each is
// taken as it is.
const std::vector<Rival> &rivals() {
  static const std::vector<Rival> all = {
      {"onnxruntime", {{"spinning"}, {"not spinning"}, {"spinning, bound"}}},
      {"openvino", {{"bound"}, {"not bound"}}},
      {"torch", {{"bound"}, {"not bound", 1, {"OMP_PROC_BIND=false"}}}},
      {"torch-compile", {{""}}},
      {"iree", {{""}}},
  };
  return all;
}

} // namespace

std::vector<std::string> knownRivals() {
  std::vector<std::string> names;
  for (const Rival &rival : rivals())
    names.emplace_back(rival.name);
  return names;
}

std::vector<RivalSetting> settingsOf(const std::string &rival, uint32_t threads, uint32_t cores) {
  std::vector<RivalSetting> result;
  const auto found = std::ranges::find(rivals(), rival, &Rival::name);
  const std::vector<uint32_t> counts = cores < threads ? std::vector{threads, cores} : std::vector{threads};
  for (uint32_t count : counts) {
    if (found == rivals().end() || count == 1) {
      result.push_back({"", count});
      continue;
    }
    for (RivalSetting setting : found->settings) {
      setting.threads = count;
      result.push_back(std::move(setting));
    }
  }
  // What compiles for minutes is not compiled for each number of threads.
  if (found != rivals().end() && found->settings.size() == 1)
    result.resize(1);
  return result;
}

} // namespace kiln
