// The source of the rules of kernels: the file that the program was built with, and the dialect of their regular
// expressions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tbench::profile {

// The rules that the program was built with: kernel_rules.txt.

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view content;
};

/// One file. The definition is written at build time (tools/cmake/EmbedFiles.cmake).
[[nodiscard]] std::span<const EmbeddedFile> kernel_rule_files();

/// One file, kernel_renames.tsv: old and new names of this project's kernels. Written at build time, too.
[[nodiscard]] std::span<const EmbeddedFile> kernel_rename_files();

// The dialect of the rules' regular expressions, checked before the C library compiles one: its messages have no
// position, and some short expressions would take it all memory there is.

struct ExpressionError {
  std::size_t position{};  // of the letter at fault, from 0
  std::string problem;     // with the remedy
};

/// Returns why `expression` is no rule: brackets without partner, a repetition of nothing, a counted one, a
/// back-reference, more than `regcomp` expands in a few milliseconds, or nullopt for an expression that may be
/// compiled.
[[nodiscard]] std::optional<ExpressionError> check_expression(std::string_view expression);

/// The first bracket expression that cannot be compiled alone, `[z-a]`, as its position; 0 if there is none.
[[nodiscard]] std::size_t bad_bracket(std::string_view expression);

}  // namespace tbench::profile
