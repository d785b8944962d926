// The launches of foreign code that are compared once all have been timed, and what is kept of each: a choice that is
// made behind every launch, from hidden numbers, and that gives each launch the same chance.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tbench/model/device.hpp"

namespace tbench::model {

/// Launches that are compared in some of their rows, in the digests of all rows, and in every element; all of them
/// where a case has fewer.
inline constexpr std::size_t kComparedLaunches = 200;
inline constexpr std::size_t kDigestedLaunches = 8;
inline constexpr std::size_t kWholeLaunches = 1;

/// Keeps `size` launches of however many there will be, each with the same probability.
/// @see  Vitter, Random sampling with a reservoir (1985): algorithm R
class Reservoir {
 public:
  explicit Reservoir(std::size_t size) : size_{size} {}
  /// Returns the place of the next launch, from which an earlier one goes, or nothing.
  [[nodiscard]] std::optional<std::size_t> next(std::uint64_t random);
  [[nodiscard]] std::size_t kept() const { return seen_ < size_ ? seen_ : size_; }

 private:
  std::size_t size_;
  std::size_t seen_{};
};

/// Keys of the operands of a launch.
struct LaunchKeys {
  std::uint64_t prepared{};  // of those that something reads before the launch
  std::uint64_t all{};       // of the others
  std::uint64_t little{};    // of the little that is drawn once more, right before the launch
};

struct TimedLaunch {
  std::uint32_t number{};  // from 1
  LaunchKeys keys{};
  std::uint64_t hidden{};  // behind the launch: for its rows and signs
};

class KeptLaunches {
 public:
  using Tensors = std::vector<at::Tensor>;
  /// @param groups  parts of equal size that the rows of every output divide into: hidden rows are of one
  KeptLaunches(DeviceKind device, std::int64_t groups) : device_{device}, groups_{groups} {}

  /// Enqueues a look at the outputs of a launch.
  /// @param outputs  undefined where there is none; of every launch the same sizes
  void add(const TimedLaunch& launch, const Tensors& outputs);
  /// The first launch whose outputs had elements that are NaN or infinite, or other sizes. Synchronises.
  [[nodiscard]] std::optional<std::uint32_t> first_bad() const;

  /// The launches that are compared in hidden rows; what follows is of the one at `place` of each list.
  [[nodiscard]] std::vector<TimedLaunch> compared() const { return kept(rows_); }
  [[nodiscard]] std::int64_t group(std::size_t place) const;
  [[nodiscard]] Tensors rows(std::size_t place) const;    // indices, [n], of each output
  [[nodiscard]] Tensors values(std::size_t place) const;  // [n, columns] of each output
  [[nodiscard]] std::vector<TimedLaunch> digested() const { return kept(digests_); }
  [[nodiscard]] Tensors signs(std::size_t place) const;    // [columns] of each output, float64
  [[nodiscard]] Tensors digests(std::size_t place) const;  // [rows] of each output, float64
  [[nodiscard]] std::optional<TimedLaunch> whole() const;
  [[nodiscard]] const Tensors& outputs() const { return whole_.tensors; }

 private:
  struct Kept {
    explicit Kept(std::size_t size) : reservoir{size}, launches(size) {}
    Reservoir reservoir;
    std::vector<TimedLaunch> launches;
    Tensors tensors{};  // of each output, with a place for each launch
  };
  /// The hidden rows of a launch: numbers from 0 in their group of an output, before they are reduced to its rows.
  struct RowChoice {
    std::int64_t group{};
    std::vector<std::uint64_t> numbers;
  };
  [[nodiscard]] RowChoice row_choice(const TimedLaunch& launch) const;
  [[nodiscard]] std::vector<std::int64_t> rows_of_choice(const RowChoice& choice, std::size_t output) const;
  void make_room(const Tensors& outputs);
  [[nodiscard]] bool has_sizes_of(const Tensors& outputs) const;
  [[nodiscard]] static std::vector<TimedLaunch> kept(const Kept& kept);

  DeviceKind device_;
  std::int64_t groups_;
  std::optional<std::uint32_t> first_odd_;
  at::Tensor first_bad_;  // int32 on the device, the bits of the number
  Kept rows_{kComparedLaunches}, digests_{kDigestedLaunches}, whole_{kWholeLaunches};
};

}  // namespace tbench::model
