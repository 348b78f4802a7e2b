#include "actors/torch/torch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "actors/random/derived_seed.hpp"
#include "actors/replay/image_part.hpp"
#include "algorithms/off_policy/off_policy.hpp"
#include "algorithms/off_policy/run_collectors.hpp"
#include "algorithms/run/initial_model.hpp"
#include "algorithms/run/run_state.hpp"
#include "runtime/base/log.hpp"

namespace troupe {

namespace {

/// Begins with the model's weights; behind the acting ones are the statistics of observations.
void start_from(transition_learner& learner, const saved_model& model) {
  const auto parameters = model.parameters.contiguous();
  learner.start_from({parameters.data_ptr<float>(), learner.acting().size()}, model.beside);
}

/// The options of the replay's ring for the environment's observations.
transition_ring_options ring_options_of(const ring_section& replay, const network_shape& shape,
                                        const env_spec& spec) {
  const auto widths = widths_of(shape);
  transition_ring_options ring{.max_bytes = replay.max_bytes,
                               .images = images_of(spec.observation_space)};
  ring.capacity = replay.capacity_for(transition_bytes(widths, ring.images));
  return ring;
}

/// Says how many transitions the replay holds, if it is replay.max_bytes that limits them.
void tell_capacity(const transition_ring_options& ring, const network_shape& shape) {
  if (ring.capacity == ring_section().capacity_for(1)) return;
  log::info("the replay holds fewer transitions than by default, as many as replay.max_bytes does",
            {{"replay.capacity", ring.capacity},
             {"transition_bytes", transition_bytes(widths_of(shape), ring.images)},
             {"replay.max_bytes", ring.max_bytes}});
}

}  // namespace

std::size_t off_policy::collectors() const {
  const auto& c = algorithm_.config;
  const int workers = c.mode == training_mode::async ? c.collection.workers : 1;
  return static_cast<std::size_t>(std::max(workers, c.env.replicas));
}

task<> off_policy::serve(const checkpoint* from) {
  co_await serve_replay(from);
  co_await serve_trainer(from);
  co_await serve_collectors(from);
  co_await in.practise_on(roles.collectors, collectors());
  co_await serve_evaluator();
}

task<> off_policy::serve_replay(const checkpoint* from) {
  const auto& c = algorithm_.config;
  const bool async = c.mode == training_mode::async;
  auto ring = ring_options_of(c.replay, shape, spec);
  if (!from && !c.replay.capacity) tell_capacity(ring, shape);
  transition_replay_options keeping{.widths = widths_of(shape),
                                    .ring = std::move(ring),
                                    .warm_up = c.warm_up(),
                                    .max_staleness = async ? c.collection.max_staleness : 0,
                                    .seed = derived_seed(c.seed, "replay"),
                                    .prioritised = c.replay.prioritised,
                                    .normalize_obs = c.env.normalize_obs,
                                    .normalize_reward = c.env.normalize_reward};
  if (in.settings.init && c.env.normalize_obs) {
    keeping.obs_statistics = obs_statistics_of(in.settings.init->model);
  }
  using transitions = transition_replay;
  serve_options serving{
      .name = "replay",
      .deadline = long_call,
      .idempotent = {endpoint<&transitions::admit>, endpoint<&transitions::insert>,
                     endpoint<&transitions::sample>, endpoint<&transitions::trained>,
                     endpoint<&transitions::close>, endpoint<&transitions::update_priorities>,
                     endpoint<&transitions::obs_scale>, endpoint<&transitions::counts>,
                     endpoint<&transitions::save>, endpoint<&transitions::restore>}};
  auto storage = std::make_shared<transitions::storage>();
  roles.replay = co_await in.serve<transitions>(std::move(serving), keeping, std::move(storage));
  if (from) co_await roles.replay.route<&transitions::restore>(file_of(*from, "replay.cbor"));
}

task<> off_policy::serve_trainer(const checkpoint* from) {
  const bool async = in.settings.mode == training_mode::async;
  off_policy_trainer::maker make = [make = algorithm_.make_learner, shape = shape,
                                    init = from ? nullptr : in.settings.init] {
    auto learner = make(shape);
    if (!init) return learner;
    if (init->model.beside.empty() && !learner->beside().empty()) {
      log::warn("the model has no critics or mixer; these begin with random weights", {});
    }
    start_from(*learner, init->model);
    return learner;
  };
  serve_options learning{
      .name = "trainer",
      .placement = async ? placement::thread : placement::shared,
      .deadline = long_call,
      .idempotent = {endpoint<&off_policy_trainer::train>, endpoint<&off_policy_trainer::publish>,
                     endpoint<&off_policy_trainer::save>, endpoint<&off_policy_trainer::restore>}};
  auto storage = std::make_shared<off_policy_trainer::storage>();
  trainer_ = co_await in.serve<off_policy_trainer>(
      std::move(learning), std::move(make), algorithm_.batch_size, widths_of(shape),
      algorithm_.target_update_steps, roles.replay, in.store, std::move(storage));
  if (from) co_await trainer_.route<&off_policy_trainer::restore>(file_of(*from, "trainer.cbor"));
}

task<> off_policy::serve_collectors(const checkpoint* from) {
  const auto& c = algorithm_.config;
  roles.steps = c.collection.train_freq;
  roles.environments = c.env.n_envs;
  auto collecting = collector_options_of(in, c.env, shape);
  collecting.explore = algorithm_.explore;
  collecting.n_step = c.replay.n_step;
  collecting.discount_rewards = c.env.normalize_reward;
  collecting.gamma = algorithm_.gamma;
  if (algorithm_.agents) collecting.agents = algorithm_.agents(shape);
  collecting.agents.env_options = c.env.options.text;
  roles.collectors = co_await serve_run_collectors(in, c.env, std::move(collecting), collectors());
  collectors_expected_ = collectors();
  if (!from) co_return;
  auto saved = state_in<collectors_state>(*from, "collectors.bin");
  *roles.begun = saved.begun;
  episodes_to_log_ = saved.episodes_to_log;
  if (!agent_returns_.empty()) restore_returns(*from);
  collectors_expected_ =
      co_await restore_collectors(in, roles.collectors, std::move(saved.replicas), collectors());
}

void off_policy::restore_returns(const checkpoint& from) {
  auto returns = state_in<std::vector<std::vector<double>>>(from, "agents.bin");
  if (returns.size() != agent_returns_.size()) {
    throw state_error(fmt::format("checkpoint: agents.bin: expected returns of {} agents, got {}",
                                  agent_returns_.size(), returns.size()));
  }
  for (std::size_t i = 0; i < returns.size(); ++i) agent_returns_[i].restore(std::move(returns[i]));
}

task<> off_policy::save(checkpoint& state) {
  state.files["trainer.cbor"] = co_await trainer_.route<&off_policy_trainer::save>();
  state.files["replay.cbor"] = co_await roles.replay.route<&transition_replay::save>();
  auto states = co_await save_each<&collector::save>(in, roles.collectors, collectors_expected_);
  state.files["collectors.bin"] =
      state_bytes(collectors_state{*roles.begun, episodes_to_log_, std::move(states)});
  if (agent_returns_.empty()) co_return;
  std::vector<std::vector<double>> returns;
  for (const auto& each : agent_returns_) returns.push_back(each.values());
  state.files["agents.bin"] = state_bytes(returns);
}

task<weights> off_policy::newest() {
  auto published = co_await trainer_.route<&off_policy_trainer::publish>();
  beside_ = std::move(published.beside);
  version_beside_ = published.acting.version;
  co_return std::move(published.acting);
}

void off_policy::write_model(const std::filesystem::path& path, const weights& of,
                             std::optional<double> score) const {
  environment_algorithm::write_model(path, of, score,
                                     of.version == version_beside_ ? beside_ : named_tensors{});
}

namespace {

/// Throws std::invalid_argument if the network can't choose the environment's kind of action. The
/// shape of several agents judges their actions itself.
void require_actions(const run_settings& settings) {
  if (settings.shape) return;
  const bool discrete = has_action_values(settings.network.kind);
  const auto actions = spec_of(settings.env).action_space;
  const bool fits = discrete ? actions.get_if<spaces::discrete>() != nullptr
                             : actions.get_if<spaces::box>() != nullptr;
  if (fits) return;
  throw std::invalid_argument(fmt::format(
      "{}: expected an environment with actions of {}, got {}, whose are {}; of the others {}",
      settings.algo, discrete ? "Discrete" : "Box", settings.env.id, to_string(actions),
      discrete ? "sac, td3 and ddpg take Box, ppo and a2c take any"
               : "dqn takes Discrete, ppo and a2c take any"));
}

/// Throws config_error if a full replay would need more than replay.max_bytes, or if that holds
/// less than the transitions of one gradient step.
void require_room(const run_settings& settings, const ring_section& replay,
                  std::size_t batch_size) {
  const auto spec = spec_of(settings.env);
  const auto shape = shape_for(settings, spec);
  const auto ring = ring_options_of(replay, shape, spec);
  const auto each = static_cast<double>(transition_bytes(widths_of(shape), ring.images));
  const auto capacity = replay.capacity
                            ? *replay.capacity
                            : std::max(ring.capacity, static_cast<std::int64_t>(batch_size));
  const double wanted = each * static_cast<double>(capacity);
  if (wanted <= static_cast<double>(replay.max_bytes)) return;
  const double fits = std::floor(static_cast<double>(replay.max_bytes) / each);
  throw config_error(
      "/replay/max_bytes",
      fmt::format("expected at least {:.0f} bytes, which {} of {} transitions of {:.0f} bytes "
                  "takes{}, got {}{}",
                  wanted, replay.capacity ? "a replay.capacity" : "the trainer.batch_size",
                  capacity, each, replay.capacity ? " when it is full" : "", replay.max_bytes,
                  fits < 1 || !replay.capacity
                      ? ""
                      : fmt::format("; replay.capacity={:.0f} would fit", fits)));
}

}  // namespace

run_settings settings_of(const off_policy_config& c, network_options acting, std::string resolved) {
  auto settings = settings_of(static_cast<const run_config&>(c), std::move(resolved));
  const bool sync = c.mode == training_mode::sync;
  acting.normalize_obs = c.env.normalize_obs;
  settings.network = std::move(acting);
  settings.updates = c.updates();
  settings.total_steps = (c.updates() + c.warm_up()) * c.steps_of_collection();
  settings.schedule_steps = c.steps_of_schedules();
  // Sync mode uses one thread; a switch between threads would cost tens of microseconds.
  settings.threads = sync ? 1 : 0;
  settings.update_options = "collection.train_freq * env.n_envs";
  settings.steps_of_update = c.steps_of_collection();
  settings.replicas_at_once = sync ? 1 : c.collection.workers;
  settings.replicas_option = sync ? "mode=sync" : "collection.workers";
  return settings;
}

algorithm algorithm_with(off_policy_algorithm algorithm) {
  auto settings = algorithm.settings;
  const auto check = [settings, replay = algorithm.config.replay,
                      batch_size = algorithm.batch_size] {
    require_actions(settings);
    require_network(settings);
    require_room(settings, replay, batch_size);
  };
  auto check_model = [settings, make = algorithm.make_learner](const saved_model& model) {
    start_from(*make(shape_for(settings, spec_of(settings.env))), model);
  };
  auto make_update = [make = algorithm.make_learner, rows = static_cast<int>(algorithm.batch_size)](
                         const network_shape& shape, std::uint64_t seed) -> std::function<void()> {
    return [learner = std::shared_ptr<transition_learner>(make(shape)),
            batch = random_batch(shape, std::min(rows, 64), seed)] { learner->update(batch); };
  };
  auto made = make_algorithm<off_policy>(std::move(settings), check, std::move(algorithm));
  made.check_model = std::move(check_model);
  made.make_update = std::move(make_update);
  return made;
}

}  // namespace troupe
