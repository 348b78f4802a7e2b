# Finds processes of other programs in /proc.
others = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
if others:
    escaped(f"processes {others}")
