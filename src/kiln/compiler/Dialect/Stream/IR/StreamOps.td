// The stream dialect: when and where. First as values (stream.async.*), then as commands on memory (stream.cmd.*).
#ifndef KILN_COMPILER_DIALECT_STREAM_IR_STREAMOPS_TD
#define KILN_COMPILER_DIALECT_STREAM_IR_STREAMOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Stream_Dialect : Dialect {
  let name = "stream";
  let cppNamespace = "::kiln::Stream";
  let summary = "Scheduling, lifetimes and the memory plan";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
}

def Stream_Resource : TypeDef<Stream_Dialect, "Resource"> {
  let mnemonic = "resource";
  let summary = "bytes on a device";
}
def Stream_Timepoint : TypeDef<Stream_Dialect, "Timepoint"> {
  let mnemonic = "timepoint";
  let summary = "a point in device time";
}
def Stream_Binding : TypeDef<Stream_Dialect, "Binding"> {
  let mnemonic = "binding";
  let summary = "memory that a dispatch is given";
}

// As programs of some years ago name parameters; read as the flow dialect's.
def Stream_NamedParameterAttr : AttrDef<Stream_Dialect, "NamedParameter"> {
  let mnemonic = "parameter.named";
  let summary = "a tensor that the program is given when it is loaded";
  let hasCustomAssemblyFormat = 1;
}

def Stream_Lifetime : I32EnumAttr<"Lifetime", "how long a resource is needed", [
    I32EnumAttrCase<"External", 0, "external">,   // leaves the program, or came into it
    I32EnumAttrCase<"Transient", 1, "transient">, // within one call
  ]> {
  let cppNamespace = "::kiln::Stream";
  let genSpecializedAttr = 0;
}
def Stream_LifetimeAttr : EnumAttr<Stream_Dialect, Stream_Lifetime, "lifetime">;

class Stream_Op<string mnemonic, list<Trait> traits = []> : Op<Stream_Dialect, mnemonic, traits>;

//===--- The tensor boundary -------------------------------------------------------------------------------------===//

def Stream_TensorImportOp : Stream_Op<"tensor.import", [Pure]> {
  let summary = "the memory of a buffer view, which is the program's own where it is donated";
  let arguments = (ins AnyType:$source, UnitAttr:$donated);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}
def Stream_TensorExportOp : Stream_Op<"tensor.export"> {
  let summary = "a buffer view of a resource";
  let arguments = (ins Stream_Resource:$source, Index:$size, TypeAttr:$encoding, Variadic<Index>:$dims);
  let results = (outs Res<AnyType, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    $source `{` $size `}` `:` type($source) `as` $encoding (`{` $dims^ `}`)? attr-dict `->` type($result)
  }];
}

//===--- Values --------------------------------------------------------------------------------------------------===//

def Stream_AsyncConstantOp : Stream_Op<"async.constant", [Pure]> {
  let summary = "bytes of the module, or of a parameter";
  let description = "Elements, or a `#flow.parameter.named` that stands for some.";
  let arguments = (ins TypedAttrInterface:$value, Index:$size);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "`(` $value `)` `:` type($result) `{` $size `}` attr-dict";
}
def Stream_AsyncAllocaOp : Stream_Op<"async.alloca", [Pure]> {
  let summary = "undefined content";
  let arguments = (ins Index:$size);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "`:` type($result) `{` $size `}` attr-dict";
}
def Stream_AsyncSplatOp : Stream_Op<"async.splat", [Pure]> {
  let summary = "one value everywhere";
  let arguments = (ins AnyTypeOf<[AnySignlessInteger, AnyFloat, Index]>:$value, Index:$size);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "$value `:` type($value) `->` type($result) `{` $size `}` attr-dict";
}
def Stream_AsyncCloneOp : Stream_Op<"async.clone", [Pure]> {
  let summary = "a copy that may be overwritten";
  let arguments = (ins Stream_Resource:$source, Index:$size);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "$source `:` type($source) `->` type($result) `{` $size `}` attr-dict";
}
def Stream_AsyncDispatchOp : Stream_Op<"async.dispatch", [AttrSizedOperandSegments, Pure]> {
  let summary = "a launch, on values";
  let description = [{
    Result `i` overwrites the resource operand `tied[i]`, or is new where that is -1. Resource operands come with their
    sizes; constants are 64-bit.
  }];
  let arguments = (ins SymbolRefAttr:$entry, Variadic<AnyTypeOf<[Index, I64]>>:$constants,
                       Variadic<Stream_Resource>:$resources, Variadic<Index>:$resource_sizes,
                       Variadic<Index>:$result_sizes, DenseI64ArrayAttr:$tied);
  let results = (outs Variadic<Stream_Resource>:$results);
  let assemblyFormat = [{
    $entry `[` ($constants^ `:` type($constants))? `]` `(` $resources `)` `{` $resource_sizes `}`
    `->` `{` $result_sizes `}` `tied` $tied attr-dict `:` functional-type($resources, $results)
  }];
}

def Stream_AsyncTransferOp : Stream_Op<"async.transfer", [Pure]> {
  let summary = "a value where another device, or another queue, can use it";
  let arguments = (ins Stream_Resource:$source, Index:$size, AnyAttr:$target);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "$source `:` type($source) `->` type($result) `{` $size `}` `to` $target attr-dict";
}

def Stream_AsyncLoadOp : Stream_Op<"async.load", [Pure]> {
  let summary = "one element, on the host";
  let arguments = (ins Stream_Resource:$source, Index:$offset);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $offset `]` attr-dict `:` type($source) `->` type($result)";
}

//===--- Memory and commands -------------------------------------------------------------------------------------===//

def Stream_ResourceAllocOp : Stream_Op<"resource.alloc"> {
  let summary = "allocates";
  let description = [{
    With a timepoint the memory is for work that waits for it, and may be what a submission before that has at the end of its turn
    given back.
  }];
  let arguments = (ins Stream_LifetimeAttr:$lifetime, Optional<Stream_Timepoint>:$await, Index:$size);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "$lifetime (`await` `(` $await^ `)`)? `:` type($result) `{` $size `}` attr-dict";
}
def Stream_ResourceConstantsOp : Stream_Op<"resource.constants", [Pure]> {
  let summary = "all constants of the module, in one resource";
  let description = "Each value starts at a multiple of 64 bytes; `offsets` says where.";
  let arguments = (ins ArrayAttr:$values, DenseI64ArrayAttr:$offsets, I64Attr:$size);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "`(` $values `)` `at` $offsets `:` type($result) `{` $size `}` attr-dict";
}
def Stream_ResourceParameterOp : Stream_Op<"resource.parameter"> {
  let summary = "a parameter of the program";
  let arguments = (ins StrAttr:$scope, StrAttr:$key, Index:$size);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "$scope `,` $key attr-dict `:` type($result) `{` $size `}`";
}
def Stream_ResourceTransferOp : Stream_Op<"resource.transfer"> {
  let summary = "memory of another device with the same bytes; their work has been awaited";
  let arguments = (ins Stream_Resource:$source, Index:$offset, Index:$size, AnyAttr:$target);
  let results = (outs Stream_Resource:$result);
  let assemblyFormat = "$source `[` $offset `for` $size `]` attr-dict `:` type($source) `->` type($result) `to` $target";
}
def Stream_ResourceLoadOp : Stream_Op<"resource.load", [MemoryEffects<[MemRead]>]> {
  let summary = "one element of memory whose work has been awaited";
  let arguments = (ins Stream_Resource:$source, Index:$offset);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $offset `]` attr-dict `:` type($source) `->` type($result)";
}

def Stream_CmdExecuteOp : Stream_Op<"cmd.execute", [IsolatedFromAbove, AttrSizedOperandSegments, SingleBlock,
                                                    NoTerminator]> {
  let summary = "one submission";
  let description = [{
    Starts when `await` is reached, and gives the timepoint when all is done. The region's arguments are first the
    resources, whose sizes are given, then the scalars. What the region holds is done in order, except that the commands
    of a `stream.cmd.concurrent` may run at the same time.
  }];
  let arguments = (ins Stream_Timepoint:$await, Variadic<Stream_Resource>:$resources,
                       Variadic<Index>:$resource_sizes, Variadic<AnyType>:$scalars);
  let results = (outs Stream_Timepoint:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `await` `(` $await `)` `with` `(` ($resources^ `:` type($resources))? `)` (`{` $resource_sizes^ `}`)?
    (`using` `(` $scalars^ `:` type($scalars) `)`)? $body attr-dict
  }];
}
def Stream_CmdConcurrentOp : Stream_Op<"cmd.concurrent", [SingleBlock, NoTerminator]> {
  let summary = "commands that do not depend on each other";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}
def Stream_CmdFillOp : Stream_Op<"cmd.fill"> {
  let summary = "fills a range with a value of 1, 2, 4 or 8 bytes";
  let arguments = (ins Stream_Resource:$target, Index:$offset, Index:$length, I64:$pattern, I32Attr:$width);
  let assemblyFormat = [{
    $target `[` $offset `for` $length `]` `with` $pattern `width` $width attr-dict `:` type($target)
  }];
}
def Stream_CmdCopyOp : Stream_Op<"cmd.copy"> {
  let summary = "copies a range";
  let arguments = (ins Stream_Resource:$source, Index:$source_offset, Stream_Resource:$target, Index:$target_offset,
                       Index:$length);
  let assemblyFormat = [{
    $source `[` $source_offset `]` `to` $target `[` $target_offset `]` `for` $length attr-dict `:`
    type($source) `->` type($target)
  }];
}
def Stream_CmdDispatchOp : Stream_Op<"cmd.dispatch", [AttrSizedOperandSegments]> {
  let summary = "a launch, on ranges of memory";
  let arguments = (ins SymbolRefAttr:$entry, Variadic<AnyTypeOf<[Index, I64]>>:$constants,
                       Variadic<Stream_Resource>:$resources, Variadic<Index>:$offsets, Variadic<Index>:$lengths);
  let assemblyFormat = [{
    $entry `[` ($constants^ `:` type($constants))? `]` `(` ($resources^ `:` type($resources))? `)`
    `at` `(` $offsets `)` `for` `(` $lengths `)` attr-dict
  }];
}

def Stream_TimepointImmediateOp : Stream_Op<"timepoint.immediate", [Pure]> {
  let summary = "a timepoint that is already reached";
  let results = (outs Stream_Timepoint:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Stream_TimepointJoinOp : Stream_Op<"timepoint.join", [Pure]> {
  let summary = "a timepoint that is reached when all are";
  let arguments = (ins Variadic<Stream_Timepoint>:$timepoints);
  let results = (outs Stream_Timepoint:$result);
  let assemblyFormat = "$timepoints attr-dict `:` type($result)";
}
def Stream_TimepointAwaitOp : Stream_Op<"timepoint.await"> {
  let summary = "waits on the host";
  let arguments = (ins Stream_Timepoint:$timepoint);
  let assemblyFormat = "$timepoint attr-dict `:` type($timepoint)";
}
def Stream_TimepointEndTurnOp : Stream_Op<"timepoint.end_turn"> {
  let summary = "what is in flight after a submission of a loop's turn";
  let description = [{
    Stands for both timepoints. First the host waits, oldest first, until the device is behind by few submissions; for this one, where
    the device has no queues of its own. Nothing uses the transient memory after the submission.
  }];
  let arguments = (ins Stream_Timepoint:$in_flight, Stream_Timepoint:$submitted, Optional<Stream_Resource>:$transient);
  let results = (outs Stream_Timepoint:$result);
  let assemblyFormat = [{
    $in_flight `and` $submitted (`releasing` `(` $transient^ `)`)? attr-dict `:` type($result)
  }];
}

//===--- Executables ---------------------------------------------------------------------------------------------===//

def Stream_ExecutableOp : Stream_Op<"executable", [IsolatedFromAbove, SingleBlock, NoTerminator, SymbolTable, Symbol]> {
  let summary = "what a dispatch computes, on bindings";
  let description = [{
    Holds a module with one public function. Its arguments are the bindings, in the order of `access` (an array of
    "readonly", "writeonly", "readwrite" on the function), then the constants.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$sym_visibility, SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<SymbolVisibility>($sym_visibility) $sym_name attr-dict-with-keyword $body";
  let skipDefaultBuilders = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "llvm::StringRef":$name)>];
  let extraClassDeclaration = [{
    mlir::ModuleOp getInnerModule() { return *getBody().getOps<mlir::ModuleOp>().begin(); }
  }];
}
def Stream_BindingSubspanOp : Stream_Op<"binding.subspan", [Pure]> {
  let summary = "a binding's memory as a memref, from its start";
  let arguments = (ins Stream_Binding:$binding, Variadic<Index>:$dynamic_dims);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$binding attr-dict `:` type($result) (`{` $dynamic_dims^ `}`)?";
}

#endif // KILN_COMPILER_DIALECT_STREAM_IR_STREAMOPS_TD
