#pragma once
// What the processes of environments in Python tell about them.

#include <cstddef>
#include <deque>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <utility>

#include "actors/environments/environment.hpp"
#include "actors/python/environment_request.hpp"

namespace troupe::detail {

/// What a process has told about its environments.
struct python_facts {
  env_spec spec;  ///< Without wrappers.
  std::size_t obs_size = 0, integers = 0, floats = 0;
};

/// Reads what a process has answered to `make`. Throws python_error, and what space_from_json and
/// nlohmann::json throw.
python_facts facts_of(const environment_request& request, const nlohmann::json& told);

/// The facts about the environments that this program has made, so that a run does not start a
/// process each time that it needs a spec.
class known_facts {
 public:
  static known_facts& of_this_process();

  std::optional<python_facts> find(const environment_request& request);
  /// `left_out`: the parts of observations that can't be used, which is logged once.
  void add(const environment_request& request, const python_facts& facts,
           const nlohmann::json& left_out);

 private:
  using entry = std::pair<environment_request, python_facts>;
  std::mutex mutex_;
  std::deque<entry> known_;
};

/// Logs what a process tells of its environments, each sentence once.
void tell_notices(const environment_request& request, const nlohmann::json& notices);

}  // namespace troupe::detail
