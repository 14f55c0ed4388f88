// Writes a module file (container.h, module.fbs) from a plain description. Used by the compiler and by tests.
#ifndef KILN_SCHEMA_MODULE_WRITER_H
#define KILN_SCHEMA_MODULE_WRITER_H

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/base/status.h"
#include "kiln/schema/version.h"

namespace kiln::schema {

// Bytes that are owned or borrowed, and may stand for a repetition of themselves, so that a large constant is neither
// copied nor (where it is a splat) ever in memory as a whole. Borrowed bytes must outlive the write.
class Bytes {
public:
  Bytes() = default;
  static Bytes own(std::string bytes, uint64_t repeat = 1) {
    Bytes result;
    result.owned = std::move(bytes);
    result.repeat = repeat;
    return result;
  }
  static Bytes borrow(std::string_view bytes, uint64_t repeat = 1) {
    Bytes result;
    result.borrowed = bytes;
    result.repeat = repeat;
    return result;
  }

  // One repetition.
  std::string_view unit() const { return borrowed.data() ? borrowed : std::string_view(owned); }
  uint64_t size() const { return unit().size() * repeat; }
  uint64_t repetitions() const { return repeat; }

private:
  std::string owned;
  std::string_view borrowed;
  uint64_t repeat = 1;
};

struct AttributeDesc {
  std::string key;
  std::string value;
};

struct FunctionDesc {
  std::string name;
  std::string signature; // see vm_opcodes.def
  uint32_t valueRegisters = 0;
  uint32_t refRegisters = 0;
  std::vector<uint16_t> code; // of a CodeBuilder
  std::string location = {};  // in the source; a module file does not hold it
};

struct ExportDesc {
  std::string name;
  uint32_t function = 0;
  std::vector<AttributeDesc> attributes;
};

struct ImportDesc {
  std::string name; // "hal.buffer.allocate"
  std::string signature;
};

struct RequirementDesc {
  std::string name; // "vm", or of a native module: "hal"
  Version version;
};

struct RodataDesc {
  std::string name; // may be empty
  Bytes bytes;
  std::vector<Bytes> rest = {}; // each starts at the next multiple of 64 bytes behind the one before
};

struct ExecutableExportDesc {
  std::string name;
  uint32_t bindingCount = 0;
  uint32_t constantCount = 0;
  std::vector<uint8_t> access = {}; // as module.fbs says
  uint64_t operations = 0, bytes = 0;
  std::vector<std::string> nodes = {};
  std::string elementType = {};
};

struct VariantDesc {
  std::string target; // llvm-cpu
  std::string format; // elf-x86_64
  std::string cpu;
  std::string cpuFeatures;
  std::vector<ExecutableExportDesc> exports;
  Bytes bytes; // variants with the same bytes share one section
};

struct ExecutableDesc {
  std::string name;
  std::vector<VariantDesc> variants;
};

// Functions, imports, rodata and executables are named in code by their position here.
struct ModuleDesc {
  std::string name;
  std::string producer;
  std::vector<FunctionDesc> functions;
  std::vector<ExportDesc> exports;
  std::vector<ImportDesc> imports;
  std::vector<RodataDesc> rodata;
  std::vector<ExecutableDesc> executables;
  uint32_t valueGlobals = 0;
  uint32_t refGlobals = 0;
  int32_t initializer = -1; // function () -> () that runs once at instantiation, or -1
  std::vector<AttributeDesc> attributes;
  std::vector<RequirementDesc> requirements; // none: version 1.0 of everything
};

// Takes the next bytes of the file, in order; an error ends the write and is returned from it.
using ByteSink = std::function<Status(std::string_view)>;

// The same description gives the same bytes. Constants are read twice (for the checksum, then for the file) and never
// copied. Fails where the description cannot be represented (more registers than the format holds, a metadata section
// above 2 GiB, an index that names nothing); whether the code is valid is the loader's verifier's business.
Status writeModule(const ModuleDesc &module, const ByteSink &sink);
Result<std::string> writeModuleToString(const ModuleDesc &module);

// How a section or table is checksummed: XXH3-64.
uint64_t checksumBytes(std::string_view bytes);

} // namespace kiln::schema

#endif // KILN_SCHEMA_MODULE_WRITER_H
