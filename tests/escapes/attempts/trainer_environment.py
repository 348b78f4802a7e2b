# Reads the environment of the trainer, by the numbers it could have.
for pid in (host["pid"], 1, os.getppid()):
    def look():
        if host["secret_name"] in open(f"/proc/{pid}/environ").read():
            return "the secret"
    attempt(look)
if host["secret_name"] in os.environ:
    escaped("an own environment")
