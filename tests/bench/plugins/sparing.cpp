// Plug-ins that skip a part of the work after the first launches, which are not timed, at products on the CPU.
// TBENCH_CHEAT selects one: skips_N skips N % of the launches, recalls_N answers N % of them from memory, and
// repaired_row answers all of them from memory, except for a row and a column whose operands have changed.
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "plain_math.hpp"

namespace {

using namespace tbench::test;

constexpr std::string_view kCheat = TBENCH_CHEAT;
/// Number of honest launches before it cheats.
constexpr int kHonestLaunches = 16;

struct Memory {
  std::vector<float> x, w, y;
};

Memory remember(const tbench_gemm_problem& problem, const tbench_gemm_arguments& in) {
  const float *x = read(in.x), *w = read(in.w), *y = read(in.y);
  return {
      .x = {x, x + problem.m * problem.k}, .w = {w, w + problem.n * problem.k}, .y = {y, y + problem.m * problem.n}};
}

void recall(const Memory& memory, const tbench_gemm_arguments& in) {
  std::memcpy(in.y.data, memory.y.data(), memory.y.size() * sizeof(float));
}

/// Returns the first row that has changed in a matrix with rows of `k` numbers, or `rows`.
std::int64_t changed_row(const float* now, const std::vector<float>& then, std::int64_t rows, std::int64_t k) {
  std::int64_t row = 0;
  const auto bytes = static_cast<std::size_t>(k) * sizeof(float);
  while (row < rows && std::memcmp(now + row * k, then.data() + row * k, bytes) == 0) ++row;
  return row;
}

void product_at(const tbench_gemm_problem& problem, const tbench_gemm_arguments& in, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t k = 0; k < problem.k; ++k) {
    sum += static_cast<double>(read(in.x)[i * problem.k + k]) * read(in.w)[j * problem.k + k];
  }
  write(in.y)[i * problem.n + j] = static_cast<float>(sum);
}

void repair(Memory& memory, const tbench_gemm_problem& problem, const tbench_gemm_arguments& in) {
  recall(memory, in);
  const std::int64_t row = changed_row(read(in.x), memory.x, problem.m, problem.k);
  const std::int64_t column = changed_row(read(in.w), memory.w, problem.n, problem.k);
  for (std::int64_t j = 0; row < problem.m && j < problem.n; ++j) product_at(problem, in, row, j);
  for (std::int64_t i = 0; column < problem.n && i < problem.m; ++i) product_at(problem, in, i, column);
  memory = remember(problem, in);
}

/// Returns true at random for `percent` percent of all calls.
bool is_spared(int percent) {
  static unsigned random = 1;
  random = random * 1664525U + 1013904223U;
  return static_cast<int>((random >> 16U) % 100U) < percent;
}

const char* launch(const tbench_gemm_problem* problem, const tbench_gemm_arguments* in) {
  static int launches = 0;
  static Memory memory;
  if (++launches <= kHonestLaunches) {
    multiply(*problem, *in);
    memory = remember(*problem, *in);
    return nullptr;
  }
  if constexpr (kCheat == "repaired_row") {
    repair(memory, *problem, *in);
    return nullptr;
  }
  static const int percent = std::atoi(kCheat.data() + kCheat.find('_') + 1);
  if (!is_spared(percent)) {
    multiply(*problem, *in);
  } else if constexpr (kCheat.substr(0, 7) == "recalls") {
    recall(memory, *in);
  }
  return nullptr;
}

const char* unsupported(const tbench_gemm_problem* problem) {
  return problem->device == TBENCH_CPU && problem->precision == TBENCH_FP32 ? nullptr : "float32 on the CPU alone";
}

const tbench_gemm kGemm{.unsupported = &unsupported, .workspace_bytes = nullptr, .launch = &launch};

const tbench_plugin_description kDescription{.abi = TBENCH_PLUGIN_ABI,
                                             .bytes = sizeof(tbench_plugin_description),
                                             .name = TBENCH_CHEAT,
                                             .attention = nullptr,
                                             .gemm = &kGemm,
                                             .kernel = nullptr};

}  // namespace

const tbench_plugin_description* tbench_plugin(void) { return &kDescription; }
