"""A module that hangs in its import."""

import time

time.sleep(1000)
