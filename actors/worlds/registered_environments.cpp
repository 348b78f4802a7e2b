#include "actors/worlds/registered_environments.hpp"

#include <algorithm>

#include "actors/worlds/task_environment.hpp"
#include "runtime/service/progress.hpp"

namespace troupe {

namespace {

duration duration_of(double seconds) {
  return std::chrono::round<duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

duration max_call_time_of(const python_options& limits) {
  return duration_of(std::min(limits.step_timeout, limits.reset_timeout));
}

std::unique_ptr<vector_environment> registered_environments::operator()() const {
  auto made = tasks.empty() ? make_vector_environment(request, count)
                            : make_task_environments(tasks, count, request);
  const auto& limits = request.python;
  const auto shorter = max_call_time_of(limits);
  call_allowances longer{.step = duration_of(limits.step_timeout) - shorter,
                         .reset = duration_of(limits.reset_timeout) - shorter};
  if (longer.step != longer.reset) longer.note_progress = note_progress;
  made->set_allowances(longer);
  return made;
}

}  // namespace troupe
