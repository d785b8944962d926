#include "bench/explain/explain_cases.hpp"

#include <fmt/format.h>

#include "bench/explain/explain.hpp"
#include "bench/plan/selection.hpp"

namespace tbench::bench {

void explain_cases(const std::vector<Family>& families, Options options) {
  const ExplainedDevice device = explained_device(options.explain);
  if (!options.suite && options.study.empty()) options.suite = Suite::kFull;
  const Selection selection = select_cases(specs_of(families), options, /*has_gpu=*/true);
  const std::vector<ModelSize> sizes = known_model_sizes(options.sizes);
  for (const CaseId& id : selection.cases) fmt::print("{}", explanation_of(id, device, sizes));
}

}  // namespace tbench::bench
