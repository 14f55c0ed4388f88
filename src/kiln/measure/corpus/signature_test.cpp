#include "kiln/measure/corpus/signature.h"

#include "gtest/gtest.h"

namespace kiln::measure::corpus {
namespace {

using io::ElementType;

Result<Signature> resolve(std::vector<std::string> arguments, std::vector<std::string> results,
                          std::string_view comment = {}) {
  Result<Directives> directives = Directives::parse(comment);
  if (!directives.ok())
    return directives.status();
  return resolveSignature(arguments, results, directives->shapesOf("f"));
}

std::string message(const auto &result) {
  return std::string(result.status().message());
}

TEST(Signature, StaticTypesNeedNoComment) {
  Result<Signature> signature = resolve({"tensor<4x8xf32>", "tensor<i32>"}, {"tensor<4xbf16>", "tensor<1x1x2xi8>"});
  ASSERT_TRUE(signature.ok()) << message(signature);
  EXPECT_EQ(signature->inputs, (std::vector<TensorType>{{ElementType::F32, {4, 8}}, {ElementType::I32, {}}}));
  EXPECT_EQ(signature->outputs, (std::vector<TensorType>{{ElementType::BF16, {4}}, {ElementType::I8, {1, 1, 2}}}));
  EXPECT_EQ(signature->text(), "4x8xf32, i32 -> 4xbf16, 1x1x2xi8");
}

TEST(Signature, OpenShapesComeFromTheComment) {
  Result<Signature> signature = resolve({"tensor<?x8xf32>"}, {"tensor<?xf32>"}, "  // kiln-shapes: 3x8xf32 -> 3xf32\n");
  ASSERT_TRUE(signature.ok()) << message(signature);
  EXPECT_EQ(signature->text(), "3x8xf32 -> 3xf32");
  // One function's own counts more than that of all.
  signature = resolve({"tensor<?xf32>"}, {"tensor<?xf32>"},
                      "// kiln-shapes: 1xf32 -> 1xf32\n// kiln-shapes: @f 2xf32 -> 2xf32\n// kiln-shapes: @g 3xf32\n");
  ASSERT_TRUE(signature.ok()) << message(signature);
  EXPECT_EQ(signature->text(), "2xf32 -> 2xf32");
}

TEST(Signature, WhatIsMissingIsSaid) {
  Result<Signature> signature = resolve({"tensor<?x8xf32>"}, {"tensor<4xf32>"});
  EXPECT_EQ(signature.status().code(), StatusCode::Unimplemented);
  EXPECT_EQ(message(signature), "argument 0 is tensor<?x8xf32>, whose shape is open; say it in a comment of the file: "
                                "// kiln-shapes: 1x128xf32 -> 1x128xf32");
  signature = resolve({"tensor<?xf32>"}, {"tensor<?xf32>"}, "// kiln-shapes: 4xf32");
  EXPECT_NE(message(signature).find("result 0 is tensor<?xf32>, whose shape is open"), std::string::npos);
}

TEST(Signature, AContradictionIsAnError) {
  EXPECT_EQ(message(resolve({"tensor<?x8xf32>"}, {"tensor<4xf32>"}, "// kiln-shapes: 4x9xf32")),
            "the comment kiln-shapes says 4x9xf32 of argument 0; the function has tensor<?x8xf32>");
  EXPECT_EQ(message(resolve({"tensor<?x8xf32>"}, {"tensor<4xf32>"}, "// kiln-shapes: 4x8xf16")),
            "the comment kiln-shapes says 4x8xf16 of argument 0; the function has tensor<?x8xf32>");
  EXPECT_EQ(message(resolve({"tensor<?xf32>"}, {"tensor<4xf32>"}, "// kiln-shapes: 4xf32, 4xf32")),
            "the comment kiln-shapes has 2 arguments; the function has 1");
}

TEST(Signature, OnlyTensorsAreMeasured) {
  for (const char *type : {"i32", "!hal.buffer", "tensor<4xcomplex<f32>>", "tensor<*xf32>", "tensor<4xf32, #sparse>"}) {
    Result<Signature> signature = resolve({type}, {"tensor<4xf32>"});
    EXPECT_EQ(signature.status().code(), StatusCode::Unimplemented) << type;
    EXPECT_NE(message(signature).find(fmt::format("argument 0 is {}", type)), std::string::npos) << message(signature);
  }
  EXPECT_EQ(resolve({"tensor<4xf32>"}, {}).status().code(), StatusCode::Unimplemented);
}

TEST(Directives, AreReadWhereTheyStand) {
  Result<Directives> directives = Directives::parse("// A file about kiln-shapes: none.\r\n"
                                                    "module { // kiln-tolerance: 9\n"
                                                    "\t// kiln-tolerance: 1e-3\r\n"
                                                    "//kiln-tolerance:@g exact\n");
  ASSERT_TRUE(directives.ok()) << message(directives);
  EXPECT_TRUE(directives->shapes.empty());
  EXPECT_EQ(directives->toleranceOf("f").value, 1e-3);
  EXPECT_EQ(directives->toleranceOf("g").kind, Tolerance::Kind::Exact);
}

TEST(Directives, MistakesAreNotIgnored) {
  EXPECT_EQ(message(Directives::parse("\n// kiln-tolerence: 1e-3")),
            "line 2: kiln-tolerence: 1e-3: there is no 'kiln-tolerence'; did you mean 'kiln-tolerance'?");
  EXPECT_EQ(message(Directives::parse("// kiln-tolerance: wide")),
            "line 1: kiln-tolerance: wide: 'wide' is no tolerance; write 1e-3 (relative), 4 ulp, or exact");
  EXPECT_EQ(message(Directives::parse("// kiln-shapes: 4x?xf32")),
            "line 1: kiln-shapes: 4x?xf32: '4x?xf32' is no shape; write 1x128xf32");
  for (const char *wrong : {"// kiln-shapes: 4,f32", "// kiln-shapes: 4xf33", "// kiln-shapes: 4x -> f32",
                            "// kiln-shapes: 99999999999999999999xf32"})
    EXPECT_FALSE(Directives::parse(wrong).ok()) << wrong;
}

} // namespace
} // namespace kiln::measure::corpus
