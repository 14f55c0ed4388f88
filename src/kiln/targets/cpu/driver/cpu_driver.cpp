#include "kiln/targets/cpu/driver/cpu_driver.h"

#include "kiln/runtime/task/topology.h"
#include "kiln/targets/cpu/driver/cpu_features.h"
#include "kiln/targets/cpu/driver/elf_image.h"
#include "kiln/targets/cpu/driver/sync_device.h"
#include "kiln/targets/cpu/driver/task_device.h"

#include <memory>
#include <utility>

namespace kiln::hal {

// The machine is the one device of each of the two drivers.
static Result<DeviceInfo> describeMachine(std::string_view driver) {
  const task::Topology &topology = task::Topology::host();
  std::string model = topology.cpuModel.empty() ? "CPU" : topology.cpuModel;
  std::string features;
  for (std::string_view feature : cpuFeaturesOfThisMachine())
    fmt::format_to(std::back_inserter(features), "{}+{}", features.empty() ? "" : ",", feature);
  size_t threads = 0;
  for (const task::Core &core : topology.cores)
    threads += core.cpus.size();
  DeviceInfo info;
  info.uri = driver;
  info.name = fmt::format("{}, {} cores", model, topology.cores.size());
  info.properties = {{"cpu", model},
                     {"cores", std::to_string(topology.cores.size())},
                     {"hardware threads", std::to_string(threads)},
                     {"executable format", std::string(nativeElfFormat())},
                     {"cpu features", std::move(features)}};
  return info;
}

static Status checkPath(const DeviceUri &uri) {
  if (uri.path.empty() || uri.path == "0")
    return okStatus();
  return notFound("{} has one device, '{}'", uri.driver, uri.driver);
}

Result<std::vector<DeviceInfo>> SyncDriver::devices() {
  KILN_ASSIGN_OR_RETURN(DeviceInfo info, describeMachine(name()));
  return std::vector<DeviceInfo>{std::move(info)};
}

Result<Ref<Device>> SyncDriver::createDevice(const DeviceUri &uri, const DeviceOptions &options) {
  KILN_RETURN_IF_ERROR(checkPath(uri));
  return Ref<Device>(makeRef<SyncDevice>(uri.toString(), options));
}

Result<std::vector<DeviceInfo>> TaskDriver::devices() {
  KILN_ASSIGN_OR_RETURN(DeviceInfo info, describeMachine(name()));
  return std::vector<DeviceInfo>{std::move(info)};
}

Result<Ref<Device>> TaskDriver::createDevice(const DeviceUri &uri, const DeviceOptions &options) {
  KILN_RETURN_IF_ERROR(checkPath(uri));
  const task::Topology &topology = task::Topology::host();
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<task::Scheduler> scheduler, task::Scheduler::create(options.task, topology));
  return Ref<Device>(makeRef<TaskDevice>(uri.toString(), options, std::move(scheduler)));
}

void registerCpuDriver(DriverRegistry &registry) {
  registry.add(std::make_unique<SyncDriver>());
  registry.add(std::make_unique<TaskDriver>());
}

} // namespace kiln::hal
