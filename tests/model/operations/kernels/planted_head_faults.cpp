// Injected faults of linear_cross_entropy: errors of a head that runs in chunks of rows, and of its kernels.
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>

#include "tests/model/operations/kernels/planted_faults.hpp"

namespace tbench::model::planted_kernels {
namespace {

constexpr std::size_t kLosses = 0, kDx = 1, kDweight = 2;  // results
constexpr std::int64_t kChunk = 32;                        // a third of the rows of the test's shape

/// Returns the correct results of some rows.
Results of_rows(Operands o, std::int64_t first, std::int64_t rows) {
  KernelOperands part = o;
  part.inputs[0] = o.inputs[0].narrow(0, first, rows);
  part.inputs[2] = o.inputs[2].narrow(0, first, rows);
  return right(part);
}

/// Returns the correct results, with the gradient of the weight from some rows alone.
Results dweight_of_rows(Operands o, std::int64_t first, std::int64_t rows) {
  Results results = right(o);
  results[kDweight] = of_rows(o, first, rows)[kDweight];
  return results;
}

std::vector<Fault> chunk_faults() {
  const std::string op = "linear_cross_entropy";
  return {
      {op, kForward, "dweight overwritten by the last chunk",
       [](Operands o) { return dweight_of_rows(o, o.config.tokens() - kChunk, kChunk); }},
      {op, kForward, "last chunk skipped",
       [](Operands o) {
         const std::int64_t first = o.config.tokens() - kChunk;
         Results results = dweight_of_rows(o, 0, first);
         results[kLosses].slice(0, first).zero_();
         results[kDx].slice(0, first).zero_();
         return results;
       }},
      {op, kForward, "last chunk not added to dweight",
       [](Operands o) { return dweight_of_rows(o, 0, o.config.tokens() - kChunk); }},
      {op, kForward, "one row not added to dweight",
       [](Operands o) { return dweight_of_rows(o, 0, o.config.tokens() - 1); }},
      {op, kForward, "first chunk added twice",
       [](Operands o) {
         return changed(o, kDweight, [&](at::Tensor& d) { d.add_(of_rows(o, 0, kChunk)[kDweight]); });
       }},
      {op, kForward, "dweight not cleared", [](Operands o) { return added_up(o, kDweight); }},
      {op, kForward, "dx of a chunk in the place of another",
       [](Operands o) { return changed(o, kDx, [](at::Tensor& d) { d.copy_(d.roll(kChunk, 0)); }); }},
      {op, kForward, "targets of the first chunk in the second",
       [](Operands o) {
         KernelOperands other = o;
         other.inputs[2] = o.inputs[2].clone();
         other.inputs[2].narrow(0, kChunk, kChunk).copy_(o.inputs[2].narrow(0, 0, kChunk));
         return right(other);
       }},
  };
}

std::vector<Fault> gradient_faults() {
  const std::string op = "linear_cross_entropy";
  return {
      {op, kForward, "the mean's gradients",
       [](Operands o) {
         Results results = right(o);
         for (const std::size_t i : {kDx, kDweight}) results[i].div_(static_cast<double>(o.config.tokens()));
         return results;
       }},
      {op, kForward, "no 1 at one target",
       [](Operands o) {
         const at::Tensor row = at::index_select(o.inputs[1].detach(), 0, o.inputs[2].narrow(0, 50, 1));
         return changed(o, kDx, [&](at::Tensor& d) { d.narrow(0, 50, 1).add_(row); });
       }},
      {op, kForward, "dx without the words that are no target",
       [](Operands o) {
         return changed(o, kDx,
                        [&](at::Tensor& d) { d.copy_(at::index_select(o.inputs[1].detach(), 0, o.inputs[2]).neg()); });
       },
       kSingle},
      {op, kForward, "dx from logits, not from their gradients",
       [](Operands o) {
         return changed(o, kDx, [&](at::Tensor& d) { d.copy_(at::mm(at::mm(in(o, 0), in(o, 1).t()), in(o, 1))); });
       }},
      {op, kForward, "a row's loss from the row before",
       [](Operands o) {
         return changed(o, kLosses, [](at::Tensor& l) { l.slice(0, 7, 8).copy_(l.slice(0, 6, 7).clone()); });
       }},
      {op, kForward, "last tile of words not in the sum",
       [](Operands o) {
         const at::Tensor logits = at::mm(in(o, 0), in(o, 1).t());
         const at::Tensor part = logits.slice(1, 0, o.config.size.vocab_size - 512).logsumexp(-1);
         return changed(o, kLosses, [&](at::Tensor& l) { l.add_(part.sub(logits.logsumexp(-1)).to(at::kFloat)); });
       }},
      {op, kForward, "last row of dweight not written",
       [](Operands o) {
         return changed(o, kDweight,
                        [](at::Tensor& d) { d.slice(0, -1).fill_(std::numeric_limits<double>::quiet_NaN()); });
       }},
      {op, kForward, "gradients over x",
       [](Operands o) {
         const Results results = right(o);
         at::Tensor x = o.inputs[0];
         x.copy_(results[kDx]);
         return results;
       }},
  };
}

}  // namespace

std::vector<Fault> head_faults() {
  std::vector<Fault> faults = chunk_faults();
  for (Fault& fault : gradient_faults()) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace tbench::model::planted_kernels
