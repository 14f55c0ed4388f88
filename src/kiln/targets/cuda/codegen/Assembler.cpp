#include "kiln/targets/cuda/codegen/Assembler.h"

#include "kiln/compiler/Codegen/MemoryFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
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

// Whether the file of machine code defines each kernel as a function.
static Error checkKernels(const object::ELF64LEFile &file, ArrayRef<StringRef> kernels) {
  StringSet<> functions;
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_SYMTAB)
      continue;
    auto symbols = file.symbols(&section);
    if (!symbols)
      return symbols.takeError();
    auto names = file.getStringTableForSymtab(section);
    if (!names)
      return names.takeError();
    for (const auto &symbol : *symbols) {
      auto name = symbol.getName(*names);
      if (!name)
        return name.takeError();
      if (symbol.getType() == ELF::STT_FUNC && symbol.isDefined())
        functions.insert(*name);
    }
  }
  for (StringRef kernel : kernels)
    if (!functions.contains(kernel))
      return createStringError("it does not define the kernel '%s'", kernel.str().c_str());
  return Error::success();
}

// Whether these are machine code for GPUs; the driver would be the next to look at them, on another machine.
static Error checkCubin(StringRef cubin, ArrayRef<StringRef> kernels) {
  if (!cubin.starts_with(ELF::ElfMagic))
    return createStringError("it is no ELF file");
  auto file = object::ELF64LEFile::create(cubin);
  if (!file)
    return file.takeError();
  const auto &header = file->getHeader();
  if (header.e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 || header.e_ident[ELF::EI_DATA] != ELF::ELFDATA2LSB ||
      header.e_machine != ELF::EM_CUDA)
    return createStringError("it is an ELF file for another machine than NVIDIA's GPUs (machine %u)",
                             unsigned(header.e_machine));
  return checkKernels(*file, kernels);
}

Expected<AssembledCode> assemble(StringRef ptxas, StringRef architecture, StringRef ptx, ArrayRef<StringRef> kernels,
                                 bool keepLines) {
  Expected<MemoryFile> input = MemoryFile::create("kiln.ptx", ptx);
  if (!input)
    return input.takeError();
  Expected<MemoryFile> made = MemoryFile::create("kiln.cubin"), said = MemoryFile::create("kiln.txt");
  if (!made || !said)
    return joinErrors(made.takeError(), said.takeError());
  std::string target = ("-arch=" + architecture).str(), inputPath = input->path(), cubinPath = made->path(),
              saidPath = said->path();
  SmallVector<StringRef> arguments = {ptxas, "-v", target, inputPath, "-o", cubinPath};
  if (keepLines)
    arguments.push_back("-lineinfo");
  std::optional<StringRef> redirects[] = {StringRef(), saidPath, saidPath};
  std::string reason;
  int code = sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, kMostSeconds, 0, &reason);
  Expected<SmallString<0>> text = said->read();
  if (!text)
    return text.takeError();
  std::string output = text->str().trim().str();
  constexpr size_t mostTold = 4000;
  if (code != 0 && output.size() > mostTold)
    output.erase(0, output.size() - mostTold); // the end has the error
  if (code != 0)
    return createStringError("%s failed%s%s", ptxas.str().c_str(), reason.empty() ? ": " : (": " + reason).c_str(),
                             output.c_str());
  Expected<SmallString<0>> cubin = made->read();
  if (!cubin)
    return cubin.takeError();
  if (cubin->empty())
    return createStringError("%s wrote nothing: %s", ptxas.str().c_str(), output.c_str());
  if (Error error = checkCubin(*cubin, kernels))
    return createStringError("%s wrote what is no machine code of these kernels: %s", ptxas.str().c_str(),
                             toString(std::move(error)).c_str());
  return AssembledCode{std::move(*cubin), remarksOf(output)};
}

} // namespace kiln
