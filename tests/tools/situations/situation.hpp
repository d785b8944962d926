// A situation that the output of `--json` must explain: how its input is made, the command, and the expected document.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "support/sample_results.hpp"

namespace tbench::tool {

/// A folder in which commands run as a user would run them. `tbench` and `transformer_bench` are on the path, and BASE,
/// NEW, GOOD and PINNED hold builds of transformer_bench. Each build is fake_bench behind a check of its flags: a flag
/// that bench/cli/options.cpp does not declare ends it with status 2. It writes a profile or traced results if the
/// flags ask for them. `fake_bench` is the same program without the check.
class Sandbox {
 public:
  Sandbox();

  struct Result {
    int exit_status{};
    std::string out;
    std::string err;
  };
  [[nodiscard]] Result run(const std::string& command) const;
  /// @throws  std::runtime_error  if the command ends with another status than 0
  void prepare(const std::string& command) const;

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  support::TemporaryFolder folder_;
};

struct Situation {
  std::string name;  // letters and digits
  std::function<void(const Sandbox&)> prepare;
  std::string command;  // for the shell, run in the sandbox
  int exit_status{};
  std::string kind;  // kind of the document
  std::string outcome;
  std::vector<std::string> why;  // texts that the sentences must contain
  std::string next;              // expected next command; empty: null
};

/// Prints the situation in messages of GoogleTest.
inline void PrintTo(const Situation& situation, std::ostream* out) { *out << situation.command; }

[[nodiscard]] std::vector<Situation> diff_situations();
[[nodiscard]] std::vector<Situation> fleet_situations();
[[nodiscard]] std::vector<Situation> gate_situations();
[[nodiscard]] std::vector<Situation> history_situations();
[[nodiscard]] std::vector<Situation> report_situations();
[[nodiscard]] std::vector<Situation> profile_situations();

}  // namespace tbench::tool
