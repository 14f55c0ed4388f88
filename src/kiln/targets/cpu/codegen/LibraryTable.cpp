#include "kiln/targets/cpu/codegen/LibraryTable.h"

#include "kiln/schema/executable_abi.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace kiln {

static_assert(sizeof(kiln_dispatch_info_t) == 2 * sizeof(void *) + 4 * sizeof(uint32_t) &&
                  sizeof(kiln_executable_library_t) == 4 * sizeof(uint32_t) + sizeof(void *) &&
                  sizeof(kiln_dispatch_messages_t) == sizeof(void *) + 2 * sizeof(uint32_t),
              "the tables below are laid out like these");

static GlobalVariable *addConstant(Module &module, Constant *value, const Twine &name) {
  auto *global =
      new GlobalVariable(module, value->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage, value, name);
  global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return global;
}

static void addMessages(Module &module, ArrayRef<LibraryExport> exports) {
  LLVMContext &context = module.getContext();
  auto *i32 = Type::getInt32Ty(context);
  auto *pointer = PointerType::getUnqual(context);
  auto *entryType = StructType::get(context, {pointer, i32, i32});
  SmallVector<Constant *> entries;
  for (const LibraryExport &entry : exports) {
    SmallVector<Constant *> texts;
    for (const std::string &message : entry.messages)
      texts.push_back(addConstant(module, ConstantDataArray::getString(context, message), "kiln_message"));
    Constant *list =
        addConstant(module, ConstantArray::get(ArrayType::get(pointer, texts.size()), texts), "kiln_messages");
    entries.push_back(
        ConstantStruct::get(entryType, {list, ConstantInt::get(i32, texts.size()), ConstantInt::get(i32, 0)}));
  }
  auto *table = ConstantArray::get(ArrayType::get(entryType, entries.size()), entries);
  new GlobalVariable(module, table->getType(), /*isConstant=*/true, GlobalValue::ExternalLinkage, table,
                     KILN_EXECUTABLE_MESSAGES_SYMBOL);
}

void addLibraryTable(Module &module, ArrayRef<LibraryExport> exports) {
  LLVMContext &context = module.getContext();
  Type *i32 = Type::getInt32Ty(context);
  auto *pointer = PointerType::getUnqual(context);
  auto number = [&](uint32_t value) { return ConstantInt::get(i32, value); };

  auto *infoType = StructType::get(context, {pointer, pointer, i32, i32, i32, i32});
  auto *functionType = FunctionType::get(i32, {pointer, pointer}, /*isVarArg=*/false);
  SmallVector<Constant *> infos;
  for (const LibraryExport &entry : exports) {
    auto *function = Function::Create(functionType, GlobalValue::ExternalLinkage, entry.name, module);
    function->setVisibility(GlobalValue::HiddenVisibility);
    Constant *name = addConstant(module, ConstantDataArray::getString(context, entry.name), "kiln_export_name");
    infos.push_back(
        ConstantStruct::get(infoType, {name, function, number(entry.bindingCount), number(entry.constantCount),
                                       number(entry.localMemoryBytes), number(0)}));
  }
  Constant *table =
      addConstant(module, ConstantArray::get(ArrayType::get(infoType, infos.size()), infos), "kiln_exports");
  auto *libraryType = StructType::get(context, {i32, i32, pointer, i32, i32});
  Constant *library =
      addConstant(module,
                  ConstantStruct::get(libraryType, {number(KILN_EXECUTABLE_ABI_VERSION), number(exports.size()), table,
                                                    number(sizeof(kiln_executable_library_t)),
                                                    number(sizeof(kiln_dispatch_info_t))}),
                  "kiln_library");

  if (any_of(exports, [](const LibraryExport &entry) { return !entry.messages.empty(); }))
    addMessages(module, exports);

  auto *query = Function::Create(FunctionType::get(pointer, {i32}, /*isVarArg=*/false), GlobalValue::ExternalLinkage,
                                 KILN_EXECUTABLE_QUERY_SYMBOL, module);
  IRBuilder<> builder(BasicBlock::Create(context, "", query));
  Value *known = builder.CreateICmpUGE(query->getArg(0), number(KILN_EXECUTABLE_ABI_VERSION));
  builder.CreateRet(builder.CreateSelect(known, library, ConstantPointerNull::get(pointer)));
}

} // namespace kiln
