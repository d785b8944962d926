// Reading a results file entry by entry, so that a file of any size is never held as a tree. Private to the report
// layer.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "tbench/report/record_json.hpp"

namespace tbench::report {

/// @throws  UsageError  naming path, problem and remedy
[[noreturn]] void refuse_file(const std::string& path, const std::string& problem, const std::string& remedy);

/// What to do about a file that is none of ours.
inline constexpr const char* kMakeResultFile = "give a file that transformer_bench wrote with --benchmark_out=FILE";

/// @throws  UsageError  naming the file, if it cannot be read
[[nodiscard]] std::string read_text(const std::string& path);

/// The file's JSON.
/// @param path      for error messages
/// @param on_entry  takes every object of the array `benchmarks`, which is then left out of what is returned
/// @throws          UsageError  naming the file: empty, cut off, not JSON, or without `context` and `benchmarks`; and
///                              what `on_entry` throws
[[nodiscard]] Json parse_entries(const std::string& path, const std::string& text,
                                 const std::function<void(const Json& entry)>& on_entry);

/// The file's JSON as a whole.
/// @throws  UsageError  as parse_entries
[[nodiscard]] Json parse_file(const std::string& path, const std::string& text);

}  // namespace tbench::report
