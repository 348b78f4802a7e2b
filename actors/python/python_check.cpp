#include "actors/python/python_check.hpp"

#include <nlohmann/json.hpp>

namespace troupe {
namespace {

using nlohmann::json;

/// What a call is in an error.
std::string name_of(const environment_call& call) {
  return call.where == "making it" ? call.where : "its " + call.where;
}

}  // namespace

call_limit limit_of(const environment_call& call, const python_options& options) {
  const environment_limits limits(options);
  if (call.where == "making it") return limits.start;
  return call.where == "reset" ? limits.reset : limits.step;
}

void check_python_environment(const environment_request& request, const check_options& options,
                              check_listener& to) {
  python_worker worker(request.python, request.id);
  json command{{"do", "check"},
               {"request", detail::request_json(request)},
               {"steps", options.steps},
               {"seconds", options.seconds},
               {"seed", options.seed}};
  environment_call call{"making it"};
  for (;;) {
    to.begins(call);
    json answer;
    try {
      answer = worker.call(command, limit_of(call, request.python), name_of(call));
    } catch (const python_ended& error) {
      to.found(true,
               {.check = "process", .call = call, .expected = "a return", .got = error.what()});
      to.skipped({"the checks after it", "its process has ended"});
      return;
    }
    tell_json(answer, to);
    const auto& next = answer.at("next");
    if (next.is_null()) return;
    call = {next.at("where").get<std::string>(), next.at("at").get<std::string>()};
    command = {{"do", "check_next"}};
  }
}

environment_speed measure_python_environment(const environment_request& request,
                                             std::int64_t copies, const check_options& options) {
  python_worker worker(request.python, request.id);
  const auto& limits = request.python;
  const auto answer = worker.call(
      {{"do", "measure"},
       {"request", detail::request_json(request)},
       {"copies", copies},
       {"steps", options.steps},
       {"seconds", options.speed_seconds},
       {"seed", options.seed}},
      {limits.start_timeout + limits.reset_timeout + limits.step_timeout + options.speed_seconds,
       "env.start_timeout, env.reset_timeout and env.step_timeout"},
      "measuring its speed");
  return {.environments = copies,
          .how = "alone",
          .steps = answer.at("steps").get<std::int64_t>(),
          .episodes = answer.at("episodes").get<std::int64_t>(),
          .seconds = answer.at("seconds").get<double>()};
}

}  // namespace troupe
