"""Python code of a Troupe run: environments, rewards and prompts.

Troupe starts ``python -m troupe_worker`` for each replica and talks to it by a socket and shared
memory. The code needs Python 3.9 or later and NumPy, and nothing else.
"""
