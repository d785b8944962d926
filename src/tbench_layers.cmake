# Layers that tbench links and transformer_bench does not: src/CMakeLists.txt counts for the digest of the benchmark's
# sources, this file does not.
tbench_layer(
  sqlite
  SOURCES sqlite/sqlite.cpp
  PUBLIC tbench::core SQLite3::SQLite3
  PRIVATE fmt::fmt)
tbench_layer(
  compare
  SOURCES compare/case_comparison.cpp
          compare/comparability.cpp
          compare/comparison.cpp
          compare/comparison_commands.cpp
          compare/comparison_conclusion.cpp
          compare/comparison_export.cpp
          compare/comparison_input.cpp
          compare/comparison_page.cpp
  PUBLIC tbench::core tbench::stats tbench::results
  PRIVATE tbench::render fmt::fmt Threads::Threads)
tbench_layer(
  fleet
  SOURCES fleet/fleet.cpp fleet/fleet_output.cpp fleet/kinds.cpp fleet/merge.cpp
  PUBLIC tbench::core tbench::stats tbench::results tbench::compare
  PRIVATE tbench::render fmt::fmt)
tbench_layer(
  history
  SOURCES history/history.cpp
          history/history_database.cpp
          history/history_judgement.cpp
          history/measured_run.cpp
          history/series.cpp
          history/series_conclusion.cpp
          history/series_page.cpp
  PUBLIC tbench::core tbench::stats tbench::results tbench::compare
  PRIVATE tbench::render tbench::sqlite fmt::fmt OpenSSL::Crypto)
tbench_layer(
  gate
  SOURCES gate/gate.cpp
          gate/gate_conclusion.cpp
          gate/gate_confirmation.cpp
          gate/gate_machine.cpp
          gate/gate_output.cpp
          gate/gate_pool.cpp
          gate/gate_reference.cpp
          gate/gate_report.cpp
          gate/gate_screen.cpp
  PUBLIC tbench::core tbench::compare tbench::history
  PRIVATE tbench::results tbench::render tbench::stats fmt::fmt)
