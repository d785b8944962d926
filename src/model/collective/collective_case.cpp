#include "tbench/model/collective_case.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "model/collective/exact_numbers.hpp"
#include "model/operations/operation_case.hpp"
#include "model/torch/compare.hpp"
#include "model/torch/scopes.hpp"

namespace tbench::model {
namespace {

/// The number of elements that are filled or compared at once, so that a large buffer needs no second one.
constexpr std::int64_t kCollectiveBlock = std::int64_t{1} << 20;

/// A part of a rank's output: elements [begin, begin + count) are the sum, over the ranks in `sources`, of `count`
/// input elements that begin at `source_begin`.
struct OutputPart {
  std::int64_t begin{};
  std::int64_t count{};
  std::vector<int> sources;
  std::int64_t source_begin{};
};

class CollectiveCase final : public OperationCase {
 public:
  CollectiveCase(const CollectiveConfig& config, ranks::Group& group)
      : OperationCase{config.device},
        config_{config},
        group_{group},
        dtype_{config.precision == Precision::kBf16 ? at::kBFloat16 : at::kFloat},
        part_{config.bytes / element_bytes() / group.size()} {}

  [[nodiscard]] std::optional<std::string> unsupported_reason() const override {
    if (part_ == 0) {
      return fmt::format("{} bytes are less than an element of {} for each of {} ranks", config_.bytes,
                         to_string(config_.precision), group_.size());
    }
    if (largest_input() > 0) return std::nullopt;
    return fmt::format("{} ranks: sums of {} are exact up to {}, so that they can be verified", group_.size(),
                       to_string(config_.precision), exact_limit());
  }
  [[nodiscard]] std::int64_t min_bytes() const override {
    return (input_elements() + (is_in_place() ? 0 : output_elements())) * element_bytes();
  }
  [[nodiscard]] Work work() const override {
    return {.flop = {}, .tokens = 0, .bytes = all_elements() * element_bytes()};
  }
  [[nodiscard]] std::map<std::string, double> counters() override {
    return {{"bus_factor", bus_factor(config_.op, group_.size())}};
  }
  [[nodiscard]] std::map<std::string, std::string> labels() override { return {{"backend", group_.backend()}}; }
  void enqueue() override;

 private:
  void do_build() override;
  Verification do_verify() override { return verify_numbers(config_.seed); }
  std::optional<Verification> do_verify_again() override { return verify_numbers(config_.seed + 1); }

  [[nodiscard]] std::int64_t element_bytes() const { return dtype_ == at::kFloat ? 4 : 2; }
  [[nodiscard]] std::int64_t all_elements() const { return part_ * group_.size(); }
  [[nodiscard]] std::int64_t input_elements() const {
    return config_.op == CollectiveOp::kAllGather ? part_ : all_elements();
  }
  [[nodiscard]] std::int64_t output_elements() const {
    return config_.op == CollectiveOp::kReduceScatter ? part_ : all_elements();
  }
  [[nodiscard]] bool is_in_place() const {
    return config_.op == CollectiveOp::kAllReduce || config_.op == CollectiveOp::kBroadcast;
  }
  [[nodiscard]] std::int64_t exact_limit() const { return dtype_ == at::kFloat ? kExactFp32 : kExactBf16; }
  [[nodiscard]] std::int64_t largest_input() const { return std::min(kLargestInput, exact_limit() / group_.size()); }

  [[nodiscard]] at::Tensor numbers(int rank, std::uint64_t seed, std::int64_t begin, std::int64_t count) const;
  [[nodiscard]] std::vector<OutputPart> output_parts() const;
  void fill(std::uint64_t seed);
  Verification verify_numbers(std::uint64_t seed);

  CollectiveConfig config_;
  ranks::Group& group_;
  at::ScalarType dtype_;
  std::int64_t part_;  // number of elements per rank
  at::Tensor input_;
  at::Tensor output_;  // the same tensor as input_ if the operation is in place
};

at::Tensor CollectiveCase::numbers(int rank, std::uint64_t seed, std::int64_t begin, std::int64_t count) const {
  const at::TensorOptions options = at::TensorOptions{}.device(torch_device(config_.device)).dtype(dtype_);
  return exact_numbers({.options = options, .largest = largest_input()}, rank, seed, begin, count);
}

std::vector<OutputPart> CollectiveCase::output_parts() const {
  const int ranks = group_.size();
  const int own = group_.rank();
  std::vector<int> everyone;
  std::vector<OutputPart> gathered, exchanged;
  for (int rank = 0; rank < ranks; ++rank) {
    everyone.push_back(rank);
    gathered.push_back({.begin = rank * part_, .count = part_, .sources = {rank}, .source_begin = 0});
    exchanged.push_back({.begin = rank * part_, .count = part_, .sources = {rank}, .source_begin = own * part_});
  }
  const auto all_of = [&](std::vector<int> sources) {
    return std::vector{
        OutputPart{.begin = 0, .count = all_elements(), .sources = std::move(sources), .source_begin = 0}};
  };
  switch (config_.op) {
    case CollectiveOp::kAllReduce:
      return all_of(everyone);
    case CollectiveOp::kAllGather:
      return gathered;
    case CollectiveOp::kReduceScatter:
      return {{.begin = 0, .count = part_, .sources = everyone, .source_begin = own * part_}};
    case CollectiveOp::kBroadcast:
      return all_of({0});
    case CollectiveOp::kAllToAll:
      return exchanged;
    case CollectiveOp::kSendRecv:
      return all_of({(own + ranks - 1) % ranks});
  }
  throw std::invalid_argument{"not a CollectiveOp"};
}

void CollectiveCase::do_build() {
  const at::TensorOptions options = at::TensorOptions{}.device(torch_device(config_.device)).dtype(dtype_);
  input_ = at::empty({input_elements()}, options);
  output_ = is_in_place() ? input_ : at::empty({output_elements()}, options);
  fill(config_.seed);
}

void CollectiveCase::fill(std::uint64_t seed) {
  output_.fill_(std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t begin = 0; begin < input_elements(); begin += kCollectiveBlock) {
    const std::int64_t count = std::min(kCollectiveBlock, input_elements() - begin);
    input_.narrow(0, begin, count).copy_(numbers(group_.rank(), seed, begin, count));
  }
}

void CollectiveCase::enqueue() {
  switch (config_.op) {
    case CollectiveOp::kAllReduce:
      return group_.all_reduce(input_);
    case CollectiveOp::kAllGather:
      return group_.all_gather(output_, input_);
    case CollectiveOp::kReduceScatter:
      return group_.reduce_scatter(output_, input_);
    case CollectiveOp::kBroadcast:
      return group_.broadcast(input_);
    case CollectiveOp::kAllToAll:
      return group_.all_to_all(output_, input_);
    case CollectiveOp::kSendRecv:
      return group_.send_to_next(output_, input_);
  }
}

Verification CollectiveCase::verify_numbers(std::uint64_t seed) {
  fill(seed);
  enqueue();
  Verification verdict;
  for (const OutputPart& part : output_parts()) {
    for (std::int64_t done = 0; done < part.count; done += kCollectiveBlock) {
      const std::int64_t count = std::min(kCollectiveBlock, part.count - done);
      at::Tensor expected = at::zeros({count}, input_.options());
      for (const int source : part.sources) expected.add_(numbers(source, seed, part.source_begin + done, count));
      const std::int64_t begin = part.begin + done;
      verdict = verify_equal(fmt::format("output from {} on", begin), output_.narrow(0, begin, count), expected,
                             "what each rank brings, computed here: exact");
      if (!verdict.passed) return verdict;
    }
  }
  return verdict;
}

}  // namespace

std::unique_ptr<Case> make_collective_case(const CollectiveConfig& config, ranks::Group& group) {
  return std::make_unique<CollectiveCase>(config, group);
}

}  // namespace tbench::model
