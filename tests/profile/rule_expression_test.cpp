#include "profile/rule_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tbench::profile {
namespace {

using ::testing::HasSubstr;

TEST(RuleExpression, AnExpressionOfTheDialectIsWell) {
  for (const char* expression :
       {"a",      "^a.*b$",    "a|b|",  "()",    "(a(b|c)+)?d*", "[]a]", "[^]a]",  "[[:alpha:]_]+",
        "[a-z(]", "\\(\\{\\[", "a\\+b", "[\\]",  "a]b",          "}",    "(a?b)+", "(a?b|c)*",
        "a++",    "a+?",       "(a*)?", "(^a)+", "(a|b+)+"}) {
    EXPECT_FALSE(check_expression(expression)) << expression;
  }
}

struct Bad {
  const char* expression;
  std::size_t position;
  const char* problem;
};

TEST(RuleExpression, SaysWhereAnExpressionIsWrong) {
  for (const Bad& bad : {Bad{"a(b", 1, "'(' has no ')'"},
                         Bad{"(a)(b", 3, "'(' has no ')'"},
                         Bad{"((a)", 0, "'(' has no ')'"},
                         Bad{"ab)", 2, "')' has no '('"},
                         Bad{"a[b", 1, "'[' has no ']'"},
                         Bad{"[[:alpha:]", 0, "has no ']'"},
                         Bad{"[a[:", 0, "has no ']'"},
                         Bad{"ab\\", 2, "'\\' ends it"},
                         Bad{"*a", 0, "'*' repeats nothing"},
                         Bad{"a|+b", 2, "'+' repeats nothing"},
                         Bad{"(?a)", 1, "'?' repeats nothing"},
                         Bad{"^*", 1, "'*' repeats nothing"},
                         Bad{"a{3}", 1, "count repetitions"},
                         Bad{"(a)\\1", 3, "'\\1' refers back"},
                         Bad{"a+?+", 3, "'+' repeats what can be empty"},
                         Bad{"a**", 2, "'*' repeats what can be empty"},
                         Bad{"(a?b*)+", 6, "repeats what can be empty"},
                         Bad{"(a|)*", 4, "repeats what can be empty"},
                         Bad{"(|a)*", 4, "repeats what can be empty"},
                         Bad{"(^)+", 3, "repeats what can be empty"},
                         Bad{"$*", 1, "repeats what can be empty"},
                         Bad{"\\b+", 2, "repeats what can be empty"},
                         Bad{"(())+", 4, "repeats what can be empty"}}) {
    const auto error = check_expression(bad.expression);
    ASSERT_TRUE(error) << bad.expression;
    EXPECT_EQ(error->position, bad.position) << bad.expression;
    EXPECT_THAT(error->problem, HasSubstr(bad.problem)) << bad.expression;
  }
}

/// 40 nested repetitions would compile to 2^40 elements.
TEST(RuleExpression, RefusesWhatWouldTakeAllMemory) {
  const auto error = check_expression(std::string(40, '(') + "a" + [] {
    std::string closing;
    for (int i = 0; i < 40; ++i) closing += ")+";
    return closing;
  }());
  ASSERT_TRUE(error);
  EXPECT_THAT(error->problem, HasSubstr("nested repetitions"));
  const auto long_one = check_expression(std::string(2001, 'a'));
  ASSERT_TRUE(long_one);
  EXPECT_EQ(long_one->position, 2000U);
  EXPECT_THAT(long_one->problem, HasSubstr("divide it"));
  EXPECT_FALSE(check_expression(std::string(2000, 'a')));
}

/// `regcomp` needed 13 s for the second one.
TEST(RuleExpression, RefusesWhatWouldCompileForSeconds) {
  std::string optional;
  for (int i = 0; i < 200; ++i) optional += "(a?b?c?)+";
  EXPECT_TRUE(check_expression(optional));
  EXPECT_TRUE(check_expression("_V|mueOti+++++++1e99+o+f+?+++++++++++0e999++++++?+++dn++"));
}

TEST(RuleExpression, FindsTheBracketThatCannotBeCompiled) {
  EXPECT_EQ(bad_bracket("ab[a-z]c[z-a]"), 8U);
  EXPECT_EQ(bad_bracket("a\\[[[:foo:]]"), 3U);
  EXPECT_EQ(bad_bracket("ab[a-z]"), 0U);
}

}  // namespace
}  // namespace tbench::profile
