#include "bench/author/page.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bench/author/tools.hpp"
#include "tbench/core/error.hpp"
#include "tbench/process/command.hpp"
#include "tbench/studies/study_report.hpp"
#include "tbench/studies/writeup.hpp"

namespace tbench::bench {

void check_page(const Options& options) {
  if (options.page.empty() || find_tbench()) return;
  throw UsageError{fmt::format("--tb_page={}: needs the program tbench next to transformer_bench. Build or install it.",
                               options.page)};
}

void say_answer(const Options& options, const results::ResultFile& file) {
  if (options.study.empty() || options.json_on_stdout) return;
  const results::NamedResults results{.label = options.out, .file = file};
  const studies::Writeup writeup = studies::find_writeup(options.study, "--tb_study");
  for (const studies::Study& study : writeup.studies()) {
    if (!study.answer) continue;
    for (const std::string& answer : studies::study_report(study, {&results, 1}, {}).answers) {
      fmt::print("{}\n", answer);
    }
  }
}

int write_page(const Options& options, int status) {
  if (options.page.empty()) return status;
  std::vector<std::string> words{find_tbench().value(), "report", options.out, "-o", options.page};
  if (!options.study.empty()) words.insert(words.end(), {"--study", options.study});
  std::fflush(stdout);
  process::Command report{words, {.out = options.json_on_stdout ? STDERR_FILENO : STDOUT_FILENO}};
  const int failed = report.wait();
  if (failed == 0 && !options.json_on_stdout) fmt::print("page: {}\n", options.page);
  return status == kExitOk ? failed : status;
}

}  // namespace tbench::bench
