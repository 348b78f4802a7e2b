#pragma once

#include <signal.h>

namespace troupe::detail {

/// From here on a write to a pipe that nobody reads any more, or to a file beyond the process's
/// limit (RLIMIT_FSIZE), fails as one to a full disk does. By default it ends the process. Programs
/// that the process executes inherit this, unless their signals are reset (reset_signals).
inline void let_writes_fail() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace troupe::detail
