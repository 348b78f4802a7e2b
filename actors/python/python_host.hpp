#pragma once
// The environments that one Python process hosts.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/environments/agent_layout.hpp"
#include "actors/environments/environment.hpp"
#include "actors/python/environment_request.hpp"
#include "actors/python/python_facts.hpp"
#include "actors/python/python_worker.hpp"

namespace troupe::detail {

/// The environments of one Python process, and the last results of each.
class python_host {
 public:
  /// Starts the process only if the spaces are not known yet.
  python_host(environment_request request, std::size_t size);

  ~python_host();
  python_host(const python_host&) = delete;

  const environment_request& request() const { return request_; }
  const env_spec& spec() const { return facts_.spec; }

  /// Starts a process unless one is running. Throws environment_process_lost.
  void require_process();

  void set_action(std::size_t row, action_view action);
  void set_action(std::size_t row, std::span<const float> numbers);
  /// Sets the actions of several agents. In the layout `given` each may have more numbers behind
  /// its action, which are messages to the others.
  void set_action(std::size_t row, action_view action, const agent_layout& given);

  /// Takes a step of all environments with the actions that were set. Returns why the process is
  /// replaced from now on, if that begins with this step.
  std::optional<std::string> step();

  /// Resets environments. Their errors are thrown by `show_begun`.
  void reset(const std::vector<std::size_t>& rows,
             const std::vector<std::optional<std::uint64_t>>& seeds);
  void replace(std::size_t row);

  void set_options(const std::string& text);
  void set_attr(const std::string& name, const std::string& text);
  /// Sets the level of the episodes that begin from now on.
  void set_level(std::size_t level);

  /// Whether a step that ends an episode begins the next one at once. Otherwise its last picture
  /// can still be drawn.
  void set_begins_next(bool on);
  /// Draws an environment as it is now.
  bool render(std::size_t i, canvas& on);

  /// Writes the result of the last step of an environment. Throws the error of Python.
  step_result show_step(std::size_t i, std::span<float> obs) const;
  /// True if the next episode of the environment has already begun, or failed to.
  bool has_begun(std::size_t i) const;
  /// Writes the first observation of an episode that has begun. Throws the error of its reset.
  void show_begun(std::size_t i, std::span<float> obs);
  const episode_info& info(std::size_t i) const { return rows_[i].info; }
  /// Writes what the last step of an environment did to its agents, [N].
  void show_agents(std::size_t i, std::span<agent_step> to) const;

 private:
  struct row {
    bool is_begun = false;
    bool is_playing = false;   ///< Its episode has begun, and has not ended as far as Python knows.
    bool is_retiring = false;  ///< Its episode is in the process that is being replaced.
    bool is_new = false;       ///< Its first episode in a new process has not begun.
    std::string error, reset_error;
    episode_info info;
  };

  std::string name_for_successor() const;

  /// Returns the process of the role that was here before, which has forgotten its environments, or
  /// a new process.
  std::shared_ptr<python_worker> new_worker() const;

  /// What the environments do at their end may take no longer than starting another process.
  call_limit closing_limit() const;

  void start();

  /// Has a process make its environments, and tells it all that was set. `share` makes the shared
  /// memory, if that is not there yet.
  void make_environments(python_worker& worker,
                         const std::function<void(std::size_t bytes)>& share);

  // ---- replacing the process between episodes

  python_worker& worker_of(std::size_t row);
  std::vector<python_worker*> running();

  /// Says whether and why the process is due.
  std::optional<std::string> reason_to_replace();

  /// Starts the process that takes the environments over. Returns false if it can't be started;
  /// then the present one goes on.
  bool begin_replacement(const std::string& why);

  /// Notes that the episodes of these environments are over. Python does not know of those that a
  /// time limit of this program has ended.
  void note_resets(const std::vector<std::size_t>& rows);

  /// Gives environments to the new process, and ends the old one with the last of them.
  void hand_over(const std::vector<std::size_t>& rows);

  /// Returns the seed of an environment's first reset in a process that has replaced another one,
  /// which follows from that of all environments.
  std::optional<std::uint64_t> first_seed(std::size_t row);

  python_facts readable_facts(const nlohmann::json& told) const;

  /// Lays out the arrays in the memory that is shared with the process, and tells it where they
  /// are.
  void lay_out(python_worker& worker, const std::function<void(std::size_t bytes)>& share);

  /// Sends a command. Throws environment_process_lost.
  static nlohmann::json call(python_worker& worker, const nlohmann::json& command,
                             const call_limit& limit, const char* action);
  /// Has a process take a step, and returns the events. Throws environment_process_lost.
  nlohmann::json take_step(python_worker& worker);

  void read_events(python_worker& worker, const nlohmann::json& events);
  void read_event(const nlohmann::json& event);

  void tell_begins_next(python_worker& worker, bool on);
  void tell_hosted(python_worker& worker, const std::vector<std::size_t>& rows);
  void tell_level(python_worker& worker);
  void tell_options(python_worker& worker);
  void tell_attr(python_worker& worker, const std::string& name, const nlohmann::json& value);

  const environment_request request_;
  const environment_limits limits_;
  const std::size_t size_;
  python_facts facts_;
  agent_layout agents_;  ///< Of facts_.spec.
  std::shared_ptr<python_worker> worker_;
  /// The process that worker_ replaces, until the last of its episodes has ended. Both have the
  /// same shared memory.
  std::shared_ptr<python_worker> retiring_;
  std::byte* base_ = nullptr;         ///< The shared memory.
  std::int64_t ended_ = 0;            ///< The episodes that have ended in worker_.
  std::int64_t postponed_until_ = 0;  ///< No replacement is tried before so many.
  std::int64_t memory_mb_ = 0;        ///< The most that was told of worker_.
  std::uint64_t replacements_ = 0;
  bool told_too_large_ = false;
  std::optional<std::uint64_t> seed_;  ///< That of the first environment at the last full reset.
  std::optional<std::size_t> level_;   ///< Of the next episodes; nullopt means the last one.
  bool begins_next_ = true;
  nlohmann::json options_;  ///< The options of resets; null means none.
  std::map<std::string, nlohmann::json> attrs_;
  std::vector<row> rows_;
  std::int64_t* integers_ = nullptr;  ///< [B, P] actions
  float* floats_ = nullptr;           ///< [B, A] actions
  float* obs_ = nullptr;              ///< [B, D] present observations
  float* final_ = nullptr;            ///< [B, D] the last observations of ended episodes
  double* agent_reward_ = nullptr;    ///< [B, N]
  /// [B, N] The numbers of an episode_end, as agents.py writes them.
  std::uint8_t* agent_ended_ = nullptr;
  double* reward_ = nullptr;       ///< [B]
  std::uint8_t* flags_ = nullptr;  ///< [B]
  std::int64_t* mark_ = nullptr;   ///< See step_limits.
};

}  // namespace troupe::detail
