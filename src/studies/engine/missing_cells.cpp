#include "studies/engine/study_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "tbench/core/text.hpp"

namespace tbench::studies {
namespace {

using Values = std::set<std::string>;

/// The set of all combinations of some values of each key.
struct Box {
  std::string family;
  std::vector<std::pair<std::string, Values>> keys;
};

Box box_of(const CaseId& id) {
  Box box{id.family(), {}};
  for (const auto& [key, value] : id.parameters()) box.keys.emplace_back(key, Values{value});
  return box;
}

/// Returns a text that identifies the box except for the values of the key at `index`. It is equal for boxes that
/// differ only in these values.
std::string rest_of(const Box& box, std::size_t index) {
  std::string rest = box.family;
  for (std::size_t i = 0; i < box.keys.size(); ++i) {
    rest += fmt::format("\n{}", box.keys[i].first);
    if (i == index) continue;
    for (const std::string& value : box.keys[i].second) rest += fmt::format("\t{}", value);
  }
  return rest;
}

std::vector<Box> merged_along(std::vector<Box> boxes, std::size_t index) {
  std::vector<Box> merged;
  std::map<std::string, std::size_t> place;
  for (Box& box : boxes) {
    const auto [found, is_new] = place.emplace(rest_of(box, index), merged.size());
    if (is_new || index >= box.keys.size()) {
      merged.push_back(std::move(box));
    } else {
      merged[found->second].keys[index].second.merge(box.keys[index].second);
    }
  }
  return merged;
}

/// Merges the boxes along each key, in the order of `keys`, until none can be merged.
std::vector<Box> merged_until_final(std::vector<Box> boxes, const std::vector<std::size_t>& keys) {
  for (std::size_t before = boxes.size() + 1; boxes.size() < before;) {
    before = boxes.size();
    for (const std::size_t index : keys) boxes = merged_along(std::move(boxes), index);
  }
  return boxes;
}

/// Combines the cases into few boxes. Boxes are merged along the last key first, so that a complete row of a study's
/// table becomes one box, or along the first key first if that gives fewer.
std::vector<Box> boxes_of(std::span<const CaseId> cases) {
  std::vector<Box> boxes;
  std::size_t keys = 0;
  for (const CaseId& id : cases) {
    boxes.push_back(box_of(id));
    keys = std::max(keys, id.parameters().size());
  }
  std::vector<std::size_t> order(keys);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  std::vector<Box> last_first = merged_until_final(boxes, order);
  std::ranges::reverse(order);
  std::vector<Box> first_first = merged_until_final(std::move(boxes), order);
  return first_first.size() < last_first.size() ? first_first : last_first;
}

bool holds(const Box& box, const CaseId& id) {
  if (box.family != id.family() || box.keys.size() != id.parameters().size()) return false;
  for (std::size_t i = 0; i < box.keys.size(); ++i) {
    const auto& [key, value] = id.parameters()[i];
    if (key != box.keys[i].first || !box.keys[i].second.contains(value)) return false;
  }
  return true;
}

/// Returns the values of the key at `index` in the study's cases, in their order.
std::vector<std::string> values_at(std::span<const CaseId> all, std::size_t index) {
  std::vector<std::string> values;
  for (const CaseId& id : all) {
    if (index >= id.parameters().size()) continue;
    const std::string& value = id.parameters()[index].second;
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
  }
  return values;
}

std::string alternatives(const std::vector<std::string>& ordered, const Values& chosen) {
  std::string text;
  for (const std::string& value : ordered) {
    if (chosen.contains(value)) text += (text.empty() ? "" : "|") + escape_regex(value);
  }
  return chosen.size() == 1 ? text : "(" + text + ")";
}

/// Returns whether a filter that names only the `named` keys selects cases of the study outside the box.
bool selects_others(const Box& box, const std::vector<bool>& named, std::span<const CaseId> all) {
  return std::ranges::any_of(all, [&](const CaseId& id) {
    for (std::size_t i = 0; i < box.keys.size() && i < id.parameters().size(); ++i) {
      if (named[i] && !box.keys[i].second.contains(id.parameters()[i].second)) return false;
    }
    return !holds(box, id);
  });
}

/// Returns the filter of a box. It names only the keys that distinguish the box from other cases of the study, or the
/// family and all keys if a shorter filter would select other cases too.
std::string filter_of(const Box& box, std::span<const CaseId> all) {
  std::vector<std::vector<std::string>> values;
  std::vector<bool> named;
  for (std::size_t i = 0; i < box.keys.size(); ++i) {
    values.push_back(values_at(all, i));
    named.push_back(values.back().size() != box.keys[i].second.size());
  }
  const bool needs_all = selects_others(box, named, all);
  if (needs_all) named.assign(box.keys.size(), true);
  std::string filter = needs_all ? fmt::format("^{}/", escape_regex(box.family)) : "";
  bool follows_named = needs_all;
  for (std::size_t i = 0; i < box.keys.size(); ++i) {
    if (named[i]) {
      if (!follows_named) filter += filter.empty() ? "/" : ".*/";
      filter += fmt::format("{}:{}{}", box.keys[i].first, alternatives(values[i], box.keys[i].second),
                            i + 1 == box.keys.size() ? "$" : "/");
    }
    follows_named = named[i];
  }
  return filter;
}

/// Returns the values in words: `fp32,bf16`, or `128 to 1024` for three neighbouring numbers or more.
/// @param all  all values of the key, in their order
std::string values_text(const std::vector<std::string>& own, const std::vector<std::string>& all) {
  constexpr std::size_t kRange = 3;
  const bool are_numbers =
      std::ranges::all_of(own, [](const std::string& value) { return parse_integer(value).has_value(); });
  const bool are_neighbours = !std::ranges::search(all, own).empty();
  if (own.size() < kRange || !are_numbers || !are_neighbours) return join(own, ",");
  return fmt::format("{} to {}", own.front(), own.back());
}

/// Returns a description of the box: its family, the keys that distinguish it from other cases, and its number of
/// cases.
std::string text_of(const Box& box, std::span<const CaseId> of_all_families) {
  std::vector<CaseId> all;
  std::ranges::copy_if(of_all_families, std::back_inserter(all),
                       [&](const CaseId& id) { return id.family() == box.family; });
  std::string text = box.family;
  for (std::size_t i = 0; i < box.keys.size(); ++i) {
    const auto& [key, chosen] = box.keys[i];
    const std::vector<std::string> ordered = values_at(all, i);
    if (ordered.size() == chosen.size()) continue;
    std::vector<std::string> own;
    std::ranges::copy_if(ordered, std::back_inserter(own), [&](const auto& value) { return chosen.contains(value); });
    text += fmt::format(" {}:{}", key, values_text(own, ordered));
  }
  const auto count = std::ranges::count_if(all, [&](const CaseId& id) { return holds(box, id); });
  return fmt::format("{} ({})", text, counted(count, "case"));
}

/// Returns the number of ranks of a case, as in MissingCells::gpus.
std::string ranks_of(const CaseId& id) {
  const std::string* const gpus = id.find("gpus");
  return gpus == nullptr ? "" : *gpus;
}

/// Returns the different numbers of ranks, in the order of the cases.
std::vector<std::string> runs_of(std::span<const CaseId> cases) {
  std::vector<std::string> runs;
  for (const CaseId& id : cases) {
    if (std::ranges::find(runs, ranks_of(id)) == runs.end()) runs.push_back(ranks_of(id));
  }
  return runs;
}

/// Returns whether some cases of the box load packages that were compiled ahead of time.
bool has_compiled(const Box& box) {
  return std::ranges::any_of(box.keys,
                             [](const auto& key) { return key.first == "impl" && key.second.contains("compiled"); });
}

std::vector<CaseId> of_ranks(std::span<const CaseId> cases, const std::string& gpus) {
  std::vector<CaseId> own;
  std::ranges::copy_if(cases, std::back_inserter(own), [&](const CaseId& id) { return ranks_of(id) == gpus; });
  return own;
}

}  // namespace

MissingCells missing_cells(std::span<const CaseId> all, std::span<const CaseId> missing) {
  MissingCells result;
  for (const std::string& gpus : runs_of(missing)) {
    const std::vector<CaseId> of_run = of_ranks(missing, gpus);
    const std::vector<CaseId> all_of_run = of_ranks(all, gpus);
    for (const Box& box : boxes_of(of_run)) {
      for (const CaseId& id : of_run) {
        if (holds(box, id)) result.filter_of.emplace(id.name(), result.filters.size());
      }
      result.filters.push_back(filter_of(box, all_of_run));
      result.gpus.push_back(gpus);
      result.packages.emplace_back(has_compiled(box) ? " --tb_packages=DIR" : "");
      result.texts.push_back(text_of(box, all_of_run));
    }
  }
  return result;
}

}  // namespace tbench::studies
