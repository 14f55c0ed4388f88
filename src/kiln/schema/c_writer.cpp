#include "kiln/schema/c_writer.h"

#include <algorithm>
#include <cstring>

#include "kiln/schema/c_function_writer.h"
#include "kiln/schema/kiln_compiled.h"

namespace kiln::schema {

namespace {

constexpr uint64_t kDataAlignment = 64;
// Every compiler of C11 takes a string of this length.
constexpr size_t kMaxStringBytes = 4000;
constexpr size_t kPieceBytes = 1 << 16;

bool isPlainText(std::string_view bytes) {
  return bytes.size() <= kMaxStringBytes &&
         std::ranges::all_of(bytes, [](unsigned char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\t'; });
}

// A string literal of C, also for a compiler that knows trigraphs.
std::string literal(std::string_view text) {
  std::string quoted = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\' || c == '?')
      quoted += {'\\', static_cast<char>(c)};
    else if (c < ' ' || c > '~')
      quoted += fmt::format("\\{:03o}", c);
    else
      quoted += static_cast<char>(c);
  }
  return quoted + "\"";
}

class CWriter {
public:
  CWriter(const ModuleDesc &module, const ByteSink &sink) : module(module), sink(sink) {}

  Status write();

private:
  template <typename... Args> void print(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }
  Status flush() {
    Status status = sink(text);
    text.clear();
    return status;
  }
  // Prints a table of the module's description, where it has any rows, and gives its name for the description.
  template <typename List, typename Row>
  std::string table(std::string_view type, std::string_view name, const List &list, const Row &row) {
    if (list.empty())
      return "NULL";
    std::string rows;
    for (size_t i = 0; i < list.size(); ++i)
      rows += fmt::format("    {{{}}},\n", row(i, list[i]));
    print("static const kiln_compiled_{}_t {}[] = {{\n{}}};\n", type, name, rows);
    return std::string(name);
  }
  Status writeFunctions();
  Status writeConstants();
  Status writeExecutables();
  Status writeData(std::string_view name, std::span<const Bytes *const> pieces);
  void writeWords(std::string_view bytes);
  std::string string(std::string_view bytes);
  std::string attributes(const std::string &name, const std::vector<AttributeDesc> &list);
  void writeDescription();

  const ModuleDesc &module;
  const ByteSink &sink;
  std::string text;
  std::vector<std::string> functionRows;
  std::vector<std::pair<std::string, uint64_t>> constants; // name or literal, and size
  std::vector<std::vector<std::string>> variantData;
  std::string unfinishedWord; // of the data that is being written
  uint64_t words = 0;
  uint32_t longStrings = 0;
};

void CWriter::writeWords(std::string_view bytes) {
  auto word = [&](const char *from) {
    uint64_t number;
    std::memcpy(&number, from, sizeof(number));
    print("{}{:#x}", words == 0 ? "" : words % 6 == 0 ? ",\n    " : ", ", number);
    ++words;
  };
  if (!unfinishedWord.empty()) {
    size_t missing = std::min(8 - unfinishedWord.size(), bytes.size());
    unfinishedWord += bytes.substr(0, missing);
    bytes.remove_prefix(missing);
    if (unfinishedWord.size() < 8)
      return;
    word(unfinishedWord.data());
    unfinishedWord.clear();
  }
  for (; bytes.size() >= 8; bytes.remove_prefix(8))
    word(bytes.data());
  unfinishedWord = bytes;
}

// An array of words: a compiler reads them several times as fast as bytes. Zeros need not be written out.
Status CWriter::writeData(std::string_view name, std::span<const Bytes *const> pieces) {
  uint64_t size = 0;
  bool isZero = true;
  for (const Bytes *piece : pieces) {
    size = (size + kDataAlignment - 1) / kDataAlignment * kDataAlignment + piece->size();
    isZero &= piece->unit().find_first_not_of('\0') == std::string_view::npos;
  }
  print("_Alignas({}) static const uint64_t {}[{}] = {{\n    ", kDataAlignment, name, (size + 7) / 8);
  words = 0;
  if (isZero)
    print("0");
  uint64_t written = 0;
  for (const Bytes *piece : isZero ? std::span<const Bytes *const>() : pieces) {
    writeWords(std::string((kDataAlignment - written % kDataAlignment) % kDataAlignment, '\0'));
    written += (kDataAlignment - written % kDataAlignment) % kDataAlignment + piece->size();
    for (uint64_t i = 0; i < piece->repetitions(); ++i)
      for (size_t at = 0; at < piece->unit().size(); at += kPieceBytes) {
        writeWords(piece->unit().substr(at, kPieceBytes));
        if (text.size() > kPieceBytes)
          KILN_RETURN_IF_ERROR(flush());
      }
  }
  if (!unfinishedWord.empty())
    writeWords(std::string(8 - unfinishedWord.size(), '\0'));
  print("}};\n");
  return flush();
}

// What stands for a string in an initializer; one that is too long for C gets a variable before.
std::string CWriter::string(std::string_view bytes) {
  if (bytes.size() <= kMaxStringBytes)
    return literal(bytes);
  std::string name = fmt::format("text_{}", longStrings++);
  print("static const unsigned char {}[] = {{", name);
  for (size_t i = 0; i < bytes.size(); ++i)
    print("{}{}, ", i % 24 == 0 ? "\n    " : "", static_cast<unsigned char>(bytes[i]));
  print("0}};\n");
  return "(const char *)" + name;
}

Status CWriter::writeFunctions() {
  for (uint32_t i = 0; i < module.functions.size(); ++i)
    print("static int {}(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);\n",
          functionIdentifier(module, i));
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const FunctionDesc &function = module.functions[i];
    CFunctionWriter writer(module, i);
    Result<std::string> code = writer.write();
    if (!code.ok())
      return std::move(code).status().withContext(fmt::format("function @{}", function.name));
    print("\n/* @{} {}{} */\n{}", commentText(function.name), function.signature,
          function.location.empty() ? "" : ", " + commentText(function.location), *code);
    functionRows.push_back(fmt::format("{}, {}, {}, {}, {}, {}, {}", string(function.name), string(function.signature),
                                       function.valueRegisters, writer.valueScratch(), function.refRegisters,
                                       writer.refScratch(), functionIdentifier(module, i)));
    KILN_RETURN_IF_ERROR(flush());
  }
  print("\n");
  return okStatus();
}

Status CWriter::writeConstants() {
  for (size_t i = 0; i < module.rodata.size(); ++i) {
    const RodataDesc &rodata = module.rodata[i];
    std::vector<const Bytes *> pieces = {&rodata.bytes};
    for (const Bytes &piece : rodata.rest)
      pieces.push_back(&piece);
    uint64_t size = 0;
    for (const Bytes *piece : pieces)
      size = (size + kDataAlignment - 1) / kDataAlignment * kDataAlignment + piece->size();
    if (size == 0) {
      constants.emplace_back("NULL", 0);
      continue;
    }
    std::string name = fmt::format("constant_{}", i);
    if (!rodata.name.empty())
      print("/* {} */\n", commentText(rodata.name));
    if (pieces.size() == 1 && rodata.bytes.repetitions() == 1 && isPlainText(rodata.bytes.unit()))
      print("_Alignas({}) static const char {}[] = {};\n", kDataAlignment, name, literal(rodata.bytes.unit()));
    else
      KILN_RETURN_IF_ERROR(writeData(name, pieces));
    constants.emplace_back(std::move(name), size);
  }
  return okStatus();
}

Status CWriter::writeExecutables() {
  std::vector<std::pair<std::string_view, std::string>> known; // variants with the same bytes share them
  for (const ExecutableDesc &executable : module.executables) {
    std::vector<std::string> names;
    for (const VariantDesc &variant : executable.variants) {
      std::string_view bytes = variant.bytes.unit();
      auto found = std::ranges::find(known, bytes, [](const auto &entry) { return entry.first; });
      if (bytes.empty()) {
        names.emplace_back("NULL");
      } else if (found != known.end()) {
        names.push_back(found->second);
      } else {
        names.push_back(fmt::format("executable_{}", known.size()));
        known.emplace_back(bytes, names.back());
        print("/* {}, {} */\n", commentText(executable.name), commentText(variant.format));
        KILN_RETURN_IF_ERROR(writeData(names.back(), std::array{&variant.bytes}));
      }
    }
    variantData.push_back(std::move(names));
  }
  return okStatus();
}

std::string CWriter::attributes(const std::string &name, const std::vector<AttributeDesc> &list) {
  std::vector<std::pair<std::string, std::string>> strings;
  for (const AttributeDesc &attribute : list)
    strings.emplace_back(string(attribute.key), string(attribute.value));
  return table("attribute", name, strings, [](size_t, const auto &row) { return row.first + ", " + row.second; });
}

void CWriter::writeDescription() {
  std::vector<std::string> exportRows, executableRows;
  for (size_t i = 0; i < module.exports.size(); ++i) {
    const ExportDesc &entry = module.exports[i];
    std::string list = attributes(fmt::format("attributes_{}", i), entry.attributes);
    exportRows.push_back(
        fmt::format("{}, {}, {}, {}", string(entry.name), entry.function, entry.attributes.size(), list));
  }
  for (size_t i = 0; i < module.executables.size(); ++i) {
    const ExecutableDesc &executable = module.executables[i];
    std::vector<std::string> variantRows;
    for (size_t j = 0; j < executable.variants.size(); ++j) {
      const VariantDesc &variant = executable.variants[j];
      std::string dispatches = table("dispatch", fmt::format("dispatches_{}_{}", i, j), variant.exports,
                                     [&](size_t, const ExecutableExportDesc &dispatch) {
                                       return fmt::format("{}, {}, {}", string(dispatch.name), dispatch.bindingCount,
                                                          dispatch.constantCount);
                                     });
      variantRows.push_back(fmt::format("{}, {}, {}, {}, {}, {}, {}, {}", string(variant.target),
                                        string(variant.format), string(variant.cpu), string(variant.cpuFeatures),
                                        dispatches, variant.exports.size(), variantData[i][j],
                                        variant.bytes.unit().size()));
    }
    std::string variants = table("variant", fmt::format("variants_{}", i), variantRows,
                                 [](size_t, const std::string &row) { return row; });
    executableRows.push_back(fmt::format("{}, {}, {}", string(executable.name), variants, executable.variants.size()));
  }
  auto same = [](size_t, const std::string &row) { return row; };
  std::string moduleName = string(module.name), producer = string(module.producer);
  std::vector<std::string> names = {
      table("function", "functions", functionRows, same),
      table("export", "exports", exportRows, same),
      table("import", "imports", module.imports,
            [&](size_t, const ImportDesc &import) { return string(import.name) + ", " + string(import.signature); }),
      table("requirement", "requirements", module.requirements,
            [&](size_t, const RequirementDesc &requirement) {
              return fmt::format("{}, {}, {}", string(requirement.name), requirement.version.major,
                                 requirement.version.minor);
            }),
      table("data", "constants", constants,
            [&](size_t i, const auto &constant) {
              return fmt::format("{}, {}, {}", string(module.rodata[i].name), constant.first, constant.second);
            }),
      table("executable", "executables", executableRows, same),
      attributes("attributes", module.attributes)};
  print("static const kiln_compiled_module_t module = {{\n    {}, {}, /* the version of kiln_compiled.h */\n"
        "    sizeof(kiln_compiled_module_t),\n    {},\n    {},\n",
        KILN_COMPILED_MAJOR, KILN_COMPILED_MINOR, moduleName, producer);
  for (const std::string &name : names)
    print("    {},\n", name);
  print("    {}, {}, {}, {}, {}, {}, {}, /* how many of each */\n", module.functions.size(), module.exports.size(),
        module.imports.size(), module.requirements.size(), constants.size(), module.executables.size(),
        module.attributes.size());
  print("    {}, {}, /* variables: values, references */\n    {}, /* the initializer */\n}};\n", module.valueGlobals,
        module.refGlobals, module.initializer);
}

Status CWriter::write() {
  std::string name = registrationName(module.name);
  print("/* Module '{}', compiled by {}. Programs declare\n *   const kiln_compiled_module_t *{}(void);\n"
        " * and pass it to kiln_module_load_compiled. */\n#include \"kiln_compiled.h\"\n\n",
        commentText(module.name), commentText(module.producer), name);
  KILN_RETURN_IF_ERROR(writeFunctions());
  KILN_RETURN_IF_ERROR(writeConstants());
  KILN_RETURN_IF_ERROR(writeExecutables());
  writeDescription();
  print("\nKILN_COMPILED_API const kiln_compiled_module_t *{0}(void);\n"
        "const kiln_compiled_module_t *{0}(void) {{\n  return &module;\n}}\n",
        name);
  return flush();
}

} // namespace

std::string registrationName(std::string_view module) {
  return "kiln_register_" + identifierOf(module);
}

Status writeModuleAsC(const ModuleDesc &module, const ByteSink &sink) {
  return CWriter(module, sink).write();
}

Result<std::string> writeModuleAsCToString(const ModuleDesc &module) {
  std::string text;
  KILN_RETURN_IF_ERROR(writeModuleAsC(module, [&](std::string_view part) {
    text += part;
    return okStatus();
  }));
  return text;
}

} // namespace kiln::schema
