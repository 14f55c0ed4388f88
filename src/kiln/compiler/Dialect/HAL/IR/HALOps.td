// The hal dialect: what the runtime is asked. It has three parts: executables (what target code generation sees), the
// tensor boundary that the abi phase makes, and the calls of the host program. An op of the third part has the name, the
// operands and the results of a function in kiln/schema/hal_imports.def, which is what it becomes.
#ifndef KILN_COMPILER_DIALECT_HAL_IR_HALOPS_TD
#define KILN_COMPILER_DIALECT_HAL_IR_HALOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HAL_Dialect : Dialect {
  let name = "hal";
  let cppNamespace = "::kiln::HAL";
  let summary = "Executables, and what the host program asks of the runtime";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

//===--- Types ---------------------------------------------------------------------------------------------------===//

class HAL_Type<string cpp, string text, string summary_> : TypeDef<HAL_Dialect, cpp> {
  let mnemonic = text;
  let summary = summary_;
}
def HAL_Device : HAL_Type<"Device", "device", "a device of the session">;
def HAL_Buffer : HAL_Type<"Buffer", "buffer", "a range of device memory">;
def HAL_BufferView : HAL_Type<"BufferView", "buffer_view", "a buffer with element type and shape: a tensor at the program's boundary">;
def HAL_Executable : HAL_Type<"Executable", "executable", "loaded device code">;
def HAL_CommandBuffer : HAL_Type<"CommandBuffer", "command_buffer", "recorded device work that names buffers by slot">;
def HAL_Fence : HAL_Type<"Fence", "fence", "a point in device time">;

//===--- Attributes ----------------------------------------------------------------------------------------------===//

class HAL_Attr<string cpp, string text, string summary_> : AttrDef<HAL_Dialect, cpp> {
  let mnemonic = text;
  let summary = summary_;
}

def HAL_ExecutableTargetAttr : HAL_Attr<"ExecutableTarget", "executable.target", "what an executable is compiled for"> {
  let description = [{
    `#hal.executable.target<"llvm-cpu", "elf-x86_64", {cpu = "znver4", cpu_features = "+avx512f"}>`: the backend that
    compiles, the format that a driver loads, and the backend's own configuration.
  }];
  let parameters = (ins "::mlir::StringAttr":$backend, "::mlir::StringAttr":$format,
                        "::mlir::DictionaryAttr":$configuration);
  let assemblyFormat = "`<` $backend `,` $format `,` $configuration `>`";
  let extraClassDeclaration = [{
    // The backend's name as an identifier, llvm_cpu: names variants and dumped files.
    std::string getSymbolName() const;
    // A string entry of the configuration, or "".
    llvm::StringRef getString(llvm::StringRef key) const;
  }];
}

def HAL_DescriptorKind : I32EnumAttr<"DescriptorKind", "how a binding reaches the kernel", [
    I32EnumAttrCase<"StorageBuffer", 0, "storage_buffer">]> {
  let cppNamespace = "::kiln::HAL";
  let genSpecializedAttr = 0;
}
def HAL_DescriptorTypeAttr : HAL_Attr<"DescriptorType", "descriptor_type", "memory space of memory that is a binding"> {
  let parameters = (ins EnumParameter<HAL_DescriptorKind>:$value);
  let assemblyFormat = "`<` $value `>`";
}

def HAL_BindingAccess : I32EnumAttr<"BindingAccess", "what a dispatch does with a binding", [
    I32EnumAttrCase<"ReadOnly", 0, "readonly">, I32EnumAttrCase<"WriteOnly", 1, "writeonly">,
    I32EnumAttrCase<"ReadWrite", 2, "readwrite">]> {
  let cppNamespace = "::kiln::HAL";
  let genSpecializedAttr = 0;
}
def HAL_BindingAccessAttr : EnumAttr<HAL_Dialect, HAL_BindingAccess, "access"> {
  let assemblyFormat = "`<` $value `>`";
}

def HAL_PipelineLayoutAttr : HAL_Attr<"PipelineLayout", "pipeline.layout", "what a dispatch is given"> {
  let description = [{
    `#hal.pipeline.layout<constants = 2, bindings = [readonly, readonly, writeonly]>`: the number of push constants
    (64 bits each, in the order of the workload) and how each binding is used.
  }];
  let parameters = (ins "int64_t":$constants, ArrayRefParameter<"BindingAccess">:$bindings);
  let hasCustomAssemblyFormat = 1;
}

def HAL_LoweringAttr : HAL_Attr<"Lowering", "lowering", "how code generation treats a dispatch"> {
  let description = [{
    `#hal.lowering<"contraction", "tile_config_64x128_256x1_fma_8x32">`: the strategy's name, and the configuration, which
    is written as its name and is parsed with the program. It stands on the dispatch's function as `lowering`.
  }];
  let parameters = (ins "::mlir::StringAttr":$strategy,
                        AttrParameter<"::kiln::TileConfig", "how it is cut into tiles", "const ::kiln::TileConfig &">:$configuration);
  let assemblyFormat = "`<` $strategy `,` custom<TileConfig>($configuration) `>`";
}

class HAL_PlaceAttr<string cpp, string text, string summary_> : HAL_Attr<cpp, text, summary_> {
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$device, OptionalArrayRefParameter<"int64_t">:$queues);
  let assemblyFormat = "`<` $device (`,` `[` $queues^ `]`)? `>`";
}
def HAL_AffinityAttr : HAL_PlaceAttr<"Affinity", "device.affinity", "where work runs"> {
  let description = [{
    `#hal.device.affinity<@__device_1>`: the second device of the session. `#hal.device.affinity<@__device_0, [1, 2]>`: one of two
    queues of the first; numbers are modulo the number of queues that the device has. It stands on an op as
    `stream.affinity`, and on a function for all ops in it.
  }];
  let extraClassDeclaration = [{
    // By the number in its name; nothing where it has none.
    std::optional<int64_t> getDeviceIndex();
    // A bit for each queue; all where none is named.
    uint64_t getQueueMask();
  }];
}
def HAL_PromiseAttr : HAL_PlaceAttr<"Promise", "device.promise", "the same, of a program that does not know its devices yet">;

//===--- Executables ---------------------------------------------------------------------------------------------===//

class HAL_Op<string mnemonic, list<Trait> traits = []> : Op<HAL_Dialect, mnemonic, traits>;

def HAL_ExecutableOp : HAL_Op<"executable", [IsolatedFromAbove, SingleBlock, NoTerminator, SymbolTable, Symbol]> {
  let summary = "device code of one or more dispatches, in one variant for each target";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<SymbolVisibility>($sym_visibility) $sym_name attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "llvm::StringRef":$name)>];
}

def HAL_ExecutableVariantOp : HAL_Op<"executable.variant",
    [IsolatedFromAbove, HasParent<"ExecutableOp">, SingleBlock, NoTerminator, SymbolTable, Symbol]> {
  let summary = "an executable for one target";
  let description = [{
    Holds the exports, and a module of functions, one of the same name for each export. Code generation replaces the
    module's content; a transform spec is applied to this op. A variant of linked executables holds all their modules,
    of which none sees the others' functions.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name,
                       HAL_ExecutableTargetAttr:$target);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    custom<SymbolVisibility>($sym_visibility) $sym_name `target` `(` $target `)` attr-dict-with-keyword $body
  }];
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "llvm::StringRef":$name, "ExecutableTargetAttr":$target)>];
  let extraClassDeclaration = [{
    // The first of its modules: the only one before executables are linked.
    mlir::ModuleOp getInnerModule();
  }];
}

def HAL_ExecutableExportOp : HAL_Op<"executable.export",
    [IsolatedFromAbove, ParentOneOf<["ExecutableVariantOp"]>, Symbol]> {
  let summary = "a dispatch that the host can launch";
  let description = [{
    The region computes the workgroup count (x, y, z) from the workload: one index argument for each push constant. It
    stays empty until code generation has decided how the work is distributed.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name, I32Attr:$ordinal,
                       HAL_PipelineLayoutAttr:$layout);
  let regions = (region MaxSizedRegion<1>:$workgroup_count);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    // Gives the count region its block, with one index argument for each constant; the region must be empty.
    mlir::Block *createWorkgroupCountBlock();
  }];
}

def HAL_ExecutableBinaryOp : HAL_Op<"executable.binary", [HasParent<"ExecutableOp">, Symbol]> {
  let summary = "a variant, compiled";
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name,
                       HAL_ExecutableTargetAttr:$target, ArrayAttr:$exports, ElementsAttr:$data);
  let description = [{
    `exports` holds a dictionary for each export, by ordinal: its name, its layout, and what is known of its work.
  }];
  let assemblyFormat = [{
    custom<SymbolVisibility>($sym_visibility) $sym_name `target` `(` $target `)` `exports` `(` $exports `)`
    `data` `(` $data `)` attr-dict
  }];
}

def HAL_ReturnOp : HAL_Op<"return", [Pure, Terminator, ReturnLike, ParentOneOf<["ExecutableExportOp"]>]> {
  let summary = "ends a region of a hal op";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
}

//===--- What a dispatch's function sees -------------------------------------------------------------------------===//

class HAL_DimensionOp<string mnemonic, string summary_> : HAL_Op<mnemonic, [
    Pure, DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = summary_;
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = "`[` $dimension `]` attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "unsigned":$dimension), [{
    build($_builder, $_state, $_builder.getIndexType(), dimension);
  }]>];
}
def HAL_InterfaceWorkgroupIDOp : HAL_DimensionOp<"interface.workgroup.id", "which workgroup this is, in x, y or z">;
def HAL_InterfaceWorkgroupCountOp : HAL_DimensionOp<"interface.workgroup.count", "how many workgroups there are in x, y or z">;

def HAL_InterfaceConstantLoadOp : HAL_Op<"interface.constant.load", [Pure]> {
  let summary = "a push constant";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$ordinal);
  let results = (outs AnyTypeOf<[Index, AnySignlessInteger, AnyFloat]>:$result);
  let assemblyFormat = "`[` $ordinal `]` attr-dict `:` type($result)";
}

def HAL_InterfaceBindingSubspanOp : HAL_Op<"interface.binding.subspan", [Pure]> {
  let summary = "the memory of a binding";
  let description = [{
    A view of a binding from its start; the runtime has applied the binding's offset, and aligned it. Bindings that the
    layout does not say are only read do not overlap any other.
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$binding, HAL_BindingAccessAttr:$access,
                       Variadic<Index>:$dynamic_dims);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    `binding` `(` $binding `)` $access attr-dict `:` type($result) (`{` $dynamic_dims^ `}`)?
  }];
  let hasVerifier = 1;
}

//===--- The tensor boundary (abi) -------------------------------------------------------------------------------===//

def HAL_TensorImportOp : HAL_Op<"tensor.import", [Pure]> {
  let summary = "a buffer view that the caller gives, as a tensor";
  let description = [{
    The view has been checked to have the tensor's element type and shape; `dynamic_dims` are its own extents. Memory
    that is `donated` is the program's own from then on.
  }];
  let arguments = (ins HAL_BufferView:$source, Variadic<Index>:$dynamic_dims, UnitAttr:$donated);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `->` type($result) (`{` $dynamic_dims^ `}`)?
  }];
  let hasVerifier = 1;
}

def HAL_TensorExportOp : HAL_Op<"tensor.export"> {
  let summary = "a tensor, as a buffer view that the caller gets";
  let description = [{
    Each export gives memory of its own, even of one tensor exported twice; so two are never merged. `encoding` is the
    tensor type that the caller sees, where the tensor holds its bytes under another one.
  }];
  let arguments = (ins AnyRankedTensor:$source, Variadic<Index>:$dynamic_dims, OptionalAttr<TypeAttr>:$encoding);
  let results = (outs Res<HAL_BufferView, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) (`as` $encoding^)? (`{` $dynamic_dims^ `}`)? `->` type($result)
  }];
  let extraClassDeclaration = [{
    mlir::Type getExportedType() { return getEncoding().value_or(getSource().getType()); }
  }];
  let hasVerifier = 1;
}

//===--- The host program: the functions of hal_imports.def ------------------------------------------------------===//

// Each op's name, operands and results are those of the import; `index` stands for I, and element types, modes and
// ordinals are i32.
class HAL_HostOp<string mnemonic, list<Trait> traits = []> : HAL_Op<mnemonic, traits> {
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def HAL_DeviceGetOp : HAL_HostOp<"device.get", [Pure]> {
  let summary = "a device of the session, by index";
  let arguments = (ins I32:$index);
  let results = (outs HAL_Device:$result);
}
def HAL_ExecutableCreateOp : HAL_HostOp<"executable.create"> {
  let summary = "loads an executable, in the variant that the device can run";
  let arguments = (ins HAL_Device:$device, FlatSymbolRefAttr:$executable);
  let results = (outs HAL_Executable:$result);
  let assemblyFormat = "`(` $device `)` $executable attr-dict `:` functional-type(operands, results)";
}
def HAL_ExecutableVariantIndexOp : HAL_HostOp<"executable.variant_index"> {
  let summary = "which variant of an executable the device can run";
  let arguments = (ins HAL_Device:$device, FlatSymbolRefAttr:$executable);
  let results = (outs I32:$result);
  let assemblyFormat = "`(` $device `)` $executable attr-dict `:` functional-type(operands, results)";
}
def HAL_DeviceEndTurnOp : HAL_HostOp<"device.end_turn"> {
  let summary = "after a submission: waits until few are in flight, gives their fence, and passes its memory on";
  let arguments = (ins HAL_Device:$device, HAL_Fence:$in_flight, HAL_Fence:$submitted, HAL_Buffer:$transient);
  let results = (outs HAL_Fence:$result);
}
def HAL_DeviceQueueAllocaOp : HAL_HostOp<"device.queue.alloca"> {
  let summary = "allocates a buffer for work that waits for a fence";
  let arguments = (ins HAL_Device:$device, HAL_Fence:$wait, I32:$usage, Index:$length);
  let results = (outs HAL_Buffer:$result);
}
def HAL_BufferAllocateOp : HAL_HostOp<"buffer.allocate"> {
  let summary = "allocates a buffer; its content is undefined";
  let arguments = (ins HAL_Device:$device, I32:$usage, Index:$length);
  let results = (outs HAL_Buffer:$result);
}
def HAL_BufferSealOp : HAL_HostOp<"buffer.seal"> {
  let summary = "lets a buffer keep what it holds";
  let arguments = (ins HAL_Buffer:$buffer);
}
def HAL_ParameterLoadOp : HAL_HostOp<"parameter.load"> {
  let summary = "a buffer of the device that holds a parameter of the program";
  let arguments = (ins HAL_Device:$device, AnyType:$scope, AnyType:$key, Index:$length);
  let results = (outs HAL_Buffer:$result);
}
def HAL_BufferConstantOp : HAL_HostOp<"buffer.constant"> {
  let summary = "a read-only buffer that holds bytes of the module";
  let arguments = (ins HAL_Device:$device, AnyType:$rodata, Index:$offset, Index:$length);
  let results = (outs HAL_Buffer:$result);
}
def HAL_BufferTransferOp : HAL_HostOp<"buffer.transfer"> {
  let summary = "a buffer of a device with the bytes of a part of another device's";
  let arguments = (ins HAL_Device:$device, HAL_Buffer:$buffer, Index:$offset, Index:$length);
  let results = (outs HAL_Buffer:$result);
}
def HAL_BufferLengthOp : HAL_HostOp<"buffer.length", [Pure]> {
  let summary = "the length of a buffer in bytes";
  let arguments = (ins HAL_Buffer:$buffer);
  let results = (outs Index:$result);
}
def HAL_BufferLoadOp : HAL_HostOp<"buffer.load", [MemoryEffects<[MemRead]>]> {
  let summary = "reads one element of 1, 2, 4 or 8 bytes, zero-extended";
  let arguments = (ins HAL_Buffer:$buffer, Index:$offset, I32:$width);
  let results = (outs I64:$result);
}
def HAL_BufferViewCreateOp : HAL_HostOp<"buffer_view.create"> {
  let summary = "gives a buffer an element type and a shape";
  let arguments = (ins HAL_Buffer:$buffer, Index:$offset, Index:$length, I32:$element_type, Variadic<Index>:$shape);
  let results = (outs HAL_BufferView:$result);
}
def HAL_BufferViewBufferOp : HAL_HostOp<"buffer_view.buffer", [Pure]> {
  let summary = "the memory of a view";
  let arguments = (ins HAL_BufferView:$view);
  let results = (outs HAL_Buffer:$result);
}
def HAL_BufferViewAssertOp : HAL_HostOp<"buffer_view.assert"> {
  let summary = "fails where element type or shape differ; -1 takes any extent";
  let arguments = (ins HAL_BufferView:$view, AnyType:$label, I32:$element_type, Variadic<Index>:$shape);
}
def HAL_BufferViewDonateOp : HAL_HostOp<"buffer_view.donate"> {
  let summary = "takes a view's memory from the caller; fails where others of the call have it, too";
  let arguments = (ins HAL_BufferView:$view, AnyType:$label, Variadic<HAL_BufferView>:$others);
}
def HAL_BufferViewDimOp : HAL_HostOp<"buffer_view.dim", [Pure]> {
  let summary = "an extent of a view";
  let arguments = (ins HAL_BufferView:$view, I32:$dimension);
  let results = (outs Index:$result);
}
def HAL_CommandBufferCreateOp : HAL_HostOp<"command_buffer.create"> {
  let summary = "opens a command buffer with a number of binding slots; mode 0: replayed, 1: once";
  let arguments = (ins HAL_Device:$device, I32:$mode, I32:$slots);
  let results = (outs HAL_CommandBuffer:$result);
}
def HAL_CommandBufferFillOp : HAL_HostOp<"command_buffer.fill"> {
  let summary = "records a fill";
  let arguments = (ins HAL_CommandBuffer:$cmd, I32:$slot, Index:$offset, Index:$length, I64:$pattern, I32:$width);
}
def HAL_CommandBufferCopyOp : HAL_HostOp<"command_buffer.copy"> {
  let summary = "records a copy";
  let arguments = (ins HAL_CommandBuffer:$cmd, I32:$source_slot, Index:$source_offset, I32:$target_slot,
                       Index:$target_offset, Index:$length);
}
def HAL_CommandBufferDispatchOp : HAL_HostOp<"command_buffer.dispatch"> {
  let summary = "records a dispatch; after the number of constants come these, then slot, offset, length of each binding";
  let arguments = (ins HAL_CommandBuffer:$cmd, HAL_Executable:$executable, I32:$ordinal, Index:$x, Index:$y, Index:$z,
                       I32:$constant_count, Variadic<AnyTypeOf<[Index, I64]>>:$constants_and_bindings);
}
def HAL_CommandBufferBarrierOp : HAL_HostOp<"command_buffer.barrier"> {
  let summary = "records that what came before completes before what comes after starts";
  let arguments = (ins HAL_CommandBuffer:$cmd);
}
def HAL_CommandBufferFinalizeOp : HAL_HostOp<"command_buffer.finalize"> {
  let summary = "ends the recording";
  let arguments = (ins HAL_CommandBuffer:$cmd);
}
def HAL_DeviceExecuteOp : HAL_HostOp<"device.execute"> {
  let summary = "submits a command buffer, after a fence, with a binding table of buffer, offset, length";
  let arguments = (ins HAL_Device:$device, HAL_Fence:$wait, HAL_CommandBuffer:$cmd,
                       Variadic<AnyTypeOf<[HAL_Buffer, Index]>>:$bindings);
  let results = (outs HAL_Fence:$result);
}
def HAL_DeviceQueueExecuteOp : HAL_HostOp<"device.queue.execute"> {
  let summary = "the same in one of the queues whose bits are set";
  let arguments = (ins HAL_Device:$device, I64:$queues, HAL_Fence:$wait, HAL_CommandBuffer:$cmd,
                       Variadic<AnyTypeOf<[HAL_Buffer, Index]>>:$bindings);
  let results = (outs HAL_Fence:$result);
}
def HAL_FenceJoinOp : HAL_HostOp<"fence.join", [Pure]> {
  let summary = "a fence that is signalled when all are";
  let arguments = (ins Variadic<HAL_Fence>:$fences);
  let results = (outs HAL_Fence:$result);
}
def HAL_FenceAwaitOp : HAL_HostOp<"fence.await"> {
  let summary = "waits for a fence, and fails with its error";
  let arguments = (ins HAL_Fence:$fence);
}

#endif // KILN_COMPILER_DIALECT_HAL_IR_HALOPS_TD
