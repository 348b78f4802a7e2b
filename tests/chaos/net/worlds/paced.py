"""An environment whose steps take a fixed time, so that training on it needs little of the machine."""
import time

from good import Counter


class Paced(Counter):
    def __init__(self, seconds=0.01, length=20):
        super().__init__(length=length)
        self.seconds = seconds

    def step(self, action):
        time.sleep(self.seconds)
        return super().step(action)
