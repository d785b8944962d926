// Tests the built-in rules with real names of kernels: names that ran on an H200, with the operations of PyTorch that
// launched them, and names from libraries for other GPUs.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "tbench/core/text.hpp"
#include "tbench/profile/kernel_rules.hpp"

namespace tbench::profile {
namespace {

struct Operation {
  KernelClass kernel_class;
  std::set<std::string> names;  // without "aten::"
};

/// Returns operations of PyTorch with the classes of their kernels.
const std::vector<Operation>& operations() {
  using enum KernelClass;
  static const std::vector<Operation> kOperations{
      {kGemm, {"mm", "bmm", "addmm", "addmv_"}},
      {kAttentionFused,
       {"_cudnn_attention_forward", "_cudnn_attention_backward", "_efficient_attention_forward",
        "_flash_attention_forward", "_flash_attention_backward"}},
      {kSoftmaxForward, {"_softmax"}},
      {kSoftmaxBackward, {"_softmax_backward_data"}},
      {kLoss, {"_log_softmax", "_log_softmax_backward_data", "nll_loss_backward"}},
      {kNorm, {"_fused_rms_norm", "_fused_rms_norm_backward", "native_layer_norm_backward"}},
      {kElementwise,
       {"abs",   "add",          "add_",          "addcdiv_", "arange", "bitwise_and",   "clamp",    "div",
        "eq",    "exp",          "exp_",          "fill_",    "ge",     "gelu_backward", "isneginf", "lerp_",
        "lt",    "masked_fill_", "mul",           "mul_",     "ne",     "neg",           "pow",      "reciprocal",
        "rsqrt", "silu",         "silu_backward", "sqrt",     "sub",    "tril",          "where"}},
      {kCopy, {"copy_", "cat"}},
      {kReduction, {"all", "any", "argmax", "linalg_vector_norm", "max", "mean", "min", "sum", "_foreach_norm"}},
      {kEmbeddingIndex, {"embedding_dense_backward", "gather", "index"}},
      {kOptimizer,
       {"_foreach_add_", "_foreach_addcdiv_", "_foreach_div_", "_foreach_lerp_", "_foreach_mul_", "_foreach_sqrt",
        "_fused_adamw_", "_fused_sgd_"}},
      {kDropoutRng, {"native_dropout_backward", "normal_"}},
      {kScanSort, {"topk"}},
      {kOther, {"_assert_async"}},  // a check on the GPU
  };
  return kOperations;
}

KernelClass class_of_operation(const std::string& operation) {
  for (const Operation& known : operations()) {
    if (known.names.contains(operation)) return known.kernel_class;
  }
  ADD_FAILURE() << "the operation aten::" << operation << " is in no class";
  return KernelClass::kOther;
}

/// A copy or a fill has its own class, whatever launched it. One kernel of aten::copy_ converts.
KernelClass truth_of(const std::string& name, const nlohmann::json& launched_by) {
  if (name.starts_with("Memcpy ")) return KernelClass::kMemcpy;
  if (name.starts_with("Memset ")) return KernelClass::kMemset;
  if (name.starts_with("void at::native::vectorized_elementwise_kernel<8, at::native::float16_copy_kernel_cuda(")) {
    return KernelClass::kCast;
  }
  std::set<KernelClass> classes;
  for (const std::string operation : launched_by) {
    classes.insert(class_of_operation(operation.substr(std::string_view{"aten::"}.size())));
  }
  EXPECT_EQ(classes.size(), 1U) << name;
  return *classes.begin();
}

TEST(KernelNames, OfAnH200AreInTheClassesOfTheirOperations) {
  std::ifstream file{TBENCH_PROFILE_DATA "/kernel_names.json"};
  const auto names = nlohmann::json::parse(file);
  std::size_t right = 0;
  std::string wrong;
  for (const auto& entry : names) {
    const std::string name = entry.at("name");
    const KernelClass truth = truth_of(name, entry.at("launched_by"));
    const KernelClass found = KernelRules::built_in().classify(name);
    right += found == truth ? 1 : 0;
    if (found != truth)
      wrong += std::string{to_string(found)} + " for " + std::string{to_string(truth)} + ": " + name + "\n";
  }
  EXPECT_EQ(names.size(), 177U);
  EXPECT_GE(static_cast<double>(right), 0.99 * static_cast<double>(names.size())) << wrong;
}

TEST(KernelNames, OfOtherLibrariesAreClassified) {
  std::ifstream file{TBENCH_PROFILE_DATA "/other_kernel_names.tsv"};
  std::string line;
  std::size_t count = 0;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    const auto parts = split(line, '\t');
    ASSERT_EQ(parts.size(), 2U) << line;
    EXPECT_EQ(to_string(KernelRules::built_in().classify(parts[1])), parts[0]) << parts[1];
    ++count;
  }
  EXPECT_GT(count, 130U);
}

}  // namespace
}  // namespace tbench::profile
