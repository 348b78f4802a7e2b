#pragma once
// A vector environment made of B environments of one type. The registry uses it for every
// environment that isn't a vector environment itself.

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/environments/action_checker.hpp"
#include "actors/environments/agent_layout.hpp"
#include "actors/environments/obs_rows.hpp"
#include "actors/environments/vector_environment.hpp"
#include "actors/random/numpy_random.hpp"

namespace troupe {
namespace detail {

/// The part that does not depend on the environments' type: episodes, the time limit and failures.
class vector_env_base : public vector_environment {
 public:
  env_spec spec() override { return spec_; }
  void rename(const std::string& id) override;
  std::size_t size() override { return episodes_.size(); }
  env_reset reset(std::optional<std::uint64_t> seed) override;
  env_step step(env_actions actions) final;
  void set_level(std::size_t level) override;
  void set_turns(std::vector<std::size_t> turns) override;
  void set_allowances(const call_allowances& of) override;
  bool render(std::size_t i, canvas& on) override { return at(i).render(on); }
  void set_final_canvas(canvas* on) override { final_canvas_ = on; }
  void set_options(const std::string& json) override;
  void set_attr(const std::string& name, const std::string& json) override;
  std::optional<std::string> save() override;
  void restore(const std::string& bytes) override;

 protected:
  /// A step of all environments while it is being taken.
  struct batch_step {
    const env_actions& actions;
    obs_rows rows;
    env_step& out;
  };

  /// Throws std::invalid_argument for a size of 0 and for an action space that can't be batched.
  vector_env_base(std::size_t size, const env_spec& spec);

  virtual environment& at(std::size_t i) = 0;
  /// Puts a newly made environment in place of the i-th.
  virtual void replace(std::size_t i) = 0;

  /// Begins a step. It borrows both arguments until `end_step`.
  batch_step begin_step(env_actions& actions, env_step& out);
  static void end_step(batch_step& batch);

  action_view action(const batch_step& batch, std::size_t i) const {
    return checker_.row(batch.actions, i);
  }
  /// Stores the result of environment i and begins its next episode if this one ended or failed.
  void settle(batch_step& batch, std::size_t i, step_result result) {
    if (!std::isfinite(static_cast<float>(result.reward)) || !batch.rows.good(i)) [[unlikely]]
      return drop_faulty(batch, i, result.reward);
    auto& episode = episodes_[i];
    episode.sum += result.reward;
    const bool at_limit = ++episode.length == limit_;
    if (agents_ > 0) settle_agents(batch.out, i, batch.rows.row(i), at_limit);
    batch.out.reward[i] = result.reward;
    batch.out.terminated[i] = result.terminated;
    batch.out.truncated[i] = result.truncated || at_limit;
    if (result.terminated || result.truncated || at_limit) finish(batch, i, result);
  }
  /// Handles the exception being thrown, which comes from environment i, as that environment's
  /// failure.
  void drop_thrown(batch_step& batch, std::size_t i);

 private:
  struct episode {
    double sum = 0;
    std::int64_t length = 0;
    std::size_t level = 0;
    std::size_t task = 0;
  };
  struct state;
  using failure_list = std::vector<env_failure>;

  /// `last` [D] is the row after the step.
  void settle_agents(env_step& out, std::size_t i, std::span<const float> last, bool at_limit);
  void drop_faulty(batch_step& batch, std::size_t i, double reward);
  void finish(batch_step& batch, std::size_t i, const step_result& last);
  void allow(duration allowance) const;
  void begin_next_episode(batch_step& batch, std::size_t i);
  void begin_episode(std::size_t i, std::optional<std::uint64_t> seed, obs_rows& rows,
                     failure_list& failures);
  /// Returns the record of environment i's next episode, with its level and task.
  episode next_episode(std::size_t i);
  void tell_choice(std::size_t i);
  void check_choice(const state& of) const;
  bool has_choice() const { return spec_.levels > 1 || !spec_.tasks.empty(); }
  bool try_reset(std::size_t i, std::optional<std::uint64_t> seed, obs_rows& rows,
                 failure_list& failures);
  bool try_replace(std::size_t i, obs_rows& rows, failure_list& failures);
  env_failure failure_of(std::size_t i, env_failure_reason reason, std::string message,
                         bool at_reset) const;

  env_spec spec_;
  std::size_t obs_size_;  // D
  std::int64_t limit_;    // the time limit in steps; -1 means none
  action_checker checker_;
  agent_layout layout_;
  std::size_t agents_;  // N
  std::vector<episode> episodes_;
  std::vector<double> agent_sums_;          // [B, N] the rewards of the episodes under way
  std::vector<std::uint8_t> agents_ended_;  // [B, N] 1 for an agent that has not acted since
  std::size_t level_;                       // the level of the episodes that begin next
  std::vector<std::size_t> turns_;          // see set_turns; empty if it was never called
  std::size_t turn_ = 0;                    // the next index into turns_
  numpy_random replacement_seeds_ = numpy_random::from_entropy();
  bool was_reset_ = false;
  call_allowances allowances_;
  canvas* final_canvas_ = nullptr;
};

}  // namespace detail

/// B environments of one type, stored side by side in memory. If `Env` is a final class, a step
/// calls it directly. `std::unique_ptr<environment>` as `Env` holds any environment, at the cost of
/// a virtual call for each step.
template <class Env>
class vector_env final : public detail::vector_env_base {
 public:
  /// Makes an environment; all that one factory makes are equal.
  using factory = std::function<Env()>;

  explicit vector_env(std::size_t size)
    requires std::is_base_of_v<environment, Env>
      : vector_env(size, [] { return Env(); }) {}
  /// Throws std::invalid_argument for a size of 0 and for an action space that can't be batched.
  vector_env(std::size_t size, factory make) : vector_env(size, make, make()) {}

  void step_into(env_actions& actions, env_step& out) override {
    auto batch = begin_step(actions, out);
    for (std::size_t i = 0; i < environments_.size(); ++i) {
      step_result result;
      try {
        result = contract(environments_[i]).step(action(batch, i), batch.rows.row(i));
      } catch (...) {
        drop_thrown(batch, i);
        continue;
      }
      settle(batch, i, result);
    }
    end_step(batch);
  }

 private:
  vector_env(std::size_t size, factory make, Env first)
      : vector_env_base(size, contract(first).spec()), make_(std::move(make)) {
    environments_.reserve(size);
    environments_.push_back(std::move(first));
    while (environments_.size() < size) environments_.push_back(make_());
  }

  static auto& contract(Env& env) {
    if constexpr (std::is_base_of_v<environment, Env>)
      return env;
    else
      return *env;
  }
  environment& at(std::size_t i) override { return contract(environments_[i]); }
  void replace(std::size_t i) override { environments_[i] = make_(); }

  factory make_;
  std::vector<Env> environments_;
};

}  // namespace troupe
