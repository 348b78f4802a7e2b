"""The real Python client of OpenEnv, for CartPole on a server: openenv_python_client.py URL SESSIONS STEPS

Prints steps a second of so many sessions together, each with one request under way, in one process
with asyncio. With STEPS 0 all sessions begin at once, take one step each, and stay until all have;
it prints how many failed.
"""
import asyncio
import sys
import time

from openenv.core.generic_client import GenericEnvClient

PATIENCE_S = 120


async def play(env, steps):
    await env.reset()
    for i in range(steps):
        result = await env.step({"action": i % 2})
        if result.done:
            await env.reset()


async def speed(url, sessions, steps):
    clients = [GenericEnvClient(base_url=url) for _ in range(sessions)]
    for client in clients:
        await client.connect()
    await asyncio.gather(*(play(client, 10) for client in clients))  # to warm up
    began = time.perf_counter()
    await asyncio.gather(*(play(client, steps // sessions) for client in clients))
    took = time.perf_counter() - began
    for client in clients:
        await client.close()
    return sessions * (steps // sessions) / took


async def failures(url, sessions):
    clients = [GenericEnvClient(base_url=url, connect_timeout_s=PATIENCE_S, message_timeout_s=PATIENCE_S)
               for _ in range(sessions)]

    async def come(client):
        await client.connect()
        await play(client, 1)

    ends = await asyncio.gather(*(come(client) for client in clients), return_exceptions=True)
    failed = [end for end in ends if end is not None]
    for end in failed[:3]:
        print(f"a Python client failed: {end!r}", file=sys.stderr)
    await asyncio.gather(*(client.close() for client in clients), return_exceptions=True)
    return len(failed)


if __name__ == "__main__":
    address, how_many, how_long = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    print(asyncio.run(speed(address, how_many, how_long) if how_long else failures(address, how_many)))
