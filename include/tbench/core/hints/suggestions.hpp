// Suggestions for names that a user has mistyped or knows from other programs: values of options, and flags.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbench {

/// Returns the candidate that differs from `text` only in case, `_`, `-` or spaces. If there is none, returns a
/// candidate that is a synonym of `text`: `cuda` for `gpu`, `bf16` for `bfloat16`, `fp16` for `half`, `forward` for
/// `fwd`. Returns nullopt if there is neither.
[[nodiscard]] std::optional<std::string> recognise_value(std::string_view text,
                                                         std::span<const std::string> candidates);

/// Returns the candidate that `text` most likely means, or nullopt if none is likely. These rules are tried in order;
/// the first that finds a candidate decides:
/// - recognise_value() returns the candidate;
/// - the candidate begins with `text`;
/// - `text` is the candidate with at most a third of the letters, or one letter, mistyped. Two swapped neighbours count
///   as one letter. If `text` has at most four letters, its first letter must be right. Numbers count as typed
///   correctly;
/// - one word of the candidate begins with `text`, or the candidate is one of the words of `text`.
[[nodiscard]] std::optional<std::string> suggest_value(std::string_view text, std::span<const std::string> candidates);

/// Returns `; did you mean 'X'?` for a suggestion, or an empty text if there is none.
[[nodiscard]] std::string did_you_mean_text(const std::optional<std::string>& suggestion);

/// Returns did_you_mean_text() of suggest_value().
[[nodiscard]] std::string did_you_mean_value(std::string_view text, std::span<const std::string> candidates);

/// Returns `message` with did_you_mean_value(), or if no candidate is likely with a list of them: ` (studies: flash,
/// memory, ...)`. The list ends before the message has more than 100 columns, the program's name included.
/// @param what  plural of the candidates
[[nodiscard]] std::string with_suggestion(const std::string& message, std::string_view text,
                                          std::span<const std::string> candidates, std::string_view what);

/// A flag as given on a command line.
struct TypedFlag {
  std::string name;   // with its dashes
  std::string value;  // after `=`, or the next argument; empty if there is none
  bool has_equals{};
  bool is_separate{};  // whether the value is the next argument
};

/// Splits FLAG=VALUE, or takes the next argument as the value unless it is a flag, too.
/// @param words  arguments from the flag on; not empty
[[nodiscard]] TypedFlag typed_flag(std::span<const std::string> words);

/// A name that other programs give to one of our flags.
struct FlagSynonym {
  std::string_view name;  // without dashes, in lower case and with `_`: "o", "output"
  std::string_view flag;  // with dashes; may have a value: "--tb_device=cuda"
};

/// Returns the flag with the same name as `typed`, ignoring dashes and the prefixes `benchmark_`, `tb_` and `gtest_`.
/// If there is none, returns the flag of a synonym. Returns nullopt if there is neither.
/// @param typed  the flag without its value, with or without dashes
/// @param flags  the program's flags, with their dashes
[[nodiscard]] std::optional<std::string> recognise_flag(std::string_view typed, std::span<const std::string> flags,
                                                        std::span<const FlagSynonym> synonyms);

/// Returns the flag that `typed` most likely means, or nullopt: the flag of recognise_flag(), a flag that begins with
/// `typed`, the nearest spelling, or a flag that shares words with `typed`. Prefixes are ignored as above, but flags
/// with the prefix of `typed` come first.
[[nodiscard]] std::optional<std::string> suggest_flag(std::string_view typed, std::span<const std::string> flags,
                                                      std::span<const FlagSynonym> synonyms);

}  // namespace tbench
