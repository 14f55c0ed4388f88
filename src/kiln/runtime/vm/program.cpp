#include "kiln/runtime/vm/program.h"

namespace kiln::vm {

Result<Ref<Program>> Program::create(std::span<const Ref<Module>> modules, std::span<const Ref<NativeModule>> natives,
                                     const SessionOptions &options) {
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::create(modules, natives, options));
  return Ref<Program>::adopt(new Program(std::move(session)));
}

Result<std::unique_ptr<Session>> Program::createSession(const SessionOptions &options) const {
  return initialized->copy(options);
}

} // namespace kiln::vm
