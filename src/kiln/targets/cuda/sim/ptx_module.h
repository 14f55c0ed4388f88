// A module of PTX as its text says it: variables, functions, instructions with resolved registers and variables.
#ifndef KILN_TARGETS_CUDA_SIM_PTX_MODULE_H
#define KILN_TARGETS_CUDA_SIM_PTX_MODULE_H

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kiln::cudasim {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F32,
  F64,
  BF16,
  TF32,
  F16x2,
  BF16x2,
  U16x2,
  S16x2,
  E4M3x2,
  E5M2x2,
  E4M3,
  E5M2,
  U4,
  S4,
  B1,
  F32x2,
};

// The type that ".u32" names without its dot; None where there is no such type.
Type typeFromName(std::string_view name);
std::string_view typeName(Type type);
uint32_t typeBits(Type type);
inline uint32_t typeBytes(Type type) {
  return typeBits(type) / 8;
}
bool isSigned(Type type);
bool isFloat(Type type);

enum class Space : uint8_t { Generic, Param, Shared, Global, Local, Const };

struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  uint32_t align = 1;
  uint64_t bytes = 0;
  bool isExtern = false;
  bool isDynamic = false; // .extern .shared with a size that the launch gives
  std::vector<uint8_t> contents;
  // Addresses in `contents`, 8 bytes each, that are known when the module is loaded: place and variable, plus an
  // offset.
  struct Address {
    uint64_t place;
    uint32_t variable;
    int64_t offset;
  };
  std::vector<Address> addresses;
};

struct Operand {
  enum class Kind : uint8_t {
    Register, // of the function
    Special,  // %tid.x
    Variable, // its address
    Name,     // a label or a function
    Integer,
    Float,
    Address, // in brackets
    List,    // in braces or parentheses
    Sink,    // _
  };
  Kind kind = Kind::Sink;
  bool negated = false;       // !%p
  bool isDouble = true;       // Float: 0d... or decimal; else 0f...
  bool isDecimal = false;     // Float: spelled as a decimal number, of the type that the instruction wants
  uint32_t index = 0;         // of the register or variable
  Type type = Type::None;     // of the register
  uint64_t bits = 0;          // Integer, Float; Variable and Address: what is added
  std::string name;           // Special, Name
  std::vector<Operand> parts; // List; Address: its base, and what follows a comma; Register: the second of p|q
};

struct Instruction {
  std::string opcode;                 // "ld"
  std::vector<std::string> modifiers; // "global", "nc", "b32"
  std::optional<Operand> guard;
  std::vector<Operand> operands;
  uint32_t line = 0;
  uint32_t sourceFile = 0, sourceLine = 0; // from .loc; 0 where there is none
  std::string_view text;                   // in Module::text
};

struct Function {
  std::string name;
  bool isEntry = false;
  bool hasBody = false;
  uint32_t line = 0;
  std::vector<uint32_t> parameters, results; // variables, or registers where `inRegisters`
  std::vector<uint32_t> localVariables;      // of all spaces, of its body
  uint32_t registerCount = 0;
  std::array<uint32_t, 3> maxThreads{}, requiredThreads{}; // 0 where there is none
  std::array<uint32_t, 3> clusterBlocks{};
  uint32_t maxRegisters = 0;
  std::vector<Instruction> body;
  std::unordered_map<std::string, uint32_t> labels;                      // index in `body`
  std::unordered_map<std::string, std::vector<std::string>> labelTables; // .branchtargets
};

struct Module {
  std::string text;
  uint32_t versionMajor = 0, versionMinor = 0;
  std::string target; // "sm_80"
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::unordered_map<uint32_t, std::string> files; // of .file

  const Function *findFunction(std::string_view name) const;
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_PTX_MODULE_H
