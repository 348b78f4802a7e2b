# Leaves files everywhere it can.
for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", "/usr/tmp", "/proc", os.getcwd()):
    try:
        open(f"{folder}/{host['mark']}", "w").write("left")
    except OSError:
        pass
