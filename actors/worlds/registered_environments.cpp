#include "actors/worlds/registered_environments.hpp"

#include "actors/worlds/task_environment.hpp"

namespace troupe {

std::unique_ptr<vector_environment> registered_environments::operator()() const {
  if (!tasks.empty()) return make_task_environments(tasks, count, request);
  return make_vector_environment(request, count);
}

}  // namespace troupe
