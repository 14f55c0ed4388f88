// The encoding dialect: how a source says that elements of a tensor lie in memory. Its name is the one that programs use.
#ifndef KILN_COMPILER_DIALECT_ENCODING_IR_ENCODINGOPS_TD
#define KILN_COMPILER_DIALECT_ENCODING_IR_ENCODINGOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Encoding_Dialect : Dialect {
  let name = "iree_encoding";
  let cppNamespace = "::kiln::Encoding";
  let summary = "How the elements of a tensor lie in memory";
  let useDefaultAttributePrinterParser = 1;
}

def Encoding_PackedStorageAttr : AttrDef<Encoding_Dialect, "PackedStorage"> {
  let mnemonic = "packed_storage";
  let summary = "truth values take a bit each, the first the lowest of its byte";
  let description = "Where `flow.tensor.bitcast` asks for bytes; elsewhere they are as those of other tensors are.";
}

#endif // KILN_COMPILER_DIALECT_ENCODING_IR_ENCODINGOPS_TD
