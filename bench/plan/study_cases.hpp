// The cases of the studies of --tb_study, and the protocol of each case.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/cli/options.hpp"
#include "tbench/core/case_id.hpp"
#include "tbench/core/case_table.hpp"
#include "tbench/studies/study.hpp"

namespace tbench::bench {

/// The protocol of each case of a run of studies, by name.
using StudyProtocols = std::map<std::string, studies::StudyProtocol>;

struct StudyCases {
  std::vector<CaseId> cases;  // each once, in the order of the studies
  StudyProtocols protocols;
  std::vector<CaseId> ceilings;  // those of Study::beside, each once
};

/// Expands the studies of --tb_study.
/// @throws  UsageError  for a study whose cases need several ranks, if the families are for one process; for a case to
///                      which two studies give different counts of steps, unless the options give the counts; and as
///                      expand() does
[[nodiscard]] StudyCases study_cases(std::span<const FamilySpec> families, const Options& options, bool has_gpu);

/// Returns the protocol of the case, or one without counts if no study has the case.
[[nodiscard]] studies::StudyProtocol protocol_of(const StudyProtocols& protocols, const CaseId& id);

/// Returns the protocol that all cases share apart from traces, or one without counts if they do not share one.
[[nodiscard]] studies::StudyProtocol common_protocol(const StudyProtocols& protocols);

}  // namespace tbench::bench
