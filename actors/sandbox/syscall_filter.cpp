#include "actors/sandbox/syscall_filter.hpp"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <memory>
#include <string>

namespace troupe::detail {

namespace {

// A name that the library or the architecture does not know is left out.
constexpr const char* allowed[] = {
    // Memory.
    "brk",
    "mmap",
    "munmap",
    "mprotect",
    "mremap",
    "madvise",
    "msync",
    "mincore",
    "membarrier",
    "pkey_alloc",
    "pkey_free",
    "pkey_mprotect",
    // Files. What can be reached is decided by the mounts.
    "open",
    "openat",
    "openat2",
    "creat",
    "close",
    "close_range",
    "read",
    "readv",
    "pread64",
    "preadv",
    "preadv2",
    "write",
    "writev",
    "pwrite64",
    "pwritev",
    "pwritev2",
    "lseek",
    "stat",
    "fstat",
    "lstat",
    "newfstatat",
    "statx",
    "statfs",
    "fstatfs",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getdents",
    "getdents64",
    "getcwd",
    "chdir",
    "fchdir",
    "mkdir",
    "mkdirat",
    "rmdir",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "truncate",
    "ftruncate",
    "fallocate",
    "fadvise64",
    "readahead",
    "sync_file_range",
    "fsync",
    "fdatasync",
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "fchown",
    "fchownat",
    "lchown",
    "umask",
    "utime",
    "utimes",
    "utimensat",
    "futimesat",
    "copy_file_range",
    "sendfile",
    "splice",
    "tee",
    "mknod",
    "mknodat",
    "getxattr",
    "lgetxattr",
    "fgetxattr",
    "listxattr",
    "llistxattr",
    "flistxattr",
    // Descriptors and waiting.
    "dup",
    "dup2",
    "dup3",
    "pipe",
    "pipe2",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "eventfd",
    "eventfd2",
    "timerfd_create",
    "timerfd_settime",
    "timerfd_gettime",
    "signalfd",
    "signalfd4",
    // A pair of sockets that know only each other; see below.
    "sendto",
    "recvfrom",

    "recvmsg",
    "recvmmsg",
    "shutdown",
    "getsockname",
    "getpeername",
    "getsockopt",

    // Processes and threads, without namespaces; see below.
    "fork",
    "vfork",
    "execve",
    "execveat",
    "exit",
    "exit_group",
    "wait4",
    "waitid",
    "getpid",
    "getppid",
    "gettid",
    "getpgid",
    "getpgrp",
    "setpgid",
    "getsid",
    "setsid",
    "set_tid_address",
    "set_robust_list",
    "get_robust_list",
    "rseq",
    "futex",
    "futex_waitv",
    "arch_prctl",
    "pidfd_open",
    "pidfd_send_signal",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "sched_rr_get_interval",
    "getpriority",
    "setpriority",
    "getcpu",
    "capget",
    "getrlimit",
    "getrusage",
    "times",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getresuid",
    "getresgid",
    "getgroups",
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setfsuid",
    "setfsgid",
    "seccomp",
    // Signals.
    "kill",
    "tkill",
    "tgkill",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigpending",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "sigaltstack",
    "pause",
    "alarm",
    "setitimer",
    "getitimer",
    "timer_create",
    "timer_settime",
    "timer_gettime",
    "timer_getoverrun",
    "timer_delete",
    "restart_syscall",
    // Time and what the machine is.
    "nanosleep",
    "clock_nanosleep",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "getrandom",
    "uname",
    "sysinfo",
};

// These calls fail with EPERM, as they do for a user without rights, rather than with ENOSYS.
constexpr const char* refused[] = {
    "socket",
    "connect",
    "bind",
    "listen",
    "accept",
    "accept4",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "unshare",
    "setns",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsmount",
    "fsconfig",
    "mount_setattr",
    "add_key",
    "request_key",
    "keyctl",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "sethostname",
    "setdomainname",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "personality",
    "kcmp",
    "pidfd_getfd",
    "memfd_create",
    "memfd_secret",
    "shmget",
    "shmat",
    "shmctl",
    "semget",
    "semop",
    "msgget",
    "mq_open",
    "open_by_handle_at",
    "name_to_handle_at",
    "fanotify_init",
    "inotify_init",
    "inotify_init1",
    "quotactl",
    "acct",
    "syslog",
    "vhangup",
    "iopl",
    "ioperm",
    "setgroups",
    "capset",
    "sync",
    "syncfs",
    "flock",
    "setsockopt",
    "sendmsg",
    "sendmmsg",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "landlock_create_ruleset",
};

constexpr unsigned long namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

// Questions about a descriptor. Those that type into a terminal, or reach a device, are not here.
constexpr unsigned long device_calls[] = {TCGETS,   FIONREAD,   FIONBIO,  FIOCLEX,
                                          FIONCLEX, TIOCGWINSZ, TIOCGPGRP};

// Questions and settings of the process itself. PR_SET_PDEATHSIG is not here: it would let the
// first process outlive this one.
constexpr int process_settings[] = {
    PR_GET_PDEATHSIG,    PR_GET_DUMPABLE,        PR_SET_DUMPABLE,        PR_SET_NAME,
    PR_GET_NAME,         PR_GET_SECCOMP,         PR_SET_SECCOMP,         PR_CAPBSET_READ,
    PR_SET_TIMERSLACK,   PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS,
    PR_GET_NO_NEW_PRIVS, PR_SET_THP_DISABLE};

// The kernel reads 32 bits of an argument that is an int; a program may set the others.
constexpr scmp_datum_t int_bits = 0xffff'ffff;

void need(int result, const std::string& action) {
  if (result < 0) throw std::system_error(-result, std::generic_category(), "cannot " + action);
}

}  // namespace

descriptor make_syscall_filter() {
  const std::unique_ptr<void, decltype(&seccomp_release)> filter(
      seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), seccomp_release);
  if (!filter) throw std::system_error(ENOMEM, std::generic_category(), "cannot make a filter");
  const auto add = [&](std::uint32_t action, const char* name, auto... conditions) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call < 0) return;
    need(seccomp_rule_add(filter.get(), action, call, sizeof...(conditions), conditions...),
         std::string("filter the system call ") + name);
  };
  for (const auto* name : allowed) add(SCMP_ACT_ALLOW, name);
  for (const auto* name : refused) add(SCMP_ACT_ERRNO(EPERM), name);
  // clone3 hides its flags from a filter. The C library uses clone where there is none.
  add(SCMP_ACT_ALLOW, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces, 0));
  add(SCMP_ACT_ALLOW, "socketpair", SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
  for (const auto request : device_calls)
    add(SCMP_ACT_ALLOW, "ioctl", SCMP_A1(SCMP_CMP_MASKED_EQ, int_bits, request));
  // A pipe keeps its size, and no file is locked: both would hold memory that no limit counts, and
  // locks of /usr hold for the whole machine.
  for (const auto which :
       {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETPIPE_SZ, F_GETOWN})
    add(SCMP_ACT_ALLOW, "fcntl", SCMP_A1(SCMP_CMP_MASKED_EQ, int_bits, scmp_datum_t(which)));
  for (const auto option : process_settings)
    add(SCMP_ACT_ALLOW, "prctl", SCMP_A0(SCMP_CMP_MASKED_EQ, int_bits, scmp_datum_t(option)));
  // The limit on core files stays as it is: see start_sandbox.
  for (int limit = 0; limit < RLIM_NLIMITS; ++limit) {
    if (limit == RLIMIT_CORE) continue;
    add(SCMP_ACT_ALLOW, "prlimit64", SCMP_A1(SCMP_CMP_MASKED_EQ, int_bits, scmp_datum_t(limit)));
    add(SCMP_ACT_ALLOW, "setrlimit", SCMP_A0(SCMP_CMP_MASKED_EQ, int_bits, scmp_datum_t(limit)));
  }
  descriptor file(::memfd_create("troupe-syscall-filter", MFD_CLOEXEC),
                  "make a file for a filter of system calls");
  need(seccomp_export_bpf(filter.get(), file.number()), "write a filter of system calls");
  return file;
}

}  // namespace troupe::detail
