#include "bench/run/stop_signals.hpp"

#include <csignal>

namespace tbench::bench {
namespace {

volatile std::sig_atomic_t stop_flag = 0;

extern "C" void on_stop_signal(int signal_number) {
  stop_flag = 1;
  std::signal(signal_number, SIG_DFL);
}

}  // namespace

void catch_stop_signals() {
  std::signal(SIGINT, on_stop_signal);
  std::signal(SIGTERM, on_stop_signal);
}

bool stop_signalled() { return stop_flag != 0; }

void request_stop() { stop_flag = 1; }

}  // namespace tbench::bench
