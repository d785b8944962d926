// Ctrl-C as a flag that the measuring code asks for between chunks.
#pragma once

namespace tbench::bench {

/// From now on SIGINT and SIGTERM set the flag; a second one ends the program at once.
void catch_stop_signals();
[[nodiscard]] bool stop_signalled();

}  // namespace tbench::bench
