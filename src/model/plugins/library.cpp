#include "model/plugins/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "tbench/core/error.hpp"
#include "tbench/model/plugins.hpp"

namespace tbench::model {
namespace {

constexpr const char* kSymbol = "tbench_plugin";
constexpr std::size_t kLongestName = 32;

/// Returns the text of dlerror() without its leading path, which the caller's message already has.
std::string loader_error(const std::string& path) {
  const char* const text = ::dlerror();
  if (text == nullptr) return "the loader does not say why";
  std::string_view message{text};
  if (message.starts_with(path + ": ")) message.remove_prefix(path.size() + 2);
  return std::string{message};
}

bool is_name(std::string_view name) {
  const auto is_allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, is_allowed);
}

void check_description(const tbench_plugin_description* described) {
  if (described == nullptr) throw UsageError{fmt::format("{}() returns NULL: return a description", kSymbol)};
  if (described->abi != TBENCH_PLUGIN_ABI) {
    throw UsageError{
        fmt::format("it has ABI version {}, this program takes {}: compile it with the tbench/plugin.h of this program",
                    described->abi, TBENCH_PLUGIN_ABI)};
  }
  if (described->bytes != static_cast<std::int32_t>(sizeof(tbench_plugin_description))) {
    throw UsageError{fmt::format("its description says that it has {} bytes, not {}: set `bytes` to its sizeof",
                                 described->bytes, sizeof(tbench_plugin_description))};
  }
  require_plugin_name(described->name);
}

}  // namespace

void require_plugin_name(const char* name) {
  if (name != nullptr && is_name(name)) return;
  throw UsageError{fmt::format("its name '{}' is not made of 1 to {} letters, digits, '_', '-' and '.'",
                               name == nullptr ? "NULL" : name, kLongestName)};
}

const tbench_plugin_description& open_plugin_library(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw UsageError{fmt::format("it cannot be opened: {}", loader_error(path))};
  using Describe = const tbench_plugin_description* (*)();
  const auto describe = reinterpret_cast<Describe>(::dlsym(library, kSymbol));
  if (describe == nullptr) {
    throw UsageError{fmt::format(
        "it exports no {}(): define it with TBENCH_EXPORT, in C++ as extern \"C\" (tbench/plugin.h)", kSymbol)};
  }
  const tbench_plugin_description* const described = describe();
  check_description(described);
  return *described;
}

std::string digest_of_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) throw std::runtime_error{fmt::format("{} cannot be read: {}", path, std::strerror(errno))};
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
  bool is_well = context != nullptr && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::array<char, 1 << 16> block;
  while (is_well && file) {
    file.read(block.data(), block.size());
    is_well = EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(file.gcount())) == 1;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  is_well = is_well && EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1;
  if (!is_well) throw std::runtime_error{fmt::format("{}: its SHA-256 cannot be computed", path)};
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest.at(i));
  return text;
}

}  // namespace tbench::model
