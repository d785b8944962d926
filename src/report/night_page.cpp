#include "tbench/report/night_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tbench/core/text.hpp"
#include "tbench/report/number_format.hpp"
#include "tbench/report/table.hpp"

namespace tbench::report {
namespace {

using Texts = std::vector<std::string>;

constexpr std::size_t kMostListed = 20;  // names in a list; the JSON has them all

std::string percent(double ratio) { return fmt::format("{:+.2f}", 100 * (ratio - 1)); }
std::string percent(const std::optional<double>& ratio) { return ratio ? percent(*ratio) : ""; }

std::string milliseconds(const std::optional<Seconds>& time) {
  return time ? format_number(to_milliseconds(*time)) : "";
}

std::string day_of(const std::string& started) { return started.substr(0, started.find('T')); }

std::string short_commit(const std::string& commit) { return fmt::format("{:.12}", commit); }

std::string described(const NightMark& mark) {
  return fmt::format("{} ({})", day_of(mark.started), short_commit(mark.commit));
}

std::string since_of(const NightCase& c) { return c.first_bad ? described(*c.first_bad) : ""; }

std::string confirmed(const NightCase& c) {
  if (!c.confirmed_ratio) return "";
  return fmt::format("{} ({} .. {})", percent(*c.confirmed_ratio), percent(*c.confirmed_low),
                     percent(*c.confirmed_high));
}

/// New cases only where there are others: on a first night everything is new.
bool is_listed(const NightCase& c) { return c.verdict != NightVerdict::kPassed && c.verdict != NightVerdict::kNew; }

Table table_of(const std::vector<const NightCase*>& cases) {
  using enum Align;
  Table table{{{"verdict", kLeft},
               {"case", kLeft},
               {"usual ms", kRight},
               {"tonight ms", kRight},
               {"change %", kRight},
               {"z", kRight},
               {"run again %", kRight},
               {"found by", kLeft},
               {"since", kLeft},
               {"note", kLeft}}};
  for (const NightCase* c : cases) {
    table.add_row({std::string{to_string(c->verdict)}, c->name, milliseconds(c->reference), milliseconds(c->tonight),
                   percent(c->ratio), c->z ? fmt::format("{:.1f}", *c->z) : "", confirmed(*c), c->found_by,
                   since_of(*c), c->note});
  }
  return table;
}

std::vector<const NightCase*> listed_cases(const NightReport& report) {
  std::vector<const NightCase*> cases;
  for (const NightCase& c : report.cases) {
    if (is_listed(c)) cases.push_back(&c);
  }
  std::ranges::stable_sort(cases, {}, [](const NightCase* c) { return c->verdict; });
  return cases;
}

/// Lines of a page, as text or Markdown.
class Page {
 public:
  explicit Page(bool markdown) : markdown_{markdown} {}

  void line(const std::string& label, const std::string& text) {
    text_ += markdown_ ? fmt::format("- {}: {}\n", label, escape_markdown(one_line(text)))
                       : fmt::format("{:<8} {}\n", label, one_line(text));
  }
  void list(const std::string& caption, const Texts& entries) {
    if (entries.empty()) return;
    text_ += markdown_ ? fmt::format("\n**{}**\n\n", escape_markdown(one_line(caption)))
                       : fmt::format("\n{}:\n", one_line(caption));
    const std::size_t shown = std::min(entries.size(), kMostListed);
    for (std::size_t i = 0; i < shown; ++i) {
      text_ += fmt::format("{} {}\n", markdown_ ? "-" : " ",
                           markdown_ ? escape_markdown(one_line(entries[i])) : one_line(entries[i]));
    }
    if (shown < entries.size()) text_ += fmt::format("{} and {} more\n", markdown_ ? "-" : " ", entries.size() - shown);
  }
  void raw(const std::string& text) { text_ += text; }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  bool markdown_;
  std::string text_;
};

void put_header(Page& page, const NightReport& report) {
  page.line("night", fmt::format("{}, commit {}, {} process{}", report.started, short_commit(report.commit),
                                 report.processes, report.processes == 1 ? "" : "es"));
  page.line("machine", report.fingerprint);
  page.line("epoch", report.epoch);
  page.line("against", report.nights == 0 ? "nothing yet: the first valid night of this epoch"
                                          : fmt::format("{} valid night{} of this epoch", report.nights,
                                                        report.nights == 1 ? "" : "s"));
}

void put_machine(Page& page, const NightReport& report) {
  Texts off;
  for (const CeilingCheck& check : report.ceilings) {
    if (check.is_within) continue;
    off.push_back(fmt::format("{}: {} % against the median of the last nights, {:.1f} % allowed", check.name,
                              percent(check.ratio), 100 * check.tolerance));
  }
  page.list("ENVIRONMENT: the machine is not as it was, so nothing is gated", off);
  if (report.null_control) {
    const NullControl& control = *report.null_control;
    Texts rejected = control.rejected;
    page.list(control.has_failed ? "The null control failed: two runs of the same build differ, so nothing fails"
                                 : "Null control: differs at 1 %, as one in a hundred does",
              rejected);
  }
  if (!report.epoch_shift) return;
  const EpochShift& shift = *report.epoch_shift;
  Texts lines{fmt::format("before: {}", shift.from), fmt::format("now: {}", shift.to),
              fmt::format("{} cases, geometric mean {} %", shift.cases, percent(shift.mean_ratio))};
  for (const ShiftOfCase& c : shift.beyond) lines.push_back(fmt::format("{} {} %", c.name, percent(c.ratio)));
  page.list("A new epoch: driver or libraries changed, every series starts anew", lines);
}

void put_since(Page& page, const std::vector<const NightCase*>& cases) {
  Texts lines;
  for (const NightCase* c : cases) {
    if (!c->first_bad || !c->last_good) continue;
    std::string text =
        fmt::format("{}: good on {}, bad from {}", c->name, described(*c->last_good), described(*c->first_bad));
    if (!c->since.empty()) text += "; " + join(c->since, "; ");
    lines.push_back(std::move(text));
  }
  page.list("What changed", lines);
}

std::string coloured(const std::string& table) {
  constexpr std::string_view kRed = "\033[31m";
  constexpr std::string_view kPlain = "\033[0m";
  std::string text;
  for (const std::string& line : split(table, '\n')) {
    const bool is_red = line.starts_with(to_string(NightVerdict::kRegressed));
    text += is_red ? fmt::format("{}{}{}\n", kRed, line, kPlain) : line + "\n";
  }
  text.pop_back();
  return text;
}

}  // namespace

std::string night_summary(const NightReport& report) {
  Texts parts;
  for (const NightVerdict verdict : kAllNightVerdicts) {
    const std::size_t count = count_of(report, verdict);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  }
  return fmt::format("{}: {} case{}{}{}", outcome_of(report), report.cases.size(), report.cases.size() == 1 ? "" : "s",
                     parts.empty() ? "" : ": ", join(parts, ", "));
}

std::string case_line(const NightCase& c) {
  Texts parts;
  if (c.ratio && c.reference && c.tonight) {
    parts.push_back(
        fmt::format("{} % ({} -> {} ms)", percent(*c.ratio), milliseconds(c.reference), milliseconds(c.tonight)));
  }
  if (c.confirmed_ratio) parts.push_back(fmt::format("run again {} %", confirmed(c)));
  if (c.first_bad) parts.push_back("since " + since_of(c));
  if (!c.note.empty()) parts.push_back(c.note);
  return join(parts, ", ");
}

std::string night_page(const NightReport& report, const PageOptions& options) {
  const std::string summary = night_summary(report);
  Page page{options.markdown};
  if (options.markdown) page.raw(fmt::format("**{}**\n\n", summary));
  put_header(page, report);
  const std::vector<const NightCase*> cases = listed_cases(report);
  if (report.is_valid && !cases.empty()) {
    const Table table = table_of(cases);
    const std::string text = options.markdown ? table.markdown() : table.text(options.max_width);
    page.raw("\n" + (options.colour && !options.markdown ? coloured(text) : text));
    put_since(page, cases);
  }
  put_machine(page, report);
  page.list("Missing: measured before, and not tonight", report.missing);
  page.list("No valid value for 48 hours", report.stale);
  page.list("Warnings", report.warnings);
  if (!options.markdown) page.raw("\n" + summary + "\n");
  return std::move(page).take();
}

}  // namespace tbench::report
