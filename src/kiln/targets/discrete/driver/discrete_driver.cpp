#include "kiln/targets/discrete/driver/discrete_driver.h"

#include "kiln/targets/cpu/driver/elf_image.h"
#include "kiln/targets/discrete/driver/discrete_device.h"

#include <memory>
#include <utility>

namespace kiln::hal {

Result<std::vector<DeviceInfo>> DiscreteDriver::devices() {
  DiscreteSettings settings;
  DeviceInfo info;
  info.uri = name();
  info.name = "this machine's CPU, as if it were a GPU";
  info.properties = {{"memory bytes", std::to_string(settings.memoryMib << 20)},
                     {"queues", std::to_string(settings.queues)},
                     {"executable format", std::string(nativeElfFormat())}};
  info.limits = settings.limits();
  for (std::pair<std::string, std::string> &setting : DiscreteSettings::describe())
    info.properties.push_back(std::move(setting));
  return std::vector<DeviceInfo>{std::move(info)};
}

Result<Ref<Device>> DiscreteDriver::createDevice(const DeviceUri &uri, const DeviceOptions &options) {
  KILN_ASSIGN_OR_RETURN(DiscreteSettings settings, DiscreteSettings::parse(uri.path));
  return Ref<Device>(makeRef<DiscreteDevice>(uri.toString(), std::make_shared<DiscreteMemory>(settings), options));
}

void registerDiscreteDriver(DriverRegistry &registry) {
  registry.add(std::make_unique<DiscreteDriver>());
}

} // namespace kiln::hal
