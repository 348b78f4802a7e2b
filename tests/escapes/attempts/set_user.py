# Becomes another user.
for user in (0, 1, 1000, 65533):
    for change in (os.setuid, os.setgid, os.setreuid, os.setresuid):
        count = {os.setreuid: 2, os.setresuid: 3}.get(change, 1)
        attempt(lambda: change(*[user] * count) or f"user {user}")
attempt(lambda: os.setgroups([0]) or "groups")
if os.getuid() == 0 or os.geteuid() == 0:
    escaped("root")
