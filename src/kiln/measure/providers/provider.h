// What a worker can run. A provider is one file of this folder and one line of providers.cpp.
//
// The functions are called in this order: start, load, and then run and call in any order. One thread calls all of
// them.
#ifndef KILN_MEASURE_PROVIDERS_PROVIDER_H
#define KILN_MEASURE_PROVIDERS_PROVIDER_H

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/base/status.h"
#include "kiln/measure/providers/tensor_memory.h"
#include "kiln/measure/workers/protocol.h"

namespace kiln::measure {

class FamilyRegistry;

class Provider {
public:
  virtual ~Provider() = default;

  // The families of this build, for a provider that goes by their definitions. Comes before `start`, and they outlive
  // the provider.
  virtual void setFamilies(const FamilyRegistry &families) {}
  // Opens the library or the device. Unimplemented where this machine or this build has none.
  virtual Status start(uint32_t threads) = 0;
  // Valid once it has started.
  virtual std::string version() const = 0;
  // What a reader of the results has to know; empty where there is nothing.
  virtual std::string note() const { return {}; }

  // Everything that is no part of a call: compiling, preparing, allocating. `tensors` outlives the provider. The inputs
  // of set 0 change between runs; those of other sets have changed for the last time. Unimplemented where the provider
  // does not do the problem.
  virtual Status load(const LoadRequest &request, TensorMemory &tensors) = 0;
  // Computes what is in the inputs of the set, and writes its outputs. This is what is timed.
  virtual Status call(uint32_t set) = 0;
  // The same, of set 0, whose inputs have changed, and with all checks that a timed call leaves out.
  virtual Status run(uint32_t set) { return call(set); }

  // Where a provider can tell the part of a call in which kernels run from the launch before it: when the first call
  // after `watchLaunch` gave its work to the device, in monotonicNanoseconds(). 0 where it cannot.
  virtual void watchLaunch() {}
  virtual uint64_t launched() const { return 0; }
};

} // namespace kiln::measure

#endif // KILN_MEASURE_PROVIDERS_PROVIDER_H
