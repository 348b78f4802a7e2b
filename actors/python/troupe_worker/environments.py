"""Making environments by their names."""

import ast
import contextlib
import difflib
import functools
import importlib
import inspect
import os
import pkgutil
import sys

import numpy as np

from troupe_worker.agents import JointEnvironment, has_agents, joint_of
from troupe_worker.channel import Refused, install_command, missing_module

LEVELS_MAX = 1_000_000  # of an environment


def _did_you_mean(name, known):
    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _module_of(module, place, hint=""):
    """Imports a module. Raises ImportError, or Refused, whose text begins with `place`, and ends with
    `hint` if the first part of the name is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not (module + ".").startswith(error.name + "."):
            raise  # the module is there and needs another one
        parent, _, last = error.name.rpartition(".")
        if parent:
            inside = importlib.import_module(parent)
            known = [*vars(inside), *(part.name for part in pkgutil.iter_modules(getattr(inside, "__path__", [])))]
            raise Refused(
                f"{place}No module named {last!r} in {parent}{_did_you_mean(last, known)}"
            ) from None
        here = [file[:-3] for file in os.listdir() if file.endswith(".py")]
        raise Refused(
            f"{place}No module named {last!r} in the working directory {os.getcwd()}, on PYTHONPATH "
            f"or among the packages of {sys.executable}{hint or _did_you_mean(last, here)}"
        ) from None


def attribute_of(name, what=""):
    """Returns `module.attribute` or `module:attribute`. Raises ImportError, or Refused, whose text
    begins with `what`."""
    module, _, attribute = name.replace(":", ".").rpartition(".")
    place = f"{what}: " if what else ""
    if not module:
        raise Refused(f"{place}expected module.Name, got {name!r}")
    found = _module_of(module, place, "; leave out .py" if attribute == "py" or ".py" in name else "")
    try:
        return getattr(found, attribute)
    except AttributeError:
        hint = _did_you_mean(attribute, [n for n in vars(found) if not n.startswith("_")])
        raise Refused(f"{place}module {module} has no {attribute!r}{hint}") from None


def maker_of(request):
    """Returns a function that makes an environment of the request, in its wrappers. One with several
    agents is a JointEnvironment."""
    env_id, options = request["id"], request["options"]
    wrappers = [wrapper_of(text) for text in request["wrappers"]]
    kind = env_id.partition(":")[0]
    make = {"gymnasium": _gymnasium, "pettingzoo": _pettingzoo}.get(kind, _own)(env_id, request)
    known = None  # whether the infos of agents have masks, which the first environment tells

    def make_wrapped():
        nonlocal known
        env = make(options)
        for name, wrap, arguments in wrappers:
            if has_agents(env) and _is_for_one_agent(wrap):
                raise Refused(
                    f"env.wrappers: {name} is a wrapper of Gymnasium, for one agent; expected one of "
                    f"PettingZoo, for {env_id} has several agents"
                )
            env = _wrapped(env, name, wrap, arguments)
        if not has_agents(env):
            if not wrappers:
                _require_one_reward(env, env_id)
            return env
        joint = joint_of(env, env_id, known)
        known = joint.masks_in_infos
        return joint

    return make_wrapped


def _require_one_reward(env, env_id):
    """Refuses an environment whose rewards are vectors, as `reward_space` of MO-Gymnasium tells. Wrappers
    of a request may make one number of them."""
    shape = getattr(getattr(getattr(env, "unwrapped", env), "reward_space", None), "shape", None)
    if shape is not None and np.prod(shape) != 1:
        raise Refused(
            f"{env_id}: expected one number as the reward of a step, got a reward_space of shape {tuple(shape)}; "
            "a wrapper (env.wrappers) can make one number of it"
        )


def wrapper_of(text):
    """Returns the name of a wrapper, its class or function, and the arguments that `text` gives it:
    `module.Name`, or `Name` for one of gymnasium.wrappers, or either with arguments as in Python,
    such as `FrameStackObservation(stack_size=4)`. Raises ImportError or Refused."""
    name, arguments = _parsed_wrapper(text)
    full = name if "." in name.replace(":", ".") else f"gymnasium.wrappers.{name}"
    wrap = attribute_of(full, "env.wrappers")
    if not callable(wrap):
        raise Refused(f"env.wrappers: expected a class or a function, got {full}, which is {wrap!r}")
    _require_parameters(full, wrap, arguments)
    return full, wrap, arguments


def _parsed_wrapper(text):
    """Returns the name of a wrapper and its arguments as a dict."""
    name, parenthesis, _ = text.partition("(")
    name = name.strip()
    if not parenthesis:
        return name, {}
    expected = f"env.wrappers: expected NAME(argument=value, ...), such as FrameStackObservation(stack_size=4), got {text!r}"
    try:
        call = ast.parse("_" + text.strip()[len(name) :].strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise Refused(expected) from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise Refused(expected)
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise Refused(f"{expected}, with an argument that has no name")
    return name, {keyword.arg: _literal_of(keyword, name) for keyword in call.keywords}


def _literal_of(keyword, name):
    try:
        return ast.literal_eval(keyword.value)
    except (SyntaxError, ValueError, TypeError):
        pass
    got = keyword.value.id if isinstance(keyword.value, ast.Name) else "an expression"
    python = {"true": "True", "false": "False", "null": "None"}.get(got)
    hint = f"; did you mean {python}?" if python else ""
    raise Refused(
        f"env.wrappers: {name}: {keyword.arg}: expected a value of Python such as 84, 0.5, 'text', True, "
        f"None or (84, 84), got {got}{hint}"
    )


def _require_parameters(name, wrap, arguments):
    """Refuses arguments that the wrapper does not take, and missing ones that it needs."""
    try:
        parameters = list(inspect.signature(wrap).parameters.values())
    except (TypeError, ValueError):
        return  # it does not tell its parameters
    # The first parameter is the environment.
    named = [p for p in parameters[1:] if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes = [p.name for p in named]
    unknown = [one for one in arguments if one not in takes]
    if unknown and not any(p.kind == p.VAR_KEYWORD for p in parameters):
        hint = _did_you_mean(unknown[0], takes)
        raise Refused(f"env.wrappers: {name} takes {takes}, got {unknown[0]!r}{hint}")
    missing = [p.name for p in named if p.default is p.empty and p.name not in arguments]
    if missing:
        raise Refused(
            f"env.wrappers: {name}: expected the argument {missing[0]!r}, as in {name.rpartition('.')[2]}({missing[0]}=...)"
        )


def _wrapped(env, name, wrap, arguments):
    """Returns the environment in a wrapper. A wrapper that refuses it is named in the error."""
    try:
        return wrap(env, **arguments)
    except (Refused, ImportError):
        raise
    except Exception as error:
        given = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        raise Refused(f"env.wrappers: {name}({given}): {type(error).__name__}: {error}") from error


def _is_for_one_agent(wrap):
    return any(
        base.__name__ == "Wrapper" and base.__module__.split(".")[0] == "gymnasium"
        for base in getattr(wrap, "__mro__", ())
    )


# Packages that register environments when they are imported, by the beginnings of the names.
_REGISTRARS = {
    "ALE/": "ale_py",
    "BabyAI-": "minigrid",
    "Fetch": "gymnasium_robotics",
    "MiniGrid-": "minigrid",
    "PandaPick": "panda_gym",
    "highway-": "highway_env",
}


def _import_registrar(name):
    """Imports the package that registers the name, if one is known. Returns True if there is."""
    for prefix, package in _REGISTRARS.items():
        if name.startswith(prefix):
            module = importlib.import_module(package)
            register = getattr(module, "register_robotics_envs", None)
            if register is not None:
                register()
            return True
    return False


def _make(gymnasium, name, arguments):
    try:
        return gymnasium.make(name, **arguments)
    except (gymnasium.error.NameNotFound, gymnasium.error.NamespaceNotFound):
        if not _import_registrar(name):
            raise
    return gymnasium.make(name, **arguments)


def _gymnasium(env_id, request):
    try:
        import gymnasium
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise Refused(f"Gymnasium is missing: {install_command('gymnasium')}") from None
    name = env_id[len("gymnasium:") :]
    limit = request.get("max_episode_steps")

    def make(options):
        more = {} if limit is None else {"max_episode_steps": limit}
        if request["render"]:
            more["render_mode"] = "rgb_array"
        try:
            return _make(gymnasium, name, {**more, **options})
        except gymnasium.error.UnregisteredEnv as error:
            raise Refused(
                f"Gymnasium knows no environment {name!r}: {error} If a package registers it, name "
                "the package before it, as in gymnasium:my_package:MyEnv-v0."
            ) from None

    return make


def _pettingzoo(env_id, request):
    """Makes an environment of PettingZoo's registry, or one by the function of a module."""
    try:
        pettingzoo = importlib.import_module("pettingzoo")
    except ModuleNotFoundError as error:
        if error.name != "pettingzoo":
            raise
        raise Refused(f"PettingZoo is missing: {install_command('pettingzoo')}") from None
    module, _, function = env_id[len("pettingzoo:") :].partition(":")
    if not module:
        raise Refused(f"{env_id}: expected pettingzoo:MODULE, such as pettingzoo:mpe2.simple_spread_v3")
    name = function or module
    if _is_registered_name(name):
        if function:  # the module registers the environment
            _module_of(module, f"{env_id}: ")
        make = _maker_in_registry(pettingzoo, env_id, name)
    else:
        name = module
        with _packages_for(name):
            make = _maker_in_module(env_id, module, function)

    def made(options):
        if request["render"]:
            options = {"render_mode": "rgb_array", **options}
        with _packages_for(name):
            env = make(**options)
        if not has_agents(env):
            raise Refused(f"{env_id}: expected an environment with possible_agents, got {type(env).__name__}")
        return env

    return made


def _is_registered_name(name):
    """True for a name of PettingZoo's registry, such as classic/connect_four-v3, which no module has."""
    return "/" in name or "-v" in name


def _maker_in_registry(pettingzoo, env_id, name):
    """Returns a function that makes an environment of PettingZoo's registry of environments at once, or else of the one
    of environments in turn."""
    if not hasattr(pettingzoo, "parallel_registry"):
        raise Refused(
            f"{env_id}: expected PettingZoo 1.27 or later for a name of its registry, got "
            f"{getattr(pettingzoo, '__version__', 'an older one')}; name the module, as in "
            "pettingzoo:pettingzoo.classic.connect_four_v3"
        )
    for kind in ("parallel", "aec"):
        try:
            found = pettingzoo.spec(kind, name)
        except Exception:  # of a class that differs between versions: it is not there
            continue
        return functools.partial(pettingzoo.make, kind, found)
    known = [*pettingzoo.parallel_registry, *pettingzoo.aec_registry]
    hint = _did_you_mean(name, known) or f"; if a package registers it, name that first: pettingzoo:my_package:{name}"
    if name.startswith("mpe/"):
        hint = f"; it is in the package mpe2, as pettingzoo:mpe2.simple_spread_v3: {install_command('mpe2')}"
    raise Refused(f"{env_id}: PettingZoo's registry has no environment {name!r}{hint}")


def _maker_in_module(env_id, module, function):
    """Returns the function of a module: the one that is named, else parallel_env, else env or raw_env."""
    package = module.partition(".")[0]
    found = _module_of(module, f"{env_id}: ", f". If a package has it: {install_command(package)}")
    if function:
        return attribute_of(f"{module}.{function}", env_id)
    names = ("parallel_env", "env", "raw_env")
    make = next((getattr(found, name) for name in names if hasattr(found, name)), None)
    if make is None:
        raise Refused(f"{env_id}: expected a function {' or '.join(names)} in {module}, got none")
    return make


@contextlib.contextmanager
def _packages_for(name):
    """Names the part of PettingZoo's package that an environment of it needs, if a module of another package is
    missing: pettingzoo[classic] for pettingzoo.classic.connect_four_v3 and for classic/connect_four-v3."""
    try:
        yield
    except Exception as error:
        family = name.removeprefix("pettingzoo.").replace("/", ".").partition(".")[0]
        is_of_package = name.startswith("pettingzoo.") or "/" in name
        if is_of_package and family == "mpe" and isinstance(error, ImportError):
            error.package = "mpe2"
        elif is_of_package and family in _EXTRAS_OF_PETTINGZOO and missing_module(error) not in (None, "pettingzoo"):
            error.package = f"pettingzoo[{family}]"
        raise


_EXTRAS_OF_PETTINGZOO = ("atari", "butterfly", "classic", "sisl")


def _own(env_id, request):
    make = attribute_of(env_id)
    if not callable(make):
        raise Refused(f"{env_id}: expected a class or a function, got {make!r}")
    takes = None
    try:
        takes = inspect.signature(make).parameters
    except (TypeError, ValueError):
        pass

    def made(options):
        if takes is not None and not any(p.kind == p.VAR_KEYWORD for p in takes.values()):
            unknown = [name for name in options if name not in takes]
            if unknown:
                raise Refused(f"env.options: {env_id} takes {sorted(takes)}, got {unknown}")
        if request["render"] and takes is not None and "render_mode" in takes:
            options = {"render_mode": "rgb_array", **options}
        return make(**options)

    return made


def holder_of(env, name):
    """Returns the wrapper or the environment that has the attribute, the outermost first."""
    while env is not None:
        own = getattr(env, "__dict__", {})  # there is none with __slots__
        if name in own or hasattr(type(env), name):
            return env
        env = own.get("env", own.get("aec_env"))  # the latter is PettingZoo's
    return None


def levels_of(env):
    """Returns the number of levels: the integer `levels` of an environment that has a method
    set_level(level), too. It is 1 for others, where either name may mean something else."""
    env = env.env if isinstance(env, JointEnvironment) else env
    told, setter = holder_of(env, "levels"), holder_of(env, "set_level")
    if told is None or setter is None or not callable(setter.set_level):
        return 1
    levels = told.levels
    is_count = isinstance(levels, (int, np.integer)) and not isinstance(levels, bool)
    return int(levels) if is_count and 1 <= levels <= LEVELS_MAX else 1


def _frames_a_second(env):
    metadata = getattr(env, "metadata", None)
    try:
        fps = float(metadata["render_fps"])
    except (KeyError, TypeError, ValueError):
        return 30.0
    return fps if 0 < fps < 1000 else 30.0


def spec_of(env):
    """Returns the time limit and the reward threshold that the environment tells, or None, and its
    pictures a second."""
    spec = getattr(env, "spec", None)
    limit = getattr(spec, "max_episode_steps", None)
    threshold = getattr(spec, "reward_threshold", None)
    return {
        "max_episode_steps": int(limit) if limit else None,
        "reward_threshold": None if threshold is None else float(threshold),
        "render_fps": _frames_a_second(env),
    }
