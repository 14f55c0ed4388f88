#include "kiln/report/model/method.h"

#include <gtest/gtest.h>

namespace kiln::report {
namespace {

std::string methodOf(std::string details, std::string last) {
  store::Verification verification;
  verification.method = std::move(last);
  verification.details = std::move(details);
  return methodText(verification);
}

TEST(Method, NamesAllPasses) {
  constexpr const char *kDetails =
      R"({"passes":3,"checks":[{"pass":"sums","method":"exact: integers (sums), projection"},
          {"pass":"wide-lhs","method":"exact: integers (wide-lhs), projection"},
          {"pass":"wide-rhs","method":"exact: integers (wide-rhs), projection"}]})";
  EXPECT_EQ(methodOf(kDetails, "exact: integers (wide-rhs), projection"),
            "exact: integers (sums + wide-lhs + wide-rhs), projection");
}

TEST(Method, SaysEachWayOnceWithItsPasses) {
  EXPECT_EQ(methodOf(R"({"checks":[{"pass":"a","method":"exact"},{"pass":"b","method":"exact"},
                                   {"pass":"c","method":"bound"}]})",
                     "bound"),
            "exact; passes: a + b; bound");
  EXPECT_EQ(methodOf(R"({"checks":[{"pass":"a","method":"exact"}]})", "exact"), "exact");
}

TEST(Method, OfOlderStoresIsThatOfTheLastPass) {
  EXPECT_EQ(methodOf(R"({"passes":3})", "exact (x)"), "exact (x); the last of 3 passes");
  EXPECT_EQ(methodOf(R"({"passes":1})", "exact"), "exact");
  EXPECT_EQ(methodOf("{}", "exact"), "exact");
  EXPECT_EQ(methodOf("no JSON", "exact"), "exact");
  EXPECT_EQ(methodOf(R"({"checks":[1,{"pass":2}],"passes":"x"})", "exact"), "exact");
  EXPECT_EQ(methodOf("{}", ""), "");
}

} // namespace
} // namespace kiln::report
