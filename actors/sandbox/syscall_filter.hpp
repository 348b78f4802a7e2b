#pragma once
// Internal to sandbox/: the system calls that a program in a sandbox may make.

#include "runtime/base/descriptor.hpp"

namespace troupe::detail {

/// Makes a file without a name that holds the filter for `bwrap --seccomp`, in the kernel's format
/// (classic BPF). The filter lists the calls that a program needs to compute, to start programs,
/// and to use files, pipes and threads. Any other call fails with ENOSYS, also one that a later
/// kernel adds; a call that the filter knows and forbids fails with EPERM. Calls of another
/// architecture (32-bit, x32) kill the program. Throws std::system_error.
descriptor make_syscall_filter();

}  // namespace troupe::detail
