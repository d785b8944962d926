// Tests properties of the kernels' inline assembly that the compiler must know, by reading its source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>

namespace tbench::kernels {
namespace {

TEST(Primitives, AssemblyThatTouchesMemorySaysSo) {
  std::ifstream file{TBENCH_KERNEL_SOURCES "/attention/common/ptx.cuh"};
  std::stringstream text;
  text << file.rdbuf();
  const std::string source = text.str();
  const std::regex statement{R"(asm( volatile)?\([^;]*?"[^"]*(shared|cp\.async|bar\.)[^]*?\);)"};
  int statements = 0;
  for (std::sregex_iterator i{source.begin(), source.end(), statement}, end; i != end; ++i, ++statements) {
    EXPECT_THAT(i->str(), testing::HasSubstr("\"memory\"")) << "the compiler may move loads and stores across it";
  }
  EXPECT_GE(statements, 8);
}

}  // namespace
}  // namespace tbench::kernels
