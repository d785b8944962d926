// Keeps the outputs of some timed launches of foreign code, to compare them after all launches have been timed. The
// launches are chosen with hidden random numbers after each launch, so that every launch has the same chance.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tbench/model/device.hpp"

namespace tbench::model {

/// Numbers of launches that are compared in some rows, in the digests of all rows, and in every element. A case with
/// fewer launches has all of them compared.
inline constexpr std::size_t kComparedLaunches = 200;
inline constexpr std::size_t kDigestedLaunches = 8;
inline constexpr std::size_t kWholeLaunches = 1;

/// Chooses `size` launches of an unknown number, each with the same probability.
/// @see  Vitter, Random sampling with a reservoir (1985): algorithm R
class Reservoir {
 public:
  explicit Reservoir(std::size_t size) : size_{size} {}
  /// Returns the slot in which to keep the next launch, possibly instead of an earlier launch, or nullopt to drop it.
  [[nodiscard]] std::optional<std::size_t> next(std::uint64_t random);
  [[nodiscard]] std::size_t kept() const { return seen_ < size_ ? seen_ : size_; }

 private:
  std::size_t size_;
  std::size_t seen_{};
};

/// Keys from which the operands of a launch are drawn.
struct LaunchKeys {
  std::uint64_t prepared{};  // for operands that a preparing step reads before the launch
  std::uint64_t all{};       // for all other operands
  std::uint64_t little{};    // for the few elements that are drawn again right before the launch
};

struct TimedLaunch {
  std::uint32_t number{};  // counted from 1
  LaunchKeys keys{};
  std::uint64_t hidden{};  // drawn after the launch; determines its hidden rows and signs
};

class KeptLaunches {
 public:
  using Tensors = std::vector<at::Tensor>;
  /// Keeps nothing yet.
  /// @param groups  number of equal parts that the rows of every output divide into; the hidden rows of a launch are
  ///                from one part
  KeptLaunches(DeviceKind device, std::int64_t groups) : device_{device}, groups_{groups} {}

  /// Enqueues a scan of the outputs of a launch, and copies of the parts that are kept.
  /// @param outputs  outputs, undefined for an output that does not exist; every launch must have the same sizes
  void add(const TimedLaunch& launch, const Tensors& outputs);
  /// Returns the number of the first launch whose outputs had NaN or infinite elements, or other sizes; nullopt if
  /// there is none. Synchronises.
  [[nodiscard]] std::optional<std::uint32_t> first_bad() const;

  /// Returns the launches that are compared in hidden rows. The accessors below return the data of launch `place` of
  /// this list, or of digested().
  [[nodiscard]] std::vector<TimedLaunch> compared() const { return kept(rows_); }
  [[nodiscard]] std::int64_t group(std::size_t place) const;
  [[nodiscard]] Tensors rows(std::size_t place) const;    // row indices, [n], for each output
  [[nodiscard]] Tensors values(std::size_t place) const;  // [n, columns] for each output
  [[nodiscard]] std::vector<TimedLaunch> digested() const { return kept(digests_); }
  [[nodiscard]] Tensors signs(std::size_t place) const;    // [columns] for each output, float64
  [[nodiscard]] Tensors digests(std::size_t place) const;  // [rows] for each output, float64
  [[nodiscard]] std::optional<TimedLaunch> whole() const;
  [[nodiscard]] const Tensors& outputs() const { return whole_.tensors; }

 private:
  struct Kept {
    explicit Kept(std::size_t size) : reservoir{size}, launches(size) {}
    Reservoir reservoir;
    std::vector<TimedLaunch> launches;
    Tensors tensors{};  // for each output, slots for all kept launches
  };
  /// The choice of a launch's hidden rows: a group, and random numbers that are reduced modulo the rows of the group.
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
  at::Tensor first_bad_;  // int32 on the device: the launch number's bits
  Kept rows_{kComparedLaunches}, digests_{kDigestedLaunches}, whole_{kWholeLaunches};
};

}  // namespace tbench::model
