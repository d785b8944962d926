// Reads an export of Nsight Systems (`nsys export --type=sqlite`) as a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

struct NsysExport {
  Trace trace;
  std::string schema_version;     // version of the export, e.g. `3.13.1`; empty if not recorded
  bool is_known_schema{true};     // false if the schema is newer than the versions that this reader was written for
  std::vector<std::string> gpus;  // their names, each once
  std::int64_t dropped_rows{};    // invalid rows, for instance rows that end before they begin
  /// Set if the report next to the export is newer, so that the export may be from another run:
  /// `'a.nsys-rep' beside it, by 0.1 s`.
  std::string newer_report;
};

/// Reads an export of nsys 2023 to 2026, or an older one as far as its tables allow. All tables except the GPU's may be
/// missing. Uses about 100 bytes of memory per row of the tables that are read, for any file size.
/// @throws  results::CorrectableError  naming the file, the problem and the remedy, if the file cannot be read, is
///                                     empty, is not a database, is damaged, is from another program, or has no GPU
///                                     operation
[[nodiscard]] NsysExport read_nsys_export(const std::string& path);

}  // namespace tbench::profile
