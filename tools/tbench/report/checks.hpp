// Checks of the command line of `tbench report`.
#pragma once

#include "report.hpp"

namespace tbench::tool {

/// Checks that the options for the kind of the table, its cells and its format go together.
/// @throws  UsageError  naming the option, the value and the remedy
void check_kind(const ReportArguments& arguments);

}  // namespace tbench::tool
