// Compares softmax with the matrix products of attention, in time, FLOP and bytes.
#include "studies/engine/studies.hpp"
#include "studies/kernels/kernel_figures.hpp"
#include "studies/roofline/ceilings.hpp"
#include "studies/softmax/sentences.hpp"
#include "studies/softmax/tables.hpp"

namespace tbench::studies::softmax_vs_matmul {
namespace {

Study softmax_vs_matmul_study() {
  return {.name = "softmax_vs_matmul",
          .title = "Softmax beside the matrix products of attention: time against FLOP",
          .grids = traced_grid({"forward", "train_step"}, {"fp32", "bf16"}),
          .protocol = {.needs_trace = true},
          .row_tables = attention_tables(),
          .beside = {copy_case(), products_case("fp32"), products_case("bf16")},
          .conclude = &attention_sentences};
}

TBENCH_REGISTER(RegisteredStudy, {.name = "softmax_vs_matmul", .order = 170, .make = &softmax_vs_matmul_study});

}  // namespace
}  // namespace tbench::studies::softmax_vs_matmul
