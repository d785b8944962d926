#include "tbench/report/report_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sample_results.hpp"
#include "tbench/core/error.hpp"

namespace tbench::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string error_of(const ReportOptions& options) {
  try {
    static_cast<void>(report_page(golden_file(), options));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(EnvironmentHeader, TellsWhereAndWithWhat) {
  EXPECT_EQ(environment_header(golden_file(), false),
            "GPU           NVIDIA H200\n"
            "driver        580.159\n"
            "LibTorch      2.11.0\n"
            "clock policy  default\n"
            "date          2026-01-02T03:04:05+00:00\n"
            "build         Release 0123456789ab\n"
            "run           interrupted\n");
  EXPECT_EQ(environment_header(golden_file(), true),
            "GPU NVIDIA H200, driver 580.159, LibTorch 2.11.0, clock policy default, date 2026-01-02T03:04:05+00:00, "
            "build Release 0123456789ab, run interrupted\n");
  ResultFile file;
  file.environment = cpu_environment();
  EXPECT_THAT(environment_header(file, false), HasSubstr("CPU       Example CPU, 16 cores\n"));
}

TEST(ReportPage, HasATableForEachFamily) {
  const std::string page = report_page(golden_file(), {});
  EXPECT_THAT(page, HasSubstr("GPU           NVIDIA H200\n"));
  EXPECT_THAT(page, HasSubstr("\nModel, batch:4 precision:bf16\nsize   ctx   pass        impl   repetition  status"));
  EXPECT_THAT(page, HasSubstr("out of memory: 8589934592 bytes asked for\n"));
  EXPECT_THAT(page, HasSubstr("\nGemm, m:4096 precision:tf32\n"));
}

TEST(ReportPage, FiltersByName) {
  ReportOptions options;
  options.filter = "impl:sdpa$|^Gemm";
  const std::string page = report_page(golden_file(), options);
  EXPECT_THAT(page, AllOf(HasSubstr("impl:sdpa"), HasSubstr("Gemm"), Not(HasSubstr("out of memory"))));
}

TEST(ReportPage, PivotsFamiliesThatHaveTheKey) {
  ReportOptions options;
  options.markdown = true;
  options.environment = false;
  options.pivot = {"impl"};
  const std::string page = report_page(golden_file(), options);
  EXPECT_EQ(page,
            "**Model, batch:4 precision:bf16, median ms (* unstable or throttled)**\n\n"
            "| size | ctx | pass | impl:sdpa | impl:eager |\n"
            "| --- | --- | --- | ---: | ---: |\n"
            "| small | 512 | train_step | 25.31 |  |\n"
            "| 2.7B | 1024 | train_step |  | OOM |\n"
            "| small | 512 | forward |  | 12.00* |\n"
            "\n"
            "**Gemm, m:4096 precision:tf32**\n\n"
            "| status | median ms | ±% | tokens/s | TFLOP/s | MFU % | peak GiB | n |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
            "| ok | 0.5000 |  |  |  |  |  | 3 |\n"
            "\n**Attention, seq_len:64 pass:forward**\n\n"
            "| status | median ms | ±% | tokens/s | TFLOP/s | MFU % | peak GiB | n | note |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
            "| ok | 0.004250 |  |  |  |  |  | 3 | under 10 us: resolution limited |\n");
}

TEST(ReportPage, RefusesWhatMakesNoSense) {
  ReportOptions options;
  options.filter = "impl:(sdpa";
  EXPECT_THAT(error_of(options), AllOf(HasSubstr("--filter"), HasSubstr("'impl:(sdpa'"), HasSubstr("not a regular")));
  options.filter = "impl:fused";
  EXPECT_THAT(error_of(options), AllOf(HasSubstr("no case of 6 matches 'impl:fused'"), HasSubstr("Model/size:small")));
  options.filter = "";
  options.pivot = {"imp"};
  EXPECT_THAT(error_of(options), AllOf(HasSubstr("no case has the key 'imp'"), HasSubstr("did you mean 'impl'?"),
                                       HasSubstr("size, ctx, batch, pass, precision, impl, m")));
}

TEST(ReportPage, SaysThatThereAreNoCases) {
  ResultFile file = golden_file();
  file.records.clear();
  EXPECT_THAT(report_page(file, {}), HasSubstr("No cases.\n"));
}

}  // namespace
}  // namespace tbench::report
