// Files of known spreads.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "tbench/compare/known_spreads.hpp"
#include "tbench/core/error.hpp"
#include "tbench/results/json_fields.hpp"
#include "tbench/results/json_text.hpp"
#include "tbench/results/result_file.hpp"
#include "tbench/results/result_json.hpp"

namespace tbench::compare {

/// A class, or a case if `name` is not empty, as in the file.
struct SpreadRow {
  std::string name;
  std::string of;
  std::string apart;
  double limit{};
  std::int64_t pairs{};
  std::int64_t cells{};
  std::string borrowed;
};

struct SpreadFile {
  std::string schema{kSpreadSchema};
  std::vector<std::string> gpus;
  std::string excluded;
  std::vector<SpreadRow> classes;
  std::vector<SpreadRow> cases;
  std::vector<SpreadSample> samples;
};

// The following functions are not in an unnamed namespace, because json_fields.hpp finds them through the namespace of
// their arguments.
static void fields(auto& io, results::Like<SpreadRow> auto& row) {
  io.text_unless_empty("case", row.name);
  io.field("class", row.of);
  io.field("apart", row.apart);
  io.field("limit", row.limit);
  io.field("pairs", row.pairs);
  io.field("cells", row.cells);
  io.text_unless_empty("borrowed", row.borrowed);
}

static void fields(auto& io, results::Like<SpreadSample> auto& sample) {
  io.field("case", sample.key);
  io.field("gpu", sample.gpu);
  io.field("uuid", sample.uuid);
  io.field("build", sample.build);
  io.field("way", sample.way);
  io.field("stock", sample.is_stock);
  io.name("regime", sample.facts.regime, &parse_enum<Regime>);
  io.field("time_s", sample.facts.time);
  io.field("device_time_s", sample.device_time);
  io.field("graph", sample.facts.is_graph);
  io.field("host_bound", sample.facts.host_bound);
  io.field("at_power_limit", sample.facts.at_power_limit);
}

static void fields(auto& io, results::Like<SpreadFile> auto& file) {
  io.field("schema", file.schema);
  io.field("gpus", file.gpus);
  io.text_unless_empty("excluded", file.excluded);
  io.field("classes", file.classes);
  io.field("cases", file.cases);
  io.field("processes", file.samples);
}

namespace {

constexpr const char* kRemedy = "Write it again with 'tbench spreads RESULTS... -o FILE'.";

SpreadRow row_of(const std::string& name, SpreadClass of, Apart apart, const KnownDispersion& spread) {
  return {.name = name,
          .of = std::string{tbench::to_string(of)},
          .apart = std::string{tbench::to_string(apart)},
          .limit = spread.limit,
          .pairs = spread.pairs,
          .cells = spread.cells,
          .borrowed = spread.borrowed};
}

/// Parses the name of an enumerator.
/// @throws  std::runtime_error  if the name is unknown; the message has it
template <class Enum>
Enum known(const std::string& text, const char* what) {
  if (const std::optional<Enum> value = parse_enum<Enum>(text)) return *value;
  throw std::runtime_error{
      fmt::format("{}: unknown value '{}' (values: {})", what, text, fmt::join(EnumNames<Enum>::kNames, ", "))};
}

void add(KnownSpreads& spreads, const SpreadRow& row) {
  const auto of = known<SpreadClass>(row.of, "class");
  const auto apart = known<Apart>(row.apart, "apart");
  if (!(row.limit > 0)) throw std::runtime_error{fmt::format("limit: {} is not above 0", row.limit)};
  if (row.pairs < 0) throw std::runtime_error{fmt::format("pairs: {} is below 0", row.pairs)};
  if (row.cells < 0) throw std::runtime_error{fmt::format("cells: {} is below 0", row.cells)};
  const KnownDispersion spread{.limit = row.limit, .pairs = row.pairs, .cells = row.cells, .borrowed = row.borrowed};
  const bool is_new = row.name.empty()
                          ? spreads.classes.emplace(KnownSpreads::ClassKey{of, apart}, spread).second
                          : spreads.cases.emplace(KnownSpreads::CaseKey{row.name, of, apart}, spread).second;
  if (is_new) return;
  throw std::runtime_error{
      fmt::format("{}{}{} of {} is there twice", row.name, row.name.empty() ? "" : ": ", row.of, row.apart)};
}

/// Checks that the file is a spreads file of this version.
/// @throws  std::runtime_error  if it is not; the message names the problem
void check_schema(const results::Json& json) {
  const auto schema = json.is_object() ? json.find("schema") : json.end();
  if (!json.is_object() || schema == json.end() || !schema->is_string()) {
    throw std::runtime_error{fmt::format("it is not a spreads file (schema {})", kSpreadSchema)};
  }
  const auto text = schema->get<std::string>();
  if (text != kSpreadSchema) throw std::runtime_error{fmt::format("schema '{}' is not '{}'", text, kSpreadSchema)};
}

}  // namespace

results::Json spreads_to_json(const KnownSpreads& spreads) {
  SpreadFile file{.gpus = spreads.gpus, .excluded = spreads.excluded, .classes = {}, .cases = {}, .samples = {}};
  for (const auto& [key, spread] : spreads.classes) {
    file.classes.push_back(row_of("", key.first, key.second, spread));
  }
  for (const auto& [key, spread] : spreads.cases) {
    const auto& [name, of, apart] = key;
    file.cases.push_back(row_of(name, of, apart, spread));
  }
  file.samples = spreads.samples;
  return results::to_object(file, "spreads");
}

KnownSpreads parse_spreads(std::string_view text, const std::string& name) {
  try {
    const results::Json json = results::parse_json(text);
    check_schema(json);
    auto file = results::from_object<SpreadFile>(json, "spreads");
    KnownSpreads spreads;
    spreads.gpus = std::move(file.gpus);
    spreads.excluded = std::move(file.excluded);
    spreads.samples = std::move(file.samples);
    for (const std::vector<SpreadRow>* rows : {&file.classes, &file.cases}) {
      for (const SpreadRow& row : *rows) add(spreads, row);
    }
    return spreads;
  } catch (const results::Json::parse_error& error) {
    throw UsageError{fmt::format("'{}': it is not JSON ({}). {}", name, error.what(), kRemedy)};
  } catch (const std::runtime_error& error) {
    throw UsageError{fmt::format("'{}': {}. {}", name, error.what(), kRemedy)};
  }
}

KnownSpreads read_spreads(const std::string& path) { return parse_spreads(results::read_text(path), path); }

}  // namespace tbench::compare
