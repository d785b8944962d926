#include "bench/cli/flag_hint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "bench/families/family.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::bench {
namespace {

using Names = std::vector<std::string>;

/// Names in Google Benchmark's successors, GoogleTest, pytest, profilers and training scripts.
constexpr std::array kSynonyms{
    FlagSynonym{"o", "--benchmark_out"},
    FlagSynonym{"output", "--benchmark_out"},
    FlagSynonym{"output_file", "--benchmark_out"},
    FlagSynonym{"outfile", "--benchmark_out"},
    FlagSynonym{"output_dir", "--benchmark_out"},
    FlagSynonym{"outdir", "--benchmark_out"},
    FlagSynonym{"results", "--benchmark_out"},
    FlagSynonym{"save", "--benchmark_out"},
    FlagSynonym{"export", "--benchmark_out"},
    FlagSynonym{"json", "--benchmark_format=json"},
    FlagSynonym{"html", "--tb_page"},
    FlagSynonym{"report", "--tb_page"},
    FlagSynonym{"f", "--benchmark_filter"},
    FlagSynonym{"family", "--benchmark_filter"},
    FlagSynonym{"k", "--benchmark_filter"},
    FlagSynonym{"cases", "--benchmark_filter"},
    FlagSynonym{"case", "--benchmark_filter"},
    FlagSynonym{"bench", "--benchmark_filter"},
    FlagSynonym{"only", "--benchmark_filter"},
    FlagSynonym{"run", "--benchmark_filter"},
    FlagSynonym{"regex", "--benchmark_filter"},
    FlagSynonym{"l", "--benchmark_list_tests"},
    FlagSynonym{"dry_run", "--benchmark_list_tests"},
    FlagSynonym{"collect_only", "--benchmark_list_tests"},
    FlagSynonym{"n", "--benchmark_repetitions"},
    FlagSynonym{"r", "--benchmark_repetitions"},
    FlagSynonym{"repeat", "--benchmark_repetitions"},
    FlagSynonym{"repeats", "--benchmark_repetitions"},
    FlagSynonym{"runs", "--benchmark_repetitions"},
    FlagSynonym{"trials", "--benchmark_repetitions"},
    FlagSynonym{"iterations", "--tb_samples"},
    FlagSynonym{"iters", "--tb_samples"},
    FlagSynonym{"num_iters", "--tb_samples"},
    FlagSynonym{"steps", "--tb_samples"},
    FlagSynonym{"warm_up", "--tb_warmup"},
    FlagSynonym{"warmup_steps", "--tb_warmup"},
    FlagSynonym{"warmup_iters", "--tb_warmup"},
    FlagSynonym{"time", "--benchmark_min_time"},
    FlagSynonym{"duration", "--benchmark_min_time"},
    FlagSynonym{"s", "--tb_suite"},
    FlagSynonym{"quick", "--tb_suite=smoke"},
    FlagSynonym{"smoke", "--tb_suite=smoke"},
    FlagSynonym{"full", "--tb_suite=full"},
    FlagSynonym{"all", "--tb_suite=full"},
    FlagSynonym{"d", "--tb_device"},
    FlagSynonym{"cpu", "--tb_device=cpu"},
    FlagSynonym{"gpu", "--tb_device=cuda"},
    FlagSynonym{"cuda", "--tb_device=cuda"},
    FlagSynonym{"random_seed", "--tb_seed"},
    FlagSynonym{"manual_seed", "--tb_seed"},
    FlagSynonym{"j", "--tb_processes"},
    FlagSynonym{"jobs", "--tb_processes"},
    FlagSynonym{"workers", "--tb_processes"},
    FlagSynonym{"continue", "--tb_resume"},
    FlagSynonym{"verify_twice", "--tb_verify=twice"},
    FlagSynonym{"no_verify", "--tb_verify=once"},
    FlagSynonym{"no_trace", "--tb_trace=off"},
    FlagSynonym{"no_color", "--benchmark_color=false"},
    FlagSynonym{"usage", "--help"},
};

/// Returns the filter for a key of case names that was given as a flag: `--precision=bf16`, `--dtype bf16`.
std::optional<std::string> filter_of_key(const TypedFlag& typed) {
  if (typed.value.empty()) return std::nullopt;
  std::string name = typed.name.substr(std::min(typed.name.find_first_not_of('-'), typed.name.size()));
  if (name.starts_with("tb_")) name.erase(0, 3);
  for (const Family& family : all_families({})) {
    Names keys;
    for (const KeySpec& key : family.spec.keys) keys.push_back(key.key);
    const std::optional<std::string> key = recognise_value(name, keys);
    if (!key) continue;
    const Names& known = std::ranges::find(family.spec.keys, *key, &KeySpec::key)->known;
    return fmt::format("--benchmark_filter={}:{}", *key, suggest_value(typed.value, known).value_or(typed.value));
  }
  return std::nullopt;
}

/// Returns what an argument without dashes may mean: the filter of a family, a suite, a study or a file of results.
std::optional<std::string> meaning_of_word(const std::string& word) {
  Names families;
  for (const Family& family : all_families({})) families.push_back(family.spec.name);
  const std::string family = word.substr(0, word.find('/'));
  if (const auto known = recognise_value(family, families)) {
    return fmt::format("--benchmark_filter={}{}", *known, word.substr(family.size()));
  }
  if (word.find(':') != std::string::npos) return "--benchmark_filter=" + word;
  if (word == "help" || word == "version") return "--" + word;
  if (const auto suite = recognise_value(word, Names{"smoke", "standard", "full"})) return "--tb_suite=" + *suite;
  if (const auto study = recognise_value(word, studies::known_study_names())) return "--tb_study=" + *study;
  if (word.ends_with(".json") || word.ends_with(".json.gz")) return "--benchmark_out=" + word;
  return std::nullopt;
}

/// Returns the suggestion for an unknown flag. It repeats a value that was an argument of its own, so that the form is
/// right, too.
std::optional<std::string> meaning_of_flag(const TypedFlag& typed, const Names& flags) {
  std::optional<std::string> flag = recognise_flag(typed.name, flags, kSynonyms);
  if (!flag) flag = filter_of_key(typed);
  if (!flag) flag = suggest_flag(typed.name, flags, kSynonyms);
  if (!flag || !typed.is_separate || flag->find('=') != std::string::npos) return flag;
  return fmt::format("{}={}", *flag, typed.value);
}

}  // namespace

std::string unknown_argument_message(std::span<const std::string> unknown, const Names& flags) {
  const TypedFlag typed = typed_flag(unknown);
  const bool is_flag = typed.name.starts_with('-');
  std::optional<std::string> meant;
  if (is_flag || unknown.front().find('=') != std::string::npos) meant = meaning_of_flag(typed, flags);
  if (!is_flag && !meant) meant = meaning_of_word(unknown.front());
  return fmt::format("unknown {} '{}'{}", is_flag ? "flag" : "argument", is_flag ? typed.name : unknown.front(),
                     meant ? did_you_mean_text(meant) : " (--help lists all)");
}

}  // namespace tbench::bench
