// Makes configurations of attention, and small operands with chosen values, for tests.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>

#include "model/attention/implementation.hpp"
#include "tbench/model/attention_case.hpp"

namespace tbench::model {

inline AttentionConfig attention_config(DeviceKind device, const std::string& impl, AttentionPass pass,
                                        Precision precision, const AttentionShape& shape) {
  return {.shape = shape,
          .pass = pass,
          .precision = precision,
          .impl = impl,
          .deterministic = false,
          .device = device,
          .seed = 1};
}

/// Returns prepared operands of any dtype for `impl`. The tensors have the shape [batch, heads, seq, head_dim].
inline AttentionOperands operands_for(const AttentionImpl& impl, at::Tensor q, at::Tensor k, at::Tensor v,
                                      at::Tensor grad_o, double scale, bool causal) {
  AttentionOperands operands;
  operands.config = attention_config(q.is_cuda() ? DeviceKind::kCuda : DeviceKind::kCpu, impl.name,
                                     AttentionPass::kForwardBackward, Precision::kFp32,
                                     {.batch = q.size(0),
                                      .heads = q.size(1),
                                      .seq_q = q.size(2),
                                      .seq_kv = k.size(2),
                                      .head_dim = q.size(3),
                                      .causal = causal});
  operands.scale = scale;
  operands.q = std::move(q);
  operands.k = std::move(k);
  operands.v = std::move(v);
  operands.grad_o = std::move(grad_o);
  if (impl.prepare != nullptr) impl.prepare(operands);
  return operands;
}

}  // namespace tbench::model
