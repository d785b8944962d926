#include "model/torch/kept_launches.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <random>

#include "model/torch/launch_draw.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

using kernels::ScannedRows;

constexpr std::int32_t kNoneBad = -1;  // all bits set: as unsigned, the largest number

std::optional<std::uint32_t> smaller(std::optional<std::uint32_t> a, std::optional<std::uint32_t> b) {
  if (a && b) return std::min(*a, *b);
  return a ? a : b;
}

/// Returns slot `place` of each tensor; undefined tensors stay undefined.
KeptLaunches::Tensors slot_of(const KeptLaunches::Tensors& all, std::size_t place) {
  KeptLaunches::Tensors slot;
  for (const at::Tensor& one : all) {
    slot.push_back(one.defined() ? one[static_cast<std::int64_t>(place)] : at::Tensor{});
  }
  return slot;
}

}  // namespace

std::optional<std::size_t> Reservoir::next(std::uint64_t random) {
  ++seen_;
  if (seen_ <= size_) return seen_ - 1;
  const std::uint64_t place = random % seen_;
  return place < size_ ? std::optional{static_cast<std::size_t>(place)} : std::nullopt;
}

std::vector<TimedLaunch> KeptLaunches::kept(const Kept& kept) {
  return {kept.launches.begin(), kept.launches.begin() + static_cast<std::ptrdiff_t>(kept.reservoir.kept())};
}

std::optional<TimedLaunch> KeptLaunches::whole() const {
  return whole_.reservoir.kept() == 0 ? std::nullopt : std::optional{whole_.launches.front()};
}

void KeptLaunches::make_room(const Tensors& outputs) {
  for (const at::Tensor& output : outputs) {
    at::Tensor rows, digests, whole;
    if (output.defined()) {
      const auto hidden = static_cast<std::int64_t>(kernels::kCopiedRows);
      rows = at::empty({static_cast<std::int64_t>(kComparedLaunches), hidden, columns_of(output)}, output.options());
      digests = at::empty({static_cast<std::int64_t>(kDigestedLaunches), rows_of(output)},
                          output.options().dtype(at::kDouble));
      whole = at::empty(output.sizes(), output.options());
    }
    rows_.tensors.push_back(std::move(rows));
    digests_.tensors.push_back(std::move(digests));
    whole_.tensors.push_back(std::move(whole));
  }
  first_bad_ = at::full({1}, kNoneBad, at::TensorOptions{}.dtype(at::kInt).device(torch_device(device_)));
}

bool KeptLaunches::has_sizes_of(const Tensors& outputs) const {
  return std::ranges::equal(outputs, whole_.tensors, [](const at::Tensor& output, const at::Tensor& room) {
    return output.defined() == room.defined() && (!room.defined() || output.sizes() == room.sizes());
  });
}

KeptLaunches::RowChoice KeptLaunches::row_choice(const TimedLaunch& launch) const {
  std::mt19937_64 random{launch.hidden};
  RowChoice choice{.group = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(groups_)), .numbers = {}};
  for (std::size_t i = 0; i < kernels::kCopiedRows; ++i) choice.numbers.push_back(random());
  return choice;
}

std::vector<std::int64_t> KeptLaunches::rows_of_choice(const RowChoice& choice, std::size_t output) const {
  const std::int64_t rows = std::max<std::int64_t>(1, rows_of(whole_.tensors[output]) / groups_);
  std::vector<std::int64_t> chosen;
  for (const std::uint64_t number : choice.numbers) {
    chosen.push_back(choice.group * rows + static_cast<std::int64_t>(number % static_cast<std::uint64_t>(rows)));
  }
  return chosen;
}

void KeptLaunches::add(const TimedLaunch& launch, const Tensors& outputs) {
  const at::NoGradGuard no_grad;
  if (whole_.tensors.empty()) make_room(outputs);
  if (!has_sizes_of(outputs)) {
    first_odd_ = smaller(first_odd_, launch.number);
    return;
  }
  const auto place_in = [&](Kept& kept) {
    const auto place = kept.reservoir.next(hidden_number());
    if (place) kept.launches[*place] = launch;
    return place;
  };
  const auto compared = place_in(rows_), digested = place_in(digests_), whole = place_in(whole_);
  const RowChoice choice = row_choice(launch);
  Tensors contiguous;  // kept until everything is enqueued
  std::vector<ScannedRows> scanned;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) continue;
    const at::Tensor& output = contiguous.emplace_back(outputs[i].detach().contiguous());
    ScannedRows& rows = scanned.emplace_back(ScannedRows{.data = output.const_data_ptr(),
                                                         .type = element_type(output),
                                                         .rows = rows_of(output),
                                                         .columns = columns_of(output)});
    if (digested) rows.digests = digests_.tensors[i][static_cast<std::int64_t>(*digested)].data_ptr<double>();
    if (compared) {
      rows.copies = rows_.tensors[i][static_cast<std::int64_t>(*compared)].data_ptr();
      rows.copied = static_cast<std::int32_t>(kernels::kCopiedRows);
      std::ranges::copy(rows_of_choice(choice, i), rows.copied_rows);
    }
    if (whole) whole_.tensors[i].copy_(output);
  }
  auto* const first_bad = reinterpret_cast<std::uint32_t*>(first_bad_.data_ptr());
  if (device_ == DeviceKind::kCpu) return kernels::scan_on_host(scanned, launch.hidden, launch.number, first_bad);
  kernels::scan_on_device(scanned, launch.hidden, launch.number, first_bad, c10::cuda::getCurrentCUDAStream().stream());
}

std::optional<std::uint32_t> KeptLaunches::first_bad() const {
  if (!first_bad_.defined()) return std::nullopt;
  const auto bad = first_bad_.item<std::int32_t>();
  return smaller(first_odd_, bad == kNoneBad ? std::nullopt : std::optional{static_cast<std::uint32_t>(bad)});
}

std::int64_t KeptLaunches::group(std::size_t place) const { return row_choice(rows_.launches[place]).group; }

KeptLaunches::Tensors KeptLaunches::rows(std::size_t place) const {
  const RowChoice choice = row_choice(rows_.launches[place]);
  Tensors rows;
  for (std::size_t i = 0; i < whole_.tensors.size(); ++i) {
    at::Tensor of_output;
    if (whole_.tensors[i].defined()) of_output = at::tensor(rows_of_choice(choice, i)).to(whole_.tensors[i].device());
    rows.push_back(std::move(of_output));
  }
  return rows;
}

KeptLaunches::Tensors KeptLaunches::values(std::size_t place) const { return slot_of(rows_.tensors, place); }

KeptLaunches::Tensors KeptLaunches::signs(std::size_t place) const {
  Tensors signs;
  for (const at::Tensor& output : whole_.tensors) {
    if (!output.defined()) {
      signs.emplace_back();
      continue;
    }
    std::vector<double> of_columns;
    for (std::int64_t column = 0; column < columns_of(output); ++column) {
      of_columns.push_back(kernels::sign_of(digests_.launches[place].hidden, column));
    }
    signs.push_back(at::tensor(of_columns).to(output.device()));
  }
  return signs;
}

KeptLaunches::Tensors KeptLaunches::digests(std::size_t place) const { return slot_of(digests_.tensors, place); }

}  // namespace tbench::model
