#include "actors/torch/torch.hpp"

#include "algorithms/run/load_policy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "actors/environments/action_numbers.hpp"
#include "actors/networks/acting_model.hpp"
#include "actors/networks/encoder_code.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/random/derived_seed.hpp"
#include "actors/worlds/scripted_policies.hpp"
#include "algorithms/run/config.hpp"
#include "algorithms/run/model_path.hpp"
#include "algorithms/run/trusted_run.hpp"

namespace troupe {

namespace {

/// The configuration beside a model file; null if there is none. Throws std::invalid_argument for
/// code of a run that may not be loaded.
nlohmann::json config_beside(const std::filesystem::path& model, bool trust) {
  const auto config = model.parent_path() / "config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(config, ignored)) return nullptr;
  auto document = read_run_config(config);
  if (!trust) require_trust(config.parent_path(), document, "load_policy_options::trust");
  return document;
}

/// Loads the plug-in of the encoder that the configuration beside a model file names, if it does.
void load_encoder_beside(const std::filesystem::path& model, bool trust) {
  const auto config = model.parent_path() / "config.json";
  std::error_code ignored;
  if (!std::filesystem::exists(config, ignored)) return;
  const nlohmann::json::json_pointer encoder("/policy/encoder");
  const auto document = read_run_config(config);
  if (!document.is_object() || !document.contains(encoder)) return;
  const auto& name = document.at(encoder);
  if (!name.is_string() || !is_unloaded_plugin(name.get<std::string>())) return;
  config_beside(model, trust);  // throws if the run may not choose what is loaded
  load_encoder(name.get<std::string>());
}

/// The section of the environment in the configuration beside a model file, if there is one.
std::optional<env_section> section_beside(const std::filesystem::path& model, bool trust) {
  const auto document = config_beside(model, trust);
  if (!document.is_object() || !document.contains("env")) return std::nullopt;
  return parse_config<env_section>(document.at("env"));
}

space actions_of(const saved_model& model, const std::filesystem::path& path, bool trust) {
  if (model.action_space) return *model.action_space;
  const auto section = section_beside(path, trust);
  if (!section) {
    throw model_file_error("model file " + path.string() +
                           ": expected the action space in the file, or the config.json of its run "
                           "beside it, got neither; files of older versions have no action space");
  }
  return spec_of(*section).action_space;
}

std::vector<std::string> names_of(const network_shape& shape) {
  std::vector<std::string> names;
  for (const auto& agent : shape.agents) names.push_back(agent.name);
  return names;
}

void require_numbers(std::span<const float> numbers, std::size_t expected, const char* what) {
  if (numbers.size() != expected) {
    throw std::invalid_argument(
        fmt::format("{}: expected {} numbers, got {}", what, expected, numbers.size()));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i])) continue;
    throw std::invalid_argument(
        fmt::format("{}: expected finite numbers, got {} at index {}", what, numbers[i], i));
  }
}

void require_mask(std::span<const float> mask, std::size_t expected, const char* what) {
  require_numbers(mask, expected, what);
  const auto wrong = std::ranges::find_if(mask, [](float flag) { return flag != 0 && flag != 1; });
  if (wrong == mask.end()) return;
  throw std::invalid_argument(
      fmt::format("{}: expected a 1 for each choice that is allowed and a 0 for each other one, "
                  "got {} at index {}",
                  what, *wrong, wrong - mask.begin()));
}

}  // namespace

struct loaded_policy::parts {
  parts(std::filesystem::path from, saved_model read, const load_policy_options& options)
      : path(std::move(from)),
        model(std::move(read)),
        actions(actions_of(model, path, options.trust)),
        numbers(numbers_of(actions)),
        names(names_of(model.shape)),
        deterministic(options.deterministic),
        random(derived_seed(options.seed, "load_policy")) {
    model.options.device = options.device;
    const auto script = [this, trust = options.trust](scripted_policy_request of) {
      if (const auto section = section_beside(path, trust)) of.env_options = section->options.text;
      return make_scripted_policy(of);
    };
    acting.emplace(model.shape, model.options, actions, script);
    const auto& shape = model.shape;
    if (std::cmp_not_equal(shape.choice_count(), numbers.integers.size()) ||
        std::cmp_not_equal(shape.continuous_size, numbers.low.size())) {
      throw std::invalid_argument("its network is for " + to_string(shape) +
                                  ", its action space is " + to_string(actions));
    }
    acting->load_parameters(model.parameters);
  }

  env_actions act(std::span<const float> observation) {
    auto chosen = acting->act(observation, random, deterministic);
    for (std::size_t i = 0; i < chosen.continuous.size(); ++i) {
      auto& value = chosen.continuous[i];
      if (std::isnan(value)) {
        throw std::invalid_argument(
            fmt::format("action: expected finite numbers, got nan at index {}: the sums of the "
                        "network overflow for an observation of numbers from {} to {}",
                        i, std::ranges::min(observation), std::ranges::max(observation)));
      }
      value = std::clamp(value, numbers.low[i], numbers.high[i]);
    }
    return chosen;
  }

  /// Throws std::invalid_argument for the index of an agent that there is not.
  void require_agent(std::size_t agent) const {
    if (names.empty()) {
      throw std::invalid_argument(
          fmt::format("agent: expected none, because {} has a single agent, got the index {}",
                      path.string(), agent));
    }
    if (agent < names.size()) return;
    throw std::invalid_argument(fmt::format(
        "agent: expected an index below {}, the number of agents, got {}", names.size(), agent));
  }

  const std::filesystem::path path;
  saved_model model;
  const space actions;
  const action_numbers numbers;
  const std::vector<std::string> names;
  const bool deterministic;
  action_random random;
  std::optional<acting_model> acting;
  std::vector<float> row;  // of all agents
};

loaded_policy::loaded_policy(std::unique_ptr<parts> made) : parts_(std::move(made)) {}
loaded_policy::loaded_policy(loaded_policy&&) noexcept = default;
loaded_policy& loaded_policy::operator=(loaded_policy&&) noexcept = default;
loaded_policy::~loaded_policy() = default;

env_actions loaded_policy::act(std::span<const float> observation) {
  require_numbers(observation, observation_size(), "observation");
  return parts_->act(observation);
}

env_actions loaded_policy::act(std::size_t agent, std::span<const float> observation,
                               std::span<const float> mask) {
  const auto& shape = parts_->model.shape;
  parts_->require_agent(agent);
  const auto& view = shape.agents[agent];
  const auto& policy = shape.policies[static_cast<std::size_t>(view.policy)];
  const auto own_mask = static_cast<std::size_t>(policy.mask_size);
  require_numbers(observation, static_cast<std::size_t>(view.obs_size),
                  ("observation of agent \"" + view.name + '"').c_str());
  if (!mask.empty()) {
    require_mask(mask, own_mask, ("action mask of agent \"" + view.name + '"').c_str());
  }
  // The other agents see zeros, and all their choices are allowed: their actions are not used.
  auto& row = parts_->row;
  row.assign(observation_size(), 0.0f);
  for (const auto& each : shape.agents) {
    const auto size = shape.policies[static_cast<std::size_t>(each.policy)].mask_size;
    std::fill_n(row.begin() + each.mask_begin, size, 1.0f);
    if (each.active >= 0) row[static_cast<std::size_t>(each.active)] = 1.0f;
  }
  std::ranges::copy(observation, row.begin() + view.obs_begin);
  std::ranges::copy(mask, row.begin() + view.mask_begin);
  const auto all = parts_->act(row);
  const auto own = shape_of(policy);
  env_actions chosen;
  const auto integers = all.discrete.begin() + view.integers_begin;
  const auto floats = all.continuous.begin() + view.floats_begin;
  chosen.discrete.assign(integers, integers + own.choice_count());
  chosen.continuous.assign(floats, floats + own.continuous_size);
  return chosen;
}

env_actions loaded_policy::act(std::string_view agent, std::span<const float> observation,
                               std::span<const float> mask) {
  const auto& names = parts_->names;
  const auto found = std::ranges::find(names, agent);
  if (found == names.end()) {
    throw std::invalid_argument(
        names.empty()
            ? fmt::format("agent: expected none, because {} has a single agent, got \"{}\"",
                          path().string(), agent)
            : fmt::format("agent: expected one of {}, got \"{}\"", fmt::join(names, ", "), agent));
  }
  return act(static_cast<std::size_t>(found - names.begin()), observation, mask);
}

const std::string& loaded_policy::algorithm() const { return parts_->model.algo; }
const std::filesystem::path& loaded_policy::path() const { return parts_->path; }
const std::vector<std::string>& loaded_policy::agents() const { return parts_->names; }
const space& loaded_policy::action_space() const { return parts_->actions; }
std::int64_t loaded_policy::steps() const { return parts_->model.steps; }
std::size_t loaded_policy::observation_size() const {
  return static_cast<std::size_t>(parts_->model.shape.obs_size);
}
std::size_t loaded_policy::observation_size(std::size_t agent) const {
  parts_->require_agent(agent);
  return static_cast<std::size_t>(parts_->model.shape.agents[agent].obs_size);
}

loaded_policy load_policy(const std::filesystem::path& path, const load_policy_options& options) {
  if (!is_device_name(options.device)) {
    throw std::invalid_argument("device: expected cpu, cuda or cuda:N, got \"" + options.device +
                                '"');
  }
  const auto file = model_path(path, options.model);
  load_encoder_beside(file, options.trust);
  const auto model = load_model(file);
  std::string wrong;
  try {
    return loaded_policy(std::make_unique<loaded_policy::parts>(file, model, options));
  } catch (const c10::Error& error) {
    wrong = std::string("its weights don't have its shape: ") + error.what_without_backtrace();
  } catch (const std::invalid_argument& error) {
    wrong = error.what();
  }
  throw model_file_error("model file " + file.string() + ", which was written by " +
                         writer_of(model) + ": expected a policy, but " + wrong);
}

}  // namespace troupe
