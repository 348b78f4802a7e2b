"""The entry of a worker process. Only Troupe starts it."""

import sys

from troupe_worker.channel import Channel, Closed, failure_of


def main():
    channel = Channel()
    try:
        import numpy  # noqa: F401  (a missing NumPy is told before anything else)

        from troupe_worker.worker import Worker
    except BaseException as error:
        channel.answer({"error": failure_of(error)})
        return 1
    try:
        Worker(channel).serve()
    except Closed:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
