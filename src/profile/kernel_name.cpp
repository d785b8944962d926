#include "tbench/profile/kernel_name.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace tbench::profile {
namespace {

constexpr std::string_view kMangledPrefix = "_Z";
constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kUnnamed = "<unnamed>";  // the anonymous namespace in NVIDIA's demangler
constexpr std::string_view kLambda = "[lambda";     // a lambda in NVIDIA's demangler
constexpr std::string_view kSpacedCall = " ()";     // a call operator in NVIDIA's demangler
constexpr std::string_view kOperator = "::operator";
constexpr std::string_view kConst = " const";
constexpr std::string_view kOpening = "<({[";
constexpr std::string_view kClosing = ">)}]";

/// Returns the position after the bracket that closes the one at `open`, or the end of the text if none does. A '<'
/// that is still open when a bracket of another kind closes is taken as a comparison.
std::size_t behind_bracket(std::string_view text, std::size_t open) {
  std::string opened;
  for (std::size_t i = open; i < text.size();) {
    if (text.substr(i).starts_with(kOperator)) {
      i = text.find_first_not_of("<>-=", i + kOperator.size());
      continue;
    }
    if (text.substr(i).starts_with("->")) {
      i += 2;
      continue;
    }
    const char c = text[i++];
    if (kOpening.find(c) != std::string_view::npos) opened.push_back(c);
    if (const std::size_t kind = kClosing.find(c); kind != std::string_view::npos) {
      while (c != '>' && opened.ends_with('<')) opened.pop_back();
      if (opened.ends_with(kOpening[kind])) opened.pop_back();
    }
    if (opened.empty()) return i;
  }
  return text.size();
}

/// Returns the position after the parameters at `open` and a following const, if the name continues there. In this case
/// the parameters belong to an enclosing function. Otherwise returns the end of the text.
std::size_t behind_parameters(std::string_view text, std::size_t open) {
  std::size_t end = behind_bracket(text, open);
  if (text.substr(end).starts_with(kConst)) end += kConst.size();
  return text.substr(end).starts_with("::") ? end : text.size();
}

std::string qualified_name(std::string_view text) {
  std::string name;
  const auto copy_until = [&](std::size_t begin, std::size_t end) {
    name += text.substr(begin, end - begin);
    return end;
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with(kAnonymous)) {
      i = copy_until(i, i + kAnonymous.size());
    } else if (rest.starts_with(kUnnamed)) {
      name += kAnonymous;
      i += kUnnamed.size();
    } else if (rest.starts_with("()") && name.ends_with(kOperator)) {
      i = copy_until(i, i + 2);
    } else if (rest.starts_with(kSpacedCall) && name.ends_with(kOperator)) {
      name += "()";
      i += kSpacedCall.size();
    } else if (rest.front() == '{' || rest.starts_with(kLambda)) {
      i = copy_until(i, behind_bracket(text, i));
    } else if (rest.front() == '<') {
      i = behind_bracket(text, i);
    } else if (rest.front() == '(') {
      i = behind_parameters(text, i);
    } else if (rest.front() == ' ') {  // the text before the blank was the return type
      name.clear();
      ++i;
    } else {
      i = copy_until(i, i + 1);
    }
  }
  return name;
}

struct Mark {
  std::string_view text;
  std::optional<ProductPrecision> precision;
};

// The first mark that a name contains decides.
constexpr std::array kMarks{
    Mark{"bf16x9", std::nullopt},  // float32 emulated by nine products
    Mark{"e4m3", ProductPrecision::k8Bit},
    Mark{"e5m2", ProductPrecision::k8Bit},
    Mark{"fp8", ProductPrecision::k8Bit},
    Mark{"tf32", ProductPrecision::kTf32},
    Mark{"bf16", ProductPrecision::k16Bit},
    Mark{"f16", ProductPrecision::k16Bit},
    Mark{"fp16", ProductPrecision::k16Bit},
    Mark{"bfloat16", ProductPrecision::k16Bit},
    Mark{"__half", ProductPrecision::k16Bit},
    Mark{"h884", ProductPrecision::k16Bit},
    Mark{"h1688", ProductPrecision::k16Bit},
    Mark{"h16816", ProductPrecision::k16Bit},
    Mark{"hgemm", ProductPrecision::k16Bit},
    Mark{"s1688gemm", ProductPrecision::kTf32},  // a tensor-core product of float32 without a type in its name
    Mark{"f32f32_f32f32", ProductPrecision::kFp32},
    Mark{"ffma", ProductPrecision::kFp32},
    Mark{"sgemm", ProductPrecision::kFp32},
    Mark{"gemmSN_TN_kernel<float", ProductPrecision::kFp32},
    Mark{"gemmSN_NN_kernel<float", ProductPrecision::kFp32},
};

/// Reads the precision from a name such as nvjet_sm90_tst_...: the letters after the architecture are the types, with
/// the inputs' types first.
std::optional<ProductPrecision> of_nvjet(std::string_view name) {
  name.remove_prefix(std::string_view{"nvjet_"}.size());
  if (name.starts_with("sm")) name.remove_prefix(std::min(name.find('_'), name.size() - 1) + 1);
  switch (name.empty() ? '\0' : name.front()) {
    case 'h':
    case 't':
      return ProductPrecision::k16Bit;
    case 'q':
    case 'o':
      return ProductPrecision::k8Bit;
    default:
      return std::nullopt;
  }
}

std::string_view text_of(ProductPrecision precision) {
  constexpr std::array<std::string_view, 4> kTexts{"float32", "TF32", "16 bits", "8 bits"};
  return kTexts.at(static_cast<std::size_t>(precision));
}

ProductPrecision expected_of(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return ProductPrecision::kFp32;
    case Precision::kTf32:
      return ProductPrecision::kTf32;
    case Precision::kBf16:
    case Precision::kFp16:
      break;
  }
  return ProductPrecision::k16Bit;
}

}  // namespace

// Only symbols with the prefix are demangled: the demangler would read the symbol "f" as the type float.
std::string demangled_name(const std::string& symbol) {
  if (!symbol.starts_with(kMangledPrefix)) return symbol;
  const std::unique_ptr<char, decltype(&std::free)> text{abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr),
                                                         &std::free};
  return text ? text.get() : symbol;
}

std::string kernel_name(const std::string& symbol) {
  const std::string text = demangled_name(symbol);
  std::string name = qualified_name(text);
  const bool is_name = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0;
  return is_name ? name : text;
}

std::optional<ProductPrecision> product_precision(std::string_view kernel) {
  if (const auto nvjet = kernel.find("nvjet_"); nvjet != std::string_view::npos) return of_nvjet(kernel.substr(nvjet));
  const auto mark =
      std::ranges::find_if(kMarks, [&](const Mark& one) { return kernel.find(one.text) != std::string_view::npos; });
  return mark == kMarks.end() ? std::nullopt : mark->precision;
}

std::optional<std::string> product_problem(const StepTrace& step, Precision precision) {
  const ProductPrecision expected = expected_of(precision);
  const TracedKernel* other = nullptr;
  bool is_told = true;
  bool is_there = false;
  for (const TracedKernel& kernel : step.kernels) {
    if (kernel.kernel_class != "gemm") continue;
    const auto found = product_precision(kernel.name);
    is_told = is_told && found;
    is_there = is_there || found == expected;
    if (found && found != expected && other == nullptr) other = &kernel;
  }
  if (other == nullptr) return std::nullopt;
  // A product in a higher precision than expected costs time, but its result is right. A product in a lower precision
  // than float32 has a different result, so in fp32 every product counts.
  if (precision != Precision::kFp32 && (is_there || !is_told)) return std::nullopt;
  return fmt::format(
      "precision:{}: {} multiplies in {}{}", to_string(precision), kernel_name(other->name),
      text_of(*product_precision(other->name)),
      precision == Precision::kFp32 ? "" : fmt::format(", and no matrix product of the step in {}", text_of(expected)));
}

std::string without_version(std::string name) {
  const std::size_t suffix = name.rfind("_v");
  const bool is_version = suffix != std::string::npos && suffix + 2 < name.size() &&
                          name.find_first_not_of("0123456789", suffix + 2) == std::string::npos;
  if (is_version) name.resize(suffix);
  return name;
}

}  // namespace tbench::profile
