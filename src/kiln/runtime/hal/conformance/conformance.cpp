#include "kiln/runtime/hal/conformance/conformance.h"

#include "kiln/targets/drivers.h"

#include <algorithm>

namespace kiln::hal::conformance {

std::vector<Subject> allSubjects() {
  DriverRegistry registry;
  registerDrivers(registry);
  std::vector<Subject> subjects;
  for (const std::unique_ptr<Driver> &driver : registry.drivers()) {
    Result<std::vector<DeviceInfo>> devices = driver->devices();
    // A driver of this build for hardware that this machine does not have.
    if (!devices.ok() || devices->empty())
      continue;
    std::string uri(driver->name());
    DeviceOptions options;
    options.task.workerCount = 2;
    Result<Ref<Device>> device = driver->createDevice({uri, ""}, options);
    bool hasWorkers = device.ok() && (*device)->workerCount() == 2;
    if (hasWorkers) {
      subjects.push_back({uri, 1, AllocatorKind::Direct});
      subjects.push_back({uri, 2, AllocatorKind::Direct});
      subjects.push_back({uri, 2, AllocatorKind::Caching});
      subjects.push_back({uri, 5, AllocatorKind::Debug});
    } else {
      // The debug allocator looks into memory from the host.
      Result<Ref<Buffer>> buffer =
          device.ok() ? (*device)->allocator().allocate(BufferUsage::Result, 1) : device.status();
      bool isSeenByHost = buffer.ok() && (*buffer)->hostPointer();
      for (AllocatorKind kind : {AllocatorKind::Direct, AllocatorKind::Caching, AllocatorKind::Debug})
        if (kind != AllocatorKind::Debug || isSeenByHost)
          subjects.push_back({uri, 0, kind});
    }
    // Of a device with one queue unless it is asked for more.
    if (device.ok() && (*device)->queueCount() == 1 && driver->createDevice({uri, "?queues=3"}, options).ok())
      subjects.push_back({uri + "://?queues=3", 0, AllocatorKind::Caching});
  }
  return subjects;
}

std::string subjectName(const Subject &subject) {
  static constexpr const char *kAllocators[] = {"", "_caching", "_debug"};
  std::string name = subject.uri;
  std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  if (subject.workers)
    name += fmt::format("_{}_workers", subject.workers);
  return name + kAllocators[size_t(subject.allocator)];
}

void PrintTo(const Subject &subject, std::ostream *stream) {
  *stream << subjectName(subject);
}

void Conformance::SetUp() {
  registerDrivers(registry);
  DeviceOptions options;
  options.allocator = GetParam().allocator;
  options.task.workerCount = GetParam().workers;
  KILN_ASSERT_ASSIGN(device, registry.createDevice(GetParam().uri, options));
  if (GetParam().workers) {
    ASSERT_EQ(device->workerCount(), GetParam().workers);
  }
  KILN_ASSERT_ASSIGN(kernels, loadTestExecutable(*device, "kernels"));
}

void Conformance::TearDown() {
  if (device) {
    KILN_EXPECT_OK(device->allocator().verify());
  }
}

std::string Conformance::whyNoDispatch() const {
  if (device->uri() == "null")
    return "the null driver runs no kernels";
  return "";
}

std::string Conformance::whyNot(Kernel kernel) const {
  std::string reason = whyNoDispatch();
  bool isGeneral =
      kernel != FailInOne && kernel != UseLocalMemory && kernel != DescribeBindings && kernel != NoteWorker;
  if (reason.empty() && !isGeneral && !runsTestFormat(*device))
    reason = "the suite has this kernel for CPUs alone";
  return reason;
}

Ref<Buffer> Conformance::allocate(uint64_t length, BufferUsage usage) {
  Result<Ref<Buffer>> buffer = device->allocator().allocate(usage, length);
  EXPECT_TRUE(buffer.ok()) << buffer.status().toString();
  return buffer.ok() ? *buffer : nullptr;
}

Ref<CommandBuffer> Conformance::record(uint32_t slots, CommandBufferMode mode) {
  Result<Ref<CommandBuffer>> commands = device->createCommandBuffer(mode, slots);
  EXPECT_TRUE(commands.ok()) << commands.status().toString();
  return commands.ok() ? *commands : nullptr;
}

Status Conformance::addDispatch(CommandBuffer &commands, Kernel kernel, std::vector<uint64_t> constants,
                                std::vector<SlotRange> bindings, uint64_t x, uint64_t y, uint64_t z) {
  Dispatch dispatch;
  dispatch.executable = kernels.get();
  dispatch.exportOrdinal = kernel;
  dispatch.workgroupCount[0] = x;
  dispatch.workgroupCount[1] = y;
  dispatch.workgroupCount[2] = z;
  dispatch.constants = constants;
  dispatch.bindings = bindings;
  return commands.dispatch(dispatch);
}

std::vector<Binding> Conformance::table(std::initializer_list<Ref<Buffer>> buffers) {
  std::vector<Binding> bindings;
  for (const Ref<Buffer> &buffer : buffers)
    bindings.push_back({buffer.get(), 0, buffer ? buffer->byteLength() : 0});
  return bindings;
}

Status Conformance::run(CommandBuffer &commands, const std::vector<Binding> &bindings) {
  KILN_ASSIGN_OR_RETURN(Ref<Fence> fence, execute(commands, bindings));
  return fence->wait(patience());
}

INSTANTIATE_TEST_SUITE_P(Drivers, Conformance, testing::ValuesIn(allSubjects()),
                         [](const testing::TestParamInfo<Subject> &info) { return subjectName(info.param); });

} // namespace kiln::hal::conformance
