#include "kiln/runtime/task/topology.h"

#include <algorithm>
#include <cerrno>
#include <hwloc.h>
#include <memory>
#include <sched.h>
#include <tuple>

namespace kiln::task {

namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

// Null where that fails.
HwlocTopology load(unsigned long flags) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0)
    return nullptr;
  HwlocTopology topology(raw);
  // Nothing but what is asked for below: the rest costs time at every start.
  hwloc_topology_set_all_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | flags);
  return hwloc_topology_load(raw) == 0 ? std::move(topology) : nullptr;
}

std::vector<uint32_t> cpusIn(hwloc_const_bitmap_t set) {
  std::vector<uint32_t> cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu))
    cpus.push_back(uint32_t(cpu));
  return cpus;
}

std::vector<Cache> cachesIn(hwloc_topology_t topology) {
  static constexpr const char *kTypes[] = {"Unified", "Data", "Instruction"}; // in hwloc's order
  std::vector<Cache> caches;
  for (int depth = 0; depth < hwloc_topology_get_depth(topology); ++depth)
    for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_depth(topology, depth, object));)
      if (hwloc_obj_type_is_cache(object->type) && object->attr->cache.size > 0)
        caches.push_back({object->attr->cache.depth, kTypes[object->attr->cache.type], object->attr->cache.size,
                          cpusIn(object->cpuset)});
  std::ranges::sort(caches, {}, [](const Cache &cache) { return std::tie(cache.level, cache.type, cache.cpus); });
  return caches;
}

Topology describe(hwloc_topology_t topology) {
  hwloc_obj_t machine = hwloc_get_root_obj(topology);
  std::unique_ptr<hwloc_bitmap_s, void (*)(hwloc_bitmap_t)> set(hwloc_bitmap_dup(machine->cpuset), hwloc_bitmap_free);
  hwloc_get_cpubind(topology, set.get(), HWLOC_CPUBIND_PROCESS);
  const std::vector<uint32_t> allowed = cpusIn(set.get());

  Topology result;
  result.machineCpus = cpusIn(machine->cpuset);
  result.machineCores = static_cast<uint32_t>(std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE)));
  result.packages = static_cast<uint32_t>(std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE)));
  result.caches = cachesIn(topology);
  // Some virtual machines show threads only.
  hwloc_obj_type_t type = result.machineCores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, type, object));) {
    Core core{cpusIn(object->cpuset)};
    std::erase_if(core.cpus, [&](uint32_t cpu) { return std::ranges::count(allowed, cpu) == 0; });
    if (!core.cpus.empty())
      result.cores.push_back(std::move(core));
  }
  for (size_t sibling = 0; sibling < allowed.size(); ++sibling)
    for (const Core &core : result.cores)
      if (sibling < core.cpus.size())
        result.cpus.push_back(core.cpus[sibling]);
  for (hwloc_obj_t object : {hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0), machine})
    if (const char *model = object ? hwloc_obj_get_info_by_name(object, "CPUModel") : nullptr;
        model && result.cpuModel.empty())
      result.cpuModel = model;
  return result;
}

Topology look() {
  // To ask the processors themselves, hwloc goes from one to the next: that takes longer than all else, and is needed
  // only where the system says nothing.
  HwlocTopology topology = load(HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
  if (!topology || hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) <= 0)
    topology = load(0);
  Topology result = topology ? describe(topology.get()) : Topology();
  if (result.cores.empty()) {
    result.cores = {Core{{0}}};
    result.cpus = result.machineCpus = {0};
  }
  return result;
}

} // namespace

const Topology &Topology::host() {
  static const Topology topology = look();
  return topology;
}

std::vector<const Cache *> Topology::cachesOf(uint32_t cpu) const {
  std::vector<const Cache *> found;
  for (const Cache &cache : caches)
    if (std::ranges::count(cache.cpus, cpu) > 0)
      found.push_back(&cache);
  return found;
}

Status bindThread(int thread, std::span<const uint32_t> cpus) {
  uint32_t last = *std::ranges::max_element(cpus);
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t *)> set(CPU_ALLOC(last + 1), [](cpu_set_t *set) { CPU_FREE(set); });
  if (!set)
    return resourceExhausted("no memory is left to bind a thread to a core");
  size_t bytes = CPU_ALLOC_SIZE(last + 1);
  CPU_ZERO_S(bytes, set.get());
  for (uint32_t cpu : cpus)
    CPU_SET_S(cpu, bytes, set.get());
  // One that has ended since needs no core.
  if (::sched_setaffinity(thread, bytes, set.get()) != 0 && errno != ESRCH)
    return errnoStatus(errno, "cannot bind a thread to a core");
  return okStatus();
}

} // namespace kiln::task
