#include "tbench/results/conclusion.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tbench::results {
namespace {

/// Rises whenever a key of a document goes, or changes its meaning; a new one does not raise it.
constexpr int kVersion = 1;

}  // namespace

Json concluded(const std::string& kind, const Conclusion& conclusion, Json rest) {
  Json document{{"schema", fmt::format("tbench.{}/{}", kind, kVersion)},
                {"verdict", conclusion.verdict},
                {"why", conclusion.why},
                {"next", conclusion.next.empty() ? Json() : Json(conclusion.next)}};
  for (auto& [key, value] : rest.items()) document[key] = std::move(value);
  return document;
}

}  // namespace tbench::results
