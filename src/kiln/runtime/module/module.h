// A loaded module: a file that was read, checked and verified, and what it holds. Immutable and thread-safe; any number
// of sessions share one. What is executed or trusted is a copy; large constants are mapped for as long as a reference
// to the module or to one of its constants exists (file_bytes.h).
#ifndef KILN_RUNTIME_MODULE_MODULE_H
#define KILN_RUNTIME_MODULE_MODULE_H

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/ref.h"
#include "kiln/base/status.h"
#include "kiln/runtime/hal/buffer.h"
#include "kiln/runtime/module/container_reader.h"
#include "kiln/schema/signature.h"
#include "kiln/schema/version.h"

struct kiln_compiled_module_t;
struct kiln_frame_t;
struct kiln_runtime_t;

namespace kiln::vm {

// Views point into the module's file and live as long as the module.
struct AttributeInfo {
  std::string_view key;
  std::string_view value;
};

struct FunctionInfo {
  std::string_view name;
  std::string_view signatureText; // "rI_r"
  schema::Signature signature;
  uint32_t valueArguments = 0;
  uint32_t refArguments = 0;
  uint32_t valueRegisters = 0;
  uint32_t refRegisters = 0;
  // The most values and references that one instruction passes or moves at once; found by the verifier.
  uint32_t valueScratch = 0;
  uint32_t refScratch = 0;
  std::span<const uint16_t> code; // empty where the function is machine code
  // Of a module that was compiled to C (kiln_compiled.h), else null.
  int (*compiled)(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) = nullptr;
  Status status; // why the function must not run; always ok in a module that loaded
};

struct ExportInfo {
  std::string_view name;
  uint32_t function = 0;
  std::vector<AttributeInfo> attributes;

  // Empty where there is no such attribute.
  std::string_view attribute(std::string_view key) const;
};

struct ImportInfo {
  std::string_view name; // "hal.buffer.allocate"
  std::string_view signatureText;
  schema::Signature signature;
};

struct RequirementInfo {
  std::string_view name; // "vm", or of a native module: "hal"
  schema::Version version;
};

struct RodataInfo {
  std::string_view name;
  uint32_t section = 0;
  uint64_t offset = 0; // within the section
  std::string_view bytes;
};

struct ExecutableExportInfo {
  std::string_view name;
  uint32_t bindingCount = 0;
  uint32_t constantCount = 0;
  std::vector<hal::MemoryAccess> access = {}; // of each binding; empty where the module does not say
  uint64_t operations = 0, bytes = 0;         // of one dispatch: arithmetic, and what its tensors hold; 0: not known
  std::vector<std::string_view> nodes = {};   // of the model, that it computes
  std::string_view elementType = {};          // that most of the arithmetic reads
};

struct VariantInfo {
  std::string_view target;
  std::string_view format;
  std::string_view cpu;
  std::string_view cpuFeatures;
  uint32_t section = 0;
  std::vector<ExecutableExportInfo> exports;
  std::string_view bytes;
};

struct ExecutableInfo {
  std::string_view name;
  std::vector<VariantInfo> variants;
};

class Module final : public RefCounted {
public:
  // "-" reads standard input. Errors name the file and what is wrong with it.
  static Result<Ref<Module>> loadFile(const std::string &path);
  // `release` is called when the bytes are needed no more, also where loading fails. `name` stands for the file in
  // messages. Bytes that do not start at a multiple of 64 are copied.
  static Result<Ref<Module>> loadMemory(std::string_view bytes, std::function<void()> release, std::string name);
  // Of a module that was compiled to C; see kiln_compiled.h. What it refers to must stay for as long as anything that
  // was made of the module is in use. It is trusted as the program's own code is: only its tables are checked.
  static Result<Ref<Module>> fromCompiled(const kiln_compiled_module_t &compiled);
  // Goes on after an error as far as it makes sense, for tools that show what is left of a damaged module. Each problem
  // found is appended to `problems`; a module with problems is refused by sessions. Null where not even the metadata
  // can be read.
  static Ref<Module> inspect(Container container, std::vector<Status> &problems);

  // The name of the program, as compiled.
  std::string_view name() const { return moduleName; }
  std::string_view producer() const { return moduleProducer; }
  // Where it came from: a path, or the name given to loadMemory.
  const std::string &fileName() const { return container.name; }
  const Container &file() const { return container; }
  // False only for what `inspect` gave for a module with problems.
  bool verified() const { return isVerified; }

  std::span<const FunctionInfo> functions() const { return functionList; }
  std::span<const ExportInfo> exports() const { return exportList; }
  std::span<const ImportInfo> imports() const { return importList; }
  std::span<const RequirementInfo> requirements() const { return requirementList; }
  std::span<const RodataInfo> rodata() const { return rodataList; }
  std::span<const ExecutableInfo> executables() const { return executableList; }
  std::span<const AttributeInfo> attributes() const { return attributeList; }
  uint32_t valueGlobals() const { return valueGlobalCount; }
  uint32_t refGlobals() const { return refGlobalCount; }
  // The function to run once at instantiation; -1 where there is none.
  int32_t initializer() const { return initializerFunction; }

  const ExportInfo *findExport(std::string_view name) const;
  // Fails where the module was compiled against a version of `name` that `provided` does not support.
  Status checkVersion(std::string_view name, schema::Version provided) const;

private:
  friend class ModuleReader;
  friend class CompiledModuleReader;
  explicit Module(Container container) : container(std::move(container)) {}

  Container container;
  std::string_view moduleName;
  std::string_view moduleProducer;
  std::vector<FunctionInfo> functionList;
  std::vector<ExportInfo> exportList;
  std::vector<ImportInfo> importList;
  std::vector<RequirementInfo> requirementList;
  std::vector<RodataInfo> rodataList;
  std::vector<ExecutableInfo> executableList;
  std::vector<AttributeInfo> attributeList;
  uint32_t valueGlobalCount = 0;
  uint32_t refGlobalCount = 0;
  int32_t initializerFunction = -1;
  bool isVerified = false;
};

} // namespace kiln::vm

#endif // KILN_RUNTIME_MODULE_MODULE_H
