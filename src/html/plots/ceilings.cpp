#include "html/plots/ceilings.hpp"

#include <algorithm>

namespace tbench::html {
namespace {

constexpr double kTera = 1e-12;

}  // namespace

std::optional<double> rate(const PlotCase& of) { return of.counter("flop_per_second", kTera); }
std::optional<double> stream(const PlotCase& of) { return of.counter("bytes_per_second", kTera); }
bool is_ceiling(const PlotCase& of) { return of.record->id.family() == "Ceiling"; }

double ceiling_of(const PlotData& data, std::size_t file, const std::string& what, const ValueOf& value_of) {
  double best = 0;
  for (const PlotCase* one : data.cases()) {
    if (is_ceiling(*one) && one->file == file && one->value("what") == what) {
      best = std::max(best, value_of(*one).value_or(0));
    }
  }
  return best > 0 ? best : kNoCeiling;
}

}  // namespace tbench::html
