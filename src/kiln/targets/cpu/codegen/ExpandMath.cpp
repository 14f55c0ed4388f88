#include "kiln/compiler/Codegen/ExpandMath.h"

#include "kiln/targets/cpu/codegen/CpuPasses.h"
#include "kiln/targets/cpu/codegen/CpuTarget.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace kiln {

#define GEN_PASS_DEF_EXPANDMATH
#include "kiln/targets/cpu/codegen/CpuPasses.h.inc"

namespace {

class ExpandMath : public impl::ExpandMathBase<ExpandMath> {
public:
  using ExpandMathBase::ExpandMathBase;

private:
  void runOnOperation() override {
    CpuTarget target = CpuTarget::of(getOperation());
    if (!features.empty())
      target.features = features;
    bool isArm = StringRef(target.triple).starts_with("aarch64");
    FloatSupport support;
    support.fma = target.has("fma") || target.has("avx512f") || isArm;
    support.scales = target.has("avx512f") && target.has("avx512vl");
    support.convertsF16 = target.has("f16c") || target.has("avx512f") || isArm;
    support.computesF16 = target.has("avx512fp16") || target.has("fullfp16");
    if (failed(expandMath(getOperation(), support)))
      signalPassFailure();
  }
};

} // namespace
} // namespace kiln
