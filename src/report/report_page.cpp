#include "tbench/report/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/report/pivot.hpp"
#include "tbench/report/record_filter.hpp"

namespace tbench::report {
namespace {

using Texts = std::vector<std::string>;

Texts keys_of(std::span<const Record> records) {
  Texts keys;
  for (const Record& record : records) {
    for (const auto& [key, value] : record.id.parameters()) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

/// The keys of `wanted` that these records have.
Texts present_keys(std::span<const Record> records, const Texts& wanted) {
  const Texts known = keys_of(records);
  Texts present;
  for (const std::string& key : wanted) {
    if (std::ranges::find(known, key) != known.end()) present.push_back(key);
  }
  return present;
}

void check_pivot(std::span<const Record> records, const Texts& wanted) {
  const Texts known = keys_of(records);
  for (const std::string& key : wanted) {
    if (std::ranges::find(known, key) != known.end()) continue;
    throw UsageError{fmt::format("--pivot: no case has the key '{}'{} (keys: {})", key, did_you_mean(key, known),
                                 join(known, ", "))};
  }
}

std::string version(const Environment& environment, const std::string& name) {
  const auto found = environment.versions.find(name);
  return found == environment.versions.end() ? "" : found->second;
}

struct Fact {
  std::string label;
  std::string text;
};

/// Those that are known.
std::vector<Fact> facts_of(const ResultFile& file) {
  const Environment& environment = file.environment;
  std::vector<Fact> facts;
  const auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) facts.push_back({label, one_line(text)});
  };
  if (environment.gpu) {
    add("GPU", environment.gpu->name);
    add("driver", version(environment, "driver"));
  } else {
    add("CPU", fmt::format("{}, {} cores", environment.cpu_name, environment.cpu_cores));
  }
  add("LibTorch", version(environment, "libtorch"));
  if (environment.gpu) add("clock policy", environment.clock_policy);
  add("date", environment.date);
  add("build", fmt::format("{} {:.12}", environment.build_type, environment.commit));
  if (file.interrupted) add("run", "interrupted");
  return facts;
}

FamilyTable table_of(std::span<const Record> family, const ReportOptions& options) {
  const Texts keys = present_keys(family, options.pivot);
  return keys.empty() ? family_table(family) : pivot_table(family, keys, options.show);
}

}  // namespace

std::string environment_line(const ResultFile& file) {
  Texts parts;
  for (const Fact& fact : facts_of(file)) parts.push_back(fmt::format("{} {}", fact.label, fact.text));
  return join(parts, ", ");
}

std::string environment_header(const ResultFile& file, bool markdown) {
  if (markdown) return escape_markdown(environment_line(file)) + "\n";
  std::string header;
  std::size_t width = 0;
  const std::vector<Fact> facts = facts_of(file);
  for (const Fact& fact : facts) width = std::max(width, display_width(fact.label));
  for (const Fact& fact : facts) header += fmt::format("{}  {}\n", pad(fact.label, width, Align::kLeft), fact.text);
  return header;
}

std::string report_page(const ResultFile& file, const ReportOptions& options) {
  const std::vector<Record> records = select_records(file.records, options.filter);
  check_pivot(records, options.pivot);
  Texts blocks;
  if (options.environment) blocks.push_back(environment_header(file, options.markdown));
  for (const std::vector<Record>& family : group_by_family(records)) {
    const FamilyTable table = table_of(family, options);
    const std::string caption = one_line(table.caption);
    blocks.push_back(options.markdown ? fmt::format("**{}**\n\n{}", escape_markdown(caption), table.table.markdown())
                                      : fmt::format("{}\n{}", caption, table.table.text(options.max_width)));
  }
  if (records.empty()) blocks.emplace_back("No cases.\n");
  return join(blocks, "\n");
}

}  // namespace tbench::report
