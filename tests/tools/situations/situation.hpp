// A situation that `--json` has to explain by itself: how its input is made, the command, and what the document says.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "support/sample_results.hpp"

namespace tbench::tool {

/// A folder in which commands are run as a user would run them: `tbench` and `transformer_bench` are on the path, BASE,
/// NEW, GOOD and PINNED hold builds of the latter. That is fake_bench behind a check of its flags: one that
/// bench/cli/options.cpp does not declare ends it with status 2. It leaves a profile or traced results where they are
/// asked for. `fake_bench` is that without the check.
class Sandbox {
 public:
  Sandbox();

  struct Result {
    int exit_status{};
    std::string out;
    std::string err;
  };
  [[nodiscard]] Result run(const std::string& command) const;
  /// @throws  std::runtime_error  unless it ends with status 0
  void prepare(const std::string& command) const;

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  support::TemporaryFolder folder_;
};

struct Situation {
  std::string name;  // letters and digits
  std::function<void(const Sandbox&)> prepare;
  std::string command;  // for the shell, in the sandbox
  int exit_status{};
  std::string kind;  // of the document
  std::string outcome;
  std::vector<std::string> why;  // what the sentences have to name
  std::string next;              // empty: null
};

/// For messages of GoogleTest.
inline void PrintTo(const Situation& situation, std::ostream* out) { *out << situation.command; }

[[nodiscard]] std::vector<Situation> diff_situations();
[[nodiscard]] std::vector<Situation> fleet_situations();
[[nodiscard]] std::vector<Situation> gate_situations();
[[nodiscard]] std::vector<Situation> history_situations();
[[nodiscard]] std::vector<Situation> report_situations();
[[nodiscard]] std::vector<Situation> profile_situations();

}  // namespace tbench::tool
