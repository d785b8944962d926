#include "tbench/model/model_impl.hpp"

#include <deque>
#include <stdexcept>
#include <utility>

namespace tbench::model {
namespace {

/// A deque: pointers into it stay valid when one is added.
std::deque<ModelImpl>& registry() {
  static std::deque<ModelImpl> impls{
      eager_impl(),
      sdpa_impl(),
      flash_impl(),
  };
  return impls;
}

}  // namespace

const ModelImpl* find_model_impl(std::string_view name) {
  for (const auto& impl : registry()) {
    if (impl.name == name) return &impl;
  }
  return nullptr;
}

void register_model_impl(ModelImpl impl) {
  if (find_model_impl(impl.name) != nullptr) throw std::invalid_argument{"model impl " + impl.name + " exists already"};
  registry().push_back(std::move(impl));
}

std::vector<std::string> model_impl_names() {
  std::vector<std::string> names;
  for (const auto& impl : registry()) names.push_back(impl.name);
  return names;
}

}  // namespace tbench::model
