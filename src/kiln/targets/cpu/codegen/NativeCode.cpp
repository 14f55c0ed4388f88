#include "kiln/targets/cpu/codegen/NativeCode.h"

#include "kiln/schema/executable_abi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace llvm;

namespace kiln {

// All of LLVM's targets would take several times as long.
static void initializeTargets(const Triple &triple) {
  static std::once_flag x86, aarch64;
  if (triple.isX86()) {
    std::call_once(x86, [] {
      LLVMInitializeX86TargetInfo();
      LLVMInitializeX86Target();
      LLVMInitializeX86TargetMC();
      LLVMInitializeX86AsmPrinter();
    });
  } else {
    std::call_once(aarch64, [] {
      LLVMInitializeAArch64TargetInfo();
      LLVMInitializeAArch64Target();
      LLVMInitializeAArch64TargetMC();
      LLVMInitializeAArch64AsmPrinter();
    });
  }
}

Expected<std::unique_ptr<TargetMachine>> createTargetMachine(const CpuTarget &target, int optimizationLevel) {
  Triple triple(target.triple);
  initializeTargets(triple);
  std::string text;
  const Target *backend = TargetRegistry::lookupTarget(triple, text);
  if (!backend)
    return createStringError("LLVM has no backend for %s: %s", target.triple.c_str(), text.c_str());
  TargetOptions options;
  options.MCOptions.AsmVerbose = true;
  CodeGenOptLevel level = codeGenLevel(optimizationLevel);
  std::unique_ptr<TargetMachine> machine(backend->createTargetMachine(triple, target.baselineCpu(), target.features,
                                                                      options, Reloc::PIC_, CodeModel::Small, level));
  if (!machine)
    return createStringError("LLVM makes no target machine for %s", target.triple.c_str());
  return machine;
}

// The ABI function's loads are those that are invariant; what they load never changes and is never null.
static void annotatePointerLoads(Function &function) {
  LLVMContext &context = function.getContext();
  auto *alignment = MDNode::get(
      context, ConstantAsMetadata::get(ConstantInt::get(Type::getInt64Ty(context), KILN_BINDING_ALIGNMENT)));
  for (Instruction &instruction : instructions(function)) {
    auto *load = dyn_cast<LoadInst>(&instruction);
    if (!load || !load->hasMetadata(LLVMContext::MD_invariant_load) || !load->getType()->isPointerTy())
      continue;
    load->setMetadata(LLVMContext::MD_nonnull, MDNode::get(context, {}));
    load->setMetadata(LLVMContext::MD_noundef, MDNode::get(context, {}));
    // The arrays of bindings and of constants are not bindings themselves; they are read through this pointer at once.
    bool isTable = all_of(load->users(), [](User *user) { return isa<LoadInst, GetElementPtrInst>(user); });
    if (!isTable)
      load->setMetadata(LLVMContext::MD_align, alignment);
  }
}

void annotateModule(Module &module, const CpuTarget &target, const TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  module.setPICLevel(PICLevel::BigPIC);
  module.setUwtable(UWTableKind::Default);
  module.setFramePointer(FramePointerKind::All);

  std::string vectorWidth = std::to_string(target.nativeVectorBits);
  for (Function &function : module) {
    function.setDoesNotThrow();
    if (function.isDeclaration()) {
      // Mathematics of the C library; nobody looks at errno.
      if (!function.isIntrinsic()) {
        function.setDoesNotAccessMemory();
        function.setWillReturn();
      }
      continue;
    }
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("tune-cpu", target.cpu);
    function.addFnAttr("prefer-vector-width", vectorWidth);
    function.addFnAttr("frame-pointer", "all");
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr(Attribute::NoRecurse);
    function.setUWTableKind(UWTableKind::Default);
    annotatePointerLoads(function);
    for (Instruction &instruction : instructions(function))
      if (isa<FPMathOperator>(instruction))
        instruction.setHasAllowContract(true);
  }
}

// The one element that a constant mask lets through; nullopt where it is another number of them.
static std::optional<unsigned> singleElement(Value *mask) {
  auto *constant = dyn_cast<Constant>(mask);
  auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned i = 0, e = type->getNumElements(); i < e; ++i) {
    Constant *element = constant->getAggregateElement(i);
    if (!element || isa<UndefValue>(element) || (!element->isZeroValue() && found))
      return std::nullopt;
    if (!element->isZeroValue())
      found = i;
  }
  return found;
}

void storeSingleElements(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != Intrinsic::masked_store)
        continue;
      std::optional<unsigned> which = singleElement(call->getArgOperand(2));
      if (!which)
        continue;
      IRBuilder<> b(call);
      Value *element = b.CreateExtractElement(call->getArgOperand(0), *which);
      Value *place = b.CreateConstGEP1_64(element->getType(), call->getArgOperand(1), *which);
      uint64_t bytes = module.getDataLayout().getTypeStoreSize(element->getType());
      StoreInst *store =
          b.CreateAlignedStore(element, place, commonAlignment(call->getParamAlign(1).valueOrOne(), *which * bytes));
      store->setAAMetadata(call->getAAMetadata());
      call->eraseFromParent();
    }
}

} // namespace kiln
