#pragma once
// Environments in Python: each replica has a Python process of its own (python_worker.hpp), in
// which its environments live. Python never runs inside this process.
//
//   gymnasium:CartPole-v1                      gymnasium.make("CartPole-v1")
//   gymnasium:ale_py:ALE/Pong-v5               ... after `import ale_py`, which registers it
//   pettingzoo:mpe2.simple_spread_v3           parallel_env() of that module, else its env()
//   pettingzoo:mpe2.simple_spread_v3:env       env() of that module
//   my_module:MyEnv                            MyEnv() of my_module, found on PYTHONPATH or in the
//                                              working directory
//
// Environments of PettingZoo have several agents (actors/environments/multi_agent_environment.hpp).
// MyEnv() may be one, too.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "actors/environments/vector_environment.hpp"
#include "actors/python/environment_request.hpp"
#include "actors/python/python_worker.hpp"

namespace troupe {

namespace detail {
/// The request as troupe_worker reads it.
nlohmann::json request_json(const environment_request& of);
}  // namespace detail

/// True if `id` has the form of an environment in Python.
bool names_python(std::string_view id);

/// Makes `size` environments in one Python process, which steps them in turn by one message. A call
/// waits for that process, so it is for threads that may block. An exception of an environment is
/// an env_failure with the traceback. Calls throw environment_process_lost if the process ends, or
/// is ended because it does not answer in time; the next reset starts another process. The process
/// starts at once for the first request of its kind in this program, to learn the spaces, and at
/// the first reset for later ones. Throws python_error, and std::invalid_argument for a size of 0
/// and for wrappers that don't fit.
std::unique_ptr<vector_environment> make_python_environments(const environment_request& request,
                                                             std::size_t size);

/// Makes one environment in a Python process of its own, with the same errors.
std::unique_ptr<environment> make_python_environment(const environment_request& request);

}  // namespace troupe
