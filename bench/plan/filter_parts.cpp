#include "bench/plan/filter_parts.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tbench::bench {
namespace {

constexpr std::string_view kRepeats = "*+?{";
constexpr std::string_view kOperators = "()[]{}*+?|^$";

bool is_letter_or_digit(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

bool is_one_of(std::string_view letters, std::string_view text, std::size_t at) {
  return at < text.size() && letters.find(text[at]) != std::string_view::npos;
}

/// Returns the position after the repetitions at `at`, if there are any.
std::size_t after_repeats(std::string_view text, std::size_t at) {
  while (is_one_of(kRepeats, text, at)) {
    if (text[at] == '{') at = std::min(text.find('}', at), text.size() - 1);
    ++at;
  }
  return at;
}

/// Returns the position after the set `[...]` at `at`.
std::size_t after_set(std::string_view text, std::size_t at) {
  std::size_t next = at + (text.substr(at).starts_with("[^") ? 3 : 2);  // the first character is one of the set
  while (next < text.size() && text[next] != ']') {
    const bool is_class = text.substr(next).starts_with("[:");
    next = is_class ? std::min(text.find(":]", next), text.size() - 2) + 2 : next + 1;
  }
  return std::min(next + 1, text.size());
}

/// Returns the position after the group `(...)` at `at`.
std::size_t after_group(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    if (text[at] == '[') {
      at = after_set(text, at);
      continue;
    }
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '(')
      ++depth;
    else if (text[at] == ')' && --depth == 0)
      return at + 1;
    ++at;
  }
  return text.size();
}

/// Reads an expression from its beginning to its end.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_{text} {}

  FilterParts read() {
    while (at_ < text_.size()) step();
    finish(FilterEdge::kOpen, at_);
    return std::move(found_);
  }

 private:
  void step() {
    const char letter = text_[at_];
    if (letter == '\\') return literal(2);
    if (letter == '^' && at_ == 0) return edge(FilterEdge::kNameEnd, 1);
    if (letter == '$' && at_ + 1 == text_.size()) return edge(FilterEdge::kNameEnd, 1);
    if (letter == '(') return edge(FilterEdge::kOperator, after_repeats(text_, after_group(text_, at_)) - at_);
    if (letter == '[') return edge(FilterEdge::kOperator, after_repeats(text_, after_set(text_, at_)) - at_);
    if (is_one_of(kOperators, text_, at_)) return edge(FilterEdge::kOperator, 1);
    if (letter == '.' && !is_in_a_value()) return edge(FilterEdge::kOpen, after_repeats(text_, at_ + 1) - at_);
    const std::size_t after = after_repeats(text_, at_ + 1);
    if (after > at_ + 1) return edge(FilterEdge::kOperator, after - at_);
    if (letter == '/') return edge(FilterEdge::kSlash, 1);
    literal(1);
  }

  /// Whether the `.` is one as in size:2.7B.
  [[nodiscard]] bool is_in_a_value() const {
    const bool is_repeated = is_one_of(kRepeats, text_, at_ + 1);
    return !is_repeated && at_ > 0 && is_letter_or_digit(text_[at_ - 1]) && at_ + 1 < text_.size() &&
           is_letter_or_digit(text_[at_ + 1]);
  }

  void literal(std::size_t length) {
    const std::size_t last = std::min(at_ + length, text_.size()) - 1;
    if (is_one_of(kRepeats, text_, last + 1)) return edge(FilterEdge::kOperator, after_repeats(text_, last + 1) - at_);
    if (part_.text.empty()) part_.begin = at_;
    part_.text += text_[last];
    at_ = last + 1;
  }

  void edge(FilterEdge edge, std::size_t length) {
    finish(edge, at_);
    part_.left = edge;
    found_.has_operators = found_.has_operators || edge == FilterEdge::kOperator;
    at_ += length;
  }

  void finish(FilterEdge right, std::size_t end) {
    const bool is_plain = part_.left != FilterEdge::kOperator && right != FilterEdge::kOperator;
    part_.right = right;
    part_.end = end;
    if (!part_.text.empty() && is_plain) found_.parts.push_back(part_);
    part_ = {};
  }

  std::string_view text_;
  std::size_t at_{};
  FilterPart part_{.text = {}, .left = FilterEdge::kOpen, .right = FilterEdge::kOpen};
  FilterParts found_;
};

bool equal_letters(std::string_view pattern, std::string_view text) {
  return std::ranges::equal(pattern, text, [](char p, char t) { return p == '.' || p == t; });
}

bool ends_here(FilterEdge edge) { return edge == FilterEdge::kSlash || edge == FilterEdge::kNameEnd; }

}  // namespace

bool FilterPart::fits(std::string_view part_of_name) const {
  if (text.size() > part_of_name.size()) return false;
  const std::size_t last = part_of_name.size() - text.size();
  const std::size_t from = ends_here(right) ? last : 0;
  const std::size_t to = ends_here(left) ? 0 : last;
  for (std::size_t at = from; at <= to; ++at) {
    if (equal_letters(text, part_of_name.substr(at, text.size()))) return true;
  }
  return false;
}

std::vector<std::string> alternatives_of(std::string_view expression) {
  std::vector<std::string> alternatives(1);
  for (std::size_t at = 0; at < expression.size();) {
    std::size_t next = at + 1;
    if (expression[at] == '\\') next = std::min(at + 2, expression.size());
    if (expression[at] == '(') next = after_group(expression, at);
    if (expression[at] == '[') next = after_set(expression, at);
    if (expression[at] == '|')
      alternatives.emplace_back();
    else
      alternatives.back() += expression.substr(at, next - at);
    at = next;
  }
  return alternatives;
}

FilterParts parts_of(std::string_view expression) { return Scanner{expression}.read(); }

}  // namespace tbench::bench
