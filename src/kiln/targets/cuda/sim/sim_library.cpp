#include "kiln/targets/cuda/sim/sim_library.h"

#include "kiln/targets/cuda/driver/cuda_executable.h"
#include "kiln/targets/cuda/sim/sim_device.h"
#include "kiln/targets/cuda/sim/tensor_map.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace kiln::cudasim {

using namespace kiln::hal;

namespace {

// Numbers of CUDA that only the library itself gives.
constexpr CUresult kInvalidValue = 1, kInvalidContext = 201, kNoBinary = 209, kInvalidHandle = 400, kNotFound = 500,
                   kCaptureUnsupported = 900, kUpdateFailure = 910, kInvalidClusterSize = 912;
constexpr int kCudaVersion = 13000;
constexpr uint32_t kSharedBytesUnasked = 49152;
constexpr int kMultiprocessors = 8;

const SimArchitecture &architectureOf(uint64_t device) {
  return kArchitectures[device >> kSeedBits];
}

thread_local std::string lastError;
thread_local std::vector<SimDevice *> contexts;

template <typename... Args> CUresult fail(CUresult code, fmt::format_string<Args...> format, Args &&...args) {
  lastError = fmt::format(format, std::forward<Args>(args)...);
  return code;
}

// The devices that have a context, by number.
struct Devices {
  std::mutex mutex;
  struct Entry {
    std::unique_ptr<SimDevice> device;
    int references = 0;
  };
  std::map<CUdevice, Entry> entries;
};
Devices &devices() {
  static auto *all = new Devices();
  return *all;
}

struct SimFunction {
  SimDevice *device;
  const Program *program;
  uint32_t mostDynamicBytes;
};
struct SimModule {
  SimDevice *device;
  std::unique_ptr<LoadedModule> loaded;
  std::vector<std::unique_ptr<SimFunction>> functions;
};

SimStream &of(CUstream stream) {
  return *reinterpret_cast<SimStream *>(stream);
}
// Handles of events are pointers to what streams share.
using EventHandle = std::shared_ptr<SimEvent>;
EventHandle &of(CUevent event) {
  return *reinterpret_cast<EventHandle *>(event);
}
SimModule &of(CUmodule module) {
  return *reinterpret_cast<SimModule *>(module);
}
SimFunction &of(CUfunction function) {
  return *reinterpret_cast<SimFunction *>(function);
}

SimDevice *current() {
  return contexts.empty() ? nullptr : contexts.back();
}

// Success where the device works.
CUresult check(const SimDevice *device) {
  if (!device)
    return fail(kInvalidContext, "there is no current context");
  if (std::optional<Fault> fault = device->fault())
    return fail(int(fault->code), "{}", fault->text);
  return cuda::kSuccess;
}

// Operations of a stream, in order.
struct SimGraph {
  std::vector<SimStream::Operation> operations;

  static SimStream::Operation copyOf(const SimStream::Operation &operation) {
    SimStream::Operation copy;
    copy.work = operation.work;
    copy.event = operation.event;
    if (operation.launch)
      copy.launch = std::make_unique<Launch>(*operation.launch);
    return copy;
  }
};
SimGraph &of(CUgraph graph) {
  return *reinterpret_cast<SimGraph *>(graph);
}
SimGraph &of(CUgraphExec executable) {
  return *reinterpret_cast<SimGraph *>(executable);
}
// The graphs of streams that this thread captures.
thread_local std::map<CUstream, std::unique_ptr<SimGraph>> captures;

CUresult enqueue(CUstream stream, SimStream::Operation operation, bool external = false) {
  if (auto capture = captures.find(stream); capture != captures.end()) {
    if (operation.event && !external)
      return fail(kCaptureUnsupported, "the simulator captures external events only");
    capture->second->operations.push_back(std::move(operation));
    return cuda::kSuccess;
  }
  SimDevice &device = *of(stream).device;
  return device.enqueue(of(stream), std::move(operation)) ? cuda::kSuccess : check(&device);
}

//===--- Library, devices, contexts -------------------------------------------------------------------------------===//

CUresult cuInit(unsigned) {
  return cuda::kSuccess;
}
CUresult cuDriverGetVersion(int *version) {
  *version = kCudaVersion;
  return cuda::kSuccess;
}
CUresult cuGetErrorName(CUresult error, const char **text) {
  static constexpr std::pair<CUresult, const char *> kNames[] = {
      {0, "CUDA_SUCCESS"},
      {1, "CUDA_ERROR_INVALID_VALUE"},
      {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {101, "CUDA_ERROR_INVALID_DEVICE"},
      {201, "CUDA_ERROR_INVALID_CONTEXT"},
      {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {218, "CUDA_ERROR_INVALID_PTX"},
      {400, "CUDA_ERROR_INVALID_HANDLE"},
      {500, "CUDA_ERROR_NOT_FOUND"},
      {600, "CUDA_ERROR_NOT_READY"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
      {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
      {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
      {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
      {719, "CUDA_ERROR_LAUNCH_FAILED"},
      {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
      {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
  };
  const auto *found = std::ranges::find(kNames, error, &std::pair<CUresult, const char *>::first);
  *text = found == std::end(kNames) ? nullptr : found->second;
  return *text ? cuda::kSuccess : kInvalidValue;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = lastError.c_str();
  return cuda::kSuccess;
}
CUresult cuDeviceGetCount(int *count) {
  *count = INT32_MAX;
  return cuda::kSuccess;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  const bool isOne = ordinal >= 0 && size_t(ordinal) >> kSeedBits < kArchitectures.size();
  return isOne ? cuda::kSuccess : fail(101, "there is no device {}", ordinal);
}
CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  const SimArchitecture &architecture = architectureOf(device);
  std::string text = fmt::format("simulated sm_{}{}, seed {}", architecture.major, architecture.minor, device % kSeeds);
  std::strncpy(name, text.c_str(), size_t(length));
  return cuda::kSuccess;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  const SimArchitecture &architecture = architectureOf(device);
  const std::pair<int, int> values[] = {
      {cuda::kMaxThreadsPerBlock, 1024},  {cuda::kMultiprocessors, kMultiprocessors},
      {cuda::kMaxBlocks, INT32_MAX},      {cuda::kWarpThreads, 32},
      {cuda::kL2Bytes, 128 << 10},        {cuda::kMajor, architecture.major},
      {cuda::kMinor, architecture.minor}, {cuda::kMaxSharedBytes, int(architecture.mostSharedBytes)},
  };
  const auto *found = std::ranges::find(values, attribute, &std::pair<int, int>::first);
  if (found == std::end(values))
    return fail(kInvalidValue, "the simulator has no attribute {} of a device", attribute);
  *value = found->second;
  return cuda::kSuccess;
}
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice) {
  *bytes = SimDevice::kMemoryBytes;
  return cuda::kSuccess;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  std::lock_guard lock(devices().mutex);
  Devices::Entry &entry = devices().entries[device];
  if (!entry.device)
    entry.device = std::make_unique<SimDevice>(uint64_t(device));
  ++entry.references;
  *context = reinterpret_cast<CUcontext>(entry.device.get());
  return cuda::kSuccess;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  std::lock_guard lock(devices().mutex);
  auto entry = devices().entries.find(device);
  if (entry == devices().entries.end())
    return fail(kInvalidContext, "device {} has no context", device);
  if (--entry->second.references == 0)
    devices().entries.erase(entry);
  return cuda::kSuccess;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  contexts.push_back(reinterpret_cast<SimDevice *>(context));
  return cuda::kSuccess;
}
CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  if (contexts.empty())
    return fail(kInvalidContext, "there is no current context");
  *context = reinterpret_cast<CUcontext>(contexts.back());
  contexts.pop_back();
  return cuda::kSuccess;
}

//===--- Streams and events ---------------------------------------------------------------------------------------===//

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  if (CUresult result = check(current()))
    return result;
  *stream = reinterpret_cast<CUstream>(current()->createStream());
  return cuda::kSuccess;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  of(stream).device->destroyStream(&of(stream));
  return cuda::kSuccess;
}
CUresult cuStreamSynchronize(CUstream stream) {
  if (captures.contains(stream))
    return fail(kCaptureUnsupported, "the stream is captured and cannot be awaited");
  SimDevice *device = of(stream).device;
  device->synchronize(of(stream));
  return check(device);
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  if (captures.contains(stream))
    return fail(kCaptureUnsupported, "the simulator captures no waiting for events");
  SimDevice *device = of(stream).device;
  if (of(event)->device != device)
    return fail(kInvalidValue, "the event is of another device");
  return device->enqueueWait(of(stream), *of(event)) ? cuda::kSuccess : check(device);
}
CUresult cuEventCreate(CUevent *event, unsigned flags) {
  if (CUresult result = check(current()))
    return result;
  auto handle = std::make_unique<EventHandle>(std::make_shared<SimEvent>());
  (*handle)->device = current();
  (*handle)->keepsTime = !(flags & cuda::kEventDisableTiming);
  *event = reinterpret_cast<CUevent>(handle.release());
  return cuda::kSuccess;
}
CUresult cuEventDestroy_v2(CUevent event) {
  delete &of(event);
  return cuda::kSuccess;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  SimStream::Operation operation;
  operation.event = of(event);
  return enqueue(stream, std::move(operation));
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  SimStream::Operation operation;
  operation.event = of(event);
  return enqueue(stream, std::move(operation), flags & cuda::kEventRecordExternal);
}
CUresult cuEventQuery(CUevent event) {
  SimDevice *device = of(event)->device;
  if (!device->isDone(*of(event)))
    return cuda::kNotReady;
  return check(device);
}
CUresult cuEventSynchronize(CUevent event) {
  SimDevice *device = of(event)->device;
  device->awaitEvent(*of(event));
  return check(device);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
  SimDevice *device = of(from)->device;
  if (of(to)->device != device)
    return fail(kInvalidValue, "the events are of two devices");
  if (CUresult result = check(device))
    return result;
  if (!device->isDone(*of(from)) || !device->isDone(*of(to)))
    return cuda::kNotReady;
  std::optional<uint64_t> start = device->timeOf(*of(from)), end = device->timeOf(*of(to));
  if (!start || !end)
    return fail(kInvalidHandle, "an event was not recorded, or keeps no time");
  *milliseconds = float((double(*end) - double(*start)) / 1e6);
  return cuda::kSuccess;
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
  if (CUresult result = check(current()))
    return result;
  *available = current()->memory().available();
  *total = current()->memory().total();
  return cuda::kSuccess;
}
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  if (CUresult result = check(current()))
    return result;
  *address = current()->memory().allocate(bytes);
  return *address ? cuda::kSuccess : fail(cuda::kOutOfMemory, "out of memory");
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  if (!current())
    return check(current());
  return current()->free(address) ? cuda::kSuccess : fail(kInvalidValue, "{:#x} is no allocation", address);
}

CUresult cuMemAllocHost_v2(void **memory, size_t bytes) {
  *memory = std::malloc(bytes);
  return *memory ? cuda::kSuccess : fail(cuda::kOutOfMemory, "out of memory");
}
CUresult cuMemFreeHost(void *memory) {
  std::free(memory);
  return cuda::kSuccess;
}

CUresult copy(CUstream stream, std::initializer_list<CUdeviceptr> ranges, size_t bytes, std::function<void()> work) {
  SimDevice *device = of(stream).device;
  if (CUresult result = check(device))
    return result;
  for (CUdeviceptr address : ranges)
    if (!device->memory().find(address, bytes))
      return fail(kInvalidValue, "{} bytes at {:#x}, {}", bytes, address, device->memory().explain(address, bytes));
  SimStream::Operation operation;
  operation.work = std::move(work);
  return enqueue(stream, std::move(operation));
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t bytes, CUstream stream) {
  Memory &memory = of(stream).device->memory();
  return copy(stream, {target}, bytes, [=, &memory] {
    if (uint8_t *to = memory.find(target, bytes))
      std::memcpy(to, source, bytes);
  });
}
CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t bytes, CUstream stream) {
  Memory &memory = of(stream).device->memory();
  return copy(stream, {source}, bytes, [=, &memory] {
    if (const uint8_t *from = memory.find(source, bytes))
      std::memcpy(target, from, bytes);
  });
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  Memory &memory = of(stream).device->memory();
  return copy(stream, {target, source}, bytes, [=, &memory] {
    uint8_t *to = memory.find(target, bytes);
    const uint8_t *from = memory.find(source, bytes);
    if (to && from)
      std::memmove(to, from, bytes);
  });
}

// `height` rows of `width` values.
template <typename T>
CUresult fill(CUdeviceptr target, size_t pitch, T value, size_t width, size_t height, CUstream stream) {
  if (target % sizeof(T) || pitch % sizeof(T))
    return fail(kInvalidValue, "{:#x} and a pitch of {} are no multiples of {}", target, pitch, sizeof(T));
  const size_t bytes = height ? (height - 1) * pitch + width * sizeof(T) : 0;
  Memory &memory = of(stream).device->memory();
  return copy(stream, {target}, bytes, [=, &memory] {
    uint8_t *to = memory.find(target, bytes);
    for (size_t row = 0; to && row < height; ++row)
      std::fill_n(reinterpret_cast<T *>(to + row * pitch), width, value);
  });
}
CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
  return fill<uint8_t>(target, count, value, count, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count, CUstream stream) {
  return fill<uint16_t>(target, count * 2, value, count, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  return fill<uint32_t>(target, count * 4, value, count, 1, stream);
}
CUresult cuMemsetD2D8Async(CUdeviceptr target, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return fill<uint8_t>(target, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr target, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
  return fill<uint32_t>(target, pitch, value, width, height, stream);
}

//===--- Modules and launches -------------------------------------------------------------------------------------===//

// As the driver does, into the buffer that the options name.
void writeLog(std::string_view text, unsigned options, const int *names, void **values) {
  char *buffer = nullptr;
  size_t size = 0;
  for (unsigned i = 0; i < options; ++i) {
    if (names[i] == cuda::kJitErrorLog)
      buffer = static_cast<char *>(values[i]);
    if (names[i] == cuda::kJitErrorLogBytes)
      size = reinterpret_cast<size_t>(values[i]);
  }
  if (!buffer || !size)
    return;
  const size_t length = std::min(size - 1, text.size());
  std::memcpy(buffer, text.data(), length);
  buffer[length] = '\0';
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned options, int *names, void **values) {
  SimDevice *device = current();
  if (CUresult result = check(device))
    return result;
  auto made = std::make_unique<SimModule>();
  made->device = device;
  Status status;
  device->withoutKernels([&] {
    Result<std::unique_ptr<LoadedModule>> loaded =
        LoadedModule::load(static_cast<const char *>(image), device->memory());
    if (loaded.ok())
      made->loaded = *std::move(loaded);
    else
      status = std::move(loaded).status();
  });
  if (!status.ok()) {
    writeLog(status.message(), options, names, values);
    if (status.code() == StatusCode::ResourceExhausted)
      return fail(cuda::kOutOfMemory, "{}", status.message());
    return fail(cuda::kInvalidPtx, "the simulator does not take the code");
  }
  const SimArchitecture &architecture = architectureOf(device->seed());
  Status fits = checkCudaArchitecture(made->loaded->ptx().target, architecture.major, architecture.minor);
  if (!fits.ok())
    return fail(kNoBinary, "{}", fits.message());
  *module = reinterpret_cast<CUmodule>(made.release());
  return cuda::kSuccess;
}
CUresult cuModuleUnload(CUmodule module) {
  of(module).device->withoutKernels([&] { delete &of(module); });
  return cuda::kSuccess;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  const Program *program = of(module).loaded->find(name);
  if (!program)
    return fail(kNotFound, "the module has no kernel '{}'", name);
  if (program->staticSharedBytes > kSharedBytesUnasked)
    return fail(cuda::kInvalidPtx, "kernel '{}' has {} bytes of static shared memory; {} are possible", name,
                program->staticSharedBytes, kSharedBytesUnasked);
  of(module).functions.push_back(std::make_unique<SimFunction>(
      SimFunction{of(module).device, program, kSharedBytesUnasked - program->staticSharedBytes}));
  *function = reinterpret_cast<CUfunction>(of(module).functions.back().get());
  return cuda::kSuccess;
}
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  if (attribute != cuda::kFunctionDynamicSharedBytes)
    return fail(kInvalidValue, "the simulator has no attribute {} of a function", attribute);
  const uint32_t staticBytes = of(function).program->staticSharedBytes;
  const uint32_t most = architectureOf(of(function).device->seed()).mostSharedBytes;
  if (value < 0 || uint32_t(value) + staticBytes > most)
    return fail(kInvalidValue, "{} bytes of dynamic and {} of static shared memory are more than the {} of a block",
                value, staticBytes, most);
  of(function).mostDynamicBytes = uint32_t(value);
  return cuda::kSuccess;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t parameter, size_t *offset, size_t *bytes) {
  const std::vector<Program::Parameter> &parameters = of(function).program->parameters;
  if (parameter >= parameters.size())
    return kInvalidValue; // how callers count them
  *offset = parameters[parameter].offset;
  *bytes = parameters[parameter].bytes;
  return cuda::kSuccess;
}

CUresult checkLaunch(const SimFunction &function, const Launch &launch) {
  const Function &kernel = *function.program->kernel().function;
  const auto &[x, y, z] = launch.blockSize;
  const uint64_t threads = uint64_t(x) * y * z;
  if (threads == 0 || threads > 1024 || x > 1024 || y > 1024 || z > 64)
    return fail(kInvalidValue, "blocks of {} x {} x {} threads; 1,024 are possible, and 64 in z", x, y, z);
  const auto &[gridX, gridY, gridZ] = launch.grid;
  if (!gridX || !gridY || !gridZ || gridX > INT32_MAX || gridY > 65535 || gridZ > 65535)
    return fail(kInvalidValue, "a grid of {} x {} x {} blocks", gridX, gridY, gridZ);
  for (size_t i = 0; i < 3; ++i) {
    if (kernel.requiredThreads[0] && launch.blockSize[i] != kernel.requiredThreads[i])
      return fail(kInvalidValue, "blocks of {} x {} x {} threads; kernel '{}' requires {} x {} x {}", x, y, z,
                  kernel.name, kernel.requiredThreads[0], kernel.requiredThreads[1], kernel.requiredThreads[2]);
  }
  const uint64_t most = uint64_t(kernel.maxThreads[0]) * kernel.maxThreads[1] * kernel.maxThreads[2];
  if (kernel.maxThreads[0] && threads > most)
    return fail(kInvalidValue, "blocks of {} threads; kernel '{}' is made for {} at most", threads, kernel.name, most);
  if (kernel.maxRegisters * threads > 65536)
    return fail(701, "{} registers for each of {} threads; a block has 65,536", kernel.maxRegisters, threads);
  if (launch.dynamicSharedBytes > function.mostDynamicBytes ||
      launch.sharedBytes() > architectureOf(function.device->seed()).mostSharedBytes)
    return fail(kInvalidValue, "{} bytes of dynamic shared memory beside {} of static; kernel '{}' may have {}",
                launch.dynamicSharedBytes, function.program->staticSharedBytes, kernel.name, function.mostDynamicBytes);
  return cuda::kSuccess;
}

CUresult cuTensorMapEncodeTiled(CudaTensorMap *map, int dataType, unsigned rank, CUdeviceptr address,
                                const uint64_t *extents, const uint64_t *strides, const unsigned *box,
                                const unsigned *elementStrides, int interleave, int swizzle, int, int outside) {
  TensorMap made;
  std::string reason = encodeTiled(
      made, dataType, rank, address, {extents, std::min(rank, TensorMap::kMostRank)},
      {strides, std::min(rank, TensorMap::kMostRank) - (rank ? 1 : 0)}, {box, std::min(rank, TensorMap::kMostRank)},
      {elementStrides, std::min(rank, TensorMap::kMostRank)}, interleave, swizzle, outside != 0);
  if (!reason.empty())
    return fail(kInvalidValue, "{}", reason);
  std::memcpy(map, &made, sizeof(made));
  return cuda::kSuccess;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CudaLaunch *how) {
  Launch launch;
  launch.program = of(function).program;
  std::ranges::copy(how->grid, launch.grid.begin());
  if (std::string problem = launch.takeClusters({}); !problem.empty())
    return fail(kInvalidClusterSize, "{}", problem);
  *clusters = kMultiprocessors / int(launch.blocksOfCluster());
  return cuda::kSuccess;
}

CUresult cuLaunchKernelEx(const CudaLaunch *how, CUfunction function, void **parameters, void **) {
  const CUstream stream = how->stream;
  if (CUresult result = check(of(stream).device))
    return result;
  const SimFunction &simulated = of(function);
  auto launch = std::make_unique<Launch>();
  launch->program = simulated.program;
  launch->memory = &of(stream).device->memory();
  std::ranges::copy(how->grid, launch->grid.begin());
  std::ranges::copy(how->block, launch->blockSize.begin());
  launch->dynamicSharedBytes = how->sharedBytes;
  std::array<uint32_t, 3> clusters{};
  for (const CudaLaunchAttribute &attribute : std::span(how->attributes, how->attributeCount)) {
    launch->options.startsEarly |= attribute.id == cuda::kLaunchStartsEarly && attribute.value[0] != 0;
    if (attribute.id == cuda::kLaunchClusters)
      std::copy_n(attribute.value, 3, clusters.begin());
  }
  if (CUresult result = checkLaunch(simulated, *launch))
    return result;
  if (std::string problem = launch->takeClusters(clusters); !problem.empty())
    return fail(kInvalidClusterSize, "{}", problem);
  launch->params.resize(simulated.program->parameterBytes);
  for (size_t i = 0; i < simulated.program->parameters.size(); ++i) {
    const Program::Parameter &each = simulated.program->parameters[i];
    std::memcpy(launch->params.data() + each.offset, parameters[i], each.bytes);
  }
  SimStream::Operation operation;
  operation.launch = std::move(launch);
  return enqueue(stream, std::move(operation));
}

//===--- Graphs ---------------------------------------------------------------------------------------------------===//

CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  if (CUresult result = check(of(stream).device))
    return result;
  const bool isNew = captures.try_emplace(stream, std::make_unique<SimGraph>()).second;
  return isNew ? cuda::kSuccess : fail(kInvalidValue, "the stream is captured already");
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  auto capture = captures.extract(stream);
  if (capture.empty())
    return fail(kInvalidValue, "the stream is not captured");
  *graph = reinterpret_cast<CUgraph>(capture.mapped().release());
  return cuda::kSuccess;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph, unsigned long long) {
  auto made = std::make_unique<SimGraph>();
  std::ranges::transform(of(graph).operations, std::back_inserter(made->operations), SimGraph::copyOf);
  *executable = reinterpret_cast<CUgraphExec>(made.release());
  return cuda::kSuccess;
}
// Parameters and sizes may be others; what kind of operations there are, and of which kernels, may not.
CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph, CudaGraphUpdate *) {
  auto isLike = [](const SimStream::Operation &a, const SimStream::Operation &b) {
    return bool(a.launch) == bool(b.launch) && a.event == b.event &&
           (!a.launch || a.launch->program == b.launch->program);
  };
  if (!std::ranges::equal(of(executable).operations, of(graph).operations, isLike))
    return fail(kUpdateFailure, "the graph has other operations than the one to be updated");
  of(executable).operations.clear();
  std::ranges::transform(of(graph).operations, std::back_inserter(of(executable).operations), SimGraph::copyOf);
  return cuda::kSuccess;
}
CUresult cuGraphUpload(CUgraphExec, CUstream) {
  return cuda::kSuccess;
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  for (const SimStream::Operation &operation : of(executable).operations)
    if (CUresult result = enqueue(stream, SimGraph::copyOf(operation)))
      return result;
  return cuda::kSuccess;
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  delete &of(executable);
  return cuda::kSuccess;
}
CUresult cuGraphDestroy(CUgraph graph) {
  delete &of(graph);
  return cuda::kSuccess;
}

CudaFunctions table() {
  CudaFunctions functions;
#define KILN_CUDA_FUNCTION(name, parameters) functions.name = &cudasim::name;
#include "kiln/targets/cuda/driver/cuda_functions.def"
#undef KILN_CUDA_FUNCTION
  functions.cuFuncGetParamInfo = &cudasim::cuFuncGetParamInfo;
  return functions;
}

} // namespace

const CudaLibrary &simulatedCuda() {
  static const auto *library = new CudaLibrary(table(), kCudaVersion);
  return *library;
}

} // namespace kiln::cudasim
