#include "kiln/compiler/Dialect/VM/Target/BytecodeEncoder.h"

#include "kiln/compiler/Dialect/HAL/IR/HALOps.h"
#include "kiln/compiler/Dialect/Util/IR/Remarks.h"
#include "kiln/compiler/Dialect/VM/Target/FunctionEncoder.h"
#include "kiln/schema/c_writer.h"
#include "kiln/schema/name.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace kiln::VM {

// The bytes of a constant's elements as the machine has them: borrowed where they lie like that in memory, and one
// element where all are the same. Dense i1 is packed or not depending on how it was made, and becomes one byte each.
static schema::Bytes bytesOf(ElementsAttr elements) {
  Type type = elements.getElementType();
  auto borrow = [](ArrayRef<char> bytes) { return schema::Bytes::borrow({bytes.data(), bytes.size()}); };
  std::string bytes;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return {};
    if (!type.isInteger(1))
      return borrow(blob->getData());
    for (char byte : blob->getData())
      bytes += static_cast<char>(byte != 0);
    return schema::Bytes::own(std::move(bytes));
  }
  bool isSplat = elements.isSplat();
  if (type.isInteger(1) && !isSplat) {
    for (bool value : elements.getValues<bool>())
      bytes += static_cast<char>(value);
    return schema::Bytes::own(std::move(bytes));
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(elements); dense && !isSplat && !type.isIndex())
    return borrow(dense.getRawData());
  int64_t width = HAL::elementByteWidth(type);
  auto append = [&](Attribute value) {
    APInt bits = isa<FloatAttr>(value) ? cast<FloatAttr>(value).getValue().bitcastToAPInt()
                                       : cast<IntegerAttr>(value).getValue();
    bits = bits.zext(width * 8);
    for (int64_t i = 0; i < width; ++i)
      bytes += static_cast<char>(bits.extractBitsAsZExtValue(8, i * 8));
  };
  if (isSplat) {
    append(elements.getSplatValue<Attribute>());
    return schema::Bytes::own(std::move(bytes), elements.getNumElements());
  }
  for (Attribute value : elements.getValues<Attribute>())
    append(value);
  return schema::Bytes::own(std::move(bytes));
}

static schema::RodataDesc rodataOf(RodataOp op) {
  schema::RodataDesc desc{op.getSymName().str(), {}};
  if (auto text = dyn_cast<StringAttr>(op.getValue())) {
    desc.bytes = schema::Bytes::borrow(text.getValue());
  } else if (auto elements = dyn_cast<ElementsAttr>(op.getValue())) {
    desc.bytes = bytesOf(elements);
  } else {
    // Several constants, as stream.resource.constants has laid them out.
    for (auto entry : cast<ArrayAttr>(op.getValue()).getAsRange<ElementsAttr>())
      desc.rest.push_back(bytesOf(entry));
  }
  return desc;
}

// Sizes and offsets in the program are those that the types say.
static LogicalResult checkBytes(RodataOp rodata) {
  Attribute one = rodata.getValue();
  auto several = dyn_cast<ArrayAttr>(one);
  for (Attribute value : several ? several.getValue() : ArrayRef(one))
    if (auto elements = dyn_cast<ElementsAttr>(value))
      if (std::string problem = HAL::problemOfBytes(elements); !problem.empty())
        return rodata.emitError() << "a constant cannot be used: " << problem;
  return success();
}

// The runtime takes a module with any other name in it for a damaged one.
static LogicalResult checkName(Operation *op, StringRef what, StringRef name) {
  if (schema::isName(name))
    return success();
  std::string shown;
  llvm::raw_string_ostream stream(shown);
  llvm::printEscapedString(name, stream);
  return op->emitError() << "a " << what << " cannot be called \"" << shown
                         << "\": " << (name.empty() ? "its name is empty" : "its name holds control characters");
}

// Names that the user chose first: others are made of them.
static LogicalResult checkNames(ModuleOp module) {
  if (failed(checkName(module, "module", module.getSymName())))
    return failure();
  Block &body = module.getBody().front();
  for (auto exportOp : body.getOps<ExportOp>())
    if (failed(checkName(exportOp, "function", exportOp.getName())))
      return failure();
  for (Operation &op : body)
    if (auto symbol = dyn_cast<SymbolOpInterface>(op);
        symbol && isa<FuncOp, ImportOp, RodataOp, ExecutableOp>(op) &&
        failed(checkName(&op, op.getName().stripDialect(), symbol.getName())))
      return failure();
  return success();
}

static std::vector<schema::AttributeDesc> attributesOf(ArrayRef<NamedAttribute> attributes) {
  std::vector<schema::AttributeDesc> result;
  for (NamedAttribute attr : attributes)
    if (auto text = dyn_cast<StringAttr>(attr.getValue()))
      result.push_back({attr.getName().str(), text.getValue().str()});
  return result;
}

static schema::ExecutableDesc executableOf(ExecutableOp op) {
  schema::ExecutableDesc desc{op.getSymName().str(), {}};
  for (auto variant : op.getVariants().getAsRange<DictionaryAttr>()) {
    auto target = variant.getAs<HAL::ExecutableTargetAttr>("target");
    schema::VariantDesc result;
    result.target = target.getBackend().str();
    result.format = target.getFormat().str();
    result.cpu = target.getString("cpu").str();
    result.cpuFeatures = target.getString("cpu_features").str();
    for (auto entry : variant.getAs<ArrayAttr>("exports").getAsRange<DictionaryAttr>()) {
      auto layout = entry.getAs<HAL::PipelineLayoutAttr>("layout");
      std::vector<uint8_t> access;
      for (HAL::BindingAccess each : layout.getBindings())
        access.push_back(each == HAL::BindingAccess::ReadOnly ? 1 : each == HAL::BindingAccess::WriteOnly ? 2 : 3);
      result.exports.push_back({entry.getAs<StringAttr>("name").getValue().str(), static_cast<uint32_t>(access.size()),
                                static_cast<uint32_t>(layout.getConstants()), access});
      schema::ExecutableExportDesc &described = result.exports.back();
      if (auto work = entry.getAs<DictionaryAttr>("kiln.work")) {
        if (auto element = work.getAs<TypeAttr>("element"))
          llvm::raw_string_ostream(described.elementType) << element.getValue();
        for (auto [key, number] :
             {std::pair("operations", &described.operations), std::pair("bytes", &described.bytes)})
          if (auto known = work.getAs<IntegerAttr>(key))
            *number = static_cast<uint64_t>(known.getInt());
      }
      if (auto nodes = entry.getAs<ArrayAttr>("kiln.nodes"))
        for (auto node : nodes.getAsRange<StringAttr>())
          described.nodes.push_back(node.str());
    }
    result.bytes = bytesOf(cast<ElementsAttr>(variant.get("data")));
    desc.variants.push_back(std::move(result));
  }
  return desc;
}

// The runtime's own modules have versions; those of an application, which may import from there, have not.
static std::vector<schema::RequirementDesc> requirementsOf(const schema::ModuleDesc &desc) {
  std::vector<schema::RequirementDesc> requirements = {{"vm", schema::kVmVersion}};
  for (auto [name, version] : {std::pair("hal", schema::kHalVersion), std::pair("check", schema::kCheckVersion)})
    if (llvm::any_of(desc.imports, [name = std::string(name) + "."](const schema::ImportDesc &import) {
          return import.name.starts_with(name);
        }))
      requirements.push_back({name, version});
  return requirements;
}

// "program.mlir:3:1", or nothing.
static std::string locationText(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return {};
  return (llvm::sys::path::filename(file.getFilename().getValue()) + ":" + Twine(file.getLine()) + ":" +
          Twine(file.getColumn()))
      .str();
}

// The constants of the result stay the module's.
static FailureOr<schema::ModuleDesc> describeModule(ModuleOp module) {
  if (failed(checkNames(module)))
    return failure();
  schema::ModuleDesc desc;
  desc.name = module.getSymName().str();
  desc.producer = "kiln " KILN_VERSION;
  desc.attributes = attributesOf(llvm::to_vector(module->getDiscardableAttrs()));
  desc.attributes.push_back({"kiln.remarks", Util::summarizeRemarks(module)});
  Block &body = module.getBody().front();
  ModuleIndex index;
  auto next = [](llvm::StringMap<uint32_t> &map, StringRef name) { map[name] = map.size(); };
  for (Operation &op : body) {
    if (auto func = dyn_cast<FuncOp>(op)) {
      next(index.functions, func.getSymName());
    } else if (auto import = dyn_cast<ImportOp>(op)) {
      next(index.imports, import.getSymName());
      desc.imports.push_back({import.getSymName().str(), import.getSignature().str()});
    } else if (auto global = dyn_cast<GlobalOp>(op)) {
      next(isa<RefType>(global.getType()) ? index.refGlobals : index.valueGlobals, global.getSymName());
    } else if (auto rodata = dyn_cast<RodataOp>(op)) {
      if (failed(checkBytes(rodata)))
        return failure();
      next(index.rodata, rodata.getSymName());
      desc.rodata.push_back(rodataOf(rodata));
    } else if (auto executable = dyn_cast<ExecutableOp>(op)) {
      next(index.executables, executable.getSymName());
      desc.executables.push_back(executableOf(executable));
    }
  }
  desc.requirements = requirementsOf(desc);
  desc.valueGlobals = index.valueGlobals.size();
  desc.refGlobals = index.refGlobals.size();
  for (auto func : body.getOps<FuncOp>()) {
    FailureOr<schema::FunctionDesc> encoded = FunctionEncoder(func, index).encode();
    if (failed(encoded))
      return failure();
    if (func.getSymName() == "__initialize")
      desc.initializer = desc.functions.size();
    encoded->location = locationText(func.getLoc());
    desc.functions.push_back(std::move(*encoded));
  }
  for (auto exportOp : body.getOps<ExportOp>())
    desc.exports.push_back({exportOp.getName().str(), index.functions.lookup(exportOp.getFunction()),
                            attributesOf(exportOp.getReflection().getValue())});
  return desc;
}

static LogicalResult writeWith(Status (*write)(const schema::ModuleDesc &, const schema::ByteSink &), ModuleOp module,
                               const schema::ByteSink &sink) {
  FailureOr<schema::ModuleDesc> desc = describeModule(module);
  if (failed(desc))
    return failure();
  Status status = write(*desc, sink);
  if (!status.ok())
    return module.emitError() << "cannot be written: " << status.message();
  return success();
}

LogicalResult encodeModule(ModuleOp module, const schema::ByteSink &sink) {
  return writeWith(schema::writeModule, module, sink);
}

LogicalResult writeModuleAsC(ModuleOp module, const schema::ByteSink &sink) {
  return writeWith(schema::writeModuleAsC, module, sink);
}

} // namespace kiln::VM
