// Writes one function of a module as C. Internal to c_writer.h.
#ifndef KILN_SCHEMA_C_FUNCTION_WRITER_H
#define KILN_SCHEMA_C_FUNCTION_WRITER_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/schema/module_writer.h"
#include "kiln/schema/signature.h"
#include "kiln/schema/vm_code.h"

namespace kiln::schema {

// The name as part of a C identifier: '_' for what cannot stand in one.
std::string identifierOf(std::string_view name);

// As it may stand in a comment.
std::string commentText(std::string_view text);

// The name of the C function: "f3_main".
std::string functionIdentifier(const ModuleDesc &module, uint32_t index);

class CFunctionWriter {
public:
  CFunctionWriter(const ModuleDesc &module, uint32_t index)
      : module(module), function(module.functions[index]), index(index) {}

  // The text of the definition. Fails where the code cannot be decoded.
  Result<std::string> write();

  // Of what one call or branch passes, the most; valid after write().
  uint32_t valueScratch() const { return mostValues; }
  uint32_t refScratch() const { return mostRefs; }

private:
  template <typename... Args> void line(fmt::format_string<Args...> format, Args &&...args) {
    body += "  " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  Status decode();
  void noteRegisters(const Instruction &instruction);
  Result<std::string> declarations();
  void writeInstruction(const Instruction &instruction);
  bool writeExpression(const Instruction &instruction);
  void writeDivision(const Instruction &instruction, std::string_view failure, std::string_view value);
  void writeReferences(const Instruction &instruction);
  void writeCall(const Instruction &instruction);
  void writeReturn(const Instruction &instruction);
  void writeJump(const Instruction &instruction, const Operand &target, std::string_view indent);
  void writeMoves(const Operand &target, std::string_view indent);

  const ModuleDesc &module;
  const FunctionDesc &function;
  const uint32_t index;
  std::vector<Instruction> instructions;
  std::vector<bool> isTarget, isRead, isWritten; // by position, by register
  Signature signature;
  std::string body;
  uint32_t mostValues = 0, mostRefs = 0;
  uint32_t mostPassed = 0; // values of a call and its results
  bool hasCalls = false, hasLoops = false, hasGlobals = false, usesValues = false;
};

} // namespace kiln::schema

#endif // KILN_SCHEMA_C_FUNCTION_WRITER_H
