#include "tbench/compare/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tbench/core/error.hpp"
#include "tbench/core/text.hpp"
#include "tbench/render/number_format.hpp"
#include "tbench/render/table.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::compare {

using results::Json;

namespace {

constexpr double kPercent = 100;

/// Returns the beginning of a UUID, `GPU-0123abcd`, if no other machine has the same beginning, otherwise the whole
/// name.
std::string short_name(const Fleet& fleet, const std::string& name) {
  constexpr std::size_t kShort = 12;
  if (!name.starts_with("GPU-") || name.size() <= kShort) return name;
  const std::string start = name.substr(0, kShort);
  const auto alike = std::ranges::count_if(fleet.machines, [&](const Machine& m) { return m.name.starts_with(start); });
  return alike == 1 ? start : name;
}

std::string cell_of(const std::optional<BaselineState>& state) {
  if (!state) return "";
  const char* const mark = state->is_slow ? "SLOW " : state->is_fast ? "fast " : "";
  return fmt::format("{}{:+.2f} ({:+.1f})", mark, kPercent * state->change, state->score);
}

render::Table machine_table(const Fleet& fleet) {
  std::vector<render::Column> columns{{"machine", render::Align::kLeft, 0}, {"files", render::Align::kRight, 1}};
  for (const FleetResource& resource : fleet.resources) {
    columns.push_back({fmt::format("{} %", to_string(resource.resource)), render::Align::kRight, 0});
  }
  render::Table table{std::move(columns)};
  for (std::size_t i = 0; i < fleet.machines.size(); ++i) {
    std::vector<std::string> row{short_name(fleet, fleet.machines[i].name),
                                 fmt::format("{}", fleet.machines[i].files.size())};
    for (const FleetResource& resource : fleet.resources) row.push_back(cell_of(resource.states[i]));
    table.add_row(std::move(row));
  }
  return table;
}

std::string known_text(const FleetResource& resource) {
  if (!resource.known) return "";
  return fmt::format("{:.2f} ({:.0f}){}", kPercent * resource.known->standard_deviation,
                     resource.known->degrees_of_freedom, resource.known_rejected ? ", contradicted" : "");
}

render::Table resource_table(const Fleet& fleet) {
  using enum render::Align;
  render::Table table{{{"resource", kLeft, 0},
                       {"machines", kRight, 0},
                       {"spread % (df)", kRight, 0},
                       {"known % (df)", kRight, 0},
                       {"finds %", kRight, 0},
                       {"ceilings", kLeft, 1}}};
  for (const FleetResource& resource : fleet.resources) {
    std::vector<std::string> ceilings;
    for (const std::string& name : resource.ceilings) ceilings.push_back(name.substr(name.find('/') + 1));
    table.add_row({std::string{to_string(resource.resource)}, fmt::format("{}", resource.machines),
                   fmt::format("{:.2f} ({:.0f})", kPercent * resource.spread, resource.degrees_of_freedom),
                   known_text(resource), fmt::format("{:.1f}", kPercent * resource.detectable), join(ceilings, " ")});
  }
  return table;
}

Json state_to_json(const Fleet& fleet, const FleetResource& resource, std::size_t machine) {
  const BaselineState& state = resource.states[machine].value();
  Json json;
  json["machine"] = fleet.machines[machine].name;
  json["change"] = state.change;
  json["score"] = state.score;
  json["verdict"] = state.is_slow ? "slow" : state.is_fast ? "fast" : "usual";
  return json;
}

Json resource_to_json(const Fleet& fleet, const FleetResource& resource) {
  Json json;
  json["resource"] = std::string{to_string(resource.resource)};
  json["spread"] = resource.spread;
  json["degrees_of_freedom"] = resource.degrees_of_freedom;
  json["ceilings"] = resource.ceilings;
  json["detectable"] = resource.detectable;
  if (resource.known) {
    json["known"] = {{"spread", resource.known->standard_deviation},
                     {"degrees_of_freedom", resource.known->degrees_of_freedom},
                     {"contradicted", resource.known_rejected}};
  }
  Json machines = Json::array();
  for (std::size_t i = 0; i < fleet.machines.size(); ++i) {
    if (resource.states[i]) machines.push_back(state_to_json(fleet, resource, i));
  }
  json["machines"] = std::move(machines);
  return json;
}

ResourceDispersion known_of(const std::string& gpu, const Json& json) {
  const std::optional<Resource> resource = parse_enum<Resource>(json.at("resource").get<std::string>());
  const stats::DispersionPrior spread{.standard_deviation = json.at("spread").get<double>(),
                                      .degrees_of_freedom = json.at("degrees_of_freedom").get<double>()};
  if (!resource || !(spread.standard_deviation > 0) || !(spread.degrees_of_freedom > 0)) {
    throw std::runtime_error{"a resource without a name, a spread and degrees of freedom that are known"};
  }
  return {.gpu = gpu, .resource = *resource, .spread = spread};
}

}  // namespace

std::string fleet_summary(const Fleet& fleet) {
  std::vector<std::string> slow;
  for (std::size_t i = 0; i < fleet.machines.size(); ++i) {
    std::vector<std::string> where;
    for (const FleetResource& resource : fleet.resources) {
      const std::optional<BaselineState>& state = resource.states[i];
      if (state && state->is_slow) where.emplace_back(to_string(resource.resource));
    }
    if (!where.empty())
      slow.push_back(fmt::format("{} slow in {}", short_name(fleet, fleet.machines[i].name), join(where, ", ")));
  }
  return fmt::format("{} machines: {}", fleet.machines.size(), slow.empty() ? "none slow" : join(slow, "; "));
}

std::string fleet_page(const Fleet& fleet, const render::PageOptions& options) {
  constexpr std::size_t kLabelWidth = 12;
  render::Page page{options, fleet_summary(fleet), kLabelWidth};
  page.line("GPU", fleet.gpu);
  page.line("rates", "% from the mean of the others (in standard errors); SLOW and fast are beyond chance");
  page.line("false alarms", fmt::format("SLOW in at most {:.4g} % of fleets of sound GPUs, over all resources",
                                        kPercent * fleet.false_alarms));
  page.table(machine_table(fleet), [](const std::string& line) {
    return line.find("SLOW") != std::string::npos ? fmt::format("{}{}{}", render::kRed, line, render::kPlain) : line;
  });
  page.table(resource_table(fleet));
  page.list("differences", fleet.warnings);
  return std::move(page).take();
}

results::Conclusion fleet_conclusion(const Fleet& fleet) {
  results::Conclusion conclusion{.outcome = has_slow(fleet) ? "SLOW" : "SOUND", .why = {}};
  for (const FleetResource& resource : fleet.resources) {
    for (std::size_t i = 0; i < resource.states.size(); ++i) {
      const std::optional<BaselineState>& state = resource.states[i];
      if (!state || !state->is_slow) continue;
      conclusion.why.push_back(fmt::format("{} is {:.2f} % slower than the others in {}, {:.1f} standard errors",
                                           fleet.machines[i].name, -kPercent * state->change,
                                           to_string(resource.resource), -state->score));
    }
  }
  if (!conclusion.why.empty()) {
    conclusion.next = "transformer_bench --benchmark_filter='^Ceiling/' --benchmark_out=again.json.gz";
    return conclusion;
  }
  for (const FleetResource& resource : fleet.resources) {
    conclusion.why.push_back(
        fmt::format("no GPU of {} is slow in {}; one slower by {:.1f} % is found nine times in ten", resource.machines,
                    to_string(resource.resource), kPercent * resource.detectable));
  }
  return conclusion;
}

Json fleet_to_json(const Fleet& fleet) {
  Json json;
  json["gpu"] = fleet.gpu;
  json["summary"] = fleet_summary(fleet);
  json["false_alarms"] = fleet.false_alarms;
  json["machines"] = Json::array();
  for (const Machine& machine : fleet.machines) {
    Json one;
    one["machine"] = machine.name;
    one["files"] = machine.files;
    json["machines"].push_back(std::move(one));
  }
  json["resources"] = Json::array();
  for (const FleetResource& resource : fleet.resources) json["resources"].push_back(resource_to_json(fleet, resource));
  json["warnings"] = fleet.warnings;
  return results::concluded("fleet", fleet_conclusion(fleet), std::move(json));
}

std::vector<ResourceDispersion> read_known_spreads(const std::string& path) {
  constexpr const char* kRemedy = "give what 'tbench fleet --json' printed of sound GPUs";
  std::vector<ResourceDispersion> known;
  const std::string text = results::read_text(path);
  try {
    const Json json = results::parse_json(text);
    for (const Json& resource : json.at("resources"))
      known.push_back(known_of(json.at("gpu").get<std::string>(), resource));
  } catch (const std::exception& error) {
    results::refuse_file(path, fmt::format("no fleet's JSON: {}", error.what()), kRemedy);
  }
  return known;
}

}  // namespace tbench::compare
