#include "tbench/model/attention/implementation.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>

namespace tbench::model {
namespace {

/// A deque: pointers into it stay valid when one is added.
std::deque<AttentionImpl>& attention_registry() {
  static std::deque<AttentionImpl> impls{
      naive_attention_impl(),          compiled_attention_impl(),   sdpa_flash_attention_impl(),
      sdpa_efficient_attention_impl(), sdpa_cudnn_attention_impl(), flash_attention_impl(),
  };
  return impls;
}

bool computes(const AttentionImpl& impl, Precision precision) {
  return std::ranges::find(impl.precisions, precision) != impl.precisions.end();
}

template <class Predicate>
std::vector<std::string> names_where(const Predicate& chosen) {
  std::vector<std::string> names;
  for (const auto& impl : attention_registry()) {
    if (chosen(impl)) names.push_back(impl.name);
  }
  return names;
}

}  // namespace

const AttentionImpl* find_attention_impl(std::string_view name) {
  const auto& impls = attention_registry();
  const auto found = std::ranges::find(impls, name, &AttentionImpl::name);
  return found != impls.end() ? &*found : nullptr;
}

void register_attention_impl(AttentionImpl impl) {
  if (find_attention_impl(impl.name) != nullptr) {
    throw std::invalid_argument{"attention impl " + impl.name + " exists already"};
  }
  attention_registry().push_back(std::move(impl));
}

std::vector<std::string> attention_impl_names() {
  return names_where([](const AttentionImpl&) { return true; });
}

std::vector<std::string> attention_impl_names(Precision precision) {
  return names_where([&](const AttentionImpl& impl) { return computes(impl, precision); });
}

std::vector<std::string> deterministic_attention_impl_names(Precision precision) {
  return names_where(
      [&](const AttentionImpl& impl) { return computes(impl, precision) && impl.has_deterministic_mode; });
}

}  // namespace tbench::model
