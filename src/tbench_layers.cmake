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
          compare/comparison.cpp
          compare/comparison_commands.cpp
          compare/durations.cpp
          compare/fleet.cpp
          compare/fleet_output.cpp
          compare/input/case_values.cpp
          compare/input/comparability.cpp
          compare/input/copies.cpp
          compare/input/measuring_way.cpp
          compare/input/our_side.cpp
          compare/input/plain_context.cpp
          compare/input/plain_name.cpp
          compare/input/plain_row.cpp
          compare/input/plain_rows.cpp
          compare/input/plain_side.cpp
          compare/input/side_cases.cpp
          compare/input/sides.cpp
          compare/known_judgement.cpp
          compare/machine_check.cpp
          compare/merge.cpp
          compare/output/conclusion.cpp
          compare/output/console.cpp
          compare/output/counts.cpp
          compare/output/export.cpp
          compare/output/markdown.cpp
          compare/output/models.cpp
          compare/output/words.cpp
          compare/said_of_files.cpp
          compare/shard_parts.cpp
          compare/spreads/known_spreads.cpp
          compare/spreads/spread_cells.cpp
          compare/spreads/spread_classes.cpp
          compare/spreads/spread_collector.cpp
          compare/spreads/spread_file.cpp
          compare/spreads/spread_table.cpp
  PUBLIC tbench::core tbench::stats tbench::results
  PRIVATE tbench::render fmt::fmt Threads::Threads)
tbench_embed(
  tbench_compare
  NAMESPACE tbench::compare
  HEADER compare/spreads/spread_source.hpp
  FUNCTION spread_files
  FILES compare/known_spreads.json)
tbench_layer(
  history
  SOURCES history/history.cpp
          history/history_database.cpp
          history/history_expected.cpp
          history/history_judgement.cpp
          history/measured_run.cpp
          history/result_folder.cpp
          history/schema.cpp
          history/series.cpp
          history/series_conclusion.cpp
          history/series_page.cpp
  PUBLIC tbench::core tbench::stats tbench::results tbench::compare
  PRIVATE tbench::render tbench::sqlite fmt::fmt OpenSSL::Crypto)
tbench_layer(
  gate
  SOURCES gate/evidence/expected.cpp
          gate/evidence/facts.cpp
          gate/evidence/failure.cpp
          gate/evidence/whole.cpp
          gate/confirmation_evidence.cpp
          gate/gate.cpp
          gate/gate_conclusion.cpp
          gate/gate_confirmation.cpp
          gate/gate_drift.cpp
          gate/gate_evidence.cpp
          gate/gate_junit.cpp
          gate/gate_kept_build.cpp
          gate/gate_machine.cpp
          gate/gate_output.cpp
          gate/gate_pool.cpp
          gate/gate_reference.cpp
          gate/gate_report.cpp
          gate/gate_screen.cpp
          gate/output/json.cpp
  PUBLIC tbench::core tbench::compare tbench::history
  PRIVATE tbench::results tbench::render tbench::stats fmt::fmt)
