#include "tbench/core/hints/regex_mistakes.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace tbench {
namespace {

TEST(GlobAsRegex, TurnsWildcardsAndAlternatives) {
  const std::vector<std::pair<std::string, std::optional<std::string>>> rows{
      {"*Attention*", "Attention"},
      {"*Attention*bf16*", "Attention.*bf16"},
      {"Model/*/pass:forward", "Model/.*/pass:forward"},
      {"Model/**/pass:forward", "Model/.*/pass:forward"},
      {"Model/*", "Model/"},
      {"impl:{flash,naive}", "impl:(flash|naive)"},
      {"Model/.*", "Model/"},
      {"Model/.*flash", std::nullopt},
      {"(a|b)*", std::nullopt},
      {"[ab]*c", std::nullopt},
      {"m:[0-9]{2,4}", std::nullopt},
      {"*", std::nullopt},
      {"", std::nullopt},
      {"+a", std::nullopt},
  };
  for (const auto& [text, meant] : rows) EXPECT_EQ(glob_as_regex(text), meant) << text;
}

struct Wrong {
  std::string expression;
  std::string why;
};

TEST(ExplainRegexError, NamesTheCharacterAndTheRemedy) {
  const std::vector<Wrong> rows{
      {"*Attention*", "'*' at its beginning repeats nothing; did you mean 'Attention'?"},
      {"-*flash*", "'*' at its beginning repeats nothing; did you mean '-.*flash'?"},
      {"+flash", "'+' at its beginning repeats nothing"},
      {"(*flash)", "'*' repeats nothing; did you mean '(.*flash)'?"},
      {"Model|*flash", "'*' repeats nothing; did you mean 'Model|.*flash'?"},
      {"impl:{flash,naive}", "'{' begins a number of repetitions; did you mean 'impl:(flash|naive)'?"},
      {"Model/{", R"('{' begins a number of repetitions, as in {2}; '\{' is the character; did you mean 'Model/\{'?)"},
      {"Model/(", R"('(' has no ')'; '\(' is the character)"},
      {"(Model|(Gemm)", R"('(' has no ')'; '\(' is the character)"},
      {"Model)", R"(')' has no '('; '\)' is the character)"},
      {"impl:[fs", R"('[' has no ']'; '\[' is the character)"},
      {"impl:[[:alpha:]", R"('[' has no ']'; '\[' is the character)"},
      {R"(ctx:\d+)", R"('\d' is not part of it; did you mean 'ctx:[0-9]+'?)"},
      {R"(impl:\w+)", R"('\w' is not part of it; did you mean 'impl:[[:alnum:]_]+'?)"},
      {R"(Model\/size)", R"('\/' is not part of it; did you mean 'Model/size'?)"},
      {R"(size:2\.7B\)", R"(it ends in '\', which escapes nothing)"},
      {R"(\bModel)", R"('\b' is not part of it)"},
      {"(?i)attention", "'(?i)' is not part of it; names are case-sensitive"},
      {"(?:a|b)", "'(?:' is not part of it; write '('"},
      {"(?!Model)", "'(?!' is not part of it; a leading '-' selects the names that do not match"},
  };
  for (const auto& [expression, why] : rows) {
    EXPECT_THROW((std::regex{expression.starts_with('-') ? expression.substr(1) : expression, std::regex::extended}),
                 std::regex_error)
        << expression;
    EXPECT_EQ(explain_regex_error(expression), why) << expression;
  }
}

TEST(ExplainRegexError, SaysNothingOfWhatIsOne) {
  for (const char* const expression :
       {"", ".", "Attention/.*", "^Model/size:(small|xl)/", R"(size:2\.7B)", "[[:digit:]]{3}", "m:[]a]b", "a**", "[^]]",
        "impl:.*?", "a{2,}", "(a|b)*", "-eager$"}) {
    EXPECT_EQ(explain_regex_error(expression), std::nullopt) << expression;
  }
}

}  // namespace
}  // namespace tbench
