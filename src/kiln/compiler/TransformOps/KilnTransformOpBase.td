// The classes of Kiln's transform ops, those of the targets too.
#ifndef KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPBASE_TD
#define KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPBASE_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class KilnTransformOp<string mnemonic, list<Trait> traits> : Op<Transform_Dialect, mnemonic, traits> {
  let cppNamespace = "::kiln::TransformOps";
}

// Changes each payload op in place and has no result.
class KilnInPlaceOp<string mnemonic> : KilnTransformOp<"kiln." # mnemonic, [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, TransformEachOpTrait, TransformOpInterface,
    ReportTrackingListenerFailuresOpTrait]> {
  let arguments = (ins TransformHandleTypeInterface:$target);
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter, ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results, ::mlir::transform::TransformState &state);
  }];
  let extraClassDefinition = [{
    void $cppClass::getEffects(::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &effects) {
      ::mlir::transform::onlyReadsHandle(getTargetMutable(), effects);
      ::mlir::transform::modifiesPayload(effects);
    }
  }];
}

class KilnInPlaceFunctionalOp<string mnemonic> : KilnInPlaceOp<mnemonic> {
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
}

#endif // KILN_COMPILER_TRANSFORMOPS_KILNTRANSFORMOPBASE_TD
