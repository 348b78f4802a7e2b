"""The entry of a worker process. Only Troupe starts it."""

import sys

from troupe_worker.channel import Channel, Closed, failure_of


def main():
    channel = Channel()
    try:
        import numpy  # noqa: F401  (a missing NumPy is told before anything else)

        from troupe_worker.forks import serve_in_forks
        from troupe_worker.worker import Worker
    except BaseException as error:
        channel.answer({"error": failure_of(error)})
        return 1
    worker = Worker(channel)
    try:
        first = channel.read()
        if worker.prepare(first):
            return serve_in_forks(worker, first)
        worker.serve(first)
    except Closed:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
