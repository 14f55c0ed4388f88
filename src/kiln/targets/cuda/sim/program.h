// A kernel as the interpreter runs it: each instruction a function and the places of its operands.
#ifndef KILN_TARGETS_CUDA_SIM_PROGRAM_H
#define KILN_TARGETS_CUDA_SIM_PROGRAM_H

#include "kiln/base/status.h"
#include "kiln/targets/cuda/sim/memory.h"
#include "kiln/targets/cuda/sim/ptx_module.h"

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

namespace kiln::cudasim {

struct Code;
struct Inst;
struct Thread;

// Runs one instruction of a thread. Gives the instruction to go on with, or null where the thread stops for now: then
// the thread's state says why, and its `next` where it goes on.
using Handler = const Inst *(*)(const Inst *inst, uint64_t *registers, Thread &thread);

// Operands are slots of the frame: registers, constants and special registers alike.
struct Inst {
  Handler run = nullptr;
  uint32_t d = 0, a = 0, b = 0, c = 0, extra = 0;
  uint32_t guard = 1, expected = 1; // it runs where the slot `guard` holds this
  uint32_t line = 0;                // of the PTX
  uint64_t imm = 0;
  const uint32_t *list = nullptr; // more slots, where the handler says so
  const Inst *target = nullptr;   // of a branch
  const Code *callee = nullptr;
};

// What a slot holds that differs from thread to thread, or is known at launch only.
enum class SpecialKind : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtaRank,
  ClusterNctaRank,
  IsExplicitCluster,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  DynamicSharedBytes,
  TotalSharedBytes,
  DynamicSharedAddress, // plus an offset
  LocalAddress,         // plus an offset in the frame
};

struct SpecialSlot {
  uint32_t slot;
  SpecialKind kind;
  uint64_t offset;
};

// A function, decoded.
struct Code {
  const Function *function = nullptr;
  std::vector<Inst> insts;           // as the body's, and one that ends the function
  std::vector<uint64_t> frame;       // what its slots start with: 0, 1, constants, registers
  std::vector<SpecialSlot> specials; // slots that each thread fills
  uint32_t localBytes = 0;           // of its frame
  uint32_t paramBytes = 0;           // of parameters that it takes and passes
  std::vector<std::pair<uint32_t, uint32_t>> parameters,
      results; // places of its own in the frame's parameters: offset, bytes
  std::deque<std::vector<uint32_t>> lists;
  std::deque<std::vector<const Inst *>> tables; // of brx.idx
  std::vector<std::vector<uint32_t>> touched; // by instruction: its slots, where the function has wgmma; of wgmma none
};

// A kernel with all that it calls.
struct Program {
  const Module *module = nullptr;
  std::deque<Code> codes; // the kernel first
  struct Parameter {
    uint32_t offset, bytes;
  };
  std::vector<Parameter> parameters; // of the launch
  uint32_t parameterBytes = 0;
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedAlign = 1;

  const Code &kernel() const { return codes.front(); }
};

// A module with its variables in memory.
class LoadedModule {
public:
  // An error names the line and what is not understood there.
  static Result<std::unique_ptr<LoadedModule>> load(std::string text, Memory &memory);
  ~LoadedModule();

  const Module &ptx() const { return *module; }
  // Null where there is no kernel of this name.
  const Program *find(std::string_view kernel) const;

private:
  LoadedModule(std::unique_ptr<Module> module, Memory &memory) : module(std::move(module)), memory(memory) {}
  Status placeVariables();

  std::unique_ptr<Module> module;
  Memory &memory;
  std::vector<uint64_t> addresses; // by variable; 0 where it has none of its own
  std::unordered_map<std::string, std::unique_ptr<Program>> programs;
};

} // namespace kiln::cudasim

#endif // KILN_TARGETS_CUDA_SIM_PROGRAM_H
