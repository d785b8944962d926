// Sentences about files, which begin with the name of one: `'a.json': the run was interrupted`.
#pragma once

#include <string>
#include <vector>

namespace tbench::compare {

/// Returns the sentences of both sides, in order. A sentence about several files occurs once:
/// `'b0.json' and 5 others: the run was interrupted`.
[[nodiscard]] std::vector<std::string> said_once(const std::vector<std::string>& of_base,
                                                 const std::vector<std::string>& of_next);

}  // namespace tbench::compare
