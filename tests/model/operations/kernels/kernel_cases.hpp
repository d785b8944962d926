// Lists the Kernel family's operations as parameters of tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tbench/model/kernel_case.hpp"

namespace tbench::model {

struct KernelVariant {
  std::string op;
  KernelPass pass{};
  Precision precision{};
  std::string impl{"aten"};
};

inline std::string name_of(const KernelVariant& variant) {
  return variant.op + "_" + std::string{to_string(variant.pass)} + "_" + std::string{to_string(variant.precision)} +
         (variant.impl == "aten" ? "" : "_" + variant.impl);
}

/// Returns every operation that has the implementation, in every pass and in each precision that it supports.
inline std::vector<KernelVariant> kernel_variants_in(const std::vector<Precision>& precisions,
                                                     const std::string& impl = "aten") {
  std::vector<KernelVariant> variants;
  for (const std::string& op : kernel_op_names()) {
    for (const KernelPass pass : {KernelPass::kForward, KernelPass::kBackward}) {
      for (const Precision precision : precisions) {
        if (!kernel_invalid_reason(op, pass, precision, impl)) variants.push_back({op, pass, precision, impl});
      }
    }
  }
  return variants;
}

struct KernelShape {
  ModelSize size;
  std::int64_t batch{};
  std::int64_t context{};
};

/// Odd extents, a single token, and the shape of the tests' model.
inline const std::vector<KernelShape> kKernelShapes{
    {{.name = "odd", .d_model = 66, .d_ff = 131, .num_layers = 1, .num_heads = 3}, 3, 7},
    {{.name = "one", .d_model = 2, .d_ff = 1, .num_layers = 1, .num_heads = 1}, 1, 1},
    {{.name = "tiny", .d_model = 64, .d_ff = 256, .num_layers = 2, .num_heads = 4}, 4, 64},
};

inline KernelConfig kernel_config(const KernelVariant& variant, const KernelShape& shape, DeviceKind device) {
  return {.op = variant.op,
          .size = shape.size,
          .context = shape.context,
          .batch = shape.batch,
          .pass = variant.pass,
          .precision = variant.precision,
          .impl = variant.impl,
          .device = device,
          .seed = 1};
}

}  // namespace tbench::model
