// Situations of `tbench fleet`: five GPUs of the same model. In one situation the fourth GPU is slower in a resource.
#include <functional>
#include <string>
#include <vector>

#include "situation.hpp"
#include "support/fleet_samples.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

std::function<void(const Sandbox&)> five_gpus(double slower) {
  return [slower](const Sandbox& sandbox) {
    for (int i = 0; i < 5; ++i) {
      results::NamedResults one = support::gpu_file(i, [i](const CaseId&) { return i % 2 == 0 ? 0.0005 : -0.0005; });
      if (i == 3 && slower > 0) support::slow_down(one, compare::Resource::kFloat32, slower);
      results::write_result_file(sandbox.file(one.label), one.file);
    }
  };
}

const std::string kFleet = "tbench fleet --json gpu0.json gpu1.json gpu2.json gpu3.json gpu4.json";

}  // namespace

std::vector<Situation> fleet_situations() {
  return {
      {"FleetSound",
       five_gpus(0),
       kFleet,
       0,
       "fleet",
       "SOUND",
       {"no GPU of 5 is slow in float32; one slower by ", " % is found nine times in ten"},
       ""},
      {"FleetSlow",
       five_gpus(0.1),
       kFleet,
       1,
       "fleet",
       "SLOW",
       {"GPU-10000003-0000 is ", " % slower than the others in float32"},
       "transformer_bench --benchmark_filter='^Ceiling/' --benchmark_out=again.json.gz"},
      {"FleetOfTwoModels",
       [](const Sandbox& sandbox) {
         five_gpus(0)(sandbox);
         sandbox.prepare("sed -i 's/NVIDIA H200/NVIDIA H100/' gpu0.json");
       },
       kFleet,
       3,
       "error",
       "NOT_COMPARABLE",
       {"NVIDIA H100"},
       "tbench fleet --help"},
  };
}

}  // namespace tbench::tool
