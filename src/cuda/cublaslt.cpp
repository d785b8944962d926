#include "tbench/cuda/cublaslt.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "tbench/core/error.hpp"
#include "tbench/cuda/error.hpp"

namespace tbench::cuda {
namespace {

#define TBENCH_CUBLAS_PLACE __FILE__ ":" TBENCH_CUDA_STRINGIZE(__LINE__)
/// Checks a call on behalf of `problem`, which appears in the error message.
#define TBENCH_CUBLAS_CHECK(call, problem) ::tbench::cuda::check((call), #call, TBENCH_CUBLAS_PLACE, describe(problem))

struct TypeName {
  int type;
  std::string_view name;
};

template <std::size_t Count>
std::string name_in(const std::array<TypeName, Count>& names, int type) {
  for (const TypeName& known : names) {
    if (known.type == type) return std::string{known.name};
  }
  return fmt::format("type {}", type);
}

std::string name_of(cudaDataType_t type) {
  static constexpr std::array kNames{TypeName{CUDA_R_32F, "fp32"}, TypeName{CUDA_R_16F, "fp16"},
                                     TypeName{CUDA_R_16BF, "bf16"}, TypeName{CUDA_R_8F_E4M3, "fp8_e4m3"},
                                     TypeName{CUDA_R_8F_E5M2, "fp8_e5m2"}};
  return name_in(kNames, type);
}

std::string name_of(cublasComputeType_t type) {
  static constexpr std::array kNames{
      TypeName{CUBLAS_COMPUTE_16F, "16F"}, TypeName{CUBLAS_COMPUTE_16F_PEDANTIC, "16F_PEDANTIC"},
      TypeName{CUBLAS_COMPUTE_32F, "32F"}, TypeName{CUBLAS_COMPUTE_32F_PEDANTIC, "32F_PEDANTIC"},
      TypeName{CUBLAS_COMPUTE_32F_FAST_TF32, "32F_FAST_TF32"}};
  return name_in(kNames, type);
}

bool sums_in_16_bits(cublasComputeType_t type) {
  return type == CUBLAS_COMPUTE_16F || type == CUBLAS_COMPUTE_16F_PEDANTIC;
}

/// Returns the type of the factors alpha and beta.
cudaDataType_t scale_type_of(const MatmulProblem& problem) {
  return sums_in_16_bits(problem.compute_type) ? CUDA_R_16F : CUDA_R_32F;
}

/// Returns the problem with row strides filled in, or throws if it is invalid.
MatmulProblem checked(MatmulProblem problem) {
  const auto refuse = [&](const std::string& what) {
    throw std::invalid_argument{fmt::format("{}: {}", describe(problem), what)};
  };
  for (const std::int64_t extent : {problem.m, problem.n, problem.k}) {
    if (extent <= 0) refuse(fmt::format("the extent {} is not positive", extent));
  }
  switch (problem.compute_type) {
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      refuse("sums in 16 or 32 bit floating point only");
      break;
    default:
      break;
  }
  if ((problem.x_scale == nullptr) != (problem.w_scale == nullptr)) refuse("x and w have a scale each, or neither");
  if (problem.multiprocessors < 0) refuse("the number of multiprocessors is negative");
  const auto fill = [&](std::int64_t& stride, std::int64_t row, std::string_view name) {
    if (stride == 0) stride = row;
    if (stride < row) refuse(fmt::format("{}'s row stride {} is shorter than a row of {}", name, stride, row));
  };
  fill(problem.x_row_stride, problem.x_transposed ? problem.m : problem.k, "x");
  fill(problem.w_row_stride, problem.w_transposed ? problem.n : problem.k, "w");
  fill(problem.y_row_stride, problem.n, "y");
  return problem;
}

/// Makes the layout of a row-major matrix for a library that stores columns: it sees the transposed matrix.
cublasLtMatrixLayout_t make_layout(const MatmulProblem& problem, cudaDataType_t type, std::int64_t rows,
                                   std::int64_t columns, std::int64_t row_stride) {
  cublasLtMatrixLayout_t layout{};
  TBENCH_CUBLAS_CHECK(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(columns),
                                                 static_cast<std::uint64_t>(rows), row_stride),
                      problem);
  return layout;
}

/// Makes the layout of an operand [rows, depth] as it is stored.
cublasLtMatrixLayout_t make_operand(const MatmulProblem& problem, std::int64_t rows, bool transposed,
                                    std::int64_t row_stride) {
  return transposed ? make_layout(problem, problem.input_type, problem.k, rows, row_stride)
                    : make_layout(problem, problem.input_type, rows, problem.k, row_stride);
}

cublasLtMatmulDesc_t make_description(const MatmulProblem& problem) {
  cublasLtMatmulDesc_t description{};
  TBENCH_CUBLAS_CHECK(cublasLtMatmulDescCreate(&description, problem.compute_type, scale_type_of(problem)), problem);
  return description;
}

template <class Value>
void set(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t attribute, const Value& value,
         const MatmulProblem& problem) {
  TBENCH_CUBLAS_CHECK(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof(value)), problem);
}

cublasLtHandle_t make_handle() {
  cublasLtHandle_t handle{};
  TBENCH_CUDA_CHECK(cublasLtCreate(&handle));
  return handle;
}

using Preference = UniqueCublas<cublasLtMatmulPreference_t, &cublasLtMatmulPreferenceDestroy>;

Preference make_preference(const MatmulProblem& problem, std::size_t workspace_limit, PartialSums partial_sums) {
  cublasLtMatmulPreference_t raw{};
  TBENCH_CUBLAS_CHECK(cublasLtMatmulPreferenceCreate(&raw), problem);
  Preference preference{raw};
  const std::uint64_t bytes = workspace_limit;
  TBENCH_CUBLAS_CHECK(
      cublasLtMatmulPreferenceSetAttribute(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof(bytes)),
      problem);
  // An in-place reduction adds in the output's type and may lose precision: kComputeType excludes it.
  const std::uint32_t reductions = partial_sums == PartialSums::kComputeType ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                                                             : CUBLASLT_REDUCTION_SCHEME_MASK;
  TBENCH_CUBLAS_CHECK(cublasLtMatmulPreferenceSetAttribute(raw, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions,
                                                           sizeof(reductions)),
                      problem);
  return preference;
}

template <class Value>
Value configured(const MatmulAlgorithm& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  Value value{};
  std::size_t written{};
  TBENCH_CUDA_CHECK(
      cublasLtMatmulAlgoConfigGetAttribute(&algorithm.algorithm, attribute, &value, sizeof(value), &written));
  return value;
}

}  // namespace

CublasError::CublasError(std::string_view call, std::string_view place, cublasStatus_t status, std::string_view subject)
    : std::runtime_error{fmt::format("{} failed at {}: {} ({}){}{}; CUBLASLT_LOG_LEVEL=2 prints the library's reason",
                                     call, place, cublasLtGetStatusName(status), cublasLtGetStatusString(status),
                                     subject.empty() ? "" : ": ", subject)},
      status_{status} {}

void check(cublasStatus_t status, std::string_view call, std::string_view place, std::string_view subject) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) {
    throw OutOfMemory{fmt::format("{} failed at {}: cuBLASLt has not enough memory: {}", call, place, subject),
                      std::nullopt};
  }
  throw CublasError{call, place, status, subject};
}

void log_failure(CublasStatus status) noexcept {
  if (status.code != CUBLAS_STATUS_SUCCESS) {
    std::fprintf(stderr, "releasing a cuBLASLt handle failed: %s\n", cublasLtGetStatusName(status.code));
  }
}

std::string describe(const MatmulProblem& problem) {
  const auto [m, n, k] = std::array{problem.m, problem.n, problem.k};
  const std::string x = problem.x_transposed ? fmt::format("x[{}, {}]^T", k, m) : fmt::format("x[{}, {}]", m, k);
  const std::string w = problem.w_transposed ? fmt::format("w[{}, {}]", k, n) : fmt::format("w[{}, {}]^T", n, k);
  const int multiprocessors = problem.multiprocessors;
  return fmt::format("y[{}, {}] {} {} {}, {} to {}, compute type {}{}", m, n, problem.accumulate ? "+=" : "=", x, w,
                     name_of(problem.input_type), name_of(problem.output_type), name_of(problem.compute_type),
                     multiprocessors == 0 ? "" : fmt::format(", for {} multiprocessors", multiprocessors));
}

std::string describe(const MatmulAlgorithm& algorithm) {
  const auto word = [&](cublasLtMatmulAlgoConfigAttributes_t attribute) {
    return configured<std::uint32_t>(algorithm, attribute);
  };
  const auto half_word = [&](cublasLtMatmulAlgoConfigAttributes_t attribute) {
    return configured<std::uint16_t>(algorithm, attribute);
  };
  const auto split_k = configured<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);  // -1: the library decides
  return fmt::format(
      "algorithm {}, tile {}, stages {}, split_k {}, reduction {}, swizzle {}, custom {}, inner {}, cluster {}",
      word(CUBLASLT_ALGO_CONFIG_ID), word(CUBLASLT_ALGO_CONFIG_TILE_ID), word(CUBLASLT_ALGO_CONFIG_STAGES_ID), split_k,
      word(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME), word(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING),
      word(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION), half_word(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID),
      half_word(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
}

CublasLt::CublasLt() : handle_{make_handle()} {}

Matmul::Matmul(const CublasLt& library, const MatmulProblem& problem)
    : library_{library.get()},
      problem_{checked(problem)},
      description_{make_description(problem_)},
      x_{make_operand(problem_, problem_.m, problem_.x_transposed, problem_.x_row_stride)},
      w_{make_operand(problem_, problem_.n, problem_.w_transposed, problem_.w_row_stride)},
      y_{make_layout(problem_, problem_.output_type, problem_.m, problem_.n, problem_.y_row_stride)} {
  // The library's A is w and its B is x; it sees a row-major matrix as a transposed matrix.
  set(description_.get(), CUBLASLT_MATMUL_DESC_TRANSA,
      static_cast<std::int32_t>(problem_.w_transposed ? CUBLAS_OP_N : CUBLAS_OP_T), problem_);
  set(description_.get(), CUBLASLT_MATMUL_DESC_TRANSB,
      static_cast<std::int32_t>(problem_.x_transposed ? CUBLAS_OP_T : CUBLAS_OP_N), problem_);
  if (problem_.w_scale != nullptr) {
    set(description_.get(), CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, problem_.w_scale, problem_);
  }
  if (problem_.x_scale != nullptr) {
    set(description_.get(), CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, problem_.x_scale, problem_);
  }
  if (problem_.fast_accumulation) {
    set(description_.get(), CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1}, problem_);
  }
  if (problem_.multiprocessors != 0) {
    set(description_.get(), CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, std::int32_t{problem_.multiprocessors}, problem_);
  }
}

std::vector<MatmulAlgorithm> Matmul::algorithms(int max_count, std::size_t workspace_limit,
                                                PartialSums partial_sums) const {
  const Preference preference = make_preference(problem_, workspace_limit, partial_sums);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(max_count));
  int count{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(library_, description_.get(), w_.get(), x_.get(), y_.get(), y_.get(),
                                     preference.get(), max_count, results.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  check(status, "cublasLtMatmulAlgoGetHeuristic", TBENCH_CUBLAS_PLACE, describe(problem_));
  std::vector<MatmulAlgorithm> found;
  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& result = results[static_cast<std::size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS) found.push_back({result.algo, result.workspaceSize});
  }
  return found;
}

void Matmul::launch(const MatmulAlgorithm& algorithm, const MatmulOperands& operands, cudaStream_t stream) const {
  if (operands.x == nullptr || operands.w == nullptr || operands.y == nullptr) {
    throw std::invalid_argument{describe(problem_) + ": an operand is null"};
  }
  if (problem_.input_type == CUDA_R_8F_E4M3 && problem_.x_scale == nullptr) {
    throw std::invalid_argument{describe(problem_) + ": fp8 needs the scales of x and of w"};
  }
  if (operands.workspace_bytes < algorithm.workspace_bytes) {
    throw std::invalid_argument{fmt::format("{}: the algorithm needs a workspace of {} bytes, not {}",
                                            describe(problem_), algorithm.workspace_bytes, operands.workspace_bytes)};
  }
  static constexpr float kOne = 1.0F, kZero = 0.0F;
  static constexpr std::uint16_t kHalfOne = 0x3c00, kHalfZero = 0;  // bit patterns of fp16
  const bool short_factors = scale_type_of(problem_) == CUDA_R_16F;
  const void* const alpha = short_factors ? static_cast<const void*>(&kHalfOne) : &kOne;
  const void* const zero = short_factors ? static_cast<const void*>(&kHalfZero) : &kZero;
  const void* const beta = problem_.accumulate ? alpha : zero;
  const cublasStatus_t status = cublasLtMatmul(
      library_, description_.get(), alpha, operands.w, w_.get(), operands.x, x_.get(), beta, operands.y, y_.get(),
      operands.y, y_.get(), &algorithm.algorithm, operands.workspace, operands.workspace_bytes, stream);
  // Call describe() only after a failure, because it would add microseconds to every launch.
  if (status != CUBLAS_STATUS_SUCCESS) check(status, "cublasLtMatmul", TBENCH_CUBLAS_PLACE, describe(problem_));
}

}  // namespace tbench::cuda
