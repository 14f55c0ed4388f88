// What a worker can run. A provider is one file of this folder and one line of providers.cpp.
//
// An object of it holds one problem, and a worker has one for each slot. The functions are called in this order: start,
// load, and then the others in any order. One thread calls all of them.
#ifndef KILN_MEASURE_PROVIDERS_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_PROVIDER_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/measure/providers/tensor_memory.h"
#include "kiln/measure/workers/protocol.h"
#include "kiln/runtime/hal/device.h"
#include "kiln/runtime/hal/device_clock.h"

namespace kiln::measure {

class FamilyRegistry;

class Provider {
public:
  virtual ~Provider() = default;

  // The families of this build, for a provider that goes by their definitions. Comes before `start`, and they outlive
  // the provider.
  virtual void setFamilies(const FamilyRegistry &families) {}
  // Has it compute on the device of this URI. Comes before `start`, and not where it is to compute on the CPU.
  virtual Status setDevice(const std::string &uri) {
    return unimplemented("this provider computes on the CPU, and not on {}", uri);
  }
  // Opens the library or the device. Unimplemented where this machine or this build has none.
  virtual Status start(uint32_t threads) = 0;
  // Valid once it has started.
  virtual std::string version() const = 0;
  // What a reader of the results has to know; empty where there is nothing.
  virtual std::string note() const { return {}; }
  // Where it computes.
  virtual WorkerDevice device() const { return {"cpu", true}; }

  // Everything that is no part of a call: compiling, preparing, allocating. `tensors` outlives the provider. Only what
  // is declared a weight may be read and prepared: other inputs change later. Unimplemented where the provider does not
  // do the problem.
  virtual Status load(const LoadRequest &request, TensorMemory &tensors) = 0;
  // Whether `load` has prepared weights.
  virtual bool preparedWeights() const { return false; }
  // The operations of a call, where its algorithm has fewer than the definition of the problem; known once it is
  // loaded.
  virtual std::optional<double> flops() const { return std::nullopt; }
  // Computes what is in the inputs of the set, and writes its outputs. This is what is timed.
  virtual Status call(uint32_t set) = 0;
  // The same, of set 0, all of whose inputs have changed, and with all checks that a timed call leaves out.
  virtual Status run(uint32_t set) { return call(set); }

  // For a device with memory of its own: brings inputs, unless they are those that it has, and outputs as they are
  // there, and the outputs of the last call back.
  virtual Status upload(SetRange sets, bool outputsOnly) { return okStatus(); }
  virtual Status fetch(SetRange sets) { return okStatus(); }

  // Of a device on which results may be checked where they are: it, and its memory of tensors. Null where there is
  // none.
  virtual hal::Device *deviceOfChecks() { return nullptr; }
  virtual Result<Ref<hal::Buffer>> inputOnDevice(size_t tensor, uint32_t set) { return noDeviceMemory(); }
  virtual Result<Ref<hal::Buffer>> outputOnDevice(size_t tensor, uint32_t set) { return noDeviceMemory(); }
  // As `run`, with the inputs that are there, and results stay there.
  virtual Status runOnDevice(uint32_t set) { return noDeviceMemory(); }

  // Whether it can tell when its device was at work. `watch` turns that on or off, and `takeDeviceTimes` has a value
  // for each call since it was turned on.
  virtual bool tellsDeviceTimes() const { return false; }
  virtual void watch(bool on) {}
  virtual DeviceTimes takeDeviceTimes() { return {}; }
  // Of a device with a clock: calls with these sets, one after the other, put together to be timed by it.
  virtual Result<Ref<hal::TimedWork>> prepare(std::span<const uint32_t> sets) {
    return unimplemented("this provider has no device with a clock");
  }
  // A call on the way that all calls go, from launching to awaiting, without their work.
  virtual bool makesEmptyCalls() const { return false; }
  virtual Status emptyCall() { return unimplemented("this provider makes no empty calls"); }

private:
  static Status noDeviceMemory() { return unimplemented("this provider has no device with memory of its own"); }
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_PROVIDER_H
