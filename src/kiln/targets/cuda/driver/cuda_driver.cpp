#include "kiln/targets/cuda/driver/cuda_driver.h"

#include "kiln/targets/cuda/driver/cuda_device.h"
#include "kiln/targets/cuda/driver/cuda_executable.h"
#include "kiln/targets/cuda/driver/nvml_monitor.h"

#include <charconv>
#include <memory>

namespace kiln::hal {

static Result<int> countDevices(const CudaLibrary &cuda) {
  int count = 0;
  KILN_RETURN_IF_ERROR(cuda.check(cuda.cuDeviceGetCount(&count), "count the GPUs"));
  return count;
}

Result<DeviceInfo> describeCudaDevice(const CudaLibrary &cuda, std::string_view scheme, int ordinal) {
  CUdevice device = 0;
  KILN_RETURN_IF_ERROR(cuda.check(cuda.cuDeviceGet(&device, ordinal), fmt::format("open GPU {}", ordinal)));
  KILN_ASSIGN_OR_RETURN(CudaProperties properties, CudaProperties::query(cuda, device));
  DeviceInfo info;
  info.uri = fmt::format("{}://{}", scheme, ordinal);
  info.name = properties.name;
  info.properties = {{"gpu", properties.name},
                     {"architecture", fmt::format("sm_{}", properties.major * 10 + properties.minor)},
                     {"multiprocessors", std::to_string(properties.multiprocessors)},
                     {"memory bytes", std::to_string(properties.memoryBytes)},
                     {"level 2 cache bytes", std::to_string(properties.l2Bytes)},
                     {"executable format", std::string(kCudaFormat)},
                     {"driver", fmt::format("CUDA {}.{}", cuda.version() / 1000, cuda.version() % 1000 / 10)}};
  info.limits = properties.limits();
  return info;
}

Result<CudaUriParts> splitCudaPath(std::string_view path) {
  constexpr std::string_view kQueues = "?queues=";
  constexpr uint32_t kMostQueues = 16;
  const size_t at = path.find('?');
  CudaUriParts parts{path.substr(0, at), 1};
  if (at == std::string_view::npos)
    return parts;
  const std::string_view asked = path.substr(at);
  const std::string_view number = asked.starts_with(kQueues) ? asked.substr(kQueues.size()) : "";
  const auto [last, error] = std::from_chars(number.data(), number.data() + number.size(), parts.queues);
  if (error != std::errc() || last != number.data() + number.size() || parts.queues < 1 || parts.queues > kMostQueues)
    return invalidArgument("'{}' is no parameter of a GPU; there is one, ?queues=N, from 1 to {}", asked, kMostQueues);
  return parts;
}

Result<Ref<Device>> createCudaDevice(const CudaLibrary &cuda, int ordinal, const DeviceUri &uri,
                                     const DeviceOptions &options) {
  KILN_ASSIGN_OR_RETURN(const CudaUriParts parts, splitCudaPath(uri.path));
  CUdevice device = 0;
  KILN_RETURN_IF_ERROR(cuda.check(cuda.cuDeviceGet(&device, ordinal), fmt::format("open GPU {}", ordinal)));
  KILN_ASSIGN_OR_RETURN(Ref<CudaContext> context, CudaContext::create(cuda, device));
  KILN_ASSIGN_OR_RETURN(Ref<CudaDevice> created,
                        CudaDevice::create(uri.toString(), std::move(context), parts.queues, options));
  return Ref<Device>(std::move(created));
}

Result<std::vector<DeviceInfo>> CudaDriver::devices() {
  KILN_ASSIGN_OR_RETURN(const CudaLibrary *cuda, CudaLibrary::load());
  KILN_ASSIGN_OR_RETURN(int count, countDevices(*cuda));
  std::vector<DeviceInfo> infos;
  for (int i = 0; i < count; ++i) {
    KILN_ASSIGN_OR_RETURN(DeviceInfo info, describeCudaDevice(*cuda, name(), i));
    infos.push_back(std::move(info));
  }
  return infos;
}

static Result<int> ordinalOf(const CudaLibrary &cuda, std::string_view path) {
  KILN_ASSIGN_OR_RETURN(int count, countDevices(cuda));
  int ordinal = 0;
  const char *end = path.data() + path.size();
  auto [last, error] = std::from_chars(path.data(), end, ordinal);
  if (!path.empty() && (error != std::errc() || last != end || ordinal < 0 || ordinal >= count))
    return notFound("there is no GPU '{}'; there are {}, from cuda://0 on", path, count);
  return ordinal;
}

Result<Ref<Device>> CudaDriver::createDevice(const DeviceUri &uri, const DeviceOptions &options) {
  KILN_ASSIGN_OR_RETURN(const CudaLibrary *cuda, CudaLibrary::load());
  KILN_ASSIGN_OR_RETURN(const CudaUriParts parts, splitCudaPath(uri.path));
  KILN_ASSIGN_OR_RETURN(int ordinal, ordinalOf(*cuda, parts.device));
  return createCudaDevice(*cuda, ordinal, uri, options);
}

// By its place on the bus, since NVML numbers GPUs otherwise.
Result<std::unique_ptr<DeviceMonitor>> CudaDriver::monitor(const DeviceUri &uri) {
  KILN_ASSIGN_OR_RETURN(const CudaLibrary *cuda, CudaLibrary::load());
  KILN_ASSIGN_OR_RETURN(const CudaUriParts parts, splitCudaPath(uri.path));
  KILN_ASSIGN_OR_RETURN(int ordinal, ordinalOf(*cuda, parts.device));
  CUdevice device = 0;
  KILN_RETURN_IF_ERROR(cuda->check(cuda->cuDeviceGet(&device, ordinal), fmt::format("open GPU {}", ordinal)));
  int place[3] = {};
  for (int i = 0; i < 3; ++i) {
    constexpr int kAttributes[] = {cuda::kPciDomain, cuda::kPciBus, cuda::kPciDevice};
    KILN_RETURN_IF_ERROR(cuda->check(cuda->cuDeviceGetAttribute(&place[i], kAttributes[i], device),
                                     fmt::format("find GPU {} on the bus", ordinal)));
  }
  return openNvml(kNvmlName, fmt::format("{:08X}:{:02X}:{:02X}.0", place[0], place[1], place[2]));
}

void registerCudaDriver(DriverRegistry &registry) {
  registry.add(std::make_unique<CudaDriver>());
}

} // namespace kiln::hal
