#include "kiln/runtime/capi/capi_test_module.h"

#include <cstdlib>
#include <cstring>

#include "kiln/runtime/vm/testing/abs_program.h"
#include "kiln/schema/vm_code.h"

using namespace kiln;
using schema::CodeBuilder;

static constexpr auto v = schema::Register::value;
static constexpr auto r = schema::Register::ref;

// Adds an export that only calls an import.
static void addForward(schema::ModuleDesc &desc, const char *name, const char *signature, const char *importSignature,
                       CodeBuilder::Registers arguments, CodeBuilder::Registers results) {
  CodeBuilder code;
  code.callImport(static_cast<uint32_t>(desc.imports.size()), arguments, results);
  code.ret(results);
  desc.imports.push_back({std::string("host.") + name, importSignature});
  desc.functions.push_back({name, signature, 4, 2, *code.finish()});
  desc.exports.push_back({name, static_cast<uint32_t>(desc.functions.size() - 1), {}});
}

void *makeTestModule(size_t *outSize) {
  schema::ModuleDesc desc = vm::testing::absDesc({{4}});
  addForward(desc, "scale", "fi_f", "fi_f", {v(0), v(1)}, {v(0)});
  addForward(desc, "mix", "IFr_rFI", "IFr_rFI", {v(0), v(1), r(0)}, {r(1), v(2), v(3)});
  addForward(desc, "fail", "_", "_", {}, {});
  CodeBuilder sum;
  for (uint32_t i = 0; i < 3; ++i)
    sum.constant(i, 10 * (i + 1));
  // More arguments than fit on the stack of the C API.
  sum.callImport(static_cast<uint32_t>(desc.imports.size()),
                 {v(0), v(1), v(2), v(0), v(1), v(2), v(0), v(1), v(2), v(0), v(1), v(2)}, {v(0)});
  sum.ret({v(0)});
  desc.imports.push_back({"host.sum", "I*_I"});
  desc.functions.push_back({"sum", "_I", 3, 0, *sum.finish()});
  desc.exports.push_back({"sum", static_cast<uint32_t>(desc.functions.size() - 1), {}});

  CodeBuilder loop;
  schema::Label start = loop.newLabel();
  loop.bind(start);
  loop.branch(start);
  desc.functions.push_back({"loop", "_", 0, 0, *loop.finish()});
  desc.exports.push_back({"loop", static_cast<uint32_t>(desc.functions.size() - 1), {}});

  std::string bytes = *schema::writeModuleToString(desc);
  *outSize = bytes.size();
  void *memory = std::aligned_alloc(64, (bytes.size() + 63) / 64 * 64);
  std::memcpy(memory, bytes.data(), bytes.size());
  return memory;
}
