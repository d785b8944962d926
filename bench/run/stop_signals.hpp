// Ctrl-C as a flag, which the measuring code checks between chunks.
#pragma once

namespace tbench::bench {

/// Makes SIGINT and SIGTERM set the flag from now on; a second signal ends the program at once.
void catch_stop_signals();
[[nodiscard]] bool stop_signalled();
/// Sets the flag, as the first signal does.
void request_stop();

}  // namespace tbench::bench
