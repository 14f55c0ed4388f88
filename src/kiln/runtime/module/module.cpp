#include "kiln/runtime/module/module.h"

#include <algorithm>
#include <unordered_set>

#include "kiln/runtime/module/verifier.h"
#include "kiln/schema/module_generated.h"
#include "kiln/schema/name.h"
#include "kiln/schema/vm_code.h"

namespace kiln::vm {

using schema::SectionKind;

std::string_view ExportInfo::attribute(std::string_view key) const {
  for (const AttributeInfo &attribute : attributes)
    if (attribute.key == key)
      return attribute.value;
  return {};
}

const ExportInfo *Module::findExport(std::string_view name) const {
  for (const ExportInfo &entry : exportList)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

Status Module::checkVersion(std::string_view name, schema::Version provided) const {
  for (const RequirementInfo &entry : requirementList)
    if (entry.name == name && !provided.supports(entry.version))
      return failedPrecondition(
          "module '{}' was compiled by {} for version {}.{} of {}; this runtime has {}.{}: run it "
          "with {}, or compile it with the compiler of this one",
          fileName(), moduleProducer, entry.version.major, entry.version.minor, name, provided.major, provided.minor,
          provided.runtimeFor(entry.version));
  return okStatus();
}

static std::string_view text(const flatbuffers::String *string) {
  return string ? std::string_view(string->c_str(), string->size()) : std::string_view();
}

template <typename T> static size_t sizeOf(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

// Fills a Module from its container. Every problem is collected; parts that have one are left out or marked, so that
// what remains can be shown and is safe to look at.
class ModuleReader {
public:
  ModuleReader(Module &module, std::vector<Status> &problems) : module(module), problems(problems) {}

  // False where the metadata is unusable.
  bool run() {
    std::string_view metadata;
    for (const SectionInfo &section : module.container.sections) {
      if (section.entry.kind == SectionKind::Metadata && metadata.empty())
        metadata = section.bytes;
      if (section.entry.kind == SectionKind::Code && !codeSection)
        codeSection = &section;
    }
    // Each table takes more than 8 bytes, unless tables are shared, which no writer does and which could make a small
    // file take forever to read.
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(metadata.data()), metadata.size(), 16,
                                   static_cast<flatbuffers::uoffset_t>(metadata.size() / 8));
    if (metadata.size() < 8 || metadata.size() > INT32_MAX || !schema::VerifyModuleBuffer(verifier)) {
      problem("its metadata is not well-formed");
      return false;
    }
    root = schema::GetModule(metadata.data());
    module.moduleName = readName(text(root->name()), "module");
    module.moduleProducer = readName(text(root->producer()), "producer");
    readRequirements();
    module.attributeList = readAttributes(root->attributes());
    readGlobals();
    readFunctions();
    readExports();
    readImports();
    readRodata();
    readExecutables();
    readInitializer();
    verifyCode();
    module.isVerified = problems.empty();
    return true;
  }

private:
  template <typename... Args> const Status &problem(fmt::format_string<Args...> format, Args &&...args) {
    problems.push_back(
        dataLoss("module '{}' is damaged: {}", module.fileName(), fmt::format(format, std::forward<Args>(args)...)));
    return problems.back();
  }

  std::string_view readName(std::string_view name, const char *what) {
    if (schema::isName(name))
      return name;
    problem("the name of a {} is empty or holds control characters", what);
    return "?";
  }

  static std::vector<AttributeInfo>
  readAttributes(const flatbuffers::Vector<flatbuffers::Offset<schema::Attribute>> *list) {
    std::vector<AttributeInfo> attributes;
    for (size_t i = 0; i < sizeOf(list); ++i)
      attributes.push_back({text(list->Get(i)->key()), text(list->Get(i)->value())});
    return attributes;
  }

  // Code names globals, functions and so on with 16 bits; a larger count is damage, and would only cost memory.
  size_t readCount(size_t count, const char *what) {
    if (count <= 0x10000)
      return count;
    problem("it claims {} {}; code can name 65536", count, what);
    return 0;
  }

  // First of all: with another version, anything else may look damaged.
  void readRequirements() {
    for (size_t i = 0; i < sizeOf(root->requirements()); ++i) {
      const schema::Requirement *entry = root->requirements()->Get(i);
      module.requirementList.push_back(
          {readName(text(entry->name()), "requirement"), {entry->major(), entry->minor()}});
    }
    if (Status status = module.checkVersion("vm", schema::kVmVersion); !status.ok())
      problems.push_back(std::move(status));
  }

  void readGlobals() {
    module.valueGlobalCount = static_cast<uint32_t>(readCount(root->value_globals(), "value globals"));
    module.refGlobalCount = static_cast<uint32_t>(readCount(root->ref_globals(), "reference globals"));
  }

  void readFunctions() {
    std::span<const uint16_t> code;
    if (codeSection)
      code = {reinterpret_cast<const uint16_t *>(codeSection->bytes.data()), codeSection->bytes.size() / 2};
    if (codeSection && codeSection->bytes.size() % 2 != 0)
      problem("its code section has {} bytes, not a whole number of units", codeSection->bytes.size());
    uint64_t end = 0;
    size_t count = readCount(sizeOf(root->functions()), "functions");
    for (size_t i = 0; i < count; ++i) {
      const schema::Function *entry = root->functions()->Get(i);
      FunctionInfo function;
      function.name = readName(text(entry->name()), "function");
      function.signatureText = text(entry->signature());
      function.valueRegisters = entry->value_registers();
      function.refRegisters = entry->ref_registers();
      function.status = readSignature(function);
      // Code of functions follows one another without gap or overlap, so that verifying is linear in the file.
      if (entry->code_offset() != end || entry->code_units() > code.size() - end)
        function.status =
            problem("function @{}: its code, {} units from unit {}, is not where it must be in the {} units "
                    "of the code section",
                    function.name, entry->code_units(), entry->code_offset(), code.size());
      else
        function.code = code.subspan(end, entry->code_units());
      end += function.code.size();
      module.functionList.push_back(std::move(function));
    }
    if (end != code.size())
      problem("{} units of its code section belong to no function", code.size() - end);
  }

  Status readSignature(FunctionInfo &function) {
    Result<schema::Signature> signature = schema::parseSignature(function.signatureText, false);
    if (!signature.ok())
      return problem("function @{}: {}", function.name, signature.status().message());
    function.signature = *std::move(signature);
    for (char kind : function.signature.arguments)
      ++(schema::isRefKind(kind) ? function.refArguments : function.valueArguments);
    if (function.valueArguments > function.valueRegisters || function.refArguments > function.refRegisters ||
        function.valueRegisters > schema::kMaxRegisters || function.refRegisters > schema::kMaxRegisters)
      return problem("function @{}: {} value and {} reference registers do not hold the arguments of '{}', or are more "
                     "than {} of a kind",
                     function.name, function.valueRegisters, function.refRegisters, function.signatureText,
                     schema::kMaxRegisters);
    return okStatus();
  }

  void readExports() {
    std::unordered_set<std::string_view> names;
    for (size_t i = 0; i < sizeOf(root->exports()); ++i) {
      const schema::Export *entry = root->exports()->Get(i);
      ExportInfo info;
      info.name = readName(text(entry->name()), "exported function");
      info.function = entry->function();
      info.attributes = readAttributes(entry->attributes());
      if (info.function >= module.functionList.size())
        problem("export @{} is function {} of {}", info.name, info.function, module.functionList.size());
      else if (!names.insert(info.name).second)
        problem("two functions are exported as @{}", info.name);
      else
        module.exportList.push_back(std::move(info));
    }
  }

  void readImports() {
    size_t count = readCount(sizeOf(root->imports()), "imports");
    for (size_t i = 0; i < count; ++i) {
      const schema::Import *entry = root->imports()->Get(i);
      ImportInfo info;
      info.name = readName(text(entry->name()), "imported function");
      info.signatureText = text(entry->signature());
      Result<schema::Signature> signature = schema::parseSignature(info.signatureText, true);
      if (signature.ok())
        info.signature = *std::move(signature);
      else
        problem("import @{}: {}", info.name, signature.status().message());
      module.importList.push_back(std::move(info));
    }
  }

  // The section, or null where it does not exist, is of another kind, or lies outside the file.
  const SectionInfo *findSection(uint32_t index, SectionKind kind) const {
    const std::vector<SectionInfo> &sections = module.container.sections;
    return index < sections.size() && sections[index].entry.kind == kind && sections[index].bytes.data()
               ? &sections[index]
               : nullptr;
  }

  void readRodata() {
    size_t count = readCount(sizeOf(root->rodata()), "constants");
    for (size_t i = 0; i < count; ++i) {
      const schema::Rodata *entry = root->rodata()->Get(i);
      RodataInfo info;
      info.name = text(entry->name());
      info.section = entry->section();
      info.offset = entry->offset();
      const SectionInfo *section = findSection(info.section, SectionKind::Constants);
      if (!info.name.empty() && !schema::isName(info.name))
        info.name = readName(info.name, "constant");
      if (!section || info.offset > section->bytes.size() || entry->length() > section->bytes.size() - info.offset ||
          info.offset % 64 != 0)
        problem("constant {}, {} bytes from byte {} of section {}, does not lie aligned within a section of constants",
                i, entry->length(), info.offset, info.section);
      else
        info.bytes = section->bytes.substr(info.offset, entry->length());
      module.rodataList.push_back(info);
    }
  }

  void readExecutables() {
    size_t count = readCount(sizeOf(root->executables()), "executables");
    for (size_t i = 0; i < count; ++i) {
      const schema::Executable *entry = root->executables()->Get(i);
      ExecutableInfo info;
      info.name = readName(text(entry->name()), "executable");
      for (size_t j = 0; j < sizeOf(entry->variants()); ++j)
        info.variants.push_back(readVariant(info.name, entry->variants()->Get(j)));
      module.executableList.push_back(std::move(info));
    }
  }

  VariantInfo readVariant(std::string_view executable, const schema::ExecutableVariant *entry) {
    VariantInfo info;
    info.target = readName(text(entry->target()), "target");
    info.format = readName(text(entry->format()), "executable format");
    info.cpu = text(entry->cpu());
    info.cpuFeatures = text(entry->cpu_features());
    for (std::string_view *optional : {&info.cpu, &info.cpuFeatures})
      if (!optional->empty() && !schema::isName(*optional))
        *optional = readName(*optional, "CPU");
    info.section = entry->section();
    if (const SectionInfo *section = findSection(info.section, SectionKind::Executable))
      info.bytes = section->bytes;
    else
      problem("executable '{}' for {} is section {}, which is no executable section", executable, info.target,
              info.section);
    for (size_t i = 0; i < sizeOf(entry->exports()); ++i) {
      const schema::ExecutableExport *dispatch = entry->exports()->Get(i);
      info.exports.push_back(
          {readName(text(dispatch->name()), "dispatch"), dispatch->binding_count(), dispatch->constant_count()});
      readAccess(*dispatch, info.exports.back());
      info.exports.back().operations = dispatch->operations();
      info.exports.back().bytes = dispatch->bytes();
      info.exports.back().elementType = text(dispatch->element_type());
      for (size_t node = 0; node < sizeOf(dispatch->nodes()); ++node)
        info.exports.back().nodes.push_back(text(dispatch->nodes()->Get(node)));
    }
    return info;
  }

  void readAccess(const schema::ExecutableExport &entry, ExecutableExportInfo &info) {
    if (!entry.access())
      return;
    if (entry.access()->size() != info.bindingCount)
      problem("dispatch '{}' has {} bindings, and access for {}", info.name, info.bindingCount, entry.access()->size());
    for (uint8_t access : *entry.access()) {
      if (access < uint8_t(hal::MemoryAccess::Read) || access > uint8_t(hal::MemoryAccess::ReadWrite))
        problem("dispatch '{}' has a binding with the access {}, which is none", info.name, access);
      info.access.push_back(hal::MemoryAccess(access));
    }
  }

  void readInitializer() {
    int32_t index = root->initializer();
    if (index == -1)
      return;
    if (index < 0 || static_cast<size_t>(index) >= module.functionList.size())
      problem("its initializer is function {} of {}", index, module.functionList.size());
    else if (module.functionList[index].signatureText != "_")
      problem("its initializer @{} has arguments or results", module.functionList[index].name);
    else
      module.initializerFunction = index;
  }

  void verifyCode() {
    for (FunctionInfo &function : module.functionList)
      if (function.status.ok())
        if (Status status = verifyFunction(module, function); !status.ok())
          function.status = problem("function @{}: {}", function.name, status.message());
  }

  Module &module;
  std::vector<Status> &problems;
  const SectionInfo *codeSection = nullptr;
  const schema::Module *root = nullptr;
};

Ref<Module> Module::inspect(Container container, std::vector<Status> &problems) {
  auto module = Ref<Module>::adopt(new Module(std::move(container)));
  return ModuleReader(*module, problems).run() ? module : nullptr;
}

static Result<Ref<Module>> load(std::string name, Ref<FileBytes> bytes) {
  std::vector<Status> problems;
  Container container = readContainer(std::move(name), std::move(bytes), problems);
  KILN_RETURN_IF_ERROR(container.file->checkReadable());
  if (!problems.empty())
    return std::move(problems.front());
  Ref<Module> module = Module::inspect(std::move(container), problems);
  if (!problems.empty())
    return std::move(problems.front());
  return module;
}

Result<Ref<Module>> Module::loadFile(const std::string &path) {
  KILN_ASSIGN_OR_RETURN(Ref<FileBytes> bytes, openFileBytes(path));
  return load(path == "-" ? "standard input" : path, std::move(bytes));
}

Result<Ref<Module>> Module::loadMemory(std::string_view bytes, std::function<void()> release, std::string name) {
  return load(std::move(name), borrowFileBytes(bytes, std::move(release)));
}

} // namespace kiln::vm
