# Opens the memory of the trainer.
for pid in (host["pid"], os.getppid()):
    for mode in (os.O_RDONLY, os.O_RDWR):
        attempt(lambda: os.open(f"/proc/{pid}/mem", mode))
