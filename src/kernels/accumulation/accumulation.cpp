#include "tbench/kernels/accumulation.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "launch.hpp"

namespace tbench::kernels {

void sum(const SumProblem& problem, float* result, cudaStream_t stream) {
  if (problem.count < 1 || problem.count > kMostSumTerms) {
    throw std::invalid_argument{fmt::format("sum: {} terms; the kernels take 1 to {}", problem.count, kMostSumTerms)};
  }
  const bool is_wide = problem.accumulator == Precision::kFp32;
  if (problem.input == Precision::kTf32 || (problem.accumulator != problem.input && !is_wide)) {
    throw std::invalid_argument{
        fmt::format("sum: {} input and {} accumulator have no kernel: an accumulator is fp32 or of the input's format",
                    to_string(problem.input), to_string(problem.accumulator))};
  }
  if (problem.a == nullptr || result == nullptr) throw std::invalid_argument{"sum: a or the result is null"};
  launch_sum(problem, result, stream);
}

}  // namespace tbench::kernels
