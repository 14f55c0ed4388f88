#include "kiln/measure/providers/kiln_provider.h"

#include <algorithm>
#include <span>
#include <vector>

#include "kiln/measure/mlir_text.h"
#include "kiln/measure/providers/device_tensors.h"
#include "kiln/measure/providers/result_allocator.h"
#include "kiln/measure/providers/thread_binding.h"
#include "kiln/runtime/hal/buffer_view.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/hal/driver.h"
#include "kiln/runtime/hal/execution_times.h"
#include "kiln/runtime/vm/hal_module.h"
#include "kiln/runtime/vm/hal_types.h"
#include "kiln/runtime/vm/session.h"
#include "kiln/targets/drivers.h"

namespace kiln::measure {

namespace {

class KilnProvider final : public Provider {
public:
  Status setDevice(const std::string &uri) override {
    deviceUri = uri;
    return okStatus();
  }
  Status start(uint32_t threads) override;
  std::string version() const override { return KILN_VERSION; }
  Status load(const LoadRequest &request, TensorMemory &tensors) override;
  Status run(uint32_t set) override;
  Status call(uint32_t set) override;
  WorkerDevice device() const override;
  Status upload(SetRange sets, bool outputsOnly) override {
    return isElsewhere() ? deviceTensors.upload(sets, outputsOnly) : okStatus();
  }
  Status fetch(SetRange sets) override { return isElsewhere() ? deviceTensors.fetch(sets) : okStatus(); }
  hal::Device *deviceOfChecks() override { return isElsewhere() ? halDevice.get() : nullptr; }
  Result<Ref<hal::Buffer>> inputOnDevice(size_t tensor, uint32_t set) override {
    return deviceTensors.input(tensor, set);
  }
  Result<Ref<hal::Buffer>> outputOnDevice(size_t tensor, uint32_t set) override {
    return deviceTensors.output(tensor, set);
  }
  Status runOnDevice(uint32_t set) override;
  Result<Ref<hal::TimedWork>> prepare(std::span<const uint32_t> sets) override;
  bool tellsDeviceTimes() const override { return !isElsewhere(); }
  void watch(bool on) override;
  DeviceTimes takeDeviceTimes() override { return std::exchange(deviceTimes, {}); }
  bool makesEmptyCalls() const override { return true; }
  Status emptyCall() override;

private:
  Status findFunction(std::string_view name);
  Status checkFunction() const;
  Result<vm::Value> importInput(size_t tensor, uint32_t set);
  Result<Ref<hal::Buffer>> inputBuffer(size_t tensor, uint32_t set);
  Result<const hal::BufferView *> checkedResult(size_t output);
  bool isElsewhere() const { return !deviceUri.empty(); }

  void addDeviceTimes();

  std::string deviceUri; // empty: the CPU

  Ref<hal::Device> halDevice;
  Ref<ResultAllocator> allocator;
  std::shared_ptr<hal::ExecutionWatch> executions = std::make_shared<hal::ExecutionWatch>();
  DeviceTimes deviceTimes;         // of the calls since `watch`
  Ref<hal::CommandBuffer> nothing; // what an empty call executes
  Ref<hal::Buffer> scratch;        // that it writes to
  std::unique_ptr<vm::Session> session;
  vm::Function function;
  TensorMemory *tensors = nullptr;
  std::vector<std::vector<vm::Value>> arguments;       // of each set
  std::vector<std::vector<std::span<uint8_t>>> places; // of the results, of each set
  std::vector<vm::Value> results;                      // of the last call

  // Of a device with memory of its own.
  DeviceTensors deviceTensors;
  std::vector<std::vector<Ref<hal::Buffer>>> devicePlaces; // of the results, of each set
  std::vector<std::vector<hal::Submission>> submissions;   // that a call makes, of each set; empty: not known yet
};

Status KilnProvider::start(uint32_t threads) {
  hal::DriverRegistry registry;
  hal::registerDrivers(registry);
  hal::DeviceOptions options;
  options.wrapAllocator = [this](Ref<hal::Allocator> inner) {
    allocator = makeRef<ResultAllocator>(std::move(inner));
    return Ref<hal::Allocator>(allocator);
  };
  if (isElsewhere()) {
    KILN_ASSIGN_OR_RETURN(halDevice, registry.createDevice(deviceUri, options));
    return okStatus();
  }
  // Freed memory is kept, so that timed calls ask the system for none, as in a program that runs for long.
  options.allocator = hal::AllocatorKind::Caching;
  options.task.workerCount = threads;
  KILN_ASSIGN_OR_RETURN(halDevice, registry.createDevice(threads == 1 ? "local-sync" : "local-task", options));
  halDevice->watch(executions);
  // The device has bound its own workers; the thread that waits for them works, too.
  return bindCaller(threads);
}

Status KilnProvider::load(const LoadRequest &request, TensorMemory &memory) {
  if (request.module.empty())
    return invalidArgument("\"module\" is empty; Kiln needs the module that it is to run");
  tensors = &memory;
  KILN_ASSIGN_OR_RETURN(Ref<vm::Module> module, vm::Module::loadFile(request.module));
  KILN_ASSIGN_OR_RETURN(Ref<vm::NativeModule> hal, vm::createHalModule({halDevice}));
  KILN_ASSIGN_OR_RETURN(session, vm::Session::create({module}, {std::move(hal)}));
  KILN_RETURN_IF_ERROR(findFunction(request.function));
  KILN_RETURN_IF_ERROR(checkFunction());
  if (isElsewhere()) {
    KILN_ASSIGN_OR_RETURN(deviceTensors, DeviceTensors::create(halDevice->allocator(), memory));
    submissions.resize(memory.sets());
  }
  for (uint32_t set = 0; set < memory.sets(); ++set) {
    std::vector<vm::Value> &values = arguments.emplace_back();
    for (size_t i = 0; i < memory.inputs().size(); ++i) {
      KILN_ASSIGN_OR_RETURN(vm::Value value, importInput(i, set));
      values.push_back(std::move(value));
    }
    std::vector<std::span<uint8_t>> &place = places.emplace_back();
    std::vector<Ref<hal::Buffer>> &devicePlace = devicePlaces.emplace_back();
    for (size_t i = 0; i < memory.outputs().size(); ++i)
      if (isElsewhere()) {
        KILN_ASSIGN_OR_RETURN(devicePlace.emplace_back(), deviceTensors.output(i, set));
      } else {
        place.emplace_back(memory.output(i, set), memory.outputs()[i].bytes);
      }
  }
  results.resize(function.resultCount());
  return okStatus();
}

Status KilnProvider::findFunction(std::string_view name) {
  if (!name.empty()) {
    KILN_ASSIGN_OR_RETURN(function, session->lookup(name));
    return okStatus();
  }
  std::vector<vm::Function> exports = session->exports();
  if (exports.size() != 1)
    return invalidArgument("the module exports {} functions; \"function\" must say which one", exports.size());
  function = exports.front();
  return okStatus();
}

Status KilnProvider::checkFunction() const {
  auto allTensors = [](std::string_view kinds) { return kinds.find_first_not_of('r') == kinds.npos; };
  if (function.argumentCount() == tensors->inputs().size() && function.resultCount() == tensors->outputs().size() &&
      allTensors(function.argumentKinds()) && allTensors(function.resultKinds()))
    return okStatus();
  std::string_view declaration = function.attribute("kiln.abi.declaration");
  return invalidArgument("the problem has {} inputs and {} outputs, all tensors; the function is {}",
                         tensors->inputs().size(), tensors->outputs().size(),
                         declaration.empty() ? function.name() : declaration);
}

WorkerDevice KilnProvider::device() const {
  WorkerDevice device{std::string(halDevice->uri()), !isElsewhere()};
  if (hal::DeviceClock *clock = halDevice->clock())
    device.clock = clock->isSimulated() ? WorkerDevice::Clock::Simulated : WorkerDevice::Clock::Device;
  device.cacheBytes = halDevice->cacheBytes();
  return device;
}

Result<vm::Value> KilnProvider::importInput(size_t tensor, uint32_t set) {
  const SharedTensor &input = tensors->inputs()[tensor];
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, inputBuffer(tensor, set));
  KILN_ASSIGN_OR_RETURN(Ref<hal::BufferView> view,
                        hal::BufferView::create(std::move(buffer), signlessType(input.type), input.shape));
  return vm::Value(std::move(view));
}

Result<Ref<hal::Buffer>> KilnProvider::inputBuffer(size_t tensor, uint32_t set) {
  if (isElsewhere())
    return deviceTensors.input(tensor, set);
  const SharedTensor &input = tensors->inputs()[tensor];
  hal::HostMemory memory;
  memory.data = const_cast<uint8_t *>(tensors->input(tensor, set));
  memory.length = input.bytes;
  memory.access = hal::MemoryAccess::Read;
  KILN_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer, halDevice->allocator().importHost(std::move(memory)));
  // A copy would not follow when inputs of set 0 change.
  if (input.bytes > 0 && buffer->hostPointer() != tensors->input(tensor, set))
    return internalError("the device {} does not use memory of this process in place", halDevice->uri());
  return buffer;
}

Status KilnProvider::call(uint32_t set) {
  for (vm::Value &result : results)
    result = vm::Value();
  if (isElsewhere())
    allocator->place(devicePlaces[set]);
  else
    allocator->place(places[set]);
  KILN_RETURN_IF_ERROR(session->call(function, arguments[set], results));
  if (executions->isOn())
    addDeviceTimes();
  return okStatus();
}

// What a call submits is the same each time, but for its buffers: those of the set, and what it allocated for itself.
Result<Ref<hal::TimedWork>> KilnProvider::prepare(std::span<const uint32_t> sets) {
  hal::DeviceClock *clock = halDevice->clock();
  if (!clock)
    return unimplemented("the device {} has no clock of its own", halDevice->uri());
  std::vector<hal::Submission> all;
  for (uint32_t set : sets) {
    std::vector<hal::Submission> &ofSet = submissions[set];
    if (ofSet.empty()) {
      halDevice->keepSubmissions(&ofSet);
      Status called = call(set);
      halDevice->keepSubmissions(nullptr);
      KILN_RETURN_IF_ERROR(called);
    }
    all.insert(all.end(), ofSet.begin(), ofSet.end());
  }
  return clock->prepare(std::move(all));
}

void KilnProvider::watch(bool on) {
  executions->turn(on);
  if (!on)
    return;
  executions->take();
  deviceTimes = {"monotonic", 1'000'000'000, {}, {}, {}};
}

// A call may submit several times: its device is at work from the first start to the last end. One that submits nothing
// has no times.
void KilnProvider::addDeviceTimes() {
  const std::vector<Ref<hal::ExecutionTimes>> all = executions->take();
  if (all.empty())
    return;
  uint64_t submitted = UINT64_MAX;
  hal::TickRange call{UINT64_MAX, 0};
  for (const Ref<hal::ExecutionTimes> &one : all) {
    submitted = std::min(submitted, one->submitted);
    call = {std::min(call.begin, one->submission.begin), std::max(call.end, one->submission.end)};
  }
  deviceTimes.submitted.push_back(int64_t(submitted));
  deviceTimes.started.push_back(int64_t(call.begin));
  deviceTimes.ended.push_back(int64_t(call.end));
}

// A few bytes for each worker to fill, so that all of them wake up as they do for a dispatch.
Status KilnProvider::emptyCall() {
  if (!nothing) {
    constexpr uint64_t kBytes = 64;
    uint32_t fills = halDevice->workerCount();
    KILN_ASSIGN_OR_RETURN(scratch, halDevice->allocator().allocate(hal::BufferUsage::Transient, fills * kBytes));
    KILN_ASSIGN_OR_RETURN(nothing, halDevice->createCommandBuffer(hal::CommandBufferMode::Replay, 1));
    for (uint32_t i = 0; i < fills; ++i)
      KILN_RETURN_IF_ERROR(nothing->fill({0, i * kBytes, kBytes}, 0, 1));
    KILN_RETURN_IF_ERROR(nothing->finalize());
  }
  hal::Binding binding{scratch.get(), 0, scratch->byteLength()};
  KILN_ASSIGN_OR_RETURN(Ref<hal::Fence> done, halDevice->execute(nullptr, nothing.get(), {&binding, 1}));
  return done->wait(Deadline::infinite());
}

static bool isSameRange(const hal::Buffer &a, const hal::Buffer &b) {
  return a.allocation() == b.allocation() && a.allocationOffset() == b.allocationOffset();
}

// Of the last call, with the problem's type.
Result<const hal::BufferView *> KilnProvider::checkedResult(size_t output) {
  const SharedTensor &wanted = tensors->outputs()[output];
  const hal::BufferView *view = results[output].as<hal::BufferView>();
  if (!view)
    return internalError("result {} of the function is no buffer view", output);
  if (view->elementType() != signlessType(wanted.type) || !std::ranges::equal(view->shape(), wanted.shape))
    return invalidArgument("result {} of the function is {}; the problem's is {}", output, view->typeText(),
                           hal::shapeText(wanted.type, wanted.shape));
  return view;
}

// A program may return what it was given, a constant, or one value twice: that lies elsewhere.
Status KilnProvider::run(uint32_t set) {
  KILN_RETURN_IF_ERROR(upload({set, 1}, /*outputsOnly=*/false));
  KILN_RETURN_IF_ERROR(call(set));
  KILN_RETURN_IF_ERROR(fetch({set, 1}));
  for (size_t i = 0; i < tensors->outputs().size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const hal::BufferView *view, checkedResult(i));
    const bool isPlaced = isElsewhere() ? isSameRange(*view->buffer(), *devicePlaces[set][i])
                                        : view->buffer()->hostPointer() == tensors->output(i, set);
    if (!isPlaced)
      KILN_RETURN_IF_ERROR(view->buffer()->read(
          0, {reinterpret_cast<std::byte *>(tensors->output(i, set)), size_t(tensors->outputs()[i].bytes)}));
  }
  return okStatus();
}

Status KilnProvider::runOnDevice(uint32_t set) {
  KILN_RETURN_IF_ERROR(call(set));
  for (size_t i = 0; i < tensors->outputs().size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const hal::BufferView *view, checkedResult(i));
    if (isSameRange(*view->buffer(), *devicePlaces[set][i]))
      continue;
    std::vector<std::byte> bytes(tensors->outputs()[i].bytes);
    KILN_RETURN_IF_ERROR(view->buffer()->read(0, bytes));
    KILN_RETURN_IF_ERROR(devicePlaces[set][i]->write(0, bytes));
  }
  return okStatus();
}

} // namespace

std::unique_ptr<Provider> createKilnProvider() {
  return std::make_unique<KilnProvider>();
}

} // namespace kiln::measure
