"""A world whose module prints when it is imported, as some packages do."""

from good import Counter

print("Hello from the banner of a package.", flush=True)


class World(Counter):
    def reset(self, **more):
        print("an episode begins", flush=True)
        return super().reset(**more)
