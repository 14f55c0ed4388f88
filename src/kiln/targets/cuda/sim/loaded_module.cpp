#include "kiln/targets/cuda/sim/decoder.h"
#include "kiln/targets/cuda/sim/ptx_parser.h"

#include <cstring>

namespace kiln::cudasim {

Result<std::unique_ptr<LoadedModule>> LoadedModule::load(std::string text, Memory &memory) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, parsePtx(std::move(text)));
  std::unique_ptr<LoadedModule> loaded(new LoadedModule(std::move(module), memory));
  KILN_RETURN_IF_ERROR(loaded->placeVariables());
  for (const Function &function : loaded->module->functions) {
    if (!function.isEntry || !function.hasBody)
      continue;
    ProgramBuilder builder(*loaded->module, loaded->addresses);
    KILN_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, builder.build(function));
    loaded->programs.emplace(function.name, std::move(program));
  }
  return loaded;
}

LoadedModule::~LoadedModule() {
  for (uint64_t address : addresses)
    if (address)
      memory.free(address);
}

Status LoadedModule::placeVariables() {
  addresses.resize(module->variables.size());
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Variable &variable = module->variables[i];
    if ((variable.space != Space::Global && variable.space != Space::Const) || variable.isExtern)
      continue;
    addresses[i] = memory.allocate(variable.bytes);
    if (!addresses[i])
      return resourceExhausted("there is no memory for variable '{}' of {} bytes", variable.name, variable.bytes);
    // What has no initial value is zero.
    uint8_t *bytes = memory.find(addresses[i], variable.bytes);
    std::memset(bytes, 0, variable.bytes);
    std::ranges::copy(variable.contents, bytes);
  }
  for (size_t i = 0; i < addresses.size(); ++i)
    for (const Variable::Address &each :
         addresses[i] ? module->variables[i].addresses : std::vector<Variable::Address>()) {
      if (!addresses[each.variable])
        return invalidArgument("the initial value of variable '{}' is an address that is not known",
                               module->variables[i].name);
      const uint64_t address = addresses[each.variable] + uint64_t(each.offset);
      std::memcpy(memory.find(addresses[i] + each.place, 8), &address, 8);
    }
  return okStatus();
}

const Program *LoadedModule::find(std::string_view kernel) const {
  auto found = programs.find(std::string(kernel));
  return found == programs.end() ? nullptr : found->second.get();
}

} // namespace kiln::cudasim
