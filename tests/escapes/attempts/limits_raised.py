# Raises its own limits, and those of others.
import resource
for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_MEMLOCK"):
    which = getattr(resource, name)
    hard = resource.getrlimit(which)[1]
    if hard == resource.RLIM_INFINITY:
        escaped(f"no {name}")
    attempt(lambda: resource.setrlimit(which, (hard + 1, hard + 1)) or name)
attempt(lambda: resource.prlimit(host["pid"], resource.RLIMIT_NOFILE, (3, 3)) and "the trainer's")
