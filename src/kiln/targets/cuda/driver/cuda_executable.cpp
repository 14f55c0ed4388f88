#include "kiln/targets/cuda/driver/cuda_executable.h"

#include "kiln/schema/gpu_executable.h"
#include "kiln/schema/gpu_executable_generated.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace kiln::hal {

Status checkCudaArchitecture(std::string_view architecture, int major, int minor) {
  std::string_view digits = architecture;
  bool known = digits.starts_with("sm_");
  digits.remove_prefix(known ? 3 : 0);
  bool exact = digits.ends_with('a');
  digits.remove_suffix(exact ? 1 : 0);
  int number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (!known || error != std::errc() || end != digits.data() + digits.size())
    return dataLoss("it is for the architecture '{}', which is not one of NVIDIA's", architecture);
  int device = major * 10 + minor;
  if (exact ? number == device : number <= device)
    return okStatus();
  return failedPrecondition("it is for {}, and the device is sm_{}. Recompile with "
                            "--iree-hal-cuda-llvm-target-arch=sm_{}",
                            architecture, device, device);
}

Status CudaExecutable::check(const ExecutableSource &source, const CudaProperties &device) {
  if (source.format != kCudaFormat)
    return failedPrecondition("executable '{}' has the format '{}'; this device runs '{}'. Recompile with "
                              "--iree-hal-target-backends=cuda",
                              source.name, source.format, kCudaFormat);
  return checkCudaArchitecture(source.cpu, device.major, device.minor)
      .withContext(fmt::format("executable '{}' cannot run on '{}'", source.name, device.name));
}

// What each export must be for the host program and for the device.
static Status checkKernel(const schema::GpuKernel &kernel, size_t codes, const CudaProperties &device) {
  uint64_t threads = uint64_t(kernel.threads_x()) * kernel.threads_y() * kernel.threads_z();
  if (kernel.code() >= codes)
    return dataLoss("dispatch '{}' is in code {} of {}", kernel.name()->string_view(), kernel.code(), codes);
  if (uint64_t(kernel.binding_count()) + kernel.constant_count() > kGpuMostParameters)
    return dataLoss("dispatch '{}' has {} bindings and {} constants, more than a kernel can take",
                    kernel.name()->string_view(), kernel.binding_count(), kernel.constant_count());
  if (threads == 0 || std::max({kernel.threads_x(), kernel.threads_y(), kernel.threads_z()}) > 1024 ||
      threads > uint64_t(device.maxThreadsPerBlock))
    return failedPrecondition("dispatch '{}' has blocks of {} x {} x {} threads; '{}' runs up to {}",
                              kernel.name()->string_view(), kernel.threads_x(), kernel.threads_y(), kernel.threads_z(),
                              device.name, device.maxThreadsPerBlock);
  const uint64_t shared = uint64_t(kernel.dynamic_shared_bytes()) + kernel.static_shared_bytes();
  if (shared > uint64_t(device.maxSharedBytes))
    return failedPrecondition("dispatch '{}' needs {} bytes of shared memory; '{}' has {} for a block",
                              kernel.name()->string_view(), shared, device.name, device.maxSharedBytes);
  if (kernel.subgroup_threads() != uint32_t(device.warpThreads))
    return failedPrecondition("dispatch '{}' is made for {} threads that run in step; those of '{}' are {}",
                              kernel.name()->string_view(), kernel.subgroup_threads(), device.name, device.warpThreads);
  if (kernel.cluster_blocks() == 0 || kernel.cluster_blocks() > kGpuMostClusterBlocks)
    return dataLoss("dispatch '{}' has clusters of {} blocks; 1 to {} are possible", kernel.name()->string_view(),
                    kernel.cluster_blocks(), kGpuMostClusterBlocks);
  return okStatus();
}

static Status checkTensors(const schema::GpuKernel &kernel) {
  if (!kernel.tensor_maps())
    return okStatus();
  if (kernel.tensor_maps()->size() > kGpuMostTensorMaps)
    return dataLoss("dispatch '{}' has {} tensor maps; {} are possible", kernel.name()->string_view(),
                    kernel.tensor_maps()->size(), kGpuMostTensorMaps);
  for (const schema::GpuTensorMap *map : *kernel.tensor_maps()) {
    size_t rank = map->extents() ? map->extents()->size() : 0, sides = map->box() ? map->box()->size() : 0;
    if (rank == 0 || rank > kGpuMostTensorRank || sides != rank)
      return dataLoss(
          "dispatch '{}' has a tensor map with {} extents and a box of {}; each has the same number, 1 to {}",
          kernel.name()->string_view(), rank, sides, kGpuMostTensorRank);
    if (map->binding() >= kernel.binding_count() || map->element_bytes() == 0)
      return dataLoss("dispatch '{}' has a tensor map of binding {} of {}, with elements of {} bytes",
                      kernel.name()->string_view(), map->binding(), kernel.binding_count(), map->element_bytes());
  }
  return okStatus();
}

static CudaTensor readTensor(const schema::GpuTensorMap &map) {
  CudaTensor tensor{map.binding(), map.data_type(), {map.extents()->begin(), map.extents()->end()}, {}, {}};
  tensor.box.assign(map.box()->begin(), map.box()->end());
  uint64_t stride = map.element_bytes();
  for (size_t i = 0; i + 1 < tensor.extents.size(); ++i)
    tensor.strides.push_back(stride *= tensor.extents[i]);
  return tensor;
}

static Status checkExpected(const schema::GpuKernel &found, const ExpectedExport &expected, size_t index) {
  if (expected.name != found.name()->string_view())
    return dataLoss("the module expects its export {} to be '{}'; it is '{}'", index, expected.name,
                    found.name()->string_view());
  if (expected.bindingCount != found.binding_count() || expected.constantCount != found.constant_count())
    return dataLoss("the module gives dispatch '{}' {} bindings and {} constants; it takes {} and {}", expected.name,
                    expected.bindingCount, expected.constantCount, found.binding_count(), found.constant_count());
  return okStatus();
}

// Whether machine code for `architecture` is that of the device.
static bool isMadeFor(std::string_view architecture, const CudaProperties &device) {
  return architecture == fmt::format("sm_{}{}", device.major, device.minor) ||
         architecture == fmt::format("sm_{}{}a", device.major, device.minor);
}

// The driver takes an image without its length: what the file's own tables name must be in it.
static Status checkCubins(const schema::GpuExecutable &table) {
  if (!table.cubins())
    return okStatus();
  if (!table.codes() || table.cubins()->size() != table.codes()->size())
    return dataLoss("it has machine code for {} of its codes", table.cubins()->size());
  for (const schema::GpuCubin *cubin : *table.cubins()) {
    const std::span<const uint8_t> bytes(cubin->bytes() ? cubin->bytes()->data() : nullptr,
                                         cubin->bytes() ? cubin->bytes()->size() : 0);
    auto isInside = [&](uint64_t offset, uint64_t size) {
      return offset <= bytes.size() && size <= bytes.size() - offset;
    };
    Elf64_Ehdr header = {};
    bool isWhole = bytes.size() >= sizeof(header);
    if (isWhole)
      std::memcpy(&header, bytes.data(), sizeof(header));
    isWhole = isWhole && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
              header.e_shentsize == sizeof(Elf64_Shdr) &&
              isInside(header.e_shoff, uint64_t(header.e_shnum) * sizeof(Elf64_Shdr)) &&
              (header.e_phnum == 0 || header.e_phentsize == sizeof(Elf64_Phdr)) &&
              isInside(header.e_phoff, uint64_t(header.e_phnum) * header.e_phentsize);
    for (uint64_t i = 0; isWhole && i < header.e_phnum; ++i) {
      Elf64_Phdr segment;
      std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
      isWhole = isInside(segment.p_offset, segment.p_filesz);
    }
    for (uint64_t i = 0; isWhole && i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      std::memcpy(&section, bytes.data() + header.e_shoff + i * sizeof(section), sizeof(section));
      isWhole = section.sh_type == SHT_NOBITS || isInside(section.sh_offset, section.sh_size);
    }
    if (!isWhole)
      return dataLoss("its machine code is damaged");
  }
  return okStatus();
}

// The checked table in the executable's bytes, which are copied where they are not aligned.
static Result<const schema::GpuExecutable *> readTable(const ExecutableSource &source, const CudaProperties &device,
                                                       std::vector<uint64_t> &copy) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(source.bytes.data());
  if (reinterpret_cast<uintptr_t>(bytes) % alignof(uint64_t) != 0) {
    copy.resize((source.bytes.size() + 7) / 8);
    std::memcpy(copy.data(), bytes, source.bytes.size());
    bytes = reinterpret_cast<const uint8_t *>(copy.data());
  }
  flatbuffers::Verifier verifier(bytes, source.bytes.size());
  if (!schema::VerifyGpuExecutableBuffer(verifier))
    return dataLoss("its table is damaged");
  const schema::GpuExecutable *table = schema::GetGpuExecutable(bytes);
  if (table->version() == 0 || table->version() > kGpuExecutableVersion)
    return failedPrecondition("it has version {} of the executable's form; this runtime has versions 1 to {}. "
                              "Recompile the module, or use a newer runtime",
                              table->version(), kGpuExecutableVersion);
  size_t kernels = table->kernels() ? table->kernels()->size() : 0, codes = table->codes() ? table->codes()->size() : 0;
  if (!source.exports.empty() && source.exports.size() != kernels)
    return dataLoss("the module expects {} exports; it has {}", source.exports.size(), kernels);
  KILN_RETURN_IF_ERROR(checkCubins(*table));
  for (size_t i = 0; i < kernels; ++i) {
    KILN_RETURN_IF_ERROR(checkKernel(*table->kernels()->Get(i), codes, device));
    KILN_RETURN_IF_ERROR(checkTensors(*table->kernels()->Get(i)));
    if (!source.exports.empty())
      KILN_RETURN_IF_ERROR(checkExpected(*table->kernels()->Get(i), source.exports[i], i));
  }
  return table;
}

// A launch hands over as many bytes of each parameter as the code says that it has: those must be there.
static Status checkParameters(const CudaLibrary &cuda, const CudaKernel &kernel) {
  if (!cuda.cuFuncGetParamInfo)
    return okStatus();
  constexpr size_t kCountsAndScratch = 4;
  const size_t before = kernel.bindingCount + kernel.constantCount + kCountsAndScratch;
  const size_t maps = before + kernel.tensors.size(), all = maps + (kernel.assertions.empty() ? 0 : 2);
  // One that there is none of is an error to tools that watch the driver, and is asked for on simulated devices alone.
  for (size_t i = 0, end = all + (cuda.isSimulated() ? 1 : 0); i < end; ++i) {
    size_t offset = 0, bytes = 0;
    if (cuda.cuFuncGetParamInfo(kernel.function, i, &offset, &bytes) != cuda::kSuccess)
      return okStatus(); // the code takes no more
    const size_t given = i < before || i >= maps ? sizeof(uint64_t) : sizeof(CudaTensorMap);
    if (i >= all || bytes > given)
      return dataLoss("the code of dispatch '{}' takes other parameters than its table says: {}", kernel.name,
                      i >= all ? fmt::format("more than the {} that there are", all)
                               : fmt::format("{} bytes of parameter {}, which has {}", bytes, i, given));
  }
  return okStatus();
}

Result<Ref<CudaExecutable>> CudaExecutable::load(const Ref<CudaContext> &context, const ExecutableSource &source) {
  KILN_RETURN_IF_ERROR(check(source, context->properties()));
  std::string name = fmt::format("executable '{}' cannot be used", source.name);
  std::vector<uint64_t> copy;
  Result<const schema::GpuExecutable *> found = readTable(source, context->properties(), copy);
  if (!found.ok())
    return Status(found.status()).withContext(name);
  const schema::GpuExecutable &table = **found;
  const CudaLibrary &cuda = context->cuda();
  CudaContext::Scope scope(*context);
  Ref<CudaExecutable> executable = Ref<CudaExecutable>::adopt(new CudaExecutable(context));
  const bool takesCubins = table.cubins() && isMadeFor(source.cpu, context->properties());
  if (table.codes())
    for (flatbuffers::uoffset_t i = 0; i < table.codes()->size(); ++i) {
      // The driver may be older than who made the machine code: it compiles the PTX then.
      if (takesCubins && executable->loadCubin(table.cubins()->Get(i)->bytes()->data()))
        continue;
      KILN_RETURN_IF_ERROR(executable->loadCode(table.codes()->Get(i)->c_str(), source.name).withContext(name));
    }
  if (table.kernels())
    for (const schema::GpuKernel *entry : *table.kernels()) {
      CudaKernel kernel{entry->name()->str(),
                        nullptr,
                        entry->binding_count(),
                        entry->constant_count(),
                        {entry->threads_x(), entry->threads_y(), entry->threads_z()},
                        entry->dynamic_shared_bytes(),
                        entry->scratch_bytes(),
                        {},
                        uint32_t(context->properties().maxBlocks),
                        entry->blocks_per_multiprocessor() * uint32_t(context->properties().multiprocessors),
                        entry->starts_early(),
                        {},
                        entry->cluster_blocks()};
      if (entry->assertions())
        for (const flatbuffers::String *message : *entry->assertions())
          kernel.assertions.push_back(message->str());
      if (entry->tensor_maps())
        for (const schema::GpuTensorMap *map : *entry->tensor_maps())
          kernel.tensors.push_back(readTensor(*map));
      CUresult result =
          cuda.cuModuleGetFunction(&kernel.function, executable->modules[entry->code()], entry->symbol()->c_str());
      if (result == cuda::kSuccess && kernel.dynamicSharedBytes)
        result =
            cuda.cuFuncSetAttribute(kernel.function, cuda::kFunctionDynamicSharedBytes, int(kernel.dynamicSharedBytes));
      KILN_RETURN_IF_ERROR(context->check(result, fmt::format("load dispatch '{}'", kernel.name)).withContext(name));
      KILN_RETURN_IF_ERROR(checkParameters(cuda, kernel).withContext(name));
      KILN_RETURN_IF_ERROR(executable->limitClusters(kernel).withContext(name));
      executable->kernels.push_back(std::move(kernel));
    }
  for (const CudaKernel &kernel : executable->kernels)
    executable->entries.push_back(
        {kernel.name, kernel.bindingCount, kernel.constantCount, 0, source.accessOf(executable->entries.size())});
  executable->exportTable = executable->entries;
  return executable;
}

Status CudaExecutable::limitClusters(CudaKernel &kernel) const {
  if (kernel.clusterBlocks == 1 || !kernel.mostBlocks)
    return okStatus();
  // Groups of multiprocessors that clusters do not fill leave some of them without blocks.
  const CudaLaunch how{{kernel.clusterBlocks, 1, 1},
                       {kernel.threads[0], kernel.threads[1], kernel.threads[2]},
                       kernel.dynamicSharedBytes};
  int clusters = 0;
  const CudaLibrary &cuda = cudaContext->cuda();
  KILN_RETURN_IF_ERROR(
      cudaContext->check(cuda.cuOccupancyMaxActiveClusters(&clusters, kernel.function, &how),
                         fmt::format("ask how many clusters of dispatch '{}' run at a time", kernel.name)));
  if (clusters <= 0)
    return failedPrecondition("'{}' has no room for a cluster of {} blocks of dispatch '{}'",
                              cudaContext->properties().name, kernel.clusterBlocks, kernel.name);
  kernel.mostBlocks = std::min(kernel.mostBlocks / kernel.clusterBlocks, uint32_t(clusters)) * kernel.clusterBlocks;
  return okStatus();
}

bool CudaExecutable::loadCubin(const void *cubin) {
  CUmodule module = nullptr;
  if (cudaContext->cuda().cuModuleLoadDataEx(&module, cubin, 0, nullptr, nullptr) != cuda::kSuccess)
    return false;
  modules.push_back(module);
  return true;
}

Status CudaExecutable::loadCode(const char *text, std::string_view name) {
  const CudaLibrary &cuda = cudaContext->cuda();
  std::string log(4096, '\0');
  int options[] = {cuda::kJitErrorLog, cuda::kJitErrorLogBytes, cuda::kJitLines};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1), reinterpret_cast<void *>(1)};
  // Lines are kept for profilers where the code names any, which --kiln-cuda-debug-symbols asks for.
  const unsigned optionCount = std::strstr(text, "\t.loc\t") ? 3 : 2;
  CUmodule module = nullptr;
  CUresult result = cuda.cuModuleLoadDataEx(&module, text, optionCount, options, values);
  if (result == cuda::kSuccess) {
    modules.push_back(module);
    return okStatus();
  }
  if (result == cuda::kUnsupportedPtx)
    return failedPrecondition(
        "NVIDIA's driver, which is for CUDA {}.{}, is too old for its code; install a newer driver, "
        "or recompile for an older architecture with --iree-hal-cuda-llvm-target-arch",
        cuda.version() / 1000, cuda.version() % 1000 / 10);
  log.resize(std::char_traits<char>::length(log.c_str()));
  while (log.ends_with('\n'))
    log.pop_back();
  std::string what = fmt::format("compile the code of '{}' for the device", name);
  return cudaContext->check(result, log.empty() ? what : fmt::format("{}, of which the driver says \"{}\"", what, log));
}

CudaExecutable::~CudaExecutable() {
  CudaContext::Scope scope(*cudaContext);
  for (CUmodule module : modules)
    cudaContext->cuda().cuModuleUnload(module);
}

} // namespace kiln::hal
