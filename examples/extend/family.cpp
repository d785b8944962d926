// The HostCopy family: copies in the host's memory, by size. As bench/families/NAME.cpp it is a family.
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/families/family.hpp"

namespace tbench::bench::host_copy_family {
namespace {

/// A launch copies `bytes` bytes, in the calling thread.
class HostCopyCase final : public Case {
 public:
  HostCopyCase(std::int64_t bytes, bool on_gpu) : bytes_{bytes}, on_gpu_{on_gpu} {}

  std::optional<std::string> unsupported_reason() const override {
    if (on_gpu_) return "a copy in the host's memory: measure it with --tb_device=cpu";
    return std::nullopt;
  }
  void build() override {
    from_.resize(static_cast<std::size_t>(bytes_));
    std::iota(from_.begin(), from_.end(), std::uint8_t{1});
    to_.assign(from_.size(), 0);
  }
  Verification verify() override {
    std::memcpy(to_.data(), from_.data(), from_.size());
    const bool is_right = to_ == from_;
    return {.passed = is_right,
            .reference = "the source, byte for byte",
            .worst_error = is_right ? 0.0 : 2.0,
            .worst_where = "copy",
            .message = is_right ? "" : "the copy differs from its source"};
  }
  std::span<const std::string_view> phases() const override {
    static constexpr std::array<std::string_view, 1> kPhases{"copy"};
    return kPhases;
  }
  void launch(PhaseMarker& marker) override {
    std::memcpy(to_.data(), from_.data(), from_.size());
    marker.mark();
  }
  Work work() const override { return {.bytes = 2 * bytes_}; }
  std::map<std::string, double> counters() override { return {}; }

 private:
  std::int64_t bytes_;
  bool on_gpu_;
  std::vector<std::uint8_t> from_, to_;
};

Family make_family(std::span<const ModelSize> /*extra_sizes*/) {
  return {.spec = {.name = "HostCopy",
                   .keys = {{"bytes", {}}},
                   .tables = {{"sizes", Suite::kSmoke, true, {{"bytes", {"1048576"}}}},
                              {"sizes", Suite::kStandard, true, {{"bytes", {"1048576", "1073741824"}}}}},
                   .invalid_reason = {}},
          .make_case = [](const CaseId& id, const CaseContext& context) -> std::unique_ptr<Case> {
            return std::make_unique<HostCopyCase>(id.int_at("bytes"), context.on_gpu);
          },
          .precision = {}};
}

TBENCH_REGISTER(RegisteredFamily, {.name = "HostCopy", .order = 1000, .make = &make_family});

}  // namespace
}  // namespace tbench::bench::host_copy_family
