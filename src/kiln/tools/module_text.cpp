#include "kiln/tools/module_text.h"
#include "kiln/tools/gpu_kernels.h"

#include <algorithm>

#include "nlohmann/json.hpp"

#include "kiln/runtime/module/instruction.h"

namespace kiln {

using Json = nlohmann::ordered_json;
using vm::Module;

static std::string bytesText(uint64_t bytes) {
  if (bytes < 10000)
    return fmt::format("{} B", bytes);
  double size = static_cast<double>(bytes) / 1024;
  const char *unit = "KiB";
  for (const char *next : {"MiB", "GiB", "TiB"}) {
    if (size < 10000)
      break;
    size /= 1024;
    unit = next;
  }
  return fmt::format("{:.1f} {}", size, unit);
}

static const char *checksumText(const vm::SectionInfo &section) {
  if (!section.checksumChecked)
    return "not checked";
  return section.status.ok() ? "ok" : "DAMAGED";
}

// "(i32, ref, (ref, i64)...) -> (f32)"
static std::string signatureText(const schema::Signature &signature) {
  auto list = [](std::string_view kinds) {
    std::string text;
    for (char kind : kinds)
      text += fmt::format("{}{}", text.empty() ? "" : ", ",
                          kind == 'r'   ? "ref"
                          : kind == 'i' ? "i32"
                          : kind == 'I' ? "i64"
                          : kind == 'f' ? "f32"
                                        : "f64");
    return text;
  };
  std::string arguments = list(signature.arguments);
  if (!signature.repeated.empty())
    arguments += fmt::format("{}{}...", arguments.empty() ? "" : ", ",
                             signature.repeated.size() == 1 ? list(signature.repeated)
                                                            : fmt::format("({})", list(signature.repeated)));
  return fmt::format("({}) -> ({})", arguments, list(signature.results));
}

// The first bytes of a constant: as text where they are printable, else in hexadecimal.
static std::string previewText(std::string_view bytes) {
  if (bytes.empty())
    return "";
  bool printable =
      bytes.size() <= 200 && std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= ' ' && c < 127; });
  if (printable)
    return fmt::format("\"{}\"", bytes);
  std::string text;
  for (char byte : bytes.substr(0, 16))
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned char>(byte));
  return bytes.size() > 16 ? text + " ..." : text;
}

// An attribute's value may have several lines; the second and later ones are indented like the first.
static std::string attributeText(std::span<const vm::AttributeInfo> attributes, std::string_view indent) {
  std::string text;
  for (const vm::AttributeInfo &attribute : attributes) {
    std::string value(attribute.value);
    for (size_t at = value.find('\n'); at != std::string::npos; at = value.find('\n', at + 1))
      value.insert(at + 1, std::string(indent) + "  ");
    text += fmt::format("{}{}: {}\n", indent, attribute.key, value);
  }
  return text;
}

std::string containerText(const vm::Container &container) {
  std::string text = fmt::format("File {}: {}, format version {}\n\nSections\n", container.name,
                                 bytesText(container.file->bytes().size()), container.header.version);
  text += "   #  kind        offset      length        checksum\n";
  for (size_t i = 0; i < container.sections.size(); ++i) {
    const vm::SectionInfo &section = container.sections[i];
    text += fmt::format("{:4}  {:<10}  {:<10}  {:<12}  {:016x} {}\n", i, vm::sectionKindName(section.entry.kind),
                        section.entry.offset, section.entry.length, section.entry.checksum, checksumText(section));
  }
  return text;
}

static std::string_view accessName(hal::MemoryAccess access) {
  return access == hal::MemoryAccess::Read ? "r" : access == hal::MemoryAccess::Write ? "w" : "rw";
}

static std::string executablesText(const Module &module) {
  std::string text;
  for (const vm::ExecutableInfo &executable : module.executables()) {
    text += fmt::format("  %{}\n", executable.name);
    for (const vm::VariantInfo &variant : executable.variants) {
      text += fmt::format("    {}, {}, {} (section {}), made for {}, features {}\n", variant.target, variant.format,
                          bytesText(variant.bytes.size()), variant.section, variant.cpu.empty() ? "any" : variant.cpu,
                          variant.cpuFeatures.empty() ? "none" : variant.cpuFeatures);
      const std::vector<GpuKernelInfo> kernels = gpuKernelsOf(std::as_bytes(std::span(variant.bytes)));
      for (size_t i = 0; i < variant.exports.size(); ++i) {
        const vm::ExecutableExportInfo &entry = variant.exports[i];
        text += fmt::format("      {}: {} ({} bindings", i, entry.name, entry.bindingCount);
        for (size_t j = 0; j < entry.access.size(); ++j)
          text += fmt::format("{}{}", j ? " " : ": ", accessName(entry.access[j]));
        text += fmt::format(", {} constants)\n", entry.constantCount);
        if (i < kernels.size())
          text += fmt::format("         {}\n", kernels[i].text());
      }
    }
  }
  return text;
}

std::string metadataText(const Module &module) {
  std::string text = fmt::format("Module {}, written by {}\n", module.name(), module.producer());
  text += attributeText(module.attributes(), "  ");
  std::string needs;
  for (const vm::RequirementInfo &entry : module.requirements())
    needs += fmt::format("{}{} {}.{}", needs.empty() ? "" : ", ", entry.name, entry.version.major, entry.version.minor);
  text += fmt::format("  compiled for: {}\n", needs.empty() ? "version 1.0 of everything" : needs);
  text += fmt::format("  globals: {} values, {} references\n", module.valueGlobals(), module.refGlobals());
  if (module.initializer() >= 0)
    text += fmt::format("  initializer: @{}\n", module.functions()[module.initializer()].name);

  text += fmt::format("\nExports ({})\n", module.exports().size());
  for (const vm::ExportInfo &entry : module.exports()) {
    text += fmt::format("  @{}{}\n", entry.name, signatureText(module.functions()[entry.function].signature));
    text += attributeText(entry.attributes, "    ");
  }
  text += fmt::format("\nImports ({})\n", module.imports().size());
  for (const vm::ImportInfo &import : module.imports())
    text += fmt::format("  @{}{}\n", import.name, signatureText(import.signature));
  text += fmt::format("\nExecutables ({})\n{}", module.executables().size(), executablesText(module));
  text += fmt::format("\nConstants ({})\n", module.rodata().size());
  for (size_t i = 0; i < module.rodata().size(); ++i) {
    const vm::RodataInfo &rodata = module.rodata()[i];
    text += fmt::format("  ${} {} {} at byte {} of section {}: {}\n", i, rodata.name, bytesText(rodata.bytes.size()),
                        rodata.offset, rodata.section, previewText(rodata.bytes));
  }
  return text;
}

std::string disassemblyText(const Module &module) {
  std::string text;
  for (const vm::FunctionInfo &function : module.functions()) {
    text += fmt::format("{}func @{}{} {{ // {} value and {} reference registers, {} units\n", text.empty() ? "" : "\n",
                        function.name, signatureText(function.signature), function.valueRegisters,
                        function.refRegisters, function.code.size());
    if (!function.status.ok())
      text += fmt::format("// cannot run: {}\n", function.status.message());
    text += functionText(module, function) + "}\n";
  }
  return text;
}

static Json attributesJson(std::span<const vm::AttributeInfo> attributes) {
  Json json = Json::object();
  for (const vm::AttributeInfo &attribute : attributes)
    json[std::string(attribute.key)] = attribute.value;
  return json;
}

static Json containerJson(const vm::Container &container) {
  Json sections = Json::array();
  for (const vm::SectionInfo &section : container.sections)
    sections.push_back({{"kind", vm::sectionKindName(section.entry.kind)},
                        {"offset", section.entry.offset},
                        {"length", section.entry.length},
                        {"checksum", fmt::format("{:016x}", section.entry.checksum)},
                        {"state", checksumText(section)}});
  return {{"path", container.name},
          {"size", container.file->bytes().size()},
          {"version", container.header.version},
          {"sections", std::move(sections)}};
}

static Json functionJson(const Module &module, const vm::FunctionInfo &function) {
  Json code = Json::array();
  uint32_t position = 0;
  while (position < function.code.size()) {
    Result<vm::Instruction> instruction = vm::decodeInstruction(function.code, position);
    if (!instruction.ok())
      break;
    code.push_back({{"at", position}, {"text", instructionText(module, *instruction)}});
    position += instruction->units;
  }
  Json json = {{"name", function.name},
               {"signature", function.signatureText},
               {"value_registers", function.valueRegisters},
               {"ref_registers", function.refRegisters},
               {"units", function.code.size()},
               {"code", std::move(code)}};
  if (!function.status.ok())
    json["problem"] = function.status.message();
  return json;
}

static Json kernelJson(const GpuKernelInfo &kernel) {
  Json maps = Json::array();
  for (const GpuTensorMapInfo &map : kernel.tensorMaps)
    maps.push_back({{"binding", map.binding}, {"box", map.box}, {"element_bytes", map.elementBytes}});
  return {{"block", kernel.threads},
          {"cluster", kernel.clusterBlocks},
          {"subgroup", kernel.subgroupThreads},
          {"blocks_per_multiprocessor", kernel.blocksPerMultiprocessor},
          {"static_shared_bytes", kernel.staticSharedBytes},
          {"dynamic_shared_bytes", kernel.dynamicSharedBytes},
          {"scratch_bytes", kernel.scratchBytes},
          {"tensor_maps", std::move(maps)}};
}

static Json executableJson(const vm::ExecutableInfo &executable) {
  Json variants = Json::array();
  for (const vm::VariantInfo &variant : executable.variants) {
    Json exports = Json::array();
    const std::vector<GpuKernelInfo> kernels = gpuKernelsOf(std::as_bytes(std::span(variant.bytes)));
    for (const vm::ExecutableExportInfo &entry : variant.exports) {
      exports.push_back({{"name", entry.name}, {"bindings", entry.bindingCount}, {"constants", entry.constantCount}});
      if (!entry.access.empty())
        std::ranges::transform(entry.access, std::back_inserter(exports.back()["access"]), accessName);
      if (exports.size() <= kernels.size())
        exports.back()["kernel"] = kernelJson(kernels[exports.size() - 1]);
    }
    variants.push_back({{"target", variant.target},
                        {"format", variant.format},
                        {"section", variant.section},
                        {"length", variant.bytes.size()},
                        {"cpu", variant.cpu},
                        {"cpu_features", variant.cpuFeatures},
                        {"exports", std::move(exports)}});
  }
  return {{"name", executable.name}, {"variants", std::move(variants)}};
}

static Json metadataJson(const Module &module) {
  Json json = {{"name", module.name()},
               {"producer", module.producer()},
               {"attributes", attributesJson(module.attributes())},
               {"value_globals", module.valueGlobals()},
               {"ref_globals", module.refGlobals()},
               {"initializer", module.initializer()}};
  for (const char *list : {"exports", "imports", "requirements", "functions", "executables", "constants"})
    json[list] = Json::array();
  for (const vm::ExportInfo &entry : module.exports())
    json["exports"].push_back({{"name", entry.name},
                               {"function", entry.function},
                               {"signature", module.functions()[entry.function].signatureText},
                               {"attributes", attributesJson(entry.attributes)}});
  for (const vm::RequirementInfo &entry : module.requirements())
    json["requirements"].push_back(
        {{"name", entry.name}, {"major", entry.version.major}, {"minor", entry.version.minor}});
  for (const vm::ImportInfo &import : module.imports())
    json["imports"].push_back({{"name", import.name}, {"signature", import.signatureText}});
  for (const vm::FunctionInfo &function : module.functions())
    json["functions"].push_back(functionJson(module, function));
  for (const vm::ExecutableInfo &executable : module.executables())
    json["executables"].push_back(executableJson(executable));
  for (const vm::RodataInfo &rodata : module.rodata())
    json["constants"].push_back({{"name", rodata.name},
                                 {"section", rodata.section},
                                 {"offset", rodata.offset},
                                 {"length", rodata.bytes.size()}});
  return json;
}

std::string moduleJson(const vm::Container &container, const Module *module, std::span<const Status> problems) {
  Json json = {{"file", containerJson(container)}};
  json["module"] = module ? metadataJson(*module) : Json();
  json["problems"] = Json::array();
  for (const Status &problem : problems)
    json["problems"].push_back(problem.message());
  // A damaged module may hold text that is no UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace kiln
