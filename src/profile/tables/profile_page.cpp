#include "tbench/profile/profile_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "profile/tables/tables.hpp"
#include "tbench/core/error.hpp"
#include "tbench/core/hints/suggestions.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/markup.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/terminal.hpp"
#include "tbench/render/wrap.hpp"

namespace tbench::profile {
namespace {

using render::Table;

struct Kind {
  const char* name;
  const char* caption;
  bool is_per_step;  // for several steps, the caption says that the figures are per step
  Table (*make)(const TableSource& source);
};

constexpr std::array kKinds{
    Kind{"ranges", "Ranges: on the host and of the GPU operations launched in them", true, &ranges_table},
    Kind{"phases", "Phases", true, &phases_table},
    Kind{"gemm_share",
         "Matrix products, share of the kernels and of the time from a phase's first operation to its last", true,
         &gemm_share_table},
    Kind{"softmax_vs_matmul", "Attention: softmax against matrix products", true, &softmax_vs_matmul_table},
    Kind{"top_kernels", "Top kernels, share of the phase", false, &top_kernels_table},
    Kind{"kernels", "Kernels, share of the phase", true, &kernels_table},
    Kind{"non_gemm", "Kernels other than matrix products, share of the phase", true, &non_gemm_table},
    Kind{"classes", "Classes of operations", true, &classes_table},
    Kind{"devices", "Devices: busy time, and gaps by what was waited for", true, &devices_table},
    Kind{"launches", "Launches, gaps, CUDA API and copies", true, &launches_table},
    Kind{"calls", "CUDA API", true, &calls_table},
    Kind{"copies", "Copies and fills", true, &copies_table},
};

/// Returns the number of operations assigned by time in each phase, such as `backward: 30`.
std::string by_time(const Profile& profile) {
  std::vector<std::string> phases;
  for (const PhaseTime& phase : profile.phases) {
    if (phase.operations_by_time > 0) phases.push_back(fmt::format("{}: {}", phase.name, phase.operations_by_time));
  }
  return join(phases, ", ");
}

std::string caption_of(const ProfileTable& table, PageFormat format) {
  if (format == PageFormat::kText) return table.caption + "\n";
  return fmt::format("**{}**\n\n", render::escape_markdown(table.caption));
}

}  // namespace

std::vector<std::string> profile_table_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::vector<ProfileTable> profile_tables(const Profile& profile, const TableOptions& options) {
  const TableSource source{profile, options};
  std::vector<ProfileTable> made;
  for (const Kind& kind : kKinds) {
    Table table = kind.make(source);
    if (!table.empty())
      made.push_back({kind.name, kind.caption + std::string{options.steps > 1 && kind.is_per_step ? ", per step" : ""},
                      std::move(table)});
  }
  return made;
}

std::vector<std::string> profile_notes(const Profile& profile) {
  std::vector<std::string> notes;
  const auto of_all = [&](std::int64_t count) {
    return fmt::format("{} of {} operations", render::format_thousands(static_cast<double>(count)),
                       render::format_thousands(static_cast<double>(profile.operations)));
  };
  if (profile.operations_without_launch > 0) {
    notes.push_back(fmt::format("{} have no call that launched them: the capture lacks it, and they are in no range",
                                of_all(profile.operations_without_launch)));
  }
  if (profile.operations_by_time > 0) {
    notes.push_back(
        fmt::format("{} ({} % of the time) are attributed by time: to the range that another thread had open while "
                    "they were launched ({}); PyTorch runs backward on a thread of its own",
                    of_all(profile.operations_by_time),
                    render::format_percent(profile.share(profile.operations_by_time_ns), 1), by_time(profile)));
  }
  if (!profile.ranges.empty() && profile.operations_without_range > 0) {
    notes.push_back(fmt::format("{} were launched in no range ({} % of the time)",
                                of_all(profile.operations_without_range),
                                render::format_percent(profile.share(profile.operations_without_range_ns), 1)));
  }
  if (profile.graph_replays > 0) {
    notes.push_back(
        fmt::format("{} are replays of CUDA graphs traced as a whole, of class other; --cuda-graph-trace=node "
                    "of nsys shows their kernels",
                    of_all(profile.graph_replays)));
  } else if (profile.other_share() > kMaxOtherShare) {
    notes.push_back(fmt::format("{} % of the time is of class other; 'tbench classify' and --rules name more kernels",
                                render::format_percent(profile.other_share(), 1)));
  }
  return notes;
}

std::string profile_page(const Profile& profile, const TableOptions& options, PageFormat format,
                         const std::vector<std::string>& heading, const std::vector<std::string>& tables,
                         std::optional<std::size_t> max_width) {
  const std::vector<std::string> names = profile_table_names();
  for (const std::string& wanted : tables) {
    if (std::ranges::find(names, wanted) != names.end()) continue;
    throw UsageError{with_suggestion(fmt::format("--table: unknown value '{}'", wanted), wanted, names, "values")};
  }
  const bool has_prose = format == PageFormat::kText || format == PageFormat::kMarkdown;
  const auto prose = [&](const std::string& line) {
    const std::string text = render::one_line(line);
    if (format == PageFormat::kMarkdown) return "- " + render::escape_markdown(text) + "\n";
    return max_width ? render::wrapped_text(text, *max_width) : text + "\n";
  };
  std::string page;
  if (has_prose) {
    for (const std::string& line : heading) page += prose(line);
  }
  for (const ProfileTable& table : profile_tables(profile, options)) {
    if (!tables.empty() && std::ranges::find(tables, table.name) == tables.end()) continue;
    if (!page.empty()) page += "\n";
    if (format == PageFormat::kCsv) page += table.table.csv();
    if (format == PageFormat::kLatex) page += table.table.latex(table.caption);
    if (format == PageFormat::kMarkdown) page += caption_of(table, format) + table.table.markdown();
    if (format == PageFormat::kText)
      page += caption_of(table, format) + table.table.without_spare_columns(std::nullopt).console(max_width);
  }
  const std::vector<std::string> notes = profile_notes(profile);
  if (has_prose && !notes.empty()) {
    page += "\n";
    for (const std::string& note : notes) page += prose(note);
  }
  return page;
}

}  // namespace tbench::profile
