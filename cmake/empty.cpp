// An empty source, so that a target configures before its first real one.
