// Modules for tests, built and loaded in memory.
#ifndef KILN_RUNTIME_MODULE_TEST_MODULE_H
#define KILN_RUNTIME_MODULE_TEST_MODULE_H

#include <cstring>
#include <string>

#include "kiln/runtime/module/instruction.h"
#include "kiln/runtime/module/module.h"
#include "kiln/schema/module_writer.h"
#include "kiln/schema/vm_code.h"

namespace kiln::vm::testing {

// Copies the bytes.
inline Result<Ref<Module>> loadBytes(const std::string &bytes) {
  auto *copy = new std::string(bytes);
  return Module::loadMemory(*copy, [copy] { delete copy; }, "test.vmfb");
}

inline Result<Ref<Module>> loadDesc(const schema::ModuleDesc &desc) {
  KILN_ASSIGN_OR_RETURN(std::string bytes, schema::writeModuleToString(desc));
  return loadBytes(bytes);
}

// Adds a function and exports it under its name. Returns its index. `code` must finish.
inline uint32_t addFunction(schema::ModuleDesc &desc, std::string name, std::string signature, uint32_t valueRegisters,
                            uint32_t refRegisters, schema::CodeBuilder code) {
  schema::FunctionDesc function;
  function.name = name;
  function.signature = std::move(signature);
  function.valueRegisters = valueRegisters;
  function.refRegisters = refRegisters;
  function.code = *code.finish();
  desc.functions.push_back(std::move(function));
  uint32_t index = static_cast<uint32_t>(desc.functions.size() - 1);
  desc.exports.push_back({std::move(name), index, {}});
  return index;
}

inline schema::ModuleDesc emptyDesc(std::string name = "test") {
  schema::ModuleDesc desc;
  desc.name = std::move(name);
  desc.producer = "kiln test";
  return desc;
}

// Makes the checksums of a changed file match again, as whoever wants to do harm would.
inline void repairChecksums(std::string &bytes) {
  schema::ContainerHeader header;
  if (bytes.size() < sizeof(header))
    return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.section_count > (bytes.size() - sizeof(header)) / sizeof(schema::SectionEntry))
    return;
  char *table = bytes.data() + sizeof(header);
  for (uint32_t i = 0; i < header.section_count; ++i) {
    schema::SectionEntry entry;
    std::memcpy(&entry, table + i * sizeof(entry), sizeof(entry));
    if (entry.offset > bytes.size() || entry.length > bytes.size() - entry.offset)
      continue;
    entry.checksum = schema::checksumBytes({bytes.data() + entry.offset, entry.length});
    std::memcpy(table + i * sizeof(entry), &entry, sizeof(entry));
  }
  header.file_size = bytes.size();
  header.table_checksum = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.table_checksum =
      schema::checksumBytes({bytes.data(), sizeof(header) + header.section_count * sizeof(schema::SectionEntry)});
  std::memcpy(bytes.data(), &header, sizeof(header));
}

// Reads everything that a module offers, all constants and executables with it; how many characters that is.
inline size_t readModule(const Module &module) {
  size_t size = module.name().size();
  for (const FunctionInfo &function : module.functions())
    size += functionText(module, function).size();
  for (const RodataInfo &rodata : module.rodata())
    size += std::string(rodata.bytes).size();
  for (const ExecutableInfo &executable : module.executables())
    for (const VariantInfo &variant : executable.variants)
      size += std::string(variant.bytes).size() + variant.exports.size();
  for (const ExportInfo &entry : module.exports())
    for (const AttributeInfo &attribute : entry.attributes)
      size += std::string(attribute.key).size() + std::string(attribute.value).size();
  return size;
}

// A module with something of everything: functions with loops, calls and imports, constants, two variants of an
// executable that share their bytes, globals, an initializer, attributes.
inline schema::ModuleDesc richDesc() {
  using schema::CodeBuilder;
  using schema::Opcode;
  using schema::Register;
  schema::ModuleDesc desc = emptyDesc("rich");
  desc.imports.push_back({"host.sum", "iI*_I"});
  desc.rodata.push_back({"message", schema::Bytes::own("went wrong")});
  desc.rodata.push_back({"weights", schema::Bytes::own(std::string("\1\2\3\4", 4), 100)});
  desc.valueGlobals = 2;
  desc.refGlobals = 1;
  desc.attributes.push_back({"kiln.source", "rich.mlir"});

  CodeBuilder init;
  init.constant(0, 7);
  init.emit(Opcode::GlobalStore, {1, 0});
  init.emit(Opcode::ConstRodata, {0, 1});
  init.emit(Opcode::GlobalStoreRef, {0, 0});
  init.ret();
  addFunction(desc, "__init", "_", 1, 1, std::move(init));
  desc.exports.clear();
  desc.initializer = 0;

  // sum(n) = 0 + 1 + ... + n-1
  CodeBuilder sum;
  auto head = sum.newLabel(), body = sum.newLabel(), done = sum.newLabel();
  sum.constant(3, 1);
  sum.branch(head, {});
  sum.bind(head);
  sum.emit(Opcode::CmpLtSI64, {4, 1, 0});
  sum.condBranch(4, body, done);
  sum.bind(body);
  sum.emit(Opcode::AddI64, {5, 2, 1});
  sum.emit(Opcode::AddI64, {6, 1, 3});
  sum.branch(head, {{Register::value(5), Register::value(2)}, {Register::value(6), Register::value(1)}});
  sum.bind(done);
  sum.ret({Register::value(2)});
  addFunction(desc, "sum", "I_I", 7, 0, std::move(sum));

  CodeBuilder imported;
  imported.constant(1, 2);
  imported.callImport(0, {Register::value(1), Register::value(0), Register::value(0)}, {Register::value(0)});
  imported.call(1, {Register::value(0)}, {Register::value(0)});
  imported.emit(Opcode::GlobalLoadRef, {0, 0});
  imported.ret({Register::value(0), Register::ref(0)});
  addFunction(desc, "imported", "I_Ir", 2, 1, std::move(imported));
  desc.exports.back().attributes.push_back({"kiln.abi.declaration", "sync func @imported(%a: i64) -> (%b: i64)"});

  CodeBuilder fail;
  fail.constant(0, static_cast<uint64_t>(StatusCode::OutOfRange));
  fail.emit(Opcode::Fail, {0, 0});
  addFunction(desc, "fail", "_", 1, 0, std::move(fail));

  CodeBuilder executable;
  executable.emit(Opcode::ConstExecutable, {0, 0});
  executable.ret({Register::ref(0)});
  addFunction(desc, "executable", "_r", 0, 1, std::move(executable));

  schema::ExecutableDesc native;
  native.name = "dispatches";
  for (const char *target : {"llvm-cpu", "other"})
    native.variants.push_back({target,
                               "elf-x86_64",
                               "znver4",
                               "+avx512f,+fma",
                               {{"dispatch_0_matmul", 3, 1, {1, 3, 2}}},
                               schema::Bytes::own("not really an ELF")});
  desc.executables.push_back(std::move(native));
  return desc;
}

} // namespace kiln::vm::testing

#endif // KILN_RUNTIME_MODULE_TEST_MODULE_H
