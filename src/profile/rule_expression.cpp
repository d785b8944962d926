#include "profile/rule_source.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <vector>

namespace tbench::profile {
namespace {

/// The maximum length of an expression, in characters. It is longer than any readable rule.
constexpr std::size_t kMaxLength = 2000;
/// The maximum length after expansion. `regcomp` expands x+ to xx*, so each nested repetition doubles its operand.
constexpr std::size_t kMaxExpandedLength = 20'000;

constexpr std::size_t kNowhere = std::string_view::npos;

/// Returns the index after the ']' of the bracket expression that begins at `open`, or kNowhere if it is not closed.
std::size_t behind_bracket_expression(std::string_view text, std::size_t open) {
  std::size_t i = open + 1;
  if (i < text.size() && text[i] == '^') ++i;
  if (i < text.size() && text[i] == ']') ++i;  // a ']' in the first position is an ordinary character
  while (i < text.size() && text[i] != ']') {
    const bool opens_class =
        text[i] == '[' && i + 1 < text.size() && std::string_view{":.="}.find(text[i + 1]) != kNowhere;
    if (!opens_class) {
      ++i;
      continue;
    }
    const char closing[] = {text[i + 1], ']', '\0'};
    const std::size_t close = text.find(closing, i + 2);
    if (close == kNowhere) return kNowhere;
    i = close + 2;
  }
  return i < text.size() ? i + 1 : kNowhere;
}

/// Reads an expression from left to right, and computes its length after expansion and which parts can be empty.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_{text} {}

  std::optional<ExpressionError> scan() {
    while (at_ < text_.size()) {
      if (auto error = step()) return error;
      if (groups_.back().length > kMaxExpandedLength) {
        return ExpressionError{at_ - 1, "nested repetitions make it too large; repeat smaller parts"};
      }
    }
    if (groups_.size() == 1) return std::nullopt;
    return ExpressionError{groups_.back().open, "'(' has no ')'; write '\\(' for the bracket itself"};
  }

 private:
  struct Group {
    std::size_t open;
    std::size_t length{};        // expanded length of the group's content
    std::size_t last_length{};   // expanded length of the operand of a following repetition; 0 if there is no operand
    bool is_last_empty{};        // whether that operand can match an empty text
    bool is_before_empty{true};  // whether the alternative can be empty before the operand
    bool is_earlier_alternative_empty{};  // whether an alternative before the last '|' can be empty

    [[nodiscard]] bool is_alternative_empty() const { return is_before_empty && (last_length == 0 || is_last_empty); }
    [[nodiscard]] bool can_be_empty() const { return is_earlier_alternative_empty || is_alternative_empty(); }
  };

  /// Adds a part of the expression, which can be repeated.
  /// @param letters  number of the expression's characters that make the part or end it
  void add(std::size_t length, std::size_t letters, bool can_be_empty) {
    Group& group = groups_.back();
    group.is_before_empty = group.is_alternative_empty();
    group.length += length;
    group.last_length = length;
    group.is_last_empty = can_be_empty;
    at_ += letters;
  }

  void begin_alternative() {
    Group& group = groups_.back();
    group.is_earlier_alternative_empty = group.can_be_empty();
    group.is_before_empty = true;
    group.last_length = 0;
    ++at_;
  }

  std::optional<ExpressionError> step() {
    switch (text_[at_]) {
      case '\\':
        return escape();
      case '[':
        return bracket();
      case '(':
        groups_.push_back({.open = at_++});
        return std::nullopt;
      case ')':
        return close();
      case '|':
        begin_alternative();
        return std::nullopt;
      case '*':
      case '+':
      case '?':
        return repeat();
      case '{':
        return ExpressionError{at_,
                               "'{' would count repetitions, which rules cannot; write '\\{' for the brace itself"};
      case '^':
        groups_.back().is_before_empty = groups_.back().is_alternative_empty();
        groups_.back().length += 1;
        groups_.back().last_length = 0;
        ++at_;
        return std::nullopt;
      default:
        add(1, 1, text_[at_] == '$');
        return std::nullopt;
    }
  }

  std::optional<ExpressionError> escape() {
    if (at_ + 1 == text_.size()) return ExpressionError{at_, "'\\' ends it; write '\\\\' for the letter itself"};
    if (text_[at_ + 1] >= '1' && text_[at_ + 1] <= '9') {
      return ExpressionError{at_,
                             fmt::format("'\\{}' refers back, which rules cannot; leave out the '\\'", text_[at_ + 1])};
    }
    constexpr std::string_view kEmpty = "bB<>`'";  // ends and inner positions of words, ends of the text
    add(1, 2, kEmpty.find(text_[at_ + 1]) != kNowhere);
    return std::nullopt;
  }

  std::optional<ExpressionError> bracket() {
    const std::size_t end = behind_bracket_expression(text_, at_);
    if (end == kNowhere) return ExpressionError{at_, "'[' has no ']'; write '\\[' for the bracket itself"};
    add(1, end - at_, false);
    return std::nullopt;
  }

  std::optional<ExpressionError> close() {
    if (groups_.size() == 1) return ExpressionError{at_, "')' has no '('; write '\\)' for the bracket itself"};
    const Group group = groups_.back();
    groups_.pop_back();
    add(group.length + 1, 1, group.can_be_empty());
    return std::nullopt;
  }

  std::optional<ExpressionError> repeat() {
    Group& group = groups_.back();
    if (group.last_length == 0) {
      return ExpressionError{at_,
                             fmt::format("'{0}' repeats nothing; write '\\{0}' for the letter itself", text_[at_])};
    }
    const char sign = text_[at_];
    if (group.is_last_empty && sign != '?') {
      return ExpressionError{
          at_, fmt::format("'{}' repeats what can be empty; repeat a part of at least one character", sign)};
    }
    if (sign != '+') group.is_last_empty = true;
    group.length += group.last_length;
    group.last_length *= 2;
    ++at_;
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_{};
  std::vector<Group> groups_{{.open = 0}};
};

}  // namespace

std::optional<ExpressionError> check_expression(std::string_view expression) {
  if (expression.size() > kMaxLength) {
    return ExpressionError{kMaxLength, fmt::format("longer than {} letters; divide it into several rules", kMaxLength)};
  }
  return Scanner{expression}.scan();
}

std::size_t bad_bracket(std::string_view expression) {
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '\\') {
      ++i;
      continue;
    }
    if (expression[i] != '[') continue;
    const std::size_t end = behind_bracket_expression(expression, i);
    if (end == kNowhere) return i;
    regex_t compiled{};
    if (::regcomp(&compiled, std::string{expression.substr(i, end - i)}.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
      return i;
    ::regfree(&compiled);
    i = end - 1;
  }
  return 0;
}

}  // namespace tbench::profile
