// An export of Nsight Systems (`nsys export --type=sqlite`) as a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tbench/profile/trace.hpp"

namespace tbench::profile {

struct NsysExport {
  Trace trace;
  std::string schema_version;     // version of the export, e.g. `3.13.1`; empty if not recorded
  bool is_known_schema{true};     // false: newer than the versions that this reader was written for
  std::vector<std::string> gpus;  // their names, each once
  std::int64_t dropped_rows{};    // invalid rows, for instance rows that end before they begin
  /// The report next to the export, if the report is newer, `'a.nsys-rep' beside it, by 0.1 s`: it may be of another
  /// run.
  std::string newer_report;
};

/// Reads the exports of nsys 2023 to 2026, and older ones as far as their tables go; any table but the GPU's tables may
/// be missing. Takes about 100 bytes per row of the tables that are read, whatever the file's size.
/// @throws  results::CorrectableError  naming the file, the problem and the remedy: it cannot be read, is empty, no
///                                     database, damaged, written by another program, or has no operation of a GPU
[[nodiscard]] NsysExport read_nsys_export(const std::string& path);

}  // namespace tbench::profile
