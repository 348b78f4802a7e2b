#include "actors/python/python_environment.hpp"

#include <fmt/format.h>

#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "actors/environments/agent_layout.hpp"
#include "actors/environments/vector_env.hpp"
#include "actors/python/python_host.hpp"

namespace troupe {
namespace {

using detail::python_host;
using nlohmann::json;

/// True for a name of Python, or several joined by dots.
bool is_dotted_name(std::string_view text) {
  bool begins = true;
  for (const char c : text) {
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
    const bool digit = std::isdigit(static_cast<unsigned char>(c));
    if (c == '.' ? begins : !letter && (begins || !digit)) return false;
    begins = c == '.';
  }
  return !begins;
}

/// One environment of a process. Its `step` shows the result of a step that the process has taken.
class python_row final : public environment {
 public:
  python_row(python_host& host, std::size_t index)
      : host_(host), index_(index), agents_(host.spec().agents.size()) {}

  env_spec spec() const override { return host_.spec(); }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    // A reset of all environments with seeds has come before, and a step begins the next episodes.
    // What is left are environments that were made anew. Some take only seeds of 31 bits.
    if (!host_.has_begun(index_)) {
      if (seed) *seed &= 0x7fffffff;
      host_.reset({index_}, {seed});
    }
    host_.show_begun(index_, obs);
  }
  void set_level(std::size_t level) override { host_.set_level(level); }
  step_result step(action_view, std::span<float> obs) override {
    const auto result = host_.show_step(index_, obs);
    host_.show_agents(index_, agents_);
    return result;
  }
  std::span<const agent_step> agent_steps() const override { return agents_; }
  episode_info info() const override { return host_.info(index_); }
  bool render(canvas& on) const override { return host_.render(index_, on); }

 private:
  python_host& host_;
  std::size_t index_;
  std::vector<agent_step> agents_;  // [N]
};

/// Refuses wrappers that need a saved state, and with several agents those for the observations and
/// actions of one. Throws std::invalid_argument.
void require_fitting_wrappers(const environment_request& request, const env_spec& spec) {
  if (request.wrappers.difference_rewards)
    throw std::invalid_argument(
        request.id +
        ": env.difference_rewards: expected an environment that can be saved, got one in Python");
  if (spec.agents.empty()) return;
  const auto refuse = [&](const char* option, const std::string& expected, const std::string& got) {
    throw std::invalid_argument(
        fmt::format("{}: {}: expected {}, for it has {} agents, whose observations and actions "
                    "are joined, got {}",
                    request.id, option, expected, spec.agents.size(), got));
  };
  if (request.wrappers.frames != 1)
    refuse("env.frame_stack", "1", fmt::format("{}", request.wrappers.frames));
  if (request.wrappers.rescale_actions) refuse("env.rescale_action", "false", "true");
}

/// The wrappers of a row. Actions are scaled before they are sent, and Gymnasium applies the time
/// limit of its environments.
wrapper_options wrappers_of_row(const environment_request& request) {
  auto wrappers = request.wrappers;
  wrappers.rescale_actions = false;
  return wrappers;
}

env_spec spec_of(const python_host& host, const environment& row) {
  auto spec = row.spec();
  return host.request().wrappers.rescale_actions ? action_scaling::scaled(spec) : spec;
}

std::optional<action_scaling> scaling_of(const python_host& host) {
  return host.request().wrappers.rescale_actions ? std::optional<action_scaling>(host.spec())
                                                 : std::nullopt;
}

class python_environments final : public detail::vector_env_base {
 public:
  python_environments(std::shared_ptr<python_host> host,
                      std::vector<std::unique_ptr<environment>> rows)
      : vector_env_base(rows.size(), spec_of(*host, *rows.front())),
        host_(std::move(host)),
        rows_(std::move(rows)),
        scaling_(scaling_of(*host_)),
        scaled_(scaling_ ? scaling_->size() : 0),
        agents_(rows_.front()->spec()) {}

  env_reset reset(std::optional<std::uint64_t> seed) override {
    host_->require_process();
    std::vector<std::size_t> rows(size());
    std::vector<std::optional<std::uint64_t>> seeds(size());
    for (std::size_t i = 0; i < size(); ++i) {
      rows[i] = i;
      if (seed) seeds[i] = *seed + i;
    }
    host_->reset(rows, seeds);
    return vector_env_base::reset(seed);
  }

  void step_into(env_actions& actions, env_step& out) override {
    auto batch = begin_step(actions, out);
    for (std::size_t i = 0; i < size(); ++i) {
      if (scaling_) {
        scaling_->write(action(batch, i).continuous(), scaled_);
        host_->set_action(i, scaled_);
      } else if (agents_.count() > 0) {
        host_->set_action(i, action(batch, i), agents_);
      } else {
        host_->set_action(i, action(batch, i));
      }
    }
    out.process_replaced = host_->step();
    for (std::size_t i = 0; i < size(); ++i) {
      step_result result;
      try {
        result = rows_[i]->step(action(batch, i), batch.rows.row(i));
      } catch (...) {
        drop_thrown(batch, i);
        continue;
      }
      settle(batch, i, result);
    }
    end_step(batch);
  }

  /// A step begins the next episodes, so their level is told before it.
  void set_level(std::size_t level) override {
    vector_env_base::set_level(level);
    host_->set_level(level);
  }
  void set_options(const std::string& json) override { host_->set_options(json); }
  void set_attr(const std::string& name, const std::string& json) override {
    host_->set_attr(name, json);
  }
  void set_final_canvas(canvas* on) override {
    host_->set_begins_next(on == nullptr);
    vector_env_base::set_final_canvas(on);
  }

 private:
  environment& at(std::size_t i) override { return *rows_[i]; }
  void replace(std::size_t i) override { host_->replace(i); }

  std::shared_ptr<python_host> host_;
  std::vector<std::unique_ptr<environment>> rows_;
  std::optional<action_scaling> scaling_;
  std::vector<float> scaled_;  // [A]
  agent_layout agents_;        // with the wrappers
};

/// An environment that is alone in its process.
class single_python_environment final : public environment {
 public:
  explicit single_python_environment(std::shared_ptr<python_host> host)
      : host_(std::move(host)), row_(*host_, 0) {}

  env_spec spec() const override { return host_->spec(); }
  void set_level(std::size_t level) override { host_->set_level(level); }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    host_->require_process();
    host_->reset({0}, {seed});
    row_.reset(seed, obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    host_->set_action(0, action);
    host_->step();
    return row_.step(action, obs);
  }
  std::span<const agent_step> agent_steps() const override { return row_.agent_steps(); }
  episode_info info() const override { return row_.info(); }
  bool render(canvas& on) const override { return row_.render(on); }
  void set_options(const std::string& json) override { host_->set_options(json); }
  void set_attr(const std::string& name, const std::string& json) override {
    host_->set_attr(name, json);
  }

 private:
  std::shared_ptr<python_host> host_;
  python_row row_;
};

}  // namespace

nlohmann::json detail::request_json(const environment_request& of) {
  const auto& limit = of.wrappers.max_episode_steps;
  return {{"id", of.id},
          {"options", json::parse(of.options)},
          {"reset_options", json::parse(of.reset_options)},
          {"wrappers", of.python.wrappers},
          {"info", of.python.info},
          {"tells_memory", of.python.replace_above_mb > 0},
          {"max_episode_steps", limit ? json(*limit) : json()},
          {"render", of.python.render}};
}

bool names_python(std::string_view id) {
  if (id.starts_with("gymnasium:") || id.starts_with("pettingzoo:")) return true;
  const auto colon = id.find(':');
  return colon != id.npos && is_dotted_name(id.substr(0, colon)) &&
         is_dotted_name(id.substr(colon + 1));
}

std::unique_ptr<vector_environment> make_python_environments(const environment_request& request,
                                                             std::size_t size) {
  if (size == 0)
    throw std::invalid_argument(request.id + ": expected a batch of at least 1 environment, got 0");
  const auto host = std::make_shared<python_host>(request, size);
  require_fitting_wrappers(request, host->spec());
  std::vector<std::unique_ptr<environment>> rows;
  for (std::size_t i = 0; i < size; ++i)
    rows.push_back(wrapped(std::make_unique<python_row>(*host, i), wrappers_of_row(request)));
  return std::make_unique<python_environments>(host, std::move(rows));
}

std::unique_ptr<environment> make_python_environment(const environment_request& request) {
  auto host = std::make_shared<python_host>(request, std::size_t{1});
  require_fitting_wrappers(request, host->spec());
  return wrapped(std::make_unique<single_python_environment>(std::move(host)), request.wrappers);
}

}  // namespace troupe
