// What providers share that put work into a stream of a GPU: its memory, its clock, how calls are launched and awaited.
#ifndef KILN_MEASURE_PROVIDERS_GPU_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_GPU_PROVIDER_H

#include <string>
#include <vector>

#include "kiln/measure/providers/device_tensors.h"
#include "kiln/measure/providers/provider.h"
#include "kiln/targets/cuda/driver/cuda_device.h"

namespace kiln::measure {

class GpuProvider : public Provider {
public:
  Status setDevice(const std::string &uri) final {
    deviceUri = uri;
    return okStatus();
  }
  Status start(uint32_t threads) final;
  WorkerDevice device() const final;
  Status load(const LoadRequest &request, TensorMemory &memory) final;
  Status call(uint32_t set) final;
  Status run(uint32_t set) final;
  Status upload(SetRange sets, bool outputsOnly) final { return deviceTensors.upload(sets, outputsOnly); }
  Status fetch(SetRange sets) final { return deviceTensors.fetch(sets); }
  hal::Device *deviceOfChecks() final { return &gpu(); }
  Result<Ref<hal::Buffer>> inputOnDevice(size_t tensor, uint32_t set) final { return deviceTensors.input(tensor, set); }
  Result<Ref<hal::Buffer>> outputOnDevice(size_t tensor, uint32_t set) final {
    return deviceTensors.output(tensor, set);
  }
  Status runOnDevice(uint32_t set) final;
  Result<Ref<hal::TimedWork>> prepare(std::span<const uint32_t> sets) final;
  bool makesEmptyCalls() const final { return true; }
  Status emptyCall() final;

protected:
  // With the context as the thread's.
  virtual Status openLibrary(const hal::CudaLibrary &cuda) = 0;
  virtual Status prepareProblem(const LoadRequest &request) = 0;
  // Puts a call into the stream.
  virtual Status enqueue(uint32_t set) = 0;
  // Brings the weights of a set, whose inputs have changed, where calls take them.
  virtual Status prepareWeights(uint32_t set) { return okStatus(); }

  hal::CudaDevice &gpu() const { return *halDevice; }
  hal::CUstream stream() const { return halDevice->queue().stream(); }
  void *input(size_t tensor, uint32_t set) const { return inputs[set][tensor]; }
  void *output(uint32_t set) const { return outputs[set]; }
  static constexpr size_t kWorkspaceBytes = size_t(32) << 20;
  void *workspace() const { return scratch; }
  // For choosing between ways to compute: the fastest of a few times of some calls in a row, of set 0.
  Result<double> timeCalls();
  Result<void *> addressOf(Result<Ref<hal::Buffer>> buffer);

private:
  Status await(std::string_view what);

  std::string deviceUri;
  Ref<hal::CudaDevice> halDevice;
  Ref<hal::Buffer> scratchBuffer;
  void *scratch = nullptr;
  DeviceTensors deviceTensors;
  std::vector<std::vector<void *>> inputs; // addresses on the device, of each set
  std::vector<void *> outputs;
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_GPU_PROVIDER_H
