#include "kiln/tools/driver_flags.h"

namespace kiln {

namespace {

struct Accepted {
  const char *name;
  const char *instead; // what happens
  const char *fine;    // the value that asks for what happens anyway; empty: there is none
};

constexpr Accepted kAccepted[] = {
    {"cuda_use_streams",
     "Commands go into a stream one by one, and as a graph once they come again with the same buffers.", ""},
    {"cuda_allow_inline_execution", "Commands are recorded, and go into the device's stream when they are submitted.",
     "false"},
    {"cuda_async_allocations", "Memory is allocated at once, and kept for reuse; --device_allocator=direct keeps none.",
     "false"},
    {"cuda_tracing",
     "There is no Tracy here. `nsys profile TOOL ...` shows kernels by the names of their dispatches, and "
     "kiln-dispatch measures them by the GPU's own clock.",
     "false"},
    {"cuda_default_index_from_mpi", "Ranks of MPI choose no GPU; --device=cuda://N does.", "false"},
};

} // namespace

void DriverFlags::add(FlagParser &parser) {
  parser.group("Of the documents, for GPUs");
  parser.add({"cuda_default_index", "N", "The GPU that --device=cuda means; as --device=cuda://N."}, defaultIndex);
  for (const Accepted &accepted : kAccepted)
    parser.addOptionalValue({accepted.name, "true|false", std::string("Accepted, with a note. ") + accepted.instead},
                            switches[accepted.name]);
}

std::vector<std::string> DriverFlags::notes() const {
  std::vector<std::string> lines;
  for (const Accepted &accepted : kAccepted)
    if (auto found = switches.find(accepted.name);
        found != switches.end() && found->second && *found->second != accepted.fine)
      lines.push_back(fmt::format("--{} has no effect. {}", accepted.name, accepted.instead));
  return lines;
}

std::string DriverFlags::deviceOf(const std::string &uri) const {
  return uri == "cuda" && defaultIndex ? fmt::format("cuda://{}", defaultIndex) : uri;
}

} // namespace kiln
