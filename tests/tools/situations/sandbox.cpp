#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "profile/nsys_samples.hpp"
#include "profile/trace_samples.hpp"
#include "situation.hpp"
#include "support/child_process.hpp"
#include "support/sample_results.hpp"
#include "tbench/profile/trace_file.hpp"
#include "tbench/results/result_file.hpp"

namespace tbench::tool {
namespace {

namespace fs = std::filesystem;

/// The shell expands ${...}. {0} is the sandbox, {1} is the source that declares the flags, and {2} is the program that
/// measures.
constexpr const char* kBench = R"(#!/bin/sh
for word in "$@"; do
  case $word in
    --tb_profile=*) cp -r '{0}/samples/profile' "${{word#*=}}" ;;
    --tb_trace=on) traced=yes ;;
    --benchmark_out=*) out=${{word#*=}} ;;
  esac
  case $word in --*) grep -qF "\"${{word%%=*}}\"" '{1}' || {{ echo "unknown flag $word" >&2; exit 2; }} ;; esac
done
if [ -n "$traced" ]; then cp '{0}/samples/traced.json' "$out"; else exec '{2}' "$@"; fi
)";

/// A fake nsys. Only `nsys export` writes a file.
constexpr const char* kNsys = R"(#!/bin/sh
[ "$1" != export ] || cp '{0}/samples/export.sqlite' step.sqlite
)";

void write_program(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path{path}.parent_path());
  support::write_text(path, text);
  fs::permissions(path, fs::perms::owner_all);
}

}  // namespace

Sandbox::Sandbox() {
  fs::create_directories(file("bin"));
  fs::create_directories(file("samples/profile"));
  profile::write_trace_file(file("samples/profile/trace.json.gz"), profile::one_step());
  profile::write_one_step(file("samples/export.sqlite"), profile::kNsysVersions[2]);
  results::write_result_file(file("samples/traced.json"), support::golden_file());
  fs::create_symlink(TBENCH_TOOL, file("bin/tbench"));
  fs::create_symlink(TBENCH_FAKE_BENCH, file("bin/fake_bench"));
  write_program(file("bin/nsys"), fmt::format(kNsys, folder_.path()));
  write_program(file("bin/git"), "#!/bin/sh\n[ \"$1 $2\" = 'log --oneline' ]\n");
  const std::string bench =
      fmt::format(kBench, folder_.path(), TBENCH_SOURCE_DIR "/bench/cli/options.cpp", TBENCH_FAKE_BENCH);
  for (const char* folder : {"bin", "BASE", "NEW", "GOOD", "PINNED"}) {
    write_program(file(std::string{folder} + "/transformer_bench"), bench);
  }
  fs::create_symlink("bin/transformer_bench", file("transformer_bench"));
}

Sandbox::Result Sandbox::run(const std::string& command) const {
  const support::ChildResult result = support::run_child(
      {"/bin/sh", "-c", fmt::format("cd '{0}' && PATH='{0}/bin':\"$PATH\" && {1}", folder_.path(), command)});
  return {.exit_status = result.exit_status, .out = result.out, .err = result.err};
}

void Sandbox::prepare(const std::string& command) const {
  const Result result = run(command);
  if (result.exit_status == 0) return;
  throw std::runtime_error{fmt::format("{}: status {}: {}", command, result.exit_status, result.err)};
}

}  // namespace tbench::tool
