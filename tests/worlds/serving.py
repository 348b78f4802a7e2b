"""What the servers here have in common: their command line, and the real OpenEnv package around an environment."""
import argparse

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app


def read_options(**defaults):
    """--port PORT [--host 127.0.0.1] [--sessions 64], and one more option for each of the defaults."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--sessions", type=int, default=64)
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", default=value)
    return parser.parse_args()


def serve(environment, action, observation, options):
    """Until it is killed."""
    app = create_fastapi_app(environment, action, observation, max_concurrent_envs=options.sessions)
    uvicorn.run(app, host=options.host, port=options.port, log_level="warning")
