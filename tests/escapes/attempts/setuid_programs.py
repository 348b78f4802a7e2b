# Executes programs that run as their owner.
for program in ("su", "passwd", "mount", "newgrp", "chsh", "sudo", "pkexec"):
    path = "/usr/bin/" + program
    if not os.path.exists(path):
        continue
    pid = os.posix_spawn(path, [path, "--help"], {})
    for _ in range(200):
        try:
            lines = open(f"/proc/{pid}/status").read().splitlines()
        except OSError:
            break
        users = [line.split()[1:] for line in lines if line.startswith("Uid:")]
        if users and "0" in users[0]:
            escaped(path)
            break
    os.kill(pid, 9)
    os.waitpid(pid, 0)
