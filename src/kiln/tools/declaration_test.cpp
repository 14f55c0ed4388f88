#include "kiln/tools/declaration.h"

#include <cstring>

#include "gtest/gtest.h"

namespace kiln {
namespace {

using Types = std::vector<std::string>;

TEST(DeclarationTest, ArgumentsAndResults) {
  Declaration d = parseDeclaration("sync func @add(%a: tensor<4xf32>, %b: i32) -> (%c: tensor<?x4xf32>, %d: index)");
  EXPECT_EQ(d.arguments, (Types{"tensor<4xf32>", "i32"}));
  EXPECT_EQ(d.results, (Types{"tensor<?x4xf32>", "index"}));
  d = parseDeclaration("func.func @f(tensor<f32>,i64) -> tensor<2x3xi8>");
  EXPECT_EQ(d.arguments, (Types{"tensor<f32>", "i64"}));
  EXPECT_EQ(d.results, (Types{"tensor<2x3xi8>"}));
  d = parseDeclaration("func @f()");
  EXPECT_EQ(d.arguments, Types());
  EXPECT_EQ(d.results, Types());
  d = parseDeclaration("func @f(%a: tensor<4xf32, #enc<[a, b], (d0) -> (d1)>> {x.y = \"z, w\"}, %b: f64) -> ()");
  EXPECT_EQ(d.arguments, (Types{"tensor<4xf32, #enc<[a, b], (d0) -> (d1)>>", "f64"}));
  EXPECT_EQ(d.results, Types());
}

TEST(DeclarationTest, NonsenseGivesNothingWrong) {
  for (const char *text : {"", "@", "@f", "(", ")", "@f(", "@f(%", "@f(%a", "@f(%a:", "@f(%a: tensor<", "@f(,)", "->",
                           "@f() ->", "@f() -> (", "@f(i32) -> ((", "@f)(", "@f(>>>)", "@f(i32", "@f(i32) - > i32"})
    (void)parseDeclaration(text);
  EXPECT_EQ(parseDeclaration("no function (i32)").arguments, Types());
}

TEST(DeclarationTest, ElementTypes) {
  EXPECT_EQ(declaredElementType("tensor<4xf32>"), hal::ElementType::F32);
  EXPECT_EQ(declaredElementType("tensor<bf16>"), hal::ElementType::BF16);
  EXPECT_EQ(declaredElementType("tensor<?x4xi8>"), hal::ElementType::I8);
  EXPECT_EQ(declaredElementType("i1"), hal::ElementType::I1);
  EXPECT_EQ(declaredElementType("index"), hal::ElementType::I64);
  for (const char *text :
       {"", "tensor<", "tensor<4", "tensor<4x>", "tensor<*xf32>", "memref<4xf32>", "!hal.buffer_view"})
    EXPECT_EQ(declaredElementType(text), std::nullopt) << text;
}

TEST(DeclarationTest, ScalarsFitTheirRegisters) {
  using vm::ValueKind;
  EXPECT_EQ(scalarElementType(ValueKind::I32, hal::ElementType::I8), hal::ElementType::I8);
  EXPECT_EQ(scalarElementType(ValueKind::I32, hal::ElementType::I64), hal::ElementType::I32);
  EXPECT_EQ(scalarElementType(ValueKind::I64, std::nullopt), hal::ElementType::I64);
  EXPECT_EQ(scalarElementType(ValueKind::F32, hal::ElementType::I32), hal::ElementType::F32);
  EXPECT_EQ(scalarElementType(ValueKind::F64, hal::ElementType::F32), hal::ElementType::F64);
  EXPECT_EQ(scalarElementType(ValueKind::F32, hal::ElementType::BF16), hal::ElementType::BF16);
  EXPECT_EQ(scalarElementType(ValueKind::F32, hal::ElementType::F64), hal::ElementType::F32);
}

TEST(DeclarationTest, ElementsTravelInRegisters) {
  uint8_t element[8] = {0x80, 0x3F};
  EXPECT_EQ(registerOfElement(hal::ElementType::BF16, element), 0x3F800000u);
  EXPECT_EQ(registerOfElement(hal::ElementType::I8, element), 0x80u);
  uint8_t back[8] = {};
  elementOfRegister(hal::ElementType::BF16, 0x3F800000u, back);
  EXPECT_EQ(std::memcmp(element, back, 2), 0);
  elementOfRegister(hal::ElementType::I8, 0xFFFFFFFFu, back); // -1 as the program extended it
  EXPECT_EQ(back[0], 0xFF);
  EXPECT_EQ(back[1], 0x3F);
}

} // namespace
} // namespace kiln
