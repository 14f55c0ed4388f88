// CUDA's driver over simulated GPUs: what users see of kernels that do wrong, and of code that cannot be loaded.
#include "kiln/targets/cuda/sim/cuda_sim_driver.h"

#include "kiln/base/random.h"
#include "kiln/schema/gpu_executable.h"
#include "kiln/schema/gpu_executable_generated.h"
#include "kiln/targets/cuda/driver/cuda_driver.h"
#include "kiln/targets/cuda/sim/sim_library.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <elf.h>
#include <thread>

namespace kiln::hal {
namespace {

class CudaSim : public testing::Test {
protected:
  // Each device by its number has memory and faults of its own.
  void open(std::string_view seed) {
    Result<Ref<Device>> opened = CudaSimDriver().createDevice({"cuda-sim", std::string(seed)}, {});
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    device = *opened;
  }

  // An executable with the kernel `name` of that text, which has a binding and the parameters that follow.
  Result<Ref<Executable>> load(std::string_view text, std::string_view architecture = "sm_80",
                               const std::vector<std::string> &messages = {}) {
    flatbuffers::FlatBufferBuilder builder;
    return load(text, architecture, messages, builder, {});
  }
  // The same with tensor maps that the builder holds.
  Result<Ref<Executable>> load(std::string_view text, std::string_view architecture,
                               const std::vector<std::string> &messages, flatbuffers::FlatBufferBuilder &builder,
                               const std::vector<flatbuffers::Offset<schema::GpuTensorMap>> &maps,
                               std::span<const std::vector<uint8_t>> cubins = {}) {
    auto tensorMaps = builder.CreateVector(maps);
    auto assertions = builder.CreateVectorOfStrings(messages);
    const auto name = builder.CreateString("main_dispatch_0"), symbol = builder.CreateString("k");
    std::vector<flatbuffers::Offset<schema::GpuKernel>> kernels{
        schema::CreateGpuKernel(builder, name, symbol, /*code=*/0, /*binding_count=*/1, /*constant_count=*/0,
                                /*threads_x=*/32, 1, 1, 0, scratchBytes, tensorMaps, 0, false, assertions)};
    std::vector<flatbuffers::Offset<flatbuffers::String>> codes{builder.CreateString(std::string(text))};
    std::vector<flatbuffers::Offset<schema::GpuCubin>> machineCodes;
    for (const std::vector<uint8_t> &cubin : cubins)
      machineCodes.push_back(schema::CreateGpuCubinDirect(builder, &cubin));
    schema::FinishGpuExecutableBuffer(
        builder, schema::CreateGpuExecutableDirect(builder, kGpuExecutableVersion, &kernels, &codes,
                                                   cubins.empty() ? nullptr : &machineCodes));
    ExecutableSource source;
    source.name = "test";
    source.format = "ptx";
    source.cpu = architecture;
    source.bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    return device->createExecutable(source);
  }
  static std::string kernel(std::string_view body) {
    return fmt::format(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 b, .param .u64 x, "
        ".param .u64 y, .param .u64 z, .param .u64 s) {{\n.reg .b64 %a; .reg .b32 %t; .reg .pred %first;\n"
        "ld.param.u64 %a, [b]; mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0;\n{}\nret; }}",
        body);
  }

  // Runs it over a buffer of 64 bytes.
  Status run(std::string_view body) {
    KILN_ASSIGN_OR_RETURN(Ref<Executable> executable, load(kernel(body)));
    KILN_ASSIGN_OR_RETURN(Ref<CommandBuffer> commands, device->createCommandBuffer(CommandBufferMode::OneShot, 1));
    Dispatch dispatch;
    dispatch.executable = executable.get();
    std::vector<SlotRange> bindings{{0, 0, 64}};
    dispatch.bindings = bindings;
    KILN_RETURN_IF_ERROR(commands->dispatch(dispatch));
    KILN_RETURN_IF_ERROR(commands->finalize());
    KILN_ASSIGN_OR_RETURN(Ref<Buffer> buffer, device->allocator().allocate(BufferUsage::Result, 64));
    std::vector<Binding> table{{buffer.get(), 0, 64}};
    KILN_ASSIGN_OR_RETURN(Ref<Fence> fence, device->execute(nullptr, commands.get(), table));
    return fence->wait(Deadline::infinite());
  }

  Ref<Device> device;
  uint64_t scratchBytes = 0; // of a block of the kernels that are loaded from now on
};

// The simulator runs PTX alone, and takes that where there is machine code too.
TEST_F(CudaSim, MachineCodeThatIsNotWholeIsDataLoss) {
  open("1");
  auto load = [&](const std::vector<std::vector<uint8_t>> &cubins) {
    flatbuffers::FlatBufferBuilder builder;
    return CudaSim::load(kernel(""), "sm_80", {}, builder, {}, cubins).status();
  };
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shoff = sizeof(header);
  header.e_shnum = 1;
  Elf64_Shdr section = {};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = sizeof(header) + sizeof(section);
  section.sh_size = 8;
  auto file = [&](size_t contents) {
    std::vector<uint8_t> bytes(sizeof(header) + sizeof(section) + contents);
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), &section, sizeof(section));
    return bytes;
  };
  EXPECT_TRUE(load({file(8)}).ok());
  EXPECT_EQ(load({file(7)}).code(), StatusCode::DataLoss);
  EXPECT_EQ(load({file(8), file(8)}).code(), StatusCode::DataLoss);
  EXPECT_EQ(load({{}}).code(), StatusCode::DataLoss);
  section.sh_offset = ~uint64_t(0) - 4;
  EXPECT_EQ(load({file(8)}).code(), StatusCode::DataLoss);
  section = {};
  header.e_shnum = 2;
  EXPECT_EQ(load({file(8)}).code(), StatusCode::DataLoss);
  header.e_shnum = 1;
  EXPECT_TRUE(load({file(8)}).ok());
  // The same bytes as the header of a segment, whose offset lies where a section has its flags.
  header.e_phnum = 1;
  header.e_phoff = header.e_shoff;
  EXPECT_EQ(load({file(8)}).code(), StatusCode::DataLoss);
  header.e_phentsize = sizeof(Elf64_Phdr);
  EXPECT_TRUE(load({file(8)}).ok());
  section.sh_flags = ~uint64_t(0);
  EXPECT_EQ(load({file(8)}).code(), StatusCode::DataLoss);
  header.e_phnum = 0;
  EXPECT_TRUE(load({file(8)}).ok());
  header.e_ident[0] = 'x';
  EXPECT_EQ(load({file(8)}).code(), StatusCode::DataLoss);
}

TEST_F(CudaSim, faultsNameDispatchAndPlaceAndStay) {
  open("100");
  EXPECT_TRUE(run("@%first st.global.u32 [%a], %t;").ok());
  Ref<Buffer> buffer = *device->allocator().allocate(BufferUsage::Result, 64);
  Status status = run("st.global.u32 [%a+64], %t;");
  EXPECT_EQ(status.code(), StatusCode::Internal);
  const std::string text(status.message());
  EXPECT_NE(text.find("cannot run dispatch 'main_dispatch_0' with 1 x 1 x 1 workgroups: kernel 'k', instruction "
                      "'st.global.u32 [%a+64], %t' at PTX line 7, block (0, 0, 0), thread ("),
            text.npos)
      << text;
  EXPECT_NE(text.find("writes 4 bytes at"), text.npos) << text;
  EXPECT_NE(text.find("0 bytes past the end of an allocation of 64 bytes (CUDA_ERROR_ILLEGAL_ADDRESS: 700)"), text.npos)
      << text;
  // Whatever is asked of the device later is told of this error.
  const std::string reason = fmt::format("is lost because of an earlier error: {}; create it anew", text);
  std::array<std::byte, 64> bytes{};
  for (const Status &later : {run("ret;"), load(kernel("ret;")).status(), buffer->read(0, bytes),
                              device->allocator().allocate(BufferUsage::Result, 1 << 20).status()})
    EXPECT_NE(later.message().find(reason), std::string_view::npos) << later.toString();
  Ref<CommandBuffer> commands = *device->createCommandBuffer(CommandBufferMode::OneShot, 1);
  ASSERT_TRUE(commands->fill({0, 0, 64}, 5, 4).ok());
  ASSERT_TRUE(commands->finalize().ok());
  std::vector<Binding> table{{buffer.get(), 0, 64}};
  const Status execution = device->execute(nullptr, commands.get(), table).status();
  EXPECT_EQ(execution.code(), StatusCode::Unavailable);
  EXPECT_EQ(execution.message(), fmt::format("device '{}' {}", device->uri(), reason));
  commands = nullptr;
  buffer = nullptr;
  // The error goes with the context, once whoever completed the last submission has let go of the device.
  while (!device->unique())
    std::this_thread::yield();
  device = nullptr;
  open("100");
  EXPECT_TRUE(run("@%first st.global.u32 [%a], %t;").ok());
}

TEST_F(CudaSim, codeThatCannotBeLoaded) {
  open("101");
  Status status = load(kernel("frobnicate %t;")).status();
  EXPECT_NE(
      status.message().find("of which the driver says \"line 7: 'frobnicate %t': the instruction 'frobnicate' is not "
                            "one that the simulator knows\""),
      std::string_view::npos)
      << status.toString();
  status = load(kernel("ret;"), "sm_100").status();
  EXPECT_NE(status.message().find("it is for sm_100, and the device is sm_90"), std::string_view::npos)
      << status.toString();
  status = load(kernel(".shared .b8 s[50000]; mov.u32 %t, s;")).status();
  EXPECT_NE(status.message().find("has 50000 bytes of static shared memory; 49152 are possible"),
            std::string_view::npos)
      << status.toString();
  EXPECT_TRUE(run("ret;").ok());
}

TEST_F(CudaSim, architecturesDiffer) {
  open("sm_80/105");
  EXPECT_TRUE(run("@%first st.global.u32 [%a], %t;").ok());
  Status status = load(kernel("ret;"), "sm_90a").status();
  EXPECT_NE(
      status.message().find("cannot run on 'simulated sm_80, seed 105': it is for sm_90a, and the device is sm_80"),
      std::string_view::npos)
      << status.toString();
  open("sm_75");
  status = load(kernel("ret;"), "sm_75").status();
  EXPECT_NE(status.message().find("cannot compile the code"), std::string_view::npos)
      << "what the text says counts too: " << status.toString();
  EXPECT_NE(status.message().find("it is for sm_80, and the device is sm_75"), std::string_view::npos)
      << status.toString();
}

TEST_F(CudaSim, launchesThatCannotBe) {
  open("102");
  Result<Ref<Executable>> limited =
      load(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 b, "
           ".param .u64 x, .param .u64 y, .param .u64 z, .param .u64 s) .maxntid 16 { ret; }");
  ASSERT_TRUE(limited.ok()) << limited.status().toString();
  Result<Ref<CommandBuffer>> commands = device->createCommandBuffer(CommandBufferMode::OneShot, 1);
  Dispatch dispatch;
  dispatch.executable = limited->get();
  std::vector<SlotRange> bindings{{0, 0, 64}};
  dispatch.bindings = bindings;
  ASSERT_TRUE((*commands)->dispatch(dispatch).ok());
  ASSERT_TRUE((*commands)->finalize().ok());
  Result<Ref<Buffer>> buffer = device->allocator().allocate(BufferUsage::Result, 64);
  std::vector<Binding> table{{buffer->get(), 0, 64}};
  Result<Ref<Fence>> fence = device->execute(nullptr, commands->get(), table);
  ASSERT_TRUE(fence.ok());
  const Status status = (*fence)->wait(Deadline::infinite());
  EXPECT_NE(status.message().find("launch dispatch 'main_dispatch_0' with 1 x 1 x 1 workgroups: blocks of 32 threads; "
                                  "kernel 'k' is made for 16 at most (CUDA_ERROR_INVALID_VALUE: 1)"),
            std::string_view::npos)
      << status.toString();
}

// In many pieces, and at places that nothing is aligned to.
TEST_F(CudaSim, longCopiesArriveWhole) {
  open("26");
  constexpr size_t kBytes = (size_t(19) << 20) + 4321, kOffset = 77;
  std::vector<std::byte> written(kBytes), found(kBytes);
  Random dice(1);
  for (std::byte &byte : written)
    byte = std::byte(dice.bits());
  Result<Ref<Buffer>> buffer = device->allocator().allocate(BufferUsage::Result, kBytes + 2 * kOffset);
  ASSERT_TRUE(buffer.ok()) << buffer.status().toString();
  const std::vector<std::byte> zeros((*buffer)->byteLength());
  ASSERT_TRUE((*buffer)->write(0, zeros).ok());
  ASSERT_TRUE((*buffer)->write(kOffset, written).ok());
  ASSERT_TRUE((*buffer)->read(kOffset, found).ok());
  EXPECT_TRUE(found == written);
  // Nothing beside it is touched.
  std::vector<std::byte> all(zeros.size());
  ASSERT_TRUE((*buffer)->read(0, all).ok());
  EXPECT_TRUE(std::all_of(all.begin(), all.begin() + kOffset, [](std::byte byte) { return byte == std::byte(0); }));
  EXPECT_TRUE(std::all_of(all.end() - kOffset, all.end(), [](std::byte byte) { return byte == std::byte(0); }));
  EXPECT_TRUE(std::equal(written.begin(), written.end(), all.begin() + kOffset));
}

TEST_F(CudaSim, memoryHasAnEnd) {
  open("103");
  Result<Ref<Buffer>> buffer = device->allocator().allocate(BufferUsage::Result, uint64_t(17) << 30);
  EXPECT_EQ(buffer.status().code(), StatusCode::ResourceExhausted);
  EXPECT_NE(buffer.status().message().find("bytes are free"), std::string_view::npos) << buffer.status().toString();
}

// Profilers are told of submissions by the names of dispatches, in ranges that end, also where a launch fails.
TEST_F(CudaSim, submissionsAreRangesOfProfilers) {
  static std::vector<std::string> told;
  NvtxRanges ranges;
  ranges.push = [](const char *name) {
    told.push_back(name);
    return 0;
  };
  ranges.pop = [] {
    told.push_back("end");
    return 0;
  };
  static const CudaLibrary library(cudasim::simulatedCuda(), cudasim::simulatedCuda().version(), ranges);
  Result<Ref<Device>> opened = createCudaDevice(library, 109, {"cuda-sim", "109"}, {});
  ASSERT_TRUE(opened.ok()) << opened.status().toString();
  device = *opened;
  EXPECT_TRUE(run("@%first st.global.u32 [%a], %t;").ok());
  EXPECT_EQ(told, (std::vector<std::string>{"main_dispatch_0", "end"}));
  Ref<CommandBuffer> commands = *device->createCommandBuffer(CommandBufferMode::OneShot, 1);
  ASSERT_TRUE(commands->fill({0, 0, 64}, 5, 4).ok());
  ASSERT_TRUE(commands->finalize().ok());
  Ref<Buffer> buffer = *device->allocator().allocate(BufferUsage::Result, 64);
  std::vector<Binding> table{{buffer.get(), 0, 64}};
  ASSERT_TRUE((*device->execute(nullptr, commands.get(), table))->wait().ok());
  EXPECT_EQ(told, (std::vector<std::string>{"main_dispatch_0", "end", "fills and copies", "end"}));
  scratchBytes = uint64_t(1) << 40;
  EXPECT_FALSE(run("ret;").ok());
  EXPECT_EQ(told.size(), 6u);
  EXPECT_EQ(told.back(), "end");
}

// Memory is the device's own: scratch memory, too, is asked for by a number of bytes and a purpose.
TEST_F(CudaSim, scratchMemoryHasAnEnd) {
  static const CudaLibrary library = [] {
    CudaFunctions functions = cudasim::simulatedCuda();
    functions.cuMemAlloc_v2 = [](CUdeviceptr *address, size_t bytes) {
      return bytes == 4096 ? cuda::kOutOfMemory : cudasim::simulatedCuda().cuMemAlloc_v2(address, bytes);
    };
    return CudaLibrary(functions, cudasim::simulatedCuda().version());
  }();
  Result<Ref<Device>> opened = createCudaDevice(library, 107, {"cuda-sim", "107"}, {});
  ASSERT_TRUE(opened.ok()) << opened.status().toString();
  device = *opened;
  scratchBytes = 4096;
  const Status status = run("ret;");
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted);
  EXPECT_NE(status.message().find("cannot allocate 4096 bytes of scratch memory, which dispatches share, on 'simulated "
                                  "sm_90, seed 107': "),
            std::string_view::npos)
      << status.toString();
  EXPECT_NE(status.message().find("bytes are free"), std::string_view::npos) << status.toString();
  // The device works on.
  scratchBytes = 0;
  EXPECT_TRUE(run("@%first st.global.u32 [%a], %t;").ok());
}

// What the host has written to a mapping is copied when the mapping ends, which cannot fail. Nothing is computed from
// memory that does not have it.
TEST_F(CudaSim, failedWritesOfMappingsLoseTheDevice) {
  static bool copiesFail = false;
  static const CudaLibrary library = [] {
    CudaFunctions functions = cudasim::simulatedCuda();
    functions.cuMemcpyHtoDAsync_v2 = [](CUdeviceptr target, const void *source, size_t bytes, CUstream stream) {
      constexpr CUresult kInvalidValue = 1;
      return copiesFail ? kInvalidValue : cudasim::simulatedCuda().cuMemcpyHtoDAsync_v2(target, source, bytes, stream);
    };
    return CudaLibrary(functions, cudasim::simulatedCuda().version());
  }();
  Result<Ref<Device>> opened = createCudaDevice(library, 108, {"cuda-sim", "108"}, {});
  ASSERT_TRUE(opened.ok()) << opened.status().toString();
  device = *opened;
  Ref<Buffer> buffer = *device->allocator().allocate(BufferUsage::Result, 64);
  ASSERT_TRUE(buffer->map(MemoryAccess::ReadWrite).ok());
  EXPECT_TRUE(run("@%first st.global.u32 [%a], %t;").ok());
  copiesFail = true;
  ASSERT_TRUE(buffer->map(MemoryAccess::Read).ok());
  EXPECT_TRUE(run("@%first st.global.u32 [%a], %t;").ok());
  ASSERT_TRUE(buffer->map(MemoryAccess::ReadWrite).ok());
  copiesFail = false;
  const Status status = run("@%first st.global.u32 [%a], %t;");
  EXPECT_EQ(status.code(), StatusCode::Unavailable);
  EXPECT_NE(status.message().find("device 'cuda-sim://108' is lost because of an earlier error: what was written to a "
                                  "mapped buffer did not get there: cannot copy 64 bytes to the device: "),
            std::string_view::npos)
      << status.toString();
}

// The library with a count of what is asked of it.
int launchedGraphs = 0, madeGraphs = 0, updatedGraphs = 0, encodedMaps = 0;

CudaLibrary countingLibrary() {
  CudaFunctions functions = cudasim::simulatedCuda();
  functions.cuGraphLaunch = [](CUgraphExec executable, CUstream stream) {
    ++launchedGraphs;
    return cudasim::simulatedCuda().cuGraphLaunch(executable, stream);
  };
  functions.cuGraphInstantiateWithFlags = [](CUgraphExec *executable, CUgraph graph, unsigned long long flags) {
    ++madeGraphs;
    return cudasim::simulatedCuda().cuGraphInstantiateWithFlags(executable, graph, flags);
  };
  functions.cuTensorMapEncodeTiled = [](CudaTensorMap *map, int dataType, unsigned rank, CUdeviceptr address,
                                        const uint64_t *extents, const uint64_t *strides, const unsigned *box,
                                        const unsigned *elementStrides, int interleave, int swizzle, int promotion,
                                        int outside) {
    ++encodedMaps;
    return cudasim::simulatedCuda().cuTensorMapEncodeTiled(map, dataType, rank, address, extents, strides, box,
                                                           elementStrides, interleave, swizzle, promotion, outside);
  };
  functions.cuGraphExecUpdate_v2 = [](CUgraphExec executable, CUgraph graph, CudaGraphUpdate *update) {
    ++updatedGraphs;
    return cudasim::simulatedCuda().cuGraphExecUpdate_v2(executable, graph, update);
  };
  return CudaLibrary(functions, cudasim::simulatedCuda().version());
}

// Commands are launched one by one, then as a graph once their addresses come again; a graph that was not used for
// longest is updated for others.
TEST_F(CudaSim, recordingsBecomeGraphs) {
  static const CudaLibrary library = countingLibrary();
  Result<Ref<Device>> opened = createCudaDevice(library, 104, {"cuda-sim", "104"}, {});
  ASSERT_TRUE(opened.ok()) << opened.status().toString();
  device = *opened;
  Result<Ref<Executable>> executable = load(kernel("red.global.add.u32 [%a], 1;"));
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  Result<Ref<CommandBuffer>> commands = device->createCommandBuffer(CommandBufferMode::Replay, 1);
  ASSERT_TRUE((*commands)->fill({0, 0, 64}, 5, 4).ok());
  std::vector<SlotRange> bindings{{0, 0, 64}};
  Dispatch dispatch;
  dispatch.executable = executable->get();
  dispatch.bindings = bindings;
  ASSERT_TRUE((*commands)->barrier().ok());
  ASSERT_TRUE((*commands)->dispatch(dispatch).ok());
  ASSERT_TRUE((*commands)->finalize().ok());

  std::vector<Ref<Buffer>> buffers;
  for (int i = 0; i < 6; ++i)
    buffers.push_back(*device->allocator().allocate(BufferUsage::Result, 64));
  auto runOn = [&](const Ref<Buffer> &buffer) {
    std::vector<uint32_t> words(16, 77);
    ASSERT_TRUE(buffer->write(0, std::as_bytes(std::span(words))).ok());
    std::vector<Binding> table{{buffer.get(), 0, 64}};
    Result<Ref<Fence>> fence = device->execute(nullptr, commands->get(), table);
    ASSERT_TRUE(fence.ok());
    Status status = (*fence)->wait();
    ASSERT_TRUE(status.ok()) << status.toString();
    ASSERT_TRUE(buffer->read(0, std::as_writable_bytes(std::span(words))).ok());
    EXPECT_EQ(words[0], 5u + 32u);
    EXPECT_EQ(words[1], 5u);
  };
  launchedGraphs = madeGraphs = updatedGraphs = 0;
  runOn(buffers[0]);
  EXPECT_EQ(launchedGraphs, 0);
  runOn(buffers[0]);
  EXPECT_EQ(launchedGraphs, 1);
  runOn(buffers[0]);
  EXPECT_EQ(launchedGraphs, 2);
  EXPECT_EQ(madeGraphs, 1);
  for (int i = 1; i < 4; ++i)
    for (int times = 0; times < 2; ++times)
      runOn(buffers[i]);
  EXPECT_EQ(madeGraphs, 4);
  for (int i = 4; i < 6; ++i)
    for (int times = 0; times < 3; ++times)
      runOn(buffers[i]);
  EXPECT_EQ(madeGraphs, 4);
  EXPECT_EQ(updatedGraphs, 2);
  EXPECT_EQ(launchedGraphs, 2 + 3 + 4);
  commands = Ref<CommandBuffer>();
}

// What a kernel needs of its device is compared before it runs; a constant of 32 bits is the low half of what is
// pushed.
TEST_F(CudaSim, kernelsSayWhatTheyNeed) {
  open("109");
  auto load = [&](uint32_t subgroup, uint32_t dynamicBytes, uint32_t staticBytes) {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<flatbuffers::Offset<schema::GpuKernel>> kernels{
        schema::CreateGpuKernelDirect(builder, "main_dispatch_0", "k", 0, 1, 2, 32, 1, 1, dynamicBytes, 0, nullptr, 0,
                                      false, nullptr, 1, subgroup, staticBytes)};
    std::vector<flatbuffers::Offset<flatbuffers::String>> codes{builder.CreateString(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 b, .param .u32 c, .param .u64 d, "
        ".param .u64 x, .param .u64 y, .param .u64 z, .param .u64 s) {\n.reg .b64 %a, %d; .reg .b32 %c;\n"
        "ld.param.u64 %a, [b]; ld.param.u32 %c, [c]; ld.param.u64 %d, [d]; st.global.u32 [%a], %c; "
        "st.global.u64 [%a+8], %d; ret; }")};
    schema::FinishGpuExecutableBuffer(
        builder, schema::CreateGpuExecutableDirect(builder, kGpuExecutableVersion, &kernels, &codes));
    ExecutableSource source;
    source.name = "test";
    source.format = "ptx";
    source.cpu = "sm_80";
    source.bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    return device->createExecutable(source);
  };
  EXPECT_NE(load(64, 0, 0).status().message().find("'main_dispatch_0' is made for 64 threads that run in step; those "
                                                   "of 'simulated sm_90, seed 109' are 32"),
            std::string_view::npos);
  EXPECT_TRUE(load(32, 232448, 0).ok());
  EXPECT_NE(load(32, 232448, 4)
                .status()
                .message()
                .find("needs 232452 bytes of shared memory; 'simulated sm_90, seed "
                      "109' has 232448 for a block"),
            std::string_view::npos);
  Result<Ref<Executable>> executable = load(32, 0, 0);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  Ref<CommandBuffer> commands = *device->createCommandBuffer(CommandBufferMode::OneShot, 1);
  const std::vector<SlotRange> bindings{{0, 0, 16}};
  const std::vector<uint64_t> constants{0x12345678, 0x0123456789ABCDEF};
  Dispatch dispatch;
  dispatch.executable = executable->get();
  dispatch.bindings = bindings;
  dispatch.constants = constants;
  ASSERT_TRUE(commands->dispatch(dispatch).ok());
  ASSERT_TRUE(commands->finalize().ok());
  Ref<Buffer> buffer = *device->allocator().allocate(BufferUsage::Result, 16);
  std::array<uint64_t, 2> values = {0, 0};
  ASSERT_TRUE(buffer->write(0, std::as_bytes(std::span(values))).ok());
  const std::vector<Binding> table{{buffer.get(), 0, 16}};
  ASSERT_TRUE((*device->execute(nullptr, commands.get(), table))->wait(Deadline::infinite()).ok());
  ASSERT_TRUE(buffer->read(0, std::as_writable_bytes(std::span(values))).ok());
  EXPECT_EQ(values[0], constants[0]);
  EXPECT_EQ(values[1], constants[1]);
}

// A launch has as many blocks as clusters that run at a time, of which 8 multiprocessors hold two of three blocks.
TEST_F(CudaSim, clustersAreWhole) {
  open("108");
  auto loaded = [&](uint32_t clusterBlocks, std::string_view required) {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<flatbuffers::Offset<schema::GpuKernel>> kernels{
        schema::CreateGpuKernelDirect(builder, "main_dispatch_0", "k", 0, 1, 0, 32, 1, 1, 0, 0, nullptr,
                                      /*blocks_per_multiprocessor=*/1, false, nullptr, clusterBlocks)};
    const std::string text = fmt::format(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 b, .param .u64 x, .param .u64 y, "
        ".param .u64 z, .param .u64 s) .explicitcluster {} {{\n.reg .b64 %a; .reg .b32 %t; .reg .pred %p;\n"
        "ld.param.u64 %a, [b]; mov.u32 %t, %tid.x; setp.eq.u32 %p, %t, 0; @%p red.global.add.u32 [%a], 1; "
        "mov.u32 %t, %cluster_nctarank; @%p red.global.add.u32 [%a+4], %t; ret; }}",
        required);
    std::vector<flatbuffers::Offset<flatbuffers::String>> codes{builder.CreateString(text)};
    schema::FinishGpuExecutableBuffer(
        builder, schema::CreateGpuExecutableDirect(builder, kGpuExecutableVersion, &kernels, &codes));
    ExecutableSource source;
    source.name = "test";
    source.format = "ptx";
    source.cpu = "sm_90";
    source.bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    return device->createExecutable(source);
  };
  auto words = [&](Executable &executable) -> Result<std::vector<uint32_t>> {
    KILN_ASSIGN_OR_RETURN(Ref<CommandBuffer> commands, device->createCommandBuffer(CommandBufferMode::OneShot, 1));
    Dispatch dispatch;
    dispatch.executable = &executable;
    dispatch.workgroupCount[0] = 12;
    std::vector<SlotRange> bindings{{0, 0, 64}};
    dispatch.bindings = bindings;
    KILN_RETURN_IF_ERROR(commands->dispatch(dispatch));
    KILN_RETURN_IF_ERROR(commands->finalize());
    KILN_ASSIGN_OR_RETURN(Ref<Buffer> buffer, device->allocator().allocate(BufferUsage::Result, 64));
    std::vector<uint32_t> values(16);
    KILN_RETURN_IF_ERROR(buffer->write(0, std::as_bytes(std::span(values))));
    std::vector<Binding> table{{buffer.get(), 0, 64}};
    KILN_ASSIGN_OR_RETURN(Ref<Fence> fence, device->execute(nullptr, commands.get(), table));
    KILN_RETURN_IF_ERROR(fence->wait(Deadline::infinite()));
    KILN_RETURN_IF_ERROR(buffer->read(0, std::as_writable_bytes(std::span(values))));
    return values;
  };
  Result<Ref<Executable>> executable = loaded(3, ".reqnctapercluster 3");
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  Result<std::vector<uint32_t>> found = words(**executable);
  ASSERT_TRUE(found.ok()) << found.status().toString();
  EXPECT_EQ((*found)[0], 6u);
  EXPECT_EQ((*found)[1], 18u);
  EXPECT_EQ(
      loaded(9, ".reqnctapercluster 3").status().message(),
      "executable 'test' cannot be used: dispatch 'main_dispatch_0' has clusters of 9 blocks; 1 to 8 are possible");
  // What the executable says and what its code says differ.
  const Status status = words(**loaded(1, ".reqnctapercluster 3")).status();
  EXPECT_NE(status.message().find("a grid of 8 x 1 x 1 blocks, which is no multiple of the clusters of 3 x 1 x 1"),
            std::string_view::npos)
      << status.toString();
}

// A forged one would be read, by the driver and by copies, as far as the longer of its lists goes.
TEST_F(CudaSim, tensorMapsAreChecked) {
  open("110");
  auto refusal = [&](size_t count, uint32_t binding, uint8_t elementBytes, const std::vector<uint64_t> &extents,
                     const std::vector<uint32_t> &box) {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<flatbuffers::Offset<schema::GpuTensorMap>> maps;
    for (size_t i = 0; i < count; ++i)
      maps.push_back(schema::CreateGpuTensorMapDirect(builder, binding, /*data_type=*/6, elementBytes, &extents, &box));
    return std::string(load(kernel(""), "sm_80", {}, builder, maps).status().message());
  };
  const std::string dispatch = "executable 'test' cannot be used: dispatch 'main_dispatch_0' has ";
  const std::string ranks = "; each has the same number, 1 to 5";
  EXPECT_EQ(refusal(1, 0, 2, {8, 8}, {8, 8}), "");
  EXPECT_EQ(refusal(1, 0, 2, {8, 8}, {8}), dispatch + "a tensor map with 2 extents and a box of 1" + ranks);
  EXPECT_EQ(refusal(1, 0, 2, {8}, {8, 8, 8}), dispatch + "a tensor map with 1 extents and a box of 3" + ranks);
  EXPECT_EQ(refusal(1, 0, 2, {}, {}), dispatch + "a tensor map with 0 extents and a box of 0" + ranks);
  EXPECT_EQ(refusal(1, 0, 2, {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}),
            dispatch + "a tensor map with 6 extents and a box of 6" + ranks);
  EXPECT_EQ(refusal(1, 1, 2, {8}, {8}), dispatch + "a tensor map of binding 1 of 1, with elements of 2 bytes");
  EXPECT_EQ(refusal(1, 0, 0, {8}, {8}), dispatch + "a tensor map of binding 0 of 1, with elements of 0 bytes");
  EXPECT_EQ(refusal(5, 0, 2, {8}, {8}), dispatch + "5 tensor maps; 4 are possible");
}

// A launch hands over what the table says, of as many bytes as the code takes.
TEST_F(CudaSim, parametersAreTheTables) {
  open("111");
  auto refusal = [&](std::string_view parameters) {
    return std::string(
        load(fmt::format(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k({}) {{ ret; }}", parameters))
            .status()
            .message());
  };
  const std::string five = ".param .u64 b, .param .u64 x, .param .u64 y, .param .u64 z, ",
                    text = "executable 'test' cannot be used: the code of dispatch 'main_dispatch_0' takes other "
                           "parameters than its table says: ";
  EXPECT_EQ(refusal(five + ".param .u64 s"), "");
  EXPECT_EQ(refusal(five + ".param .u64 s, .param .u64 t"), text + "more than the 5 that there are");
  EXPECT_EQ(refusal(five + ".param .align 64 .b8 s[128]"), text + "128 bytes of parameter 4, which has 8");
}

// A tensor map is made once for each of the last eight addresses.
TEST_F(CudaSim, tensorMapsAreKept) {
  static const CudaLibrary library = countingLibrary();
  Result<Ref<Device>> opened = createCudaDevice(library, 107, {"cuda-sim", "107"}, {});
  ASSERT_TRUE(opened.ok()) << opened.status().toString();
  device = *opened;
  // Copies rows 1 and 2 of four rows of 64 f16, and stores the second one's first word, which the swizzle has moved.
  constexpr std::string_view text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 b, .param .u64 x, .param .u64 y, "
      ".param .u64 z, .param .u64 s, .param .align 64 .b8 m[128]) {\n.shared .align 1024 .b8 t[256]; .shared .align 8 "
      ".b64 r;\n"
      ".reg .b64 %a, %m, %s; .reg .b32 %t, %u, %v; .reg .pred %p;\n"
      "ld.param.u64 %a, [b]; mov.u32 %u, r; mov.u32 %v, t; mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0; @%p bra end;\n"
      "mov.b64 %m, m; cvta.param.u64 %m, %m; mbarrier.init.shared.b64 [%u], 1; fence.proxy.async;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %s, [%u], 256;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%v], [%m, {0, 1}], [%u];\n"
      "wait: mbarrier.try_wait.parity.shared.b64 %p, [%u], 0; @!%p bra wait;\n"
      "ld.shared.u32 %t, [t+144]; st.global.u32 [%a], %t;\nend: ret; }";
  flatbuffers::FlatBufferBuilder builder;
  std::vector<uint64_t> extents{64, 4};
  std::vector<uint32_t> box{64, 2};
  std::vector<flatbuffers::Offset<schema::GpuTensorMap>> maps{
      schema::CreateGpuTensorMapDirect(builder, 0, /*data_type=*/6, 2, &extents, &box)};
  Result<Ref<Executable>> executable = load(text, "sm_90a", {}, builder, maps);
  ASSERT_TRUE(executable.ok()) << executable.status().toString();
  Ref<CommandBuffer> commands = *device->createCommandBuffer(CommandBufferMode::Replay, 1);
  std::vector<SlotRange> bindings{{0, 0, 512}};
  Dispatch dispatch;
  dispatch.executable = executable->get();
  dispatch.bindings = bindings;
  ASSERT_TRUE(commands->dispatch(dispatch).ok());
  ASSERT_TRUE(commands->finalize().ok());
  std::vector<Ref<Buffer>> buffers;
  for (int i = 0; i < 10; ++i)
    buffers.push_back(*device->allocator().allocate(BufferUsage::Result, 512));
  auto runOn = [&](int i) {
    std::vector<uint32_t> words(128);
    words[64] = 1000 + uint32_t(i);
    ASSERT_TRUE(buffers[i]->write(0, std::as_bytes(std::span(words))).ok());
    std::vector<Binding> table{{buffers[i].get(), 0, 512}};
    Result<Ref<Fence>> fence = device->execute(nullptr, commands.get(), table);
    ASSERT_TRUE(fence.ok());
    Status status = (*fence)->wait();
    ASSERT_TRUE(status.ok()) << status.toString();
    ASSERT_TRUE(buffers[i]->read(0, std::as_writable_bytes(std::span(words))).ok());
    EXPECT_EQ(words[0], 1000u + uint32_t(i));
  };
  encodedMaps = 0;
  for (int i : {0, 0, 1, 0, 1})
    runOn(i);
  EXPECT_EQ(encodedMaps, 2);
  for (int i = 2; i < 10; ++i)
    runOn(i);
  EXPECT_EQ(encodedMaps, 10);
  runOn(9);
  EXPECT_EQ(encodedMaps, 10);
  runOn(0);
  EXPECT_EQ(encodedMaps, 11);
}

// Of two commands the second asserts that its binding's first word is odd and below 10. Each round runs it, launched
// one by one or as a graph, and behind it a recording without assertions, which the device starts by itself.
// Also what follows in another queue.
class CudaSimAssertions : public CudaSim, public testing::WithParamInterface<const char *> {};

TEST_P(CudaSimAssertions, FailWhatFollows) {
  open(GetParam());
  Result<Ref<Executable>> asserting = load(
      ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 b, .param .u64 x, .param .u64 y, "
      ".param .u64 z, .param .u64 s, .param .u64 f, .param .u64 n) {\n.reg .b64 %a, %f, %n, %o; .reg .b32 %v, %w; "
      ".reg .pred %p;\nld.param.u64 %a, [b]; ld.param.u64 %f, [f]; ld.param.u64 %n, [n];\n"
      "ld.global.u32 %v, [%a]; and.b32 %w, %v, 1; setp.ne.u32 %p, %w, 0; @%p bra odd;\n"
      "atom.global.min.u64 %o, [%f], %n;\nodd: setp.lt.u32 %p, %v, 10; @%p bra small;\n"
      "or.b64 %n, %n, 1; atom.global.min.u64 %o, [%f], %n;\nsmall: ret; }",
      "sm_80", {"even", "large"});
  ASSERT_TRUE(asserting.ok()) << asserting.status().toString();
  Result<Ref<Executable>> plain = load(kernel("red.global.add.u32 [%a+4], 1;"));
  ASSERT_TRUE(plain.ok()) << plain.status().toString();
  auto record = [&](std::initializer_list<Executable *> executables) {
    Ref<CommandBuffer> commands = *device->createCommandBuffer(CommandBufferMode::Replay, 1);
    std::vector<SlotRange> bindings{{0, 0, 64}};
    for (Executable *executable : executables) {
      Dispatch dispatch;
      dispatch.executable = executable;
      dispatch.bindings = bindings;
      EXPECT_TRUE(commands->dispatch(dispatch).ok());
      EXPECT_TRUE(commands->barrier().ok());
    }
    EXPECT_TRUE(commands->finalize().ok());
    return commands;
  };
  Ref<CommandBuffer> first = record({plain->get(), asserting->get()}), second = record({plain->get()});
  Ref<Buffer> buffer = *device->allocator().allocate(BufferUsage::Result, 64);
  std::vector<Binding> table{{buffer.get(), 0, 64}};
  for (uint32_t value : {2u, 1u, 13u, 3u, 12u, 5u}) {
    std::vector<uint32_t> words(16, value);
    ASSERT_TRUE(buffer->write(0, std::as_bytes(std::span(words))).ok());
    Result<Ref<Fence>> before = device->execute(nullptr, first.get(), table, 1);
    ASSERT_TRUE(before.ok());
    Result<Ref<Fence>> after = device->execute(before->get(), second.get(), table, 2);
    ASSERT_TRUE(after.ok());
    Result<Ref<Fence>> last = device->execute(after->get(), second.get(), table, 4);
    ASSERT_TRUE(last.ok());
    for (const Ref<Fence> &fence : {*last, *after, *before}) {
      const Status status = fence->wait();
      // Of several that fail, the first in the text.
      const std::string_view expected = value % 2 == 0 ? "even (in dispatch 'main_dispatch_0')"
                                        : value >= 10  ? "large (in dispatch 'main_dispatch_0')"
                                                       : "";
      EXPECT_EQ(status.message(), expected) << value;
      EXPECT_EQ(status.ok(), expected.empty());
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::FailedPrecondition);
    }
    // It is known only afterwards, and others wait for no assertion.
    ASSERT_TRUE(buffer->read(0, std::as_writable_bytes(std::span(words))).ok());
    EXPECT_EQ(words[1], value + 3 * 32);
  }
}

INSTANTIATE_TEST_SUITE_P(Queues, CudaSimAssertions, testing::Values("106", "110?queues=2", "111?queues=3"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return std::string(info.param).substr(0, 3);
                         });

// One kernel waits for what another writes, which runs in the other queue meanwhile. What comes after both sees both.
TEST_F(CudaSim, QueuesRunBesideEachOther) {
  for (const char *uri : {"112?queues=2", "113?queues=2", "114?queues=2"}) {
    open(uri);
    EXPECT_EQ(device->queueCount(), 2u);
    Ref<Buffer> buffer = *device->allocator().allocate(BufferUsage::Result, 64);
    std::vector<uint32_t> words(16, 0);
    ASSERT_TRUE(buffer->write(0, std::as_bytes(std::span(words))).ok());
    std::vector<Binding> table{{buffer.get(), 0, 64}};
    auto start = [&](Fence *wait, std::string_view body, uint64_t queue) {
      Ref<Executable> executable = *load(kernel(body));
      Ref<CommandBuffer> commands = *device->createCommandBuffer(CommandBufferMode::OneShot, 1);
      Dispatch dispatch;
      dispatch.executable = executable.get();
      std::vector<SlotRange> bindings{{0, 0, 64}};
      dispatch.bindings = bindings;
      EXPECT_TRUE(commands->dispatch(dispatch).ok());
      EXPECT_TRUE(commands->finalize().ok());
      return *device->execute(wait, commands.get(), table, queue);
    };
    Ref<Fence> waits = start(nullptr,
                             ".reg .b32 %v; .reg .pred %p; again: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, "
                             "0; @%p bra again; st.global.u32 [%a+4], 5;",
                             1);
    EXPECT_FALSE(waits->isSignaled());
    Ref<Fence> writes = start(nullptr, "st.volatile.global.u32 [%a], 7;", 2);
    Ref<Fence> both = Fence::join(std::array{waits.get(), writes.get()});
    Ref<Fence> last = start(both.get(),
                            ".reg .b32 %v, %w; ld.global.u32 %v, [%a]; ld.global.u32 %w, [%a+4]; add.u32 %v, %v, %w; "
                            "st.global.u32 [%a+8], %v;",
                            2);
    ASSERT_TRUE(last->wait().ok());
    ASSERT_TRUE(buffer->read(0, std::as_writable_bytes(std::span(words))).ok());
    EXPECT_EQ(words[2], 12u);
  }
}

TEST(CudaSimDriver, pathsAreSeeds) {
  CudaSimDriver driver;
  EXPECT_EQ(driver.createDevice({"cuda-sim", "-1"}, {}).status().code(), StatusCode::NotFound);
  for (const char *path : {"1x", "sm_81", "sm_80/", "sm_80/-1", "sm_80/x", "sm_80x", "/1", "268435456"})
    EXPECT_EQ(driver.createDevice({"cuda-sim", path}, {}).status().code(), StatusCode::NotFound) << path;
  for (const char *path : {"?queues=0", "?queues=17", "7?queues=", "7?queues=2x", "7?x", "7?queues=2&queues=2"})
    EXPECT_EQ(driver.createDevice({"cuda-sim", path}, {}).status().code(), StatusCode::InvalidArgument) << path;
  for (const char *path : {"", "7", "268435455", "sm_75", "sm_120/7", "?queues=2", "sm_120/7?queues=16"})
    EXPECT_TRUE(driver.createDevice({"cuda-sim", path}, {}).ok()) << path;
  Result<std::vector<DeviceInfo>> devices = driver.devices();
  ASSERT_TRUE(devices.ok()) << devices.status().toString();
  ASSERT_EQ(devices->size(), 1u);
  EXPECT_EQ((*devices)[0].uri, "cuda-sim://0");
  EXPECT_EQ((*devices)[0].name, "simulated sm_90, seed 0");
}

} // namespace
} // namespace kiln::hal
