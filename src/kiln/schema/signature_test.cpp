#include "kiln/schema/signature.h"

#include "gtest/gtest.h"

namespace kiln::schema {
namespace {

TEST(Signature, parses) {
  Result<Signature> signature = parseSignature("rIfF_iI", false);
  ASSERT_TRUE(signature.ok());
  EXPECT_EQ(signature->arguments, "rIfF");
  EXPECT_EQ(signature->repeated, "");
  EXPECT_EQ(signature->results, "iI");
  EXPECT_TRUE(parseSignature("_", false).ok());
}

TEST(Signature, repeats) {
  Result<Signature> group = parseSignature("rr(rII)*_r", true);
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->arguments, "rr");
  EXPECT_EQ(group->repeated, "rII");
  EXPECT_EQ(group->repeatCount(1), -1);
  EXPECT_EQ(group->repeatCount(2), 0);
  EXPECT_EQ(group->repeatCount(4), -1);
  EXPECT_EQ(group->repeatCount(8), 2);
  EXPECT_EQ(group->argumentKind(1), 'r');
  EXPECT_EQ(group->argumentKind(5), 'r');
  EXPECT_EQ(group->argumentKind(7), 'I');
  Result<Signature> single = parseSignature("I*_", true);
  ASSERT_TRUE(single.ok());
  EXPECT_EQ(single->arguments, "");
  EXPECT_EQ(single->repeatCount(5), 5);
  EXPECT_EQ(parseSignature("I_", true)->repeatCount(2), -1);
}

TEST(Signature, refuses) {
  for (const char *text :
       {"", "rI", "x_", "r__", "*_", "()*_", "rI)*_", "r(I_", "(rI*_", "((I)*_", "r*I_", "_r*", "r**_", "r_\x01"})
    EXPECT_FALSE(parseSignature(text, true).ok()) << text;
  Status status = parseSignature("rI*_", false).status();
  EXPECT_EQ(status.message(), "signature 'rI*_' is not valid: only an import may repeat arguments");
}

} // namespace
} // namespace kiln::schema
