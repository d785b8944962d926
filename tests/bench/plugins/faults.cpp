// Plug-ins with one fault each: in the description, while loading or while running. TBENCH_FAULT selects it.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "plain_math.hpp"

namespace {

using namespace tbench::test;

constexpr std::string_view kFault = TBENCH_FAULT;

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours{1});
}

/// On the first call, starts a process in its own session whose parent has ended. Writes its number to the file that
/// the test names.
void leave_daemon() {
  static bool has_left = false;
  if (std::exchange(has_left, true)) return;
  const pid_t parent = fork();
  if (parent != 0) {
    waitpid(parent, nullptr, 0);
    return;
  }
  setsid();
  if (fork() != 0) _exit(0);
  std::ofstream{std::getenv("TBENCH_TEST_DAEMON")} << getpid() << std::endl;
  hang();
}

/// Writes on every pipe of the process, including the one for its results.
void write_on_pipes() {
  constexpr int kDescriptors = 256;
  constexpr std::string_view kWords = "the plug-in says something here";
  for (int descriptor = 0; descriptor < kDescriptors; ++descriptor) {
    struct stat about {};
    if (fstat(descriptor, &about) != 0 || !(S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))) continue;
    static_cast<void>(!::write(descriptor, kWords.data(), kWords.size()));
  }
}

__attribute__((constructor)) void when_loaded() {
  if constexpr (kFault == "crash_on_load") std::raise(SIGSEGV);
  if constexpr (kFault == "hang_on_load") hang();
}

const char* launch(const tbench_gemm_problem* problem, const tbench_gemm_arguments* in) {
  multiply(*problem, *in);
  if constexpr (kFault == "out_of_bounds") {
    constexpr std::int64_t kFarAway = std::int64_t{1} << 40;
    *static_cast<volatile float*>(write(in->y) + kFarAway) = 0;
  }
  if constexpr (kFault == "hang") hang();
  if constexpr (kFault == "throws") throw std::runtime_error{"thrown by the plug-in"};
  if constexpr (kFault == "leaves_daemon") leave_daemon();
  if constexpr (kFault == "writes_on_pipes") write_on_pipes();
  if constexpr (kFault == "prints") std::puts("{\"benchmarks\": []}");
  if constexpr (kFault == "talks") {
    static const std::string words(std::size_t{2} << 20, 'm');
    return words.c_str();
  }
  if constexpr (kFault == "fails") return "planted: the launch failed";
  if constexpr (kFault == "another_shape") {
    tbench_gemm_problem turned{
        .device = problem->device, .precision = problem->precision, .m = problem->n, .n = problem->m, .k = problem->k};
    tbench_gemm_arguments exchanged = *in;
    exchanged.x = in->w;
    exchanged.w = in->x;
    multiply(turned, exchanged);
  }
  return nullptr;
}

const char* unsupported(const tbench_gemm_problem*) {
  if constexpr (kFault == "crash_when_asked") std::raise(SIGSEGV);
  return nullptr;
}

constexpr const char* kOps[] = {kFault == "in_place_op" ? "adamw" : "rmsnrom", nullptr};
const tbench_kernel kKernel{
    .ops = kOps,
    .unsupported = nullptr,
    .workspace_bytes = nullptr,
    .saved_bytes = nullptr,
    .forward = [](const tbench_kernel_problem*, const tbench_kernel_arguments*) -> const char* { return nullptr; },
    .backward = nullptr};

const tbench_gemm kGemm{.unsupported = &unsupported,
                        .workspace_bytes = [](const tbench_gemm_problem*) -> std::int64_t {
                          return kFault == "negative_workspace" ? -5 : 0;
                        },
                        .launch = kFault == "null_function" ? nullptr : &launch};

constexpr const char* name() {
  if (kFault == "taken_name") return "aten";
  if (kFault == "bad_name") return "my kernel/1";
  return kFault == "null_name" ? nullptr : TBENCH_FAULT;
}

const tbench_plugin_description kDescription{
    .abi = kFault == "another_abi" ? TBENCH_PLUGIN_ABI + 1 : TBENCH_PLUGIN_ABI,
    .bytes = sizeof(tbench_plugin_description),
    .name = name(),
    .attention = nullptr,
    .gemm = kFault == "joins_nothing" ? nullptr : &kGemm,
    .kernel = kFault == "unknown_op" || kFault == "in_place_op" ? &kKernel : nullptr};

}  // namespace

#ifndef TBENCH_WITHOUT_SYMBOL
const tbench_plugin_description* tbench_plugin(void) { return kFault == "null_description" ? nullptr : &kDescription; }
#else
extern "C" TBENCH_EXPORT const void* another_symbol() { return &kDescription; }
#endif
