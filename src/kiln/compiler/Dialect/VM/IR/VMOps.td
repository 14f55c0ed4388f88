// The vm dialect: the host program as the runtime's VM has it. Arithmetic and branches stay upstream's arith, math and cf
// on i32, i64, f32 and f64; here is only what those lack.
#ifndef KILN_COMPILER_DIALECT_VM_IR_VMOPS_TD
#define KILN_COMPILER_DIALECT_VM_IR_VMOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def VM_Dialect : Dialect {
  let name = "vm";
  let cppNamespace = "::kiln::VM";
  let summary = "The host program as the VM runs it";
  let useDefaultTypePrinterParser = 1;
}

class VM_Op<string mnemonic, list<Trait> traits = []> : Op<VM_Dialect, mnemonic, traits>;

def VM_Ref : TypeDef<VM_Dialect, "Ref"> {
  let mnemonic = "ref";
  let summary = "a counted reference to an object of the runtime";
  let description = "What it refers to is checked where it is used, as a module may come from anywhere.";
}

def VM_ModuleOp : VM_Op<"module", [IsolatedFromAbove, SingleBlock, NoTerminator, SymbolTable, Symbol]> {
  let summary = "a module of the VM";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "llvm::StringRef":$name)>];
}
def VM_FuncOp : VM_Op<"func", [FunctionOpInterface, IsolatedFromAbove, HasParent<"ModuleOp">]> {
  let summary = "a function of the VM";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "llvm::StringRef":$name, "mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    llvm::ArrayRef<mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    llvm::ArrayRef<mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    mlir::Region *getCallableRegion() { return isExternal() ? nullptr : &getBody(); }
  }];
}
def VM_ExportOp : VM_Op<"export", [HasParent<"ModuleOp">]> {
  let summary = "makes a function callable from outside";
  let arguments = (ins FlatSymbolRefAttr:$function, StrAttr:$name, DictionaryAttr:$reflection);
  let assemblyFormat = "$function `as` $name attr-dict `reflection` $reflection";
}
def VM_ImportOp : VM_Op<"import", [HasParent<"ModuleOp">, Symbol]> {
  let summary = "a function that the runtime or the embedding program provides";
  let description = "The signature is in the VM's form, see kiln/schema/vm_opcodes.def.";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name, StrAttr:$signature);
  let assemblyFormat = "custom<SymbolVisibility>($sym_visibility) $sym_name $signature attr-dict";
}
def VM_GlobalOp : VM_Op<"global", [HasParent<"ModuleOp">, Symbol]> {
  let summary = "a value that lives as long as the module's instance; starts as zero or null";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name, TypeAttr:$type);
  let assemblyFormat = "custom<SymbolVisibility>($sym_visibility) $sym_name attr-dict `:` $type";
}
def VM_RodataOp : VM_Op<"rodata", [HasParent<"ModuleOp">, Symbol]> {
  let summary = "immutable bytes";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name,
                       AnyAttrOf<[StrAttr, ElementsAttr, ArrayAttr]>:$value);
  let assemblyFormat = "custom<SymbolVisibility>($sym_visibility) $sym_name $value attr-dict";
}
def VM_ExecutableOp : VM_Op<"executable", [HasParent<"ModuleOp">, Symbol]> {
  let summary = "device code";
  let description = [{
    `variants` holds a dictionary for each: `target`, `format`, `configuration`, `exports` (dictionaries of name, bindings,
    constants) and `data`.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name, ArrayAttr:$variants);
  let assemblyFormat = "custom<SymbolVisibility>($sym_visibility) $sym_name $variants attr-dict";
}

def VM_CallOp : VM_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function or an import";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}
def VM_ReturnOp : VM_Op<"return", [Pure, ReturnLike, Terminator, HasParent<"FuncOp">]> {
  let summary = "returns from a function";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}
def VM_GlobalLoadOp : VM_Op<"global.load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a global";
  let arguments = (ins FlatSymbolRefAttr:$global);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$global attr-dict `:` type($result)";
}
def VM_GlobalStoreOp : VM_Op<"global.store"> {
  let summary = "sets a global";
  let arguments = (ins AnyType:$value, FlatSymbolRefAttr:$global);
  let assemblyFormat = "$value `,` $global attr-dict `:` type($value)";
}
def VM_ConstRodataOp : VM_Op<"const.rodata", [Pure]> {
  let summary = "a reference to immutable bytes";
  let arguments = (ins FlatSymbolRefAttr:$rodata);
  let results = (outs VM_Ref:$result);
  let assemblyFormat = "$rodata attr-dict `:` type($result)";
}
def VM_ConstExecutableOp : VM_Op<"const.executable", [Pure]> {
  let summary = "a reference to device code";
  let arguments = (ins FlatSymbolRefAttr:$executable);
  let results = (outs VM_Ref:$result);
  let assemblyFormat = "$executable attr-dict `:` type($result)";
}
def VM_CheckOp : VM_Op<"check"> {
  let summary = "fails the call with a status code and a message unless the condition holds";
  let arguments = (ins I1:$condition, I32Attr:$code, FlatSymbolRefAttr:$message);
  let assemblyFormat = "$condition `,` $code `,` $message attr-dict";
}
def VM_BarrierOp : VM_Op<"barrier", [AllTypesMatch<["value", "result"]>]> {
  let summary = "the identity, which nothing folds";
  let arguments = (ins AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}
def VM_NullOp : VM_Op<"null", [Pure]> {
  let summary = "a null reference";
  let results = (outs VM_Ref:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif // KILN_COMPILER_DIALECT_VM_IR_VMOPS_TD
