// The commands of nsys that are the remedies in messages.
#pragma once

namespace tbench::profile {

/// Exports a report. The output file and the report follow as arguments.
inline constexpr const char* kExportCommand = "nsys export --type=sqlite --force-overwrite=true";

/// Records the trace again with everything that the analysis needs. COMMAND stands for the recorded program.
inline constexpr const char* kRecordAgain =
    "nsys profile --trace=cuda,nvtx --cuda-graph-trace=node -o step COMMAND && nsys export --type=sqlite "
    "--force-overwrite=true -o step.sqlite step.nsys-rep && tbench nsys step.sqlite";

}  // namespace tbench::profile
