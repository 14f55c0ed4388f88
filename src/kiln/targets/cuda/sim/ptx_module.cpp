#include "kiln/targets/cuda/sim/ptx_module.h"

#include <algorithm>

namespace kiln::cudasim {

namespace {
struct TypeEntry {
  Type type;
  std::string_view name;
  uint32_t bits;
  bool isSigned, isFloat;
};
} // namespace

static constexpr TypeEntry kTypes[] = {
    {Type::None, "", 0, false, false},         {Type::Pred, "pred", 8, false, false},
    {Type::B8, "b8", 8, false, false},         {Type::B16, "b16", 16, false, false},
    {Type::B32, "b32", 32, false, false},      {Type::B64, "b64", 64, false, false},
    {Type::B128, "b128", 128, false, false},   {Type::U8, "u8", 8, false, false},
    {Type::U16, "u16", 16, false, false},      {Type::U32, "u32", 32, false, false},
    {Type::U64, "u64", 64, false, false},      {Type::S8, "s8", 8, true, false},
    {Type::S16, "s16", 16, true, false},       {Type::S32, "s32", 32, true, false},
    {Type::S64, "s64", 64, true, false},       {Type::F16, "f16", 16, false, true},
    {Type::F32, "f32", 32, false, true},       {Type::F64, "f64", 64, false, true},
    {Type::BF16, "bf16", 16, false, true},     {Type::TF32, "tf32", 32, false, true},
    {Type::F16x2, "f16x2", 32, false, true},   {Type::BF16x2, "bf16x2", 32, false, true},
    {Type::U16x2, "u16x2", 32, false, false},  {Type::S16x2, "s16x2", 32, true, false},
    {Type::E4M3x2, "e4m3x2", 16, false, true}, {Type::E5M2x2, "e5m2x2", 16, false, true},
    {Type::E4M3, "e4m3", 8, false, true},      {Type::E5M2, "e5m2", 8, false, true},
    {Type::U4, "u4", 4, false, false},         {Type::S4, "s4", 4, true, false},
    {Type::B1, "b1", 1, false, false},         {Type::F32x2, "f32x2", 64, false, true},
};

static const TypeEntry &entryOf(Type type) {
  return kTypes[size_t(type)];
}

Type typeFromName(std::string_view name) {
  const auto *found = std::ranges::find(kTypes, name, &TypeEntry::name);
  return found == std::end(kTypes) ? Type::None : found->type;
}

std::string_view typeName(Type type) {
  return entryOf(type).name;
}

uint32_t typeBits(Type type) {
  return entryOf(type).bits;
}

bool isSigned(Type type) {
  return entryOf(type).isSigned;
}

bool isFloat(Type type) {
  return entryOf(type).isFloat;
}

const Function *Module::findFunction(std::string_view name) const {
  auto found = std::ranges::find(functions, name, &Function::name);
  return found == functions.end() ? nullptr : &*found;
}

} // namespace kiln::cudasim
