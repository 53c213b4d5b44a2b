"""What the seccomp filter does with each system call, by name.

Everything not named here fails with ENOSYS, as on an older kernel, so that libraries fall back. `ALLOWED`
goes straight through; `WATCHED` goes through, or not, after the supervisor has noted it; `REFUSED` is noted
and fails with EPERM. Calls whose arguments decide are in `conditions.py`. Names only: numbers are in
`arch.py`.
"""

from __future__ import annotations

ALLOWED: frozenset[str] = frozenset(
    """
    accept accept4 alarm arch_prctl brk cachestat capget capset chdir clock_getres clock_gettime
    clock_nanosleep close close_range copy_file_range dup dup2 dup3 epoll_create epoll_create1 epoll_ctl
    epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 exit exit_group
    faccessat faccessat2 access fadvise64 fallocate fchdir fdatasync fgetxattr
    flistxattr fork fstat fstatfs fsync ftruncate futex futex_requeue futex_wait futex_waitv futex_wake
    get_mempolicy get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid geteuid getgid
    getgroups getitimer getpeername getpgid getpgrp getpid getpriority getrandom getresgid getresuid
    getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr ioprio_get
    lgetxattr listen listxattr llistxattr
    lseek lstat madvise membarrier mincore mlock mlock2 mlockall mprotect msync munlock munlockall munmap
    nanosleep newfstatat pause pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect
    poll ppoll pread64 preadv preadv2 process_mrelease pselect6 pwrite64 pwritev pwritev2 read
    readahead readlink readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages restart_syscall rseq
    rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait
    sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getattr
    sched_getparam sched_getscheduler sched_rr_get_interval
    sched_yield select sendfile set_mempolicy set_robust_list set_thread_area
    set_tid_address setfsgid setfsuid setitimer setpgid setrlimit setsid shutdown
    sigaltstack signalfd signalfd4 socketpair stat statfs statx sync sync_file_range syncfs sysinfo time
    timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime
    timerfd_settime times umask uname vfork wait4 waitid write writev
    """.split()  # noqa: SIM905 - a table
)

WATCHED: frozenset[str] = frozenset(
    """
    open openat openat2 creat
    unlink unlinkat rename renameat renameat2 rmdir mkdir mkdirat chmod fchmod fchmodat fchmodat2 chown lchown
    fchown fchownat truncate link linkat symlink symlinkat mknod mknodat utime utimes futimesat utimensat
    setxattr lsetxattr removexattr lremovexattr
    execve execveat connect bind sendmsg sendmmsg getppid flock
    """.split()  # noqa: SIM905 - a table
)

REFUSED: frozenset[str] = frozenset(
    """
    acct add_key adjtimex bpf chroot clock_adjtime clock_settime delete_module fanotify_init fanotify_mark
    finit_module fsconfig fsmount fsopen fspick init_module ioperm iopl kcmp kexec_file_load kexec_load
    keyctl listmount lookup_dcookie mount mount_setattr move_mount move_pages migrate_pages
    name_to_handle_at nfsservctl open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root
    process_madvise process_vm_readv process_vm_writev ptrace quotactl quotactl_fd reboot request_key
    seccomp setdomainname setgroups sethostname setns settimeofday statmount swapoff swapon syslog umount2
    unshare userfaultfd vhangup
    """.split()  # noqa: SIM905 - a table
)

CONDITIONAL: frozenset[str] = frozenset(
    """
    clone fcntl ioctl ioprio_set kill mmap mremap personality pidfd_open prctl
    prlimit64 rt_sigqueueinfo rt_tgsigqueueinfo sched_setaffinity
    sched_setattr sched_setparam sched_setscheduler sendto setgid setpriority setregid setresgid setresuid
    setreuid setsockopt setuid socket tgkill tkill
    """.split()  # noqa: SIM905 - a table
)

NAMED: frozenset[str] = ALLOWED | WATCHED | REFUSED | CONDITIONAL
"""Every call the filter knows; the numbers table must hold each on at least one architecture."""

ENDS: frozenset[str] = frozenset(("exit_group",))
"""Shown to the supervisor where the last process of a program, held at its end, is all that is left of it."""

FORKS: frozenset[str] = frozenset(("clone", "fork", "vfork"))
"""Shown to the supervisor where the kernel does not bound how many processes a user has."""
