// embedding: rows of the table by token id. Inputs: weight [vocab_size, d_model], ids [tokens] int64, uniform.
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "tbench/model/operation/kernel/implementation.hpp"

namespace tbench::model {
namespace {

constexpr std::int64_t kTokenIdBytes = 8;

/// Rows that uniform ids name, in expectation: V (1 - (1 - 1/V)^tokens).
std::int64_t distinct_rows(const KernelConfig& config) {
  const auto vocabulary = static_cast<double>(kVocabSize);
  return std::llround(vocabulary * -std::expm1(static_cast<double>(config.tokens()) * std::log1p(-1 / vocabulary)));
}

/// The gradient of the whole table is written, zeros included.
KernelBytes embedding_bytes(const KernelConfig& config) {
  const std::int64_t row = config.size.d_model * kernel_element_bytes(config.precision);
  const std::int64_t ids = config.tokens() * kTokenIdBytes;
  if (config.pass == KernelPass::kForward) {
    return {.read = ids + distinct_rows(config) * row, .written = config.tokens() * row};
  }
  return {.read = ids + config.tokens() * row, .written = kVocabSize * row};
}

void embedding_fill(KernelOperands& operands) {
  const KernelConfig& config = operands.config;
  add_normal_input(operands, {kVocabSize, config.size.d_model});
  add_token_input(operands);
  if (config.pass == KernelPass::kBackward) add_normal_gradient(operands, {config.tokens(), config.size.d_model});
}

std::vector<KernelResult> embedding_expect(const KernelOperands& operands) {
  const at::Tensor& ids = operands.inputs[1];
  if (operands.config.pass == KernelPass::kForward) {
    return {{"rows", at::index_select(exact(operands.inputs[0]), 0, ids), {}}};  // exact
  }
  const at::Tensor dy = exact(operands.gradients[0]);
  // A sum of few: ten of 4,096 uniform ids of 10,000 are the same once in 10^7 tables.
  return {{"dweight", at::zeros({kVocabSize, operands.config.size.d_model}, dy.options()).index_add(0, ids, dy),
           kernel_tolerance(operands.config.precision, {.of_rms = 16, .stored = 4, .stored_of_rms = 4})}};
}

}  // namespace

KernelOp embedding_kernel_op() {
  return {.name = "embedding", .bytes = &embedding_bytes, .fill = &embedding_fill, .expect = &embedding_expect};
}

KernelImpl embedding_aten() {
  return {.op = "embedding",
          .name = "aten",
          .forward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            return {at::embedding(operands.inputs[0], operands.inputs[1])};
          },
          .backward = [](const KernelOperands& operands) -> std::vector<at::Tensor> {
            constexpr std::int64_t kNoPadding = -1;
            return {at::embedding_dense_backward(operands.gradients[0], operands.inputs[1], kVocabSize, kNoPadding,
                                                 /*scale_grad_by_freq=*/false)};
          }};
}

}  // namespace tbench::model
