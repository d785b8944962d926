#include "tests/model/operations/gemm/planted_faults.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <utility>

namespace tbench::model::planted_gemm {
namespace {

constexpr std::int64_t kTile = 64;    // rows and columns of y that a CTA computes
constexpr std::int64_t kBlockK = 32;  // terms that a CTA reads at once
constexpr std::int64_t kSplits = 3;
constexpr std::int64_t kWarpRows = 16;

constexpr auto kFp32 = GemmPrecision::kFp32, kTf32 = GemmPrecision::kTf32, kBf16 = GemmPrecision::kBf16,
               kFp16 = GemmPrecision::kFp16, kFp8 = GemmPrecision::kFp8E4m3;

/// Truncates float32 to TF32 by clearing its lower 13 bits, as a tensor core may read it.
at::Tensor cut_to_tf32(const at::Tensor& values) {
  constexpr std::int64_t kUpper = ~std::int64_t{0x1fff};
  return values.clone().view(at::kInt).bitwise_and(kUpper).view(at::kFloat);
}

at::Tensor read(const GemmOperands& operands, const at::Tensor& values, const at::Tensor& scale) {
  const at::Tensor wide = (operands.config.precision == kTf32 ? cut_to_tf32(values) : values).to(at::kDouble);
  return scale.defined() ? wide.mul(scale.to(at::kDouble)) : wide;
}
at::Tensor x_of(const GemmOperands& operands) { return read(operands, operands.x, operands.x_scale); }
at::Tensor w_of(const GemmOperands& operands) { return read(operands, operands.w, operands.w_scale); }

at::Tensor product(const at::Tensor& x, const at::Tensor& w) { return at::mm(x, w.t()); }
at::Tensor right(const GemmOperands& operands) { return product(x_of(operands), w_of(operands)); }

at::Tensor tile(const at::Tensor& y, std::int64_t row, std::int64_t column) {
  return y.slice(0, row * kTile, (row + 1) * kTile).slice(1, column * kTile, (column + 1) * kTile);
}

/// Writes a correct product everywhere except in `part` of y, which keeps its previous contents.
template <class Part>
void leave(const GemmOperands& operands, const Part& part) {
  const at::Tensor before = part(operands.y).clone();
  operands.y.copy_(right(operands));
  part(operands.y).copy_(before);
}

/// Writes a correct product except in `part`, which keeps the previous launch's values, as in memory that is not
/// cleared.
template <class Part>
void leave_stale(const GemmOperands& operands, const State& state, const Part& part) {
  operands.y.copy_(right(operands));
  if (state.y.defined()) part(operands.y).copy_(part(state.y));
}

/// Returns the sum over the terms [first, first + count) of k, for all rows and columns.
at::Tensor block_sum(const GemmOperands& operands, std::int64_t first, std::int64_t count) {
  return product(x_of(operands).narrow(1, first, count), w_of(operands).narrow(1, first, count));
}

at::Tensor split_sum(const GemmOperands& operands, std::int64_t split) {
  const std::int64_t terms = operands.config.k / kSplits;
  return block_sum(operands, split * terms, terms);
}

std::int64_t tail_of_k(const GemmOperands& operands) { return operands.config.k % kBlockK; }

/// Writes y, and adds the tile of `more` that a fault contributes.
void add_to_tile(const GemmOperands& operands, const at::Tensor& more) {
  at::Tensor y = right(operands);
  tile(y, 1, 0).add_(tile(more, 1, 0));
  operands.y.copy_(y);
}

at::Tensor as_columns(const at::Tensor& matrix) {
  return matrix.reshape({matrix.size(1), matrix.size(0)}).t().contiguous();
}

/// Adds the terms one after the other, and rounds each sum to `type`.
at::Tensor summed_in(const GemmOperands& operands, at::ScalarType type) {
  const at::Tensor x = x_of(operands), w = w_of(operands);
  at::Tensor sums = at::zeros({operands.config.m, operands.config.n}, x.options());
  for (std::int64_t i = 0; i < operands.config.k; ++i) {
    sums = sums.addmm(x.narrow(1, i, 1), w.narrow(1, i, 1).t()).to(type).to(at::kDouble);
  }
  return sums;
}

std::vector<Fault> writing_faults() {
  return {
      {"nothing written", [](GemmOperands&, State&) {}},
      {"last row not written",
       [](GemmOperands& o, State&) { leave(o, [](const at::Tensor& y) { return y.slice(0, -1); }); }},
      {"last column not written",
       [](GemmOperands& o, State&) { leave(o, [](const at::Tensor& y) { return y.slice(1, -1); }); }},
      {"last tile of rows not written",
       [](GemmOperands& o, State&) {
         leave(o, [](const at::Tensor& y) { return y.slice(0, y.size(0) / kTile * kTile); });
       }},
      {"last vector of columns not written",
       [](GemmOperands& o, State&) { leave(o, [](const at::Tensor& y) { return y.slice(1, -8); }); }},
      {"one tile not written",
       [](GemmOperands& o, State&) { leave(o, [](const at::Tensor& y) { return tile(y, 1, 1); }); }},
      {"last row of every tile lost",
       [](GemmOperands& o, State&) {
         leave(o, [](const at::Tensor& y) { return y.slice(0, kTile - 1, y.size(0), kTile); });
       }},
      {"one tile is zero",
       [](GemmOperands& o, State&) {
         o.y.copy_(right(o));
         tile(o.y, 0, 1).zero_();
       }},
      {"a tile of another's columns",
       [](GemmOperands& o, State&) {
         const at::Tensor y = right(o);
         o.y.copy_(y);
         o.y.slice(0, 0, kTile).slice(1, 0, 40).copy_(y.slice(0, 0, kTile).slice(1, kTile, kTile + 40));
       }},
      {"tiles of rows swapped",
       [](GemmOperands& o, State&) {
         const at::Tensor y = right(o);
         o.y.copy_(y);
         o.y.slice(0, 0, kTile).copy_(y.slice(0, kTile, 2 * kTile));
         o.y.slice(0, kTile, 2 * kTile).copy_(y.slice(0, 0, kTile));
       }},
      {"two rows of a fragment swapped",
       [](GemmOperands& o, State&) {
         const at::Tensor y = right(o);
         o.y.copy_(y);
         o.y.select(0, 16).copy_(y.select(0, 24));
         o.y.select(0, 24).copy_(y.select(0, 16));
       }},
      {"a fragment transposed",
       [](GemmOperands& o, State&) {
         const at::Tensor y = right(o);
         o.y.copy_(y);
         o.y.slice(0, 8, 16).slice(1, 8, 16).copy_(y.slice(0, 8, 16).slice(1, 8, 16).t());
       }},
      {"y written by columns",
       [](GemmOperands& o, State&) {
         o.y.copy_(right(o).t().reshape({o.config.m, o.config.n}));
       }},
      {"rows of y one place late", [](GemmOperands& o, State&) { o.y.copy_(right(o).flatten().roll(8).view_as(o.y)); }},
      {"NaN in one element",
       [](GemmOperands& o, State&) {
         o.y.copy_(right(o));
         o.y[41][7] = std::numeric_limits<double>::quiet_NaN();
       }},
      {"infinity in one element",
       [](GemmOperands& o, State&) {
         o.y.copy_(right(o));
         o.y[149][103] = std::numeric_limits<double>::infinity();
       }},
      {"added to what was there", [](GemmOperands& o, State&) { o.y.add_(right(o).to(o.y.scalar_type())); }},
  };
}

std::vector<Fault> reading_faults() {
  return {
      {"x read by columns", [](GemmOperands& o, State&) { o.y.copy_(product(as_columns(x_of(o)), w_of(o))); }},
      {"w read by columns", [](GemmOperands& o, State&) { o.y.copy_(product(x_of(o), as_columns(w_of(o)))); }},
      {"rows of x too far apart by one",
       [](GemmOperands& o, State&) {
         const at::Tensor x = x_of(o);
         const at::Tensor flat = at::zeros({o.config.m * (o.config.k + 1)}, x.options());
         flat.narrow(0, 0, x.numel()).copy_(x.flatten());
         o.y.copy_(product(flat.view({o.config.m, o.config.k + 1}).narrow(1, 0, o.config.k), w_of(o)));
       }},
      {"last block of k dropped",
       [](GemmOperands& o, State&) { o.y.copy_(block_sum(o, 0, o.config.k - tail_of_k(o))); }},
      {"first block of k dropped",
       [](GemmOperands& o, State&) { o.y.copy_(block_sum(o, kBlockK, o.config.k - kBlockK)); }},
      {"last term dropped", [](GemmOperands& o, State&) { o.y.copy_(block_sum(o, 0, o.config.k - 1)); }},
      {"a block of k dropped in one tile",
       [](GemmOperands& o, State&) { add_to_tile(o, block_sum(o, 2 * kBlockK, kBlockK).neg()); }},
      {"a block of k twice in one tile",
       [](GemmOperands& o, State&) { add_to_tile(o, block_sum(o, 5 * kBlockK, kBlockK)); }},
      {"last term of one row dropped",
       [](GemmOperands& o, State&) {
         const at::Tensor y = right(o);
         y.select(0, 77).sub_(block_sum(o, o.config.k - 1, 1).select(0, 77));
         o.y.copy_(y);
       }},
      {"a tile of x read too early",  // while it still holds the previous block of k
       [](GemmOperands& o, State&) {
         const at::Tensor x = x_of(o);
         x.slice(0, kTile, 2 * kTile).narrow(1, 96, kBlockK).copy_(x.slice(0, kTile, 2 * kTile).narrow(1, 64, kBlockK));
         o.y.copy_(product(x, w_of(o)));
       }},
      {"x padded in place",
       [](GemmOperands& o, State& state) {
         o.x.narrow(1, o.config.k - 1, 1).zero_();
         launch_right(o, state);
       }},
      {"w rounded in place",
       [](GemmOperands& o, State& state) {
         o.w.copy_(o.w.to(at::kBFloat16).to(o.w.scalar_type()));
         launch_right(o, state);
       },
       {kFp32, kTf32}},
      {"only the first launch's x",
       [](GemmOperands& o, State& state) {
         if (!state.x.defined()) state.x = x_of(o);
         o.y.copy_(product(state.x, w_of(o)));
       }},
      {"w packed once",
       [](GemmOperands& o, State& state) {
         if (!state.w.defined()) state.w = w_of(o);
         o.y.copy_(product(x_of(o), state.w));
       }},
  };
}

std::vector<Fault> stale_faults() {
  return {
      {"a warp's rows of the launch before",
       [](GemmOperands& o, State& state) {
         leave_stale(o, state, [](const at::Tensor& y) { return y.slice(0, 32, 32 + kWarpRows); });
       }},
      {"a tile of the launch before",
       [](GemmOperands& o, State& state) { leave_stale(o, state, [](const at::Tensor& y) { return tile(y, 2, 1); }); }},
      {"everything of the launch before",
       [](GemmOperands& o, State& state) { leave_stale(o, state, [](const at::Tensor& y) { return y; }); }},
      {"split sums not cleared",
       [](GemmOperands& o, State& state) {
         if (!state.workspace.defined()) state.workspace = at::zeros({o.config.m, o.config.n}, at::kDouble);
         for (std::int64_t i = 0; i < kSplits; ++i) state.workspace.add_(split_sum(o, i));
         o.y.copy_(state.workspace);
       }},
      {"one split of the launch before",
       [](GemmOperands& o, State& state) {
         const at::Tensor last = split_sum(o, kSplits - 1);
         o.y.copy_(right(o).sub(last).add(state.workspace.defined() ? state.workspace : last));
         state.workspace = last;
       }},
      {"a split missing", [](GemmOperands& o, State&) { o.y.copy_(right(o).sub(split_sum(o, 1))); }},
      {"splits averaged", [](GemmOperands& o, State&) { o.y.copy_(right(o).div(static_cast<double>(kSplits))); }},
      {"a split twice in one tile", [](GemmOperands& o, State&) { add_to_tile(o, split_sum(o, 2)); }},
  };
}

std::vector<Fault> arithmetic_faults() {
  return {
      {"alpha 2 % off", [](GemmOperands& o, State&) { o.y.copy_(right(o).mul(1.02)); }},
      {"TF32 instead of fp32",
       [](GemmOperands& o, State&) {
         o.y.copy_(product(cut_to_tf32(o.x).to(at::kDouble), cut_to_tf32(o.w).to(at::kDouble)));
       },
       {kFp32}},
      {"x rounded to bfloat16",
       [](GemmOperands& o, State&) { o.y.copy_(product(o.x.to(at::kBFloat16).to(at::kDouble), w_of(o))); },
       {kFp32, kTf32, kFp16}},
      {"y rounded to bfloat16",
       [](GemmOperands& o, State&) { o.y.copy_(right(o).to(at::kBFloat16)); },
       {kFp32, kTf32, kFp16}},
      {"sums in bfloat16", [](GemmOperands& o, State&) { o.y.copy_(summed_in(o, at::kBFloat16)); }},
      {"sums in float16",
       [](GemmOperands& o, State&) { o.y.copy_(summed_in(o, at::kHalf)); },
       {kFp32, kTf32, kFp16},
       40,
       40,
       2048},
      {"no scale of x", [](GemmOperands& o, State&) { o.y.copy_(right(o).div(o.x_scale.to(at::kDouble))); }, {kFp8}},
      {"the scale of x for that of w",
       [](GemmOperands& o, State&) {
         o.y.copy_(right(o).div(o.w_scale.to(at::kDouble)).mul(o.x_scale.to(at::kDouble)));
       },
       {kFp8}},
      {"scales of the first launch",
       [](GemmOperands& o, State& state) {
         const at::Tensor scale = o.x_scale.to(at::kDouble).mul(o.w_scale.to(at::kDouble));
         if (!state.x.defined()) state.x = scale;
         o.y.copy_(right(o).div(scale).mul(state.x));
       },
       {kFp8}},
      {"y cut off, not rounded",
       [](GemmOperands& o, State&) {
         // The largest number of the type that does not exceed |y|.
         const at::Tensor y = right(o);
         at::Tensor cut = y.abs().to(o.y.scalar_type());
         const at::Tensor above = cut.to(at::kDouble).gt(y.abs());
         cut.view(at::kShort).sub_(above.to(at::kShort));
         o.y.copy_(cut.to(at::kDouble).mul(y.sign()));
       },
       {kBf16, kFp16, kFp8}},
  };
}

// The products exceed the CPU's limit of multiplications: every 4th row, every 7th column and signed sums are compared.
constexpr std::int64_t kLargeM = 1024, kLargeN = 2048, kLargeK = 256;

std::vector<Fault> faults_of_large_products() {
  const std::vector<GemmPrecision> precisions{kFp32, kBf16};
  return {
      {"a fragment stale in a large product",
       [](GemmOperands& o, State& state) {
         leave_stale(o, state, [](const at::Tensor& y) { return y.slice(0, 513, 515).slice(1, 1001, 1005); });
       },
       precisions, kLargeM, kLargeN, kLargeK},
      {"NaN between the lines compared",
       [](GemmOperands& o, State&) {
         o.y.copy_(right(o));
         o.y.narrow(0, 700, 2).narrow(1, 900, 2).fill_(std::numeric_limits<double>::quiet_NaN());
       },
       precisions, kLargeM, kLargeN, kLargeK},
  };
}

}  // namespace

void launch_right(GemmOperands& operands, State& /*state*/) { operands.y.copy_(right(operands)); }

void FaultyProduct::launch() {
  const at::NoGradGuard no_grad;
  fault_.launch(operands_, state_);
  state_.y = operands_.y.clone();
}

std::vector<Fault> all_faults() {
  std::vector<Fault> faults;
  for (std::vector<Fault>& more : std::vector{writing_faults(), reading_faults(), stale_faults(), arithmetic_faults(),
                                              faults_of_large_products()}) {
    faults.insert(faults.end(), more.begin(), more.end());
  }
  return faults;
}

}  // namespace tbench::model::planted_gemm
