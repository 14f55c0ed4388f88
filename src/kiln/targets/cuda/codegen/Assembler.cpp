#include "kiln/targets/cuda/codegen/Assembler.h"

#include "kiln/base/exhaustion.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace kiln {

static constexpr unsigned kMostSeconds = 600;

Expected<std::string> findAssembler(StringRef ptxas) {
  if (ErrorOr<std::string> found = sys::findProgramByName(ptxas))
    return *found;
  return createStringError("there is no program '%s'%s", ptxas.str().c_str(),
                           ptxas.contains('/') ? "" : " in PATH; name the file");
}

std::vector<AssemblerRemark> remarksOf(StringRef output) {
  std::vector<AssemblerRemark> remarks;
  std::string symbol;
  SmallVector<StringRef> lines;
  output.split(lines, '\n');
  for (StringRef line : lines) {
    // ptxas info    : Function properties for main_dispatch_0
    if (size_t at = line.find("Function properties for "); at != StringRef::npos)
      symbol = line.substr(at).rsplit(' ').second.str();
    //     16 bytes stack frame, 12 bytes spill stores, 12 bytes spill loads
    if (line.contains("bytes spill stores")) {
      auto [stores, loads] = line.split(" bytes spill stores, ");
      stores = stores.rsplit(' ').second;
      loads = loads.split(' ').first;
      if (stores != "0" || loads != "0")
        remarks.push_back({Util::Cost::Spill, symbol,
                           ("keeps values in memory that its registers do not hold: " + stores + " bytes stored and " +
                            loads + " loaded, where ptxas put them")
                               .str()});
    }
    // ptxas info    : (C7514) Potential Performance Loss: wgmma... due to ... in the function 'main_dispatch_0' in ...
    if (size_t at = line.find("Potential Performance Loss: "); at != StringRef::npos) {
      auto [what, rest] = line.substr(at).split(": ").second.split(" in the function '");
      remarks.push_back({Util::Cost::Serialized, rest.split('\'').first.str(), ("loses speed: " + what).str()});
    }
  }
  return remarks;
}

Expected<AssembledCode> assemble(StringRef ptxas, StringRef architecture, StringRef ptx) {
  SmallString<128> names[3]; // of the PTX, the cubin, and what is said
  scope_exit cleanUp([&] {
    for (const SmallString<128> &name : names)
      if (!name.empty()) {
        [[maybe_unused]] std::error_code error = sys::fs::remove(name);
      }
  });
  static constexpr const char *suffixes[] = {"ptx", "cubin", "txt"};
  for (auto [name, suffix] : zip(names, suffixes)) {
    int descriptor = -1;
    if (std::error_code error = sys::fs::createTemporaryFile("kiln", suffix, descriptor, name))
      return createStringError(error, "cannot make a temporary file: %s%s", error.message().c_str(),
                               exhaustionAdvice(error.value()));
    raw_fd_ostream file(descriptor, /*shouldClose=*/true);
    if (&name == names)
      file << ptx;
    file.close();
    if (file.has_error()) {
      std::error_code error = file.error();
      file.clear_error();
      return createStringError(error, "cannot write '%s': %s%s", name.c_str(), error.message().c_str(),
                               exhaustionAdvice(error.value()));
    }
  }
  std::string target = ("-arch=" + architecture).str();
  StringRef arguments[] = {ptxas, "-v", target, names[0], "-o", names[1]};
  std::optional<StringRef> redirects[] = {StringRef(), names[2].str(), names[2].str()};
  std::string reason;
  int code = sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, kMostSeconds, 0, &reason);
  auto said = MemoryBuffer::getFile(names[2]);
  std::string output = said ? (*said)->getBuffer().trim().str() : "";
  constexpr size_t mostTold = 4000;
  if (code != 0 && output.size() > mostTold)
    output.erase(0, output.size() - mostTold); // the end has the error
  if (code != 0)
    return createStringError("%s failed%s%s", ptxas.str().c_str(), reason.empty() ? ": " : (": " + reason).c_str(),
                             output.c_str());
  auto cubin = MemoryBuffer::getFile(names[1], /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!cubin || (*cubin)->getBufferSize() == 0)
    return createStringError("%s wrote nothing: %s", ptxas.str().c_str(), output.c_str());
  AssembledCode result;
  result.cubin = (*cubin)->getBuffer();
  result.remarks = remarksOf(output);
  return result;
}

} // namespace kiln
