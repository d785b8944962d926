// The kernel rules that are built into the program, and the dialect of their regular expressions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tbench::profile {

// The files that are built into the program.

struct EmbeddedFile {
  std::string_view name;  // file name without folders
  std::string_view content;
};

/// Returns one file, kernel_rules.txt. The build generates the definition (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> kernel_rule_files();

/// Returns one file, kernel_renames.tsv, with the old and new names of this project's kernels. The build generates this
/// definition too.
[[nodiscard]] std::span<const EmbeddedFile> kernel_rename_files();

// The check of a rule's regular expression, made before the C library compiles it. The library's messages have no
// position, and some short expressions would exhaust the memory.

struct ExpressionError {
  std::size_t position{};  // position of the wrong character, from 0
  std::string problem;     // with the remedy
};

/// Returns why `expression` is not allowed, or nullopt if it may be compiled. Not allowed are unbalanced brackets, a
/// repetition of nothing or of a part that can be empty, a counted repetition, a back-reference, and an expression that
/// is too long after `regcomp` has expanded it. Compiling what is left takes milliseconds; a repetition of an empty
/// part would be a cycle, which `regcomp` follows again from each of its states.
[[nodiscard]] std::optional<ExpressionError> check_expression(std::string_view expression);

/// Returns the position of the first bracket expression that cannot be compiled by itself, such as `[z-a]`, or 0 if
/// there is none.
[[nodiscard]] std::size_t bad_bracket(std::string_view expression);

}  // namespace tbench::profile
