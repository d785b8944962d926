// Tests Inf and NaN in the inputs of the forward kernels. A result that is finite in exact arithmetic has that value. A
// result that is Inf or NaN in exact arithmetic is not finite.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "emulated/emulated_attention_16bit.hpp"
#include "emulated/emulated_attention_32bit.hpp"
#include "emulated/emulated_forward_sm90.hpp"

namespace tbench::kernels::sm80 {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
/// A finite number that TF32 rounds to Inf.
constexpr float kLargest = std::numeric_limits<float>::max();

using Bf16 = EmulatedAttention16<64>;
using Tf32 = EmulatedAttention32<false, 64>;
using Fp32 = EmulatedAttention32<true, 64>;
using Hopper = sm90::EmulatedForward<32, sm90::FwdM128N128>;

template <class Attention>
class EmulatedNonFiniteTest : public testing::Test {
 protected:
  static constexpr int kQueries = 33, kKeys = 130;

  /// @return  number of rows of the first head in which all elements are finite
  int expect_as_exact(const char* what) {
    SCOPED_TRACE(what);
    if constexpr (std::is_same_v<Attention, Hopper>) {
      attention_.forward(1, false);
    } else if constexpr (std::is_same_v<Attention, Bf16>) {
      attention_.template forward<FwdM64N64>();
    } else {
      attention_.template forward<FwdFp32Short<std::is_same_v<Attention, Fp32>>>();
    }
    constexpr double kTolerance = std::is_same_v<Attention, Fp32>   ? 1e-5
                                  : std::is_same_v<Attention, Tf32> ? 5e-3
                                                                    : 3e-2;
    int finite_rows = 0;
    for (int row = 0; row < kQueries; ++row) {
      const std::vector<double> actual = attention_.row_of_o(row), exact = attention_.exact_row_of_o(row);
      bool all_finite = true;
      for (std::size_t d = 0; d < exact.size(); ++d) {
        if (std::isfinite(exact[d])) {
          EXPECT_NEAR(actual[d], exact[d], kTolerance) << "row " << row << ", column " << d;
        } else {
          EXPECT_FALSE(std::isfinite(actual[d])) << "row " << row << ", column " << d << ": " << actual[d];
          all_finite = false;
        }
      }
      finite_rows += all_finite ? 1 : 0;
    }
    return finite_rows;
  }

  Attention attention_{Lengths{kQueries, kKeys, false}, 1};
};
using Attentions = testing::Types<Bf16, Tf32, Fp32, Hopper>;
TYPED_TEST_SUITE(EmulatedNonFiniteTest, Attentions);

TYPED_TEST(EmulatedNonFiniteTest, AKeyWhoseScoreIsMinusInfinityCountsNothing) {
  // The key's score is -Inf for queries whose first element is negative. For the others it is Inf, and softmax's Inf -
  // Inf is NaN.
  this->attention_.set_key(70, kInf);
  const int finite_rows = this->expect_as_exact("Inf in K");
  EXPECT_GT(finite_rows, 5);
  EXPECT_LT(finite_rows, this->kQueries - 5);
}

TYPED_TEST(EmulatedNonFiniteTest, AQueryThatIsNotFiniteSpoilsItsRowAlone) {
  this->attention_.set_query(7, kNan);
  this->attention_.set_query(20, kInf);
  EXPECT_EQ(this->expect_as_exact("NaN and Inf in Q"), this->kQueries - 2);
}

TYPED_TEST(EmulatedNonFiniteTest, AValueThatIsNotFiniteSpoilsItsColumnAlone) {
  this->attention_.set_value(70, kInf);
  EXPECT_EQ(this->expect_as_exact("Inf in V"), 0);
  this->attention_.set_value(70, kNan);
  EXPECT_EQ(this->expect_as_exact("NaN in V"), 0);
}

TYPED_TEST(EmulatedNonFiniteTest, ANumberThatRoundsToInfinityIsTakenForIt) {
  // The scores are about 1e37 with either sign, so the key takes all of a row's weight, or none.
  this->attention_.set_key(70, kLargest);
  this->attention_.set_value(70, 1.0f);
  for (int row = 0; row < this->kQueries; ++row) this->attention_.set_query(row, -0.5f);
  EXPECT_EQ(this->expect_as_exact("the largest float32 in K"), this->kQueries);
}

}  // namespace
}  // namespace tbench::kernels::sm80
