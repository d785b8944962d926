#include "tbench/model/backward_ranges.hpp"

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tbench/cuda/range.hpp"

namespace tbench::model {
class BackwardRanges::Impl final : public cuda::RangeListener {
 public:
  Impl() : thread_{std::this_thread::get_id()}, next_{cuda::set_range_listener(this)} {
    current = this;
    callback_ =
        at::addGlobalCallback(at::RecordFunctionCallback{&Impl::on_node}.scopes({at::RecordScope::BACKWARD_FUNCTION}));
  }
  ~Impl() override {
    at::removeCallback(callback_);
    current = nullptr;
    cuda::set_range_listener(next_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void enter(const char* name) override {
    if (next_ != nullptr) next_->enter(name);
    if (is_crediting_ || std::this_thread::get_id() != thread_) return;
    open_.push_back({.name = names_.emplace(name).first->c_str(), .first = at::sequence_number::peek()});
  }

  void leave() override {
    const bool is_own = is_crediting_ || std::this_thread::get_id() != thread_ || open_.empty();
    if (!is_own) end_range();
    if (next_ != nullptr) next_->leave();
  }

 private:
  using Path = std::vector<const char*>;  // names of ranges, the outermost first

  /// The nodes that the forward pass made in a range have the sequence numbers first <= n < last.
  struct ForwardRange {
    Path path;
    std::uint64_t first{};
    std::uint64_t last{};
  };
  struct OpenRange {
    const char* name;
    std::uint64_t first;
  };

  static std::unique_ptr<at::ObserverContext> on_node(const at::RecordFunction& node) {
    if (current != nullptr && std::this_thread::get_id() == current->thread_) current->begin_node(node.seqNr());
    return nullptr;
  }

  void end_range() {
    if (!credited_.empty() && open_.size() == credited_depth_) credit({});
    const std::uint64_t last = at::sequence_number::peek();
    if (open_.size() > 1 && open_.back().first < last) {
      Path path;
      for (auto range = open_.begin() + 1; range != open_.end(); ++range) path.push_back(range->name);
      // Inner ranges end before those around them, so that the first one found is the innermost.
      forward_.push_back({.path = std::move(path), .first = open_.back().first, .last = last});
    }
    open_.pop_back();
  }

  /// Opens the forward ranges in which the autograd node that is about to run was made.
  /// @param sequence  the node's sequence number. A node that accumulates a gradient has no sequence number (a negative
  ///                  value) and stays in the ranges of the previous node
  void begin_node(std::int64_t sequence) {
    if (open_.empty() || sequence < 0) return;
    if (!credited_.empty() && open_.size() != credited_depth_) return;  // the current node itself has entered a range
    credited_depth_ = open_.size();
    credit(path_of(static_cast<std::uint64_t>(sequence)));
  }

  [[nodiscard]] Path path_of(std::uint64_t sequence) const {
    const auto later = std::ranges::upper_bound(forward_, sequence, {}, &ForwardRange::last);
    const auto holding =
        std::find_if(later, forward_.end(), [&](const ForwardRange& range) { return range.first <= sequence; });
    return holding == forward_.end() ? Path{} : holding->path;
  }

  /// Leaves and enters ranges until the open ranges are those in `path`.
  void credit(const Path& path) {
    is_crediting_ = true;
    const auto [differs, same_end] = std::ranges::mismatch(credited_path_, path);
    const auto same = static_cast<std::size_t>(differs - credited_path_.begin());
    while (credited_.size() > same) credited_.pop_back();
    for (auto name = same_end; name != path.end(); ++name) credited_.push_back(std::make_unique<cuda::Range>(*name));
    credited_path_ = path;
    is_crediting_ = false;
  }

  static inline Impl* current = nullptr;

  std::thread::id thread_;
  cuda::RangeListener* next_;
  at::CallbackHandle callback_{};
  std::set<std::string> names_;
  std::vector<OpenRange> open_;
  std::vector<ForwardRange> forward_;                   // in the order of `last`
  std::vector<std::unique_ptr<cuda::Range>> credited_;  // open for the running node, the outermost first
  Path credited_path_;
  std::size_t credited_depth_{};  // number of ranges around the credited ranges
  bool is_crediting_{};
};

BackwardRanges::BackwardRanges() : impl_{std::make_unique<Impl>()} {}
BackwardRanges::~BackwardRanges() = default;

}  // namespace tbench::model
