#include "kiln/compiler/Pipeline/ForeignSwitches.h"

namespace kiln {

namespace {

struct Switch {
  const char *name;
  bool isDone; // what happens, whatever is asked for
  const char *instead;
};

constexpr Switch kSwitches[] = {
    {"kiln-global-opt-propagate-transposes", true,
     "a transpose is part of the loops of what uses it, where that has loops for it"},
    {"kiln-opt-aggressively-propagate-transposes", false,
     "transposes move into the operations beside them, and no further"},
    {"kiln-opt-outer-dim-concat", false, "each part of a concatenation is written where it goes, along any dimension"},
    {"kiln-flow-enable-aggressive-fusion", true,
     "whatever a kernel can hold is fused, and what is not is a remark (--kiln-remarks)"},
    {"kiln-vm-target-truncate-unsupported-floats", false, "the host program has floats of 64 bits, and rounds none"},
    {"kiln-codegen-gpu-native-math-precision", false, "functions keep their bounds of error on all targets"},
    {"kiln-codegen-llvmgpu-use-vector-distribution", false,
     "kernels of GPUs are made by Kiln's own strategies, or by a transform-dialect spec"},
    {"kiln-llvmgpu-enable-prefetch", true, "kernels of GPUs load ahead as many stages as their configuration has"},
};

} // namespace

void ForeignSwitches::bind(OptionBinder &binder) {
  binder.group("Taken, and decided by Kiln");
  for (const Switch &one : kSwitches)
    binder.flag(one.name, &values.emplace_back(one.isDone), one.instead);
  binder.flag("kiln-execution-model", &executionModel, "name",
              "Functions wait for their results, and the C API's submissions do not, whatever the model");
}

std::vector<std::string> ForeignSwitches::notes(const CompilerOptions &options) const {
  std::vector<std::string> notes;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != kSwitches[i].isDone)
      notes.push_back(std::string("--") + kSwitches[i].name + (values[i] ? "" : "=false") +
                      " has no effect: " + kSwitches[i].instead);
  if (executionModel != "async-internal")
    notes.push_back("--kiln-execution-model=" + executionModel +
                    " has no effect: functions wait for their results, and submissions of the C API do not");
  if (options.preprocessingPassPipeline.find("pad-to-intrinsics") != std::string::npos)
    notes.push_back("the pass kiln-preprocessing-pad-to-intrinsics has no effect: kernels pad the tiles that need it "
                    "themselves");
  return notes;
}

} // namespace kiln
