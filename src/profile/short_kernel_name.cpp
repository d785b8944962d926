#include "tbench/profile/short_kernel_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/library_kernel_name.hpp"
#include "tbench/core/text.hpp"
#include "tbench/profile/kernel_name.hpp"

namespace tbench::profile {
namespace {

using Texts = std::vector<std::string>;
using Named = std::pair<std::string_view, std::string_view>;

constexpr std::string_view kLauncher = "Kernel2";  // CUTLASS's, whose only template argument is the product

/// Kernels that take their operation as a template argument, besides those that end in `elementwise_kernel`.
constexpr std::array<std::string_view, 2> kGeneric{"reduce_kernel", "multi_tensor_apply_kernel"};

/// Names in template arguments that say how an operation is applied, not what it is.
constexpr std::array<std::string_view, 26> kApplied{"at",
                                                    "native",
                                                    "anonymous",
                                                    "namespace",
                                                    "binary_internal",
                                                    "std",
                                                    "c10",
                                                    "gpu_kernel_impl",
                                                    "gpu_kernel_impl_nocast",
                                                    "BinaryFunctor",
                                                    "AUnaryFunctor",
                                                    "BUnaryFunctor",
                                                    "UnaryOpFunctor",
                                                    "BinaryOpScalarFunctor",
                                                    "BinaryOpListAlphaFunctor",
                                                    "TernaryOpScalarFunctor",
                                                    "TensorListMetadata",
                                                    "TensorListScalarListMetadata",
                                                    "ReduceOp",
                                                    "func_wrapper_t",
                                                    "_cuda_scatter_gather_internal_kernel",
                                                    "OpaqueType",
                                                    "operator",
                                                    "unsigned",
                                                    "true",
                                                    "false"};

constexpr std::array<Named, 16> kTypes{
    Named{"float", "f32"}, Named{"double", "f64"},  Named{"BFloat16", "bf16"},      Named{"bfloat16_t", "bf16"},
    Named{"Half", "f16"},  Named{"half_t", "f16"},  Named{"__nv_bfloat16", "bf16"}, Named{"__half", "f16"},
    Named{"long", "i64"},  Named{"int", "i32"},     Named{"short", "i16"},          Named{"bool", "bool"},
    Named{"char", "i8"},   Named{"complex", "c64"}, Named{"true", "true"},          Named{"false", "false"}};

/// Operations that are better known by another name.
constexpr std::array<Named, 5> kOperations{Named{"multiplies", "mul"}, Named{"divides", "div"}, Named{"plus", "add"},
                                           Named{"minus", "sub"}, Named{"direct_copy", "copy"}};

bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns the identifiers in the text, without numbers.
Texts identifiers_of(std::string_view text) {
  Texts found;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_identifier(text[end])) ++end;
    if (end > i && std::isdigit(static_cast<unsigned char>(text[i])) == 0) found.emplace_back(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return found;
}

template <std::size_t Count>
std::optional<std::string_view> find_in(const std::array<Named, Count>& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Named::first);
  return found == table.end() ? std::nullopt : std::optional{found->second};
}

/// Returns the arguments of the template whose name ends at `end`; empty if none follow.
std::string_view arguments_after(std::string_view text, std::size_t end) {
  if (end >= text.size() || text[end] != '<') return {};
  int depth = 0;
  for (std::size_t i = end; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(' || text[i] == '{') ++depth;
    if (text[i] == '>' || text[i] == ')' || text[i] == '}') --depth;
    if (depth == 0) return text.substr(end + 1, i - end - 1);
  }
  return text.substr(end + 1);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

/// Returns the arguments of a list, which commas outside brackets separate.
Texts split_arguments(std::string_view list) {
  Texts arguments;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '<' || list[i] == '(' || list[i] == '{') ++depth;
    if (list[i] == '>' || list[i] == ')' || list[i] == '}') --depth;
    if (list[i] != ',' || depth > 0) continue;
    arguments.emplace_back(trimmed(list.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (!list.empty()) arguments.emplace_back(trimmed(list.substr(begin)));
  return arguments;
}

/// Returns the operation in the words of a table: CompareEqFunctor as `compare_eq`, silu_kernel as `silu`.
std::string operation_text(std::string name) {
  constexpr std::array<std::string_view, 2> kPrefixes{"CUDAFunctorOnSelf_", "CUDAFunctor_"};
  constexpr std::array<std::string_view, 7> kSuffixes{"Functor", "_functor", "_kernel_cuda", "_kernel_impl", "_kernel",
                                                      "Ops",     "Op"};
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  for (const std::string_view suffix : kSuffixes) {
    if (name.ends_with(suffix) && name.size() > suffix.size()) name.resize(name.size() - suffix.size());
  }
  std::string text;
  for (const char c : name) {
    const bool is_upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    const bool is_word = is_upper && !text.empty() && std::islower(static_cast<unsigned char>(text.back())) != 0;
    if (is_word) text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::string{find_in(kOperations, text).value_or(text)};
}

/// Returns ` [mul bf16]` for a kernel's template arguments; empty if they name no operation.
std::string operation_of(std::string_view arguments) {
  std::string operation;
  std::string type;
  bool is_pointwise = false;  // addcmul and addcdiv: a sum with a product or a quotient
  for (const std::string& name : identifiers_of(arguments)) {
    if (std::ranges::find(kApplied, name) != kApplied.end()) continue;
    if (name.starts_with("PointwiseOp")) {
      is_pointwise = true;
    } else if (const auto known = find_in(kTypes, name)) {
      if (type.empty()) type = *known;
    } else if (operation.empty()) {
      operation = operation_text(name);
    }
    if (!operation.empty() && !type.empty()) break;
  }
  if (operation.empty()) return "";
  if (is_pointwise) operation = "addc" + operation;
  return fmt::format(" [{}{}{}]", operation, type.empty() ? "" : " ", type);
}

/// A kernel's name in parts.
struct Parts {
  std::string function;   // without namespaces
  std::string arguments;  // of its template; empty if there are none
};

Parts parts_of(const std::string& symbol) {
  const std::string text = demangled_name(symbol);
  if (text.find_first_of("(<") == std::string::npos) return {.function = text, .arguments = {}};  // `Memcpy DtoD`
  const std::string qualified = kernel_name(symbol);
  const std::size_t colons = qualified.rfind("::");
  const bool is_qualified = colons != std::string::npos && qualified.find('{') == std::string::npos;
  std::string function = is_qualified ? qualified.substr(colons + 2) : qualified;
  const std::size_t begin = text.find(function);
  if (begin == std::string::npos) return {.function = std::move(function), .arguments = {}};
  std::string arguments{arguments_after(text, begin + function.size())};
  return {.function = std::move(function), .arguments = std::move(arguments)};
}

std::string short_name(const Parts& parts) {
  if (parts.function == kLauncher && !parts.arguments.empty()) return parts.arguments;
  if (const auto product = xmma_kernel_name(parts.function)) return *product;
  const bool is_generic =
      parts.function.ends_with("elementwise_kernel") || std::ranges::find(kGeneric, parts.function) != kGeneric.end();
  return parts.function + (is_generic ? operation_of(parts.arguments) : "");
}

/// Returns an argument in short: a type, or the last part of a qualified name. The value of an enumeration follows its
/// type: `DqAccumulation 2`.
std::string argument_text(const std::string& argument) {
  const std::size_t value = argument.starts_with('(') ? argument.rfind(')') + 1 : argument.size();
  const Texts names = identifiers_of(argument.substr(0, argument.find('<')));
  if (names.empty()) return argument;
  const std::string name{find_in(kTypes, names.back()).value_or(names.back())};
  return value < argument.size() ? fmt::format("{} {}", name, argument.substr(value)) : name;
}

/// Returns, for each of several lists of arguments, the arguments in which the lists differ. If the arguments at one
/// position are the same template, only their own differing arguments count.
std::vector<Texts> differing(std::vector<Texts> lists) {
  std::size_t count = 0;
  for (const Texts& list : lists) count = std::max(count, list.size());
  for (Texts& list : lists) list.resize(count);
  const Texts& first = lists.front();
  std::vector<Texts> found(lists.size());
  for (std::size_t at = 0; at < count; ++at) {
    if (std::ranges::all_of(lists, [&](const Texts& list) { return list[at] == first[at]; })) continue;
    const std::string head = first[at].substr(0, first[at].find('<') + 1);
    const bool is_one_template = head.ends_with('<') && std::ranges::all_of(lists, [&](const Texts& list) {
                                   return list[at].starts_with(head);
                                 });
    std::vector<Texts> inner(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      if (is_one_template) {
        inner[i] = split_arguments(arguments_after(lists[i][at], head.size() - 1));
      } else if (!lists[i][at].empty()) {
        found[i].push_back(argument_text(lists[i][at]));
      }
    }
    if (!is_one_template) continue;
    inner = differing(std::move(inner));
    for (std::size_t i = 0; i < lists.size(); ++i) found[i].insert(found[i].end(), inner[i].begin(), inner[i].end());
  }
  return found;
}

/// Adds the differing template arguments to names that are the same in short.
/// @param same  the full names
void tell_apart(std::map<std::string, std::string>& names, const Texts& same) {
  std::vector<Texts> lists;
  for (const std::string& symbol : same) lists.push_back(split_arguments(parts_of(symbol).arguments));
  const std::vector<Texts> arguments = differing(std::move(lists));
  std::set<std::string> used;
  for (std::size_t i = 0; i < same.size(); ++i) {
    std::string name = names.at(same[i]) + (arguments[i].empty() ? "" : fmt::format(" <{}>", join(arguments[i], ", ")));
    if (used.contains(name)) name += fmt::format(" #{}", i + 1);
    used.insert(name);
    names[same[i]] = std::move(name);
  }
}

}  // namespace

std::string short_kernel_name(const std::string& symbol) { return short_name(parts_of(symbol)); }

std::map<std::string, std::string> short_kernel_names(std::span<const std::string> symbols) {
  std::map<std::string, std::string> names;
  std::map<std::string, Texts> by_short;
  for (const std::string& symbol : symbols) {
    const auto [entry, is_new] = names.emplace(symbol, short_kernel_name(symbol));
    if (is_new) by_short[entry->second].push_back(symbol);
  }
  for (auto& [name, same] : by_short) {
    if (same.size() == 1) continue;
    std::ranges::sort(same);
    tell_apart(names, same);
  }
  return names;
}

}  // namespace tbench::profile
