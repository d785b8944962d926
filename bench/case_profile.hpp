// The whole traces of --tb_profile=DIR: a folder a case, which `tbench profile` reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tbench/core/case_id.hpp"
#include "tbench/profile/trace.hpp"

namespace tbench::bench {

/// Makes the folder where there is none, and looks whether it can be written.
/// @throws  UsageError  naming the flag, the folder and the problem
void make_profile_root(const std::string& root);

/// The case's name as that of a folder: `Model/size:small` is `Model_size=small`.
[[nodiscard]] std::string profile_folder_name(const CaseId& id);

/// Writes the traced steps of one case.
class CaseProfile {
 public:
  /// @param root  of make_profile_root
  /// @param gpu   its name
  CaseProfile(const std::string& root, const CaseId& id, std::string gpu);

  /// Replaces what an earlier run, or an earlier repetition, left there. What goes wrong does not end the case, whose
  /// times are taken: problem() tells it.
  /// @param trace  of cut_steps
  void write(const profile::Trace& trace, std::int64_t steps);
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }

 private:
  std::string folder_;
  std::string case_name_;
  std::string gpu_;
  std::optional<std::string> problem_;
};

}  // namespace tbench::bench
