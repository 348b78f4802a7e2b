# Nests folders deeper than a path can name, for whoever removes them.
made = 0
try:
    for _ in range(100_000):
        os.mkdir("d")
        os.chdir("d")
        made += 1
except OSError:
    pass
if made > host["files"]:
    escaped(f"{made} folders")
