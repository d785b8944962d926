// The commands of nsys that put a file right.
#pragma once

namespace tbench::profile {

/// Exports a report; what it is written to and the report follow.
inline constexpr const char* kExportCommand = "nsys export --type=sqlite --force-overwrite=true";

/// Records again what a trace lacks; COMMAND is what was recorded.
inline constexpr const char* kRecordAgain =
    "nsys profile --trace=cuda,nvtx --cuda-graph-trace=node -o step COMMAND && nsys export --type=sqlite "
    "--force-overwrite=true -o step.sqlite step.nsys-rep && tbench nsys step.sqlite";

}  // namespace tbench::profile
