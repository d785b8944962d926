// What an export of Nsight Systems must be before its tables are read: a whole database, as new as its report.
#pragma once

#include <string>

namespace tbench::profile {

inline constexpr const char* kExportCommand = "nsys export --type=sqlite --force-overwrite=true";

/// @throws  UsageError  naming the file and the remedy: it cannot be read, is older than the report beside it, is
///                      empty, is no database, or was cut off
void check_nsys_file(const std::string& path);

}  // namespace tbench::profile
