// Names that the field has for the values, keys and families of this program.
#pragma once

#include <string>
#include <vector>

namespace tbench {

/// Returns rows of names for one thing, in lower case and without separators. If several names of a row are among the
/// candidates of a suggestion, the first of them is suggested.
[[nodiscard]] const std::vector<std::vector<std::string>>& synonyms();

}  // namespace tbench
