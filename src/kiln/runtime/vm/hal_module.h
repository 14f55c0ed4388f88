// The native module `hal`: what a compiled program asks of devices (schema/hal_imports.def), on the HAL.
#ifndef KILN_RUNTIME_VM_HAL_MODULE_H
#define KILN_RUNTIME_VM_HAL_MODULE_H

#include <vector>

#include "kiln/base/status.h"
#include "kiln/runtime/parameters/parameter_set.h"
#include "kiln/runtime/vm/native_module.h"

namespace kiln::vm {

// `hal.device.get(i)` gives the program devices[i], and `hal.parameter.load` what is in `parameters`, which may be
// null. Each session may have its own, or sessions may share one.
Result<Ref<NativeModule>> createHalModule(std::vector<Ref<hal::Device>> devices,
                                          Ref<ParameterSet> parameters = nullptr);

} // namespace kiln::vm

#endif // KILN_RUNTIME_VM_HAL_MODULE_H
