// Modules that were compiled to C: their tables, as kiln_compiled.h has them.
#include "kiln/schema/kiln_compiled.h"

#include <algorithm>

#include "kiln/runtime/module/module.h"
#include "kiln/schema/name.h"
#include "kiln/schema/version.h"
#include "kiln/schema/vm_code.h"

namespace kiln::vm {

static std::string_view text(const char *string) {
  return string ? string : std::string_view();
}
static std::string_view bytesOf(const void *bytes, uint64_t size) {
  return {static_cast<const char *>(bytes), size};
}

class CompiledModuleReader {
public:
  explicit CompiledModuleReader(const kiln_compiled_module_t &from) : from(from) {}

  Result<Ref<Module>> read() {
    KILN_RETURN_IF_ERROR(checkVersion());
    Container container;
    container.name = fmt::format("{} (compiled C)", text(from.name));
    container.file = borrowFileBytes({}, {});
    module = Ref<Module>::adopt(new Module(std::move(container)));
    module->moduleName = name(from.name);
    module->moduleProducer = name(from.producer);
    module->valueGlobalCount = from.value_globals;
    module->refGlobalCount = from.reference_globals;
    module->attributeList = attributes(from.attributes, from.attribute_count);
    for (uint32_t i = 0; i < from.requirement_count; ++i)
      module->requirementList.push_back(
          {name(from.requirements[i].name), {from.requirements[i].major, from.requirements[i].minor}});
    for (uint32_t i = 0; i < from.function_count; ++i)
      readFunction(from.functions[i]);
    for (uint32_t i = 0; i < from.export_count; ++i)
      readExport(from.exports[i]);
    for (uint32_t i = 0; i < from.import_count; ++i)
      module->importList.push_back(
          {name(from.imports[i].name), text(from.imports[i].signature), signature(from.imports[i].signature, true)});
    for (uint32_t i = 0; i < from.constant_count; ++i) {
      checkData(from.constants[i].bytes, from.constants[i].size);
      module->rodataList.push_back(
          {text(from.constants[i].name), 0, 0, bytesOf(from.constants[i].bytes, from.constants[i].size)});
    }
    for (uint32_t i = 0; i < from.executable_count; ++i)
      readExecutable(from.executables[i]);
    readInitializer();
    if (!problem.empty())
      return dataLoss("compiled module '{}' is damaged: {}", text(from.name), problem);
    module->isVerified = true;
    return std::move(module);
  }

private:
  // Before anything else is looked at: with another version it means something else.
  Status checkVersion() const {
    schema::Version provided{KILN_COMPILED_MAJOR, KILN_COMPILED_MINOR}, needed{from.major, from.minor};
    if (!provided.supports(needed))
      return failedPrecondition("a compiled module was written for version {}.{} of kiln_compiled.h; this runtime has "
                                "{}.{}: link it with {}, or compile it with the compiler of this one",
                                needed.major, needed.minor, provided.major, provided.minor,
                                provided.runtimeFor(needed));
    if (from.struct_size < sizeof(from))
      return dataLoss("a compiled module has a description of {} bytes; version {}.{} of kiln_compiled.h has {}",
                      from.struct_size, needed.major, needed.minor, sizeof(from));
    return okStatus();
  }

  // Goes on with something that is safe to look at; the module is refused at the end.
  void fail(std::string reason) {
    if (problem.empty())
      problem = std::move(reason);
  }

  std::string_view name(const char *string) {
    if (schema::isName(text(string)))
      return text(string);
    fail("a name is empty or holds control characters");
    return "?";
  }
  schema::Signature signature(const char *string, bool allowRepeated) {
    Result<schema::Signature> parsed = schema::parseSignature(text(string), allowRepeated);
    if (parsed.ok())
      return *std::move(parsed);
    fail(std::string(parsed.status().message()));
    return {};
  }
  void checkData(const void *bytes, uint64_t size) {
    if (size > 0 && (!bytes || reinterpret_cast<uintptr_t>(bytes) % 64 != 0))
      fail("its data does not start at a multiple of 64");
  }

  static std::vector<AttributeInfo> attributes(const kiln_compiled_attribute_t *list, uint32_t count) {
    std::vector<AttributeInfo> infos;
    for (uint32_t i = 0; i < count; ++i)
      infos.push_back({text(list[i].key), text(list[i].value)});
    return infos;
  }

  void readFunction(const kiln_compiled_function_t &entry) {
    FunctionInfo function;
    function.name = name(entry.name);
    function.signatureText = text(entry.signature);
    function.signature = signature(entry.signature, false);
    for (char kind : function.signature.arguments)
      ++(schema::isRefKind(kind) ? function.refArguments : function.valueArguments);
    uint64_t refResults = std::ranges::count_if(function.signature.results, schema::isRefKind);
    uint64_t valueResults = function.signature.results.size() - refResults;
    function.valueRegisters = entry.value_registers;
    function.refRegisters = entry.reference_registers;
    function.valueScratch = entry.value_scratch;
    function.refScratch = entry.reference_scratch;
    function.compiled = entry.code;
    if (!entry.code || function.valueRegisters > schema::kMaxRegisters || function.refRegisters > schema::kMaxRegisters)
      fail(fmt::format("function @{} has no code, or too many registers", function.name));
    if (function.valueArguments > function.valueRegisters || function.refArguments > function.refRegisters ||
        valueResults > function.valueScratch || refResults > function.refScratch)
      fail(fmt::format("the registers of function @{} do not hold its arguments and results", function.name));
    module->functionList.push_back(std::move(function));
  }

  void readExport(const kiln_compiled_export_t &entry) {
    if (entry.function >= module->functionList.size())
      fail(fmt::format("export @{} is function {} of {}", text(entry.name), entry.function,
                       module->functionList.size()));
    else if (module->findExport(text(entry.name)))
      fail(fmt::format("two functions are exported as @{}", text(entry.name)));
    else
      module->exportList.push_back(
          {name(entry.name), entry.function, attributes(entry.attributes, entry.attribute_count)});
  }

  void readExecutable(const kiln_compiled_executable_t &entry) {
    ExecutableInfo executable{name(entry.name), {}};
    for (uint32_t i = 0; i < entry.variant_count; ++i) {
      const kiln_compiled_variant_t &variant = entry.variants[i];
      checkData(variant.bytes, variant.size);
      VariantInfo info;
      info.target = name(variant.target);
      info.format = name(variant.format);
      info.cpu = text(variant.cpu);
      info.cpuFeatures = text(variant.cpu_features);
      info.bytes = bytesOf(variant.bytes, variant.size);
      for (uint32_t j = 0; j < variant.dispatch_count; ++j)
        info.exports.push_back({name(variant.dispatches[j].name), variant.dispatches[j].binding_count,
                                variant.dispatches[j].constant_count});
      executable.variants.push_back(std::move(info));
    }
    module->executableList.push_back(std::move(executable));
  }

  void readInitializer() {
    if (from.initializer == -1)
      return;
    if (from.initializer < 0 || static_cast<size_t>(from.initializer) >= module->functionList.size() ||
        module->functionList[from.initializer].signatureText != "_")
      fail("its initializer is no function without arguments and results");
    else
      module->initializerFunction = from.initializer;
  }

  const kiln_compiled_module_t &from;
  Ref<Module> module;
  std::string problem;
};

Result<Ref<Module>> Module::fromCompiled(const kiln_compiled_module_t &compiled) {
  return CompiledModuleReader(compiled).read();
}

} // namespace kiln::vm
