// The expected results of linear_cross_entropy, and the errors that a right implementation may have.
//
// An implementation stores the logits l and their gradients d = p - (1 at the target) in the precision's type, and adds
// the products up in float32. Let u be the unit round-off of the precision's type, and v the unit round-off of float32.
// The elements of d have independent roundings. If e is the error of an element of d, an element of dx = d W has an
// error with the variance sum_j e_tj^2 W_jk^2, and an element of dweight = d^T x has one with the variance sum_t e_tj^2
// x_tk^2. Both sums are computed with two more products. For all words but the target, e^2 is a sum.
// The rounding of the logit has p^2 u^2 l^2 / 3.
// The error of the row's lse has p^2 s^2, where s is u / sqrt(3) times the norm of p l over the row.
// Float32 has p^2 r^2, for the sum of a logit, the exponential, and the row's sum of exponentials.
// The rounding of d and the roundings of n partial sums (split-K) have p^2 (1 + n) u^2 / 3.
// The roundings of float32 sums, which are relative to terms of the size of d, have p^2 a^2.
// The rounding of a subnormal d in fp16 has h^2 / 3, where h is half of the smallest number.
//
// The target's d is about -1, and its terms W_tk and x_tk are much larger than all others. The rounding of d is bounded
// for such a term: it is at most u of the term. A row's bound is the largest of its columns.
//
// The norms of dx and dweight come from the targets' terms, too. A term has the roundings of d, of n partial sums and
// of the result. Each of them is at most u / sqrt(3) of the norm. Without partial sums, they are together at
// most 3.2e-3 in bf16. This finds a gradient of the weight that is added up in bfloat16 over 32 chunks, whose error
// is 6.0e-3.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>

#include "model/operations/kernels/linear_cross_entropy.hpp"
#include "model/operations/kernels/verify.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kTileRows = 1024;  // rows of logits that are held at once
constexpr double kSubnormalFp16 = 0x1p-25;

/// The roundings of the sums of a product.
struct SumErrors {
  double of_float{};      // a
  double partial_sums{};  // n
};

/// The round-offs of the comment above, for one case.
struct HeadErrors {
  double u{}, v{unit_roundoff(Precision::kFp32)};
  double deviations{};  // bound of a normal error of any element, in standard deviations
  double of_logit{};    // float32 error of a logit, relative to the norms of its factors
  double subnormal{};   // standard deviation of rounding a subnormal number
  SumErrors dx{}, dweight{};

  /// Returns the variance of the roundings that an element of d has in a product, relative to its square.
  [[nodiscard]] double variance(const SumErrors& sums) const {
    return (1 + sums.partial_sums) / 3 * u * u + sums.of_float * sums.of_float;
  }
  /// Returns the bound of the error of a target's term in a product, relative to the term.
  [[nodiscard]] double of_target(const SumErrors& sums) const {
    return u * (1 + deviations * kRoundingRms * std::sqrt(sums.partial_sums)) + sums.of_float;
  }
};

/// Returns the largest number of partial sums in the precision's type that an element of a product may be made of. A
/// GPU's library splits the terms of a product that has too few tiles for all SMs, as in gemm/verify.cpp.
double partial_sums(const KernelConfig& config, std::int64_t rows, std::int64_t columns, std::int64_t terms) {
  constexpr std::int64_t kTile = 128, kEnoughTiles = 512, kMaxSplits = 32, kLeastTermsOfASplit = 32;
  if (config.device == DeviceKind::kCpu) return 0;
  const std::int64_t tiles = ((rows + kTile - 1) / kTile) * ((columns + kTile - 1) / kTile);
  const std::int64_t splits = std::min({terms / kLeastTermsOfASplit, kMaxSplits, (kEnoughTiles + tiles - 1) / tiles});
  return splits < 2 ? 0 : static_cast<double>(splits);
}

HeadErrors errors_of(const KernelConfig& config) {
  const std::int64_t width = config.size.d_model, words = config.size.vocab_size, tokens = config.tokens();
  const std::int64_t count = std::max({tokens * words, tokens * width, words * width});
  const double walk = walk_bound(static_cast<double>(count), kKernelBudget);
  HeadErrors errors{.u = config.precision == Precision::kFp32 ? 0.0 : unit_roundoff(config.precision),
                    .deviations = largest_deviation(count),
                    .subnormal = config.precision == Precision::kFp16 ? kSubnormalFp16 * kRoundingRms : 0.0};
  const auto of_float = [&](std::int64_t terms) {
    return walk * kRoundingRms * std::sqrt(static_cast<double>(terms)) * errors.v;
  };
  const auto depth = static_cast<double>(width);
  errors.of_logit = walk * walk_roundoffs(depth) * errors.v / std::sqrt(depth);
  // Rows of the smallest chunk.
  const std::int64_t rows = tokens % kHeadChunkRows == 0 ? kHeadChunkRows : tokens % kHeadChunkRows;
  errors.dx = {.of_float = of_float(words), .partial_sums = partial_sums(config, rows, width, words)};
  errors.dweight = {.of_float = of_float(tokens), .partial_sums = partial_sums(config, words, width, tokens)};
  return errors;
}

at::Tensor maxima_of_rows(const at::Tensor& matrix) { return matrix.abs().amax(-1, /*keepdim=*/true); }
at::Tensor norms_of_rows(const at::Tensor& matrix) {
  return at::linalg_vector_norm(matrix, 2.0, at::IntArrayRef{-1}, /*keepdim=*/true);
}

/// The softmax of a tile of rows.
struct HeadTile {
  at::Tensor logits, probabilities;  // [rows, vocab_size]
  at::Tensor lse, of_target;         // [rows, 1]: log(sum(exp(logits))), and the target's logit
  at::Tensor lse_error;              // [rows, 1]: s
  at::Tensor float_error;            // [rows, 1]: r, as a bound
};

HeadTile tile_of(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& targets, const HeadErrors& errors) {
  HeadTile tile;
  tile.logits = at::mm(x, weight.t());
  tile.lse = at::logsumexp(tile.logits, -1, /*keepdim=*/true);
  tile.of_target = at::gather(tile.logits, -1, targets);
  tile.probabilities = at::exp(tile.logits.sub(tile.lse));
  tile.lse_error = norms_of_rows(tile.probabilities.mul(tile.logits)).mul(errors.u * kRoundingRms);
  const at::Tensor of_logit = norms_of_rows(x).mul(norms_of_rows(weight).amax()).mul(errors.of_logit);
  const double of_row_sum = 8 + std::sqrt(static_cast<double>(weight.size(0))) / 3;
  tile.float_error =
      maxima_of_rows(tile.logits).add(tile.lse.abs()).mul(2.0).add(of_row_sum).mul(errors.v).add(of_logit);
  return tile;
}

/// Returns e^2 of every element of a tile, for one of the products that read it.
at::Tensor variances_of(const HeadTile& tile, const HeadErrors& errors, const SumErrors& sums) {
  const at::Tensor of_row = tile.lse_error.square().add(tile.float_error.square()).add(errors.variance(sums));
  return tile.logits.square()
      .mul(errors.u * errors.u / 3)
      .add(of_row)
      .mul(tile.probabilities.square())
      .add(errors.subnormal * errors.subnormal);
}

/// The expected results, filled tile by tile.
struct HeadReference {
  at::Tensor losses, loss_allowance;  // [tokens]
  at::Tensor dx, dx_allowance;        // [tokens, d_model] and [tokens, 1]
  at::Tensor dweight;                 // [vocab_size, d_model]
  at::Tensor variances;               // [vocab_size, d_model]: of dweight, without the targets' terms
  at::Tensor target_sizes;            // [vocab_size, d_model]: sums of the targets' terms' magnitudes
};

HeadReference empty_reference(const at::Tensor& x, const at::Tensor& weight) {
  const at::TensorOptions options = weight.options();
  return {.losses = at::empty({x.size(0)}, options),
          .loss_allowance = at::empty({x.size(0)}, options),
          .dx = at::empty(x.sizes(), options),
          .dx_allowance = at::empty({x.size(0), 1}, options),
          .dweight = at::zeros_like(weight),
          .variances = at::zeros_like(weight),
          .target_sizes = at::zeros_like(weight)};
}

/// Adds rows from `first` on.
/// @param x       rows of the tile, float64
/// @param squares the weight's squares
void add_tile(HeadReference& reference, std::int64_t first, const at::Tensor& x, const at::Tensor& weight,
              const at::Tensor& squares, const at::Tensor& targets, const HeadErrors& errors) {
  const std::int64_t rows = x.size(0);
  const HeadTile tile = tile_of(x, weight, targets.unsqueeze(-1), errors);
  reference.losses.narrow(0, first, rows).copy_(tile.lse.sub(tile.of_target).squeeze(-1));
  reference.loss_allowance.narrow(0, first, rows)
      .copy_(tile.lse_error.mul(errors.deviations)
                 .add(tile.of_target.abs().mul(errors.u))
                 .add(tile.float_error.mul(2.0))
                 .squeeze(-1));

  const at::Tensor rest = at::mm(tile.probabilities, weight);
  const at::Tensor at_target = at::index_select(weight, 0, targets);
  reference.dx.narrow(0, first, rows).copy_(rest.sub(at_target));
  reference.dx_allowance.narrow(0, first, rows)
      .copy_(maxima_of_rows(at::mm(variances_of(tile, errors, errors.dx), squares))
                 .sqrt()
                 .mul(errors.deviations)
                 .add(maxima_of_rows(at_target).mul(errors.of_target(errors.dx)))
                 .add(maxima_of_rows(rest).mul(tile.lse_error.mul(errors.deviations).add(tile.float_error))));

  reference.dweight.addmm_(tile.probabilities.t(), x).index_add_(0, targets, x.neg());
  reference.variances.addmm_(variances_of(tile, errors, errors.dweight).t(), x.square());
  reference.target_sizes.index_add_(0, targets, x.abs());
}

}  // namespace

std::vector<KernelResult> linear_cross_entropy_expect(const KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  const at::Tensor weight = exact(operands.inputs[1]), squares = weight.square();
  const at::Tensor &x = operands.inputs[0], &targets = operands.inputs[2];
  const HeadErrors errors = errors_of(config);
  HeadReference reference = empty_reference(x, weight);
  const std::int64_t tokens = x.size(0);
  for (std::int64_t first = 0; first < tokens; first += kTileRows) {
    const std::int64_t rows = std::min(kTileRows, tokens - first);
    add_tile(reference, first, exact(x.narrow(0, first, rows)), weight, squares, targets.narrow(0, first, rows),
             errors);
  }
  const at::Tensor of_dweight =
      maxima_of_rows(reference.variances)
          .sqrt_()
          .mul_(errors.deviations)
          .add_(maxima_of_rows(reference.target_sizes).mul_(errors.of_target(errors.dweight)));
  const auto tolerance = [&](const SumErrors& sums, std::int64_t terms) {
    return kernel_tolerance(config.precision, {.relative = 2,
                                               .stored = 1.01,
                                               .norm = 16 + std::sqrt(static_cast<double>(terms)),
                                               .stored_norm = kRoundingRms * std::sqrt(2 + sums.partial_sums),
                                               .degrees = static_cast<double>(tokens)});
  };
  return {{"losses", reference.losses, kernel_tolerance(Precision::kFp32, {.relative = 2}),
           reference.loss_allowance.amax().reshape({1})},
          {"dx", reference.dx, tolerance(errors.dx, config.size.vocab_size), reference.dx_allowance},
          {"dweight", reference.dweight, tolerance(errors.dweight, tokens), of_dweight}};
}

}  // namespace tbench::model
