#include "kiln/runtime/task/topology.h"

#include <cerrno>
#include <hwloc.h>
#include <memory>

namespace kiln::task {

namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

// The hardware threads below an object of the topology.
Core coreOf(hwloc_obj_t object) {
  Core core;
  for (int cpu = hwloc_bitmap_first(object->cpuset); cpu >= 0; cpu = hwloc_bitmap_next(object->cpuset, cpu))
    core.cpus.push_back(uint32_t(cpu));
  if (int node = hwloc_bitmap_first(object->nodeset); node >= 0)
    core.numaNode = uint32_t(node);
  return core;
}

} // namespace

Result<Topology> Topology::detect() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    return errnoStatus(errno, "cannot inspect the processor");
  HwlocTopology topology(raw);
  // Nothing but cores and threads: the rest costs time at every start.
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  if (hwloc_topology_load(raw) != 0)
    return errnoStatus(errno, "cannot inspect the processor");

  Topology result;
  // Some virtual machines show threads only.
  hwloc_obj_type_t type = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(raw, type, object));)
    if (Core core = coreOf(object); !core.cpus.empty())
      result.cores.push_back(std::move(core));
  if (result.cores.empty())
    return internalError("the processor shows no core that this process may use");
  for (hwloc_obj_t object : {hwloc_get_obj_by_type(raw, HWLOC_OBJ_PACKAGE, 0), hwloc_get_root_obj(raw)})
    if (const char *model = object ? hwloc_obj_get_info_by_name(object, "CPUModel") : nullptr;
        model && result.cpuModel.empty())
      result.cpuModel = model;
  return result;
}

} // namespace kiln::task
