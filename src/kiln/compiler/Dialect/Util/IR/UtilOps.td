// The util dialect: what the host program is made of between the abi phase and the vm phase: functions, globals, bytes.
#ifndef KILN_COMPILER_DIALECT_UTIL_IR_UTILOPS_TD
#define KILN_COMPILER_DIALECT_UTIL_IR_UTILOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Util_Dialect : Dialect {
  let name = "util";
  let cppNamespace = "::kiln::Util";
  let summary = "Functions, globals and bytes of the host program";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Util_Op<string mnemonic, list<Trait> traits = []> : Op<Util_Dialect, mnemonic, traits>;

def Util_Buffer : TypeDef<Util_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "immutable bytes of the module on the host";
}

def Util_Ptr : TypeDef<Util_Dialect, "Ptr"> {
  let mnemonic = "ptr";
  let summary = "where a global is; only in a program's source";
  let parameters = (ins "mlir::Type":$target);
  let assemblyFormat = "`<` $target `>`";
}

// What programs give globals in place of elements, and say of them.
def Util_BytePatternAttr : AttrDef<Util_Dialect, "BytePattern"> {
  let mnemonic = "byte_pattern";
  let summary = "elements whose bytes are all the same";
  let description = "Read as the elements that it stands for: `#util.byte_pattern<1> : tensor<2xi16>` is dense<257>.";
  let hasCustomAssemblyFormat = 1;
}
def Util_InlineNeverAttr : AttrDef<Util_Dialect, "InlineNever"> {
  let mnemonic = "inline.never";
  let summary = "a global that is to be read when the program runs; taken, and without effect";
}

//===--- Remarks -------------------------------------------------------------------------------------------------===//

// What remarks are about. The names stand in modules and in files for other tools.
def Util_Cost : I32EnumAttr<"Cost", "why a program takes longer than it might", [
    I32EnumAttrCase<"OneWorkgroup", 0, "one_workgroup">, I32EnumAttrCase<"ScalarLoop", 1, "scalar_loop">,
    I32EnumAttrCase<"Copy", 2, "copy">, I32EnumAttrCase<"Repack", 3, "repack">,
    I32EnumAttrCase<"NotFused", 4, "not_fused">, I32EnumAttrCase<"OneThread", 5, "one_thread">,
    I32EnumAttrCase<"Spill", 6, "spill">, I32EnumAttrCase<"Serialized", 7, "serialized">]> {
  let cppNamespace = "::kiln::Util";
  let genSpecializedAttr = 0;
}

def Util_RemarkAttr : AttrDef<Util_Dialect, "Remark"> {
  let mnemonic = "remark";
  let summary = "a decision of the compiler that costs the program time";
  let description = [{
    `#util.remark<copy, "main", "copies 64 bytes: ...", loc("x.mlir":3:8)>`: what it is about, the function or dispatch,
    what a user is told, and where. Ops carry lists of them as `kiln.remarks`, the program's own in the end (Remarks.h).
  }];
  let parameters = (ins EnumParameter<Util_Cost>:$cost, "::mlir::StringAttr":$function, "::mlir::StringAttr":$text,
                        "::mlir::LocationAttr":$location);
  let assemblyFormat = "`<` $cost `,` $function `,` $text `,` $location `>`";
}

//===--- Functions -----------------------------------------------------------------------------------------------===//

def Util_FuncOp : Util_Op<"func", [FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "a function of the host program";
  let description = [{
    A public one is an export: callers outside the module see it under its name. `kiln.abi.declaration` holds how it was
    declared in the source, and `kiln.benchmark` marks one that benchmark-module runs by default.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "llvm::StringRef":$name, "mlir::FunctionType":$type)>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    llvm::ArrayRef<mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    llvm::ArrayRef<mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
  }];
}

def Util_CallOp : Util_Op<"call", [DeclareOpInterfaceMethods<CallOpInterface>,
                                   DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function of the host program";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}

def Util_ReturnOp : Util_Op<"return", [Pure, ReturnLike, Terminator, ParentOneOf<["FuncOp", "InitializerOp"]>]> {
  let summary = "returns from a function or an initializer";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, mlir::ValueRange()); }]>];
}

//===--- Globals -------------------------------------------------------------------------------------------------===//

def Util_GlobalOp : Util_Op<"global", [Symbol]> {
  let hasVerifier = 1;
  let summary = "a value that lives as long as the module's instance";
  let description = [{
    Starts as zero or null; initializers set it before any export can be called. A program's source may give its initial
    value, which the input phase turns into an initializer, and says whether functions may set it (`mutable`).
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, UnitAttr:$is_mutable, SymbolNameAttr:$sym_name,
                       TypeAttr:$type, OptionalAttr<TypedAttrInterface>:$initial_value);
  let assemblyFormat = [{
    custom<SymbolVisibility>($sym_visibility) (`mutable` $is_mutable^)? $sym_name attr-dict
    custom<TypeOrValue>($type, $initial_value)
  }];
  let builders = [OpBuilder<(ins "llvm::StringRef":$name, "mlir::Type":$type), [{
    $_state.addAttribute(getSymVisibilityAttrName($_state.name), $_builder.getStringAttr("private"));
    $_state.addAttribute(getSymNameAttrName($_state.name), $_builder.getStringAttr(name));
    $_state.addAttribute(getTypeAttrName($_state.name), mlir::TypeAttr::get(type));
  }]>];
}

def Util_GlobalLoadOp : Util_Op<"global.load", [MemoryEffects<[MemRead]>,
                                                DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "reads a global";
  let arguments = (ins UnitAttr:$is_immutable, FlatSymbolRefAttr:$global);
  let results = (outs AnyType:$result);
  let assemblyFormat = "(`immutable` $is_immutable^)? $global attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "mlir::Type":$type, "llvm::StringRef":$global), [{
    build($_builder, $_state, type, /*is_immutable=*/false, global);
  }]>];
}

def Util_GlobalStoreOp : Util_Op<"global.store", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "sets a global";
  let arguments = (ins AnyType:$value, FlatSymbolRefAttr:$global);
  let assemblyFormat = "$value `,` $global attr-dict `:` type($value)";
}

def Util_GlobalAddressOp : Util_Op<"global.address", [Pure]> {
  let summary = "where a global is; only in a program's source";
  let arguments = (ins FlatSymbolRefAttr:$global);
  let results = (outs Util_Ptr:$result);
  let assemblyFormat = "$global attr-dict `:` qualified(type($result))";
}

def Util_GlobalLoadIndirectOp : Util_Op<"global.load.indirect", [MemoryEffects<[MemRead]>]> {
  let summary = "reads the global at an address; only in a program's source";
  let arguments = (ins Util_Ptr:$address);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$address attr-dict `:` qualified(type($address)) `->` type($result)";
}

def Util_GlobalStoreIndirectOp : Util_Op<"global.store.indirect"> {
  let summary = "sets the global at an address; only in a program's source";
  let arguments = (ins AnyType:$value, Util_Ptr:$address);
  let assemblyFormat = "$value `,` $address attr-dict `:` type($value) `->` qualified(type($address))";
}

def Util_InitializerOp : Util_Op<"initializer", [IsolatedFromAbove, HasParent<"mlir::ModuleOp">]> {
  let summary = "runs once, in the order of the module, when the module is instantiated";
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

//===--- Values --------------------------------------------------------------------------------------------------===//

def Util_RodataOp : Util_Op<"rodata", [Pure]> {
  let summary = "immutable bytes";
  let description = [{
    A string (the text of an error, the name of an input) or the content of a constant tensor, in the order of its
    elements and the machine's layout: i1 as one byte, no padding.
  }];
  let arguments = (ins AnyAttrOf<[StrAttr, ElementsAttr, ArrayAttr]>:$value);
  let results = (outs Util_Buffer:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` type($result)";
}

def Util_NullOp : Util_Op<"null", [Pure]> {
  let summary = "a null reference";
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Util_OptimizationBarrierOp : Util_Op<"optimization_barrier", [AllTypesMatch<["operands", "results"]>]> {
  let summary = "the identity, which nothing folds or moves through";
  let arguments = (ins Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$operands attr-dict `:` type($operands)";
}

def Util_UnfoldableConstantOp : Util_Op<"unfoldable_constant", [AllTypesMatch<["value", "result"]>]> {
  let summary = "a constant that no fold sees";
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict $value";
}

#endif // KILN_COMPILER_DIALECT_UTIL_IR_UTILOPS_TD
