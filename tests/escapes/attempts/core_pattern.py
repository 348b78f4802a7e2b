# Lets a crash start the program of the machine that takes core files.
import resource
for _ in range(2):
    attempt(lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)) or "limit 0")
    attempt(lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 1)) or "limit 0")
