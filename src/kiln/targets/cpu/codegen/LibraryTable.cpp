#include "kiln/targets/cpu/codegen/LibraryTable.h"

#include "kiln/schema/executable_abi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace kiln {

static_assert(sizeof(kiln_dispatch_info_t) == 2 * sizeof(void *) + 4 * sizeof(uint32_t) &&
                  sizeof(kiln_executable_library_t) == 2 * sizeof(uint32_t) + sizeof(void *),
              "the tables below are laid out like these");

static GlobalVariable *addConstant(Module &module, Constant *value, const Twine &name) {
  auto *global =
      new GlobalVariable(module, value->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage, value, name);
  global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return global;
}

void addLibraryTable(Module &module, ArrayRef<LibraryExport> exports) {
  LLVMContext &context = module.getContext();
  Type *i32 = Type::getInt32Ty(context);
  auto *pointer = PointerType::getUnqual(context);
  auto number = [&](uint32_t value) { return ConstantInt::get(i32, value); };

  for (Function &function : module)
    if (!function.isDeclaration())
      function.setLinkage(GlobalValue::InternalLinkage);

  auto *infoType = StructType::get(context, {pointer, pointer, i32, i32, i32, i32});
  SmallVector<Constant *> infos;
  for (const LibraryExport &entry : exports) {
    Function *function = module.getFunction(entry.name);
    assert(function && !function->isDeclaration() && "an export without a function");
    Constant *name = addConstant(module, ConstantDataArray::getString(context, entry.name), "kiln_export_name");
    infos.push_back(
        ConstantStruct::get(infoType, {name, function, number(entry.bindingCount), number(entry.constantCount),
                                       number(entry.localMemoryBytes), number(0)}));
  }
  Constant *table =
      addConstant(module, ConstantArray::get(ArrayType::get(infoType, infos.size()), infos), "kiln_exports");
  auto *libraryType = StructType::get(context, {i32, i32, pointer});
  Constant *library = addConstant(
      module, ConstantStruct::get(libraryType, {number(KILN_EXECUTABLE_ABI_VERSION), number(exports.size()), table}),
      "kiln_library");

  auto *query = Function::Create(FunctionType::get(pointer, {i32}, /*isVarArg=*/false), GlobalValue::ExternalLinkage,
                                 KILN_EXECUTABLE_QUERY_SYMBOL, module);
  IRBuilder<> builder(BasicBlock::Create(context, "", query));
  Value *known = builder.CreateICmpUGE(query->getArg(0), number(KILN_EXECUTABLE_ABI_VERSION));
  builder.CreateRet(builder.CreateSelect(known, library, ConstantPointerNull::get(pointer)));
}

} // namespace kiln
