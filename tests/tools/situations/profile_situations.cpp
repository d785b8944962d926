// Situations of `tbench profile`: traces of one device with a few operations each.
#include <functional>
#include <string>
#include <vector>

#include "profile/nsys_samples.hpp"
#include "profile/trace_samples.hpp"
#include "situation.hpp"
#include "tbench/profile/trace_file.hpp"

namespace tbench::tool {
namespace {

using profile::TraceWriter;

std::function<void(const Sandbox&)> trace_of(const TraceWriter& writer) {
  return [writer](const Sandbox& sandbox) {
    profile::write_trace_file(sandbox.file("trace.json.gz"), TraceWriter{writer}.take());
  };
}

/// Returns a trace of two kernels. The host launches the second one `wait` after the first one has ended.
TraceWriter two_kernels(const std::string& name, std::int64_t wait) {
  return TraceWriter{}
      .range(0, 1000, "FORWARD")
      .call(1, 2, 1)
      .kernel(10, 50, 1, name)
      .call(20 + wait, 21 + wait, 2)
      .kernel(51 + wait, 90 + wait, 2, name);
}

const std::string kProfile = "tbench profile --json trace.json.gz";

}  // namespace

std::vector<Situation> profile_situations() {
  const std::string record_again =
      "nsys profile --trace=cuda,nvtx --cuda-graph-trace=node -o step COMMAND && nsys export --type=sqlite "
      "--force-overwrite=true -o step.sqlite step.nsys-rep && tbench nsys step.sqlite";
  return {
      {"ProfileOfADevice",
       trace_of(two_kernels("nvjet_a", 0)),
       kProfile,
       0,
       "profile",
       "DEVICE",
       {"device 0 idles in 1.2 %", "nvjet_a takes 100.0 % of the time"},
       "tbench profile trace.json.gz --table=top_kernels"},
      {"ProfileOfAHost",
       trace_of(two_kernels("nvjet_a", 200)),
       kProfile,
       0,
       "profile",
       "HOST",
       {"waits for the host in 71.8 %"},
       "tbench profile trace.json.gz --table=launches"},
      {"ProfileOfUnknownKernels",
       trace_of(two_kernels("mystery", 0)),
       kProfile,
       0,
       "profile",
       "UNCLASSIFIED",
       {"100.0 % of the time is of class other"},
       "tbench profile trace.json.gz --table=kernels --full-names --csv"},
      {"ProfileWithoutLaunches",
       [](const Sandbox& sandbox) {
         profile::write_one_step(sandbox.file("export.sqlite"), profile::kNsysVersions[2]);
       },
       "tbench nsys --json export.sqlite",
       0,
       "profile",
       "INCOMPLETE",
       {"1 of 8 operations have no call that launched them"},
       record_again},
      {"ProfileOfNothingCaptured",
       [](const Sandbox& sandbox) {
         profile::NsysWriter writer{sandbox.file("export.sqlite"), profile::kNsysVersions[2]};
         writer.make_tables();
         writer.range(0, 1000, "forward");
       },
       "tbench nsys --json export.sqlite",
       2,
       "error",
       "ERROR",
       {"holds no operation of a GPU (ranges: 1, CUDA calls: 0)", "--capture-range"},
       record_again},
      {"ProfileOfAReport",
       [](const Sandbox& sandbox) { sandbox.prepare("printf NVTS > step.nsys-rep"); },
       "tbench nsys --json step.nsys-rep",
       2,
       "error",
       "ERROR",
       {"is a report. First run 'nsys export"},
       "nsys export --type=sqlite --force-overwrite=true -o step.sqlite step.nsys-rep && tbench nsys step.sqlite"},
      {"ProfileOfSeveral",
       [](const Sandbox& sandbox) {
         trace_of(two_kernels("nvjet_a", 0))(sandbox);
         sandbox.prepare("mkdir a b && cp trace.json.gz a && cp trace.json.gz b");
       },
       "tbench profile --json a b",
       2,
       "error",
       "ERROR",
       {"takes one trace, and 2 are given"},
       "tbench profile --json a"},
      {"ProfileOfNothing",
       trace_of(TraceWriter{}.range(0, 10, "FORWARD")),
       kProfile,
       0,
       "profile",
       "EMPTY",
       {"no operation of a GPU"},
       ""},
  };
}

}  // namespace tbench::tool
