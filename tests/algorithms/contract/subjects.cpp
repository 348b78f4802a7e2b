#include "actors/torch/torch.hpp"

#include "tests/algorithms/contract/subjects.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "actors/text/text_environment.hpp"
#include "actors/worlds/classic_control/cartpole.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/language_models/grpo/grpo_algorithm.hpp"
#include "algorithms/language_models/sft/sft_algorithm.hpp"
#include "runtime/config/config.hpp"
#include "tests/actors/networks/gated.hpp"
#include "tests/algorithms/multi_agent/leaving.hpp"
#include "tests/algorithms/multi_agent/off_policy/departing.hpp"
#include "tests/algorithms/multi_agent/off_policy/gathering.hpp"
#include "tests/algorithms/multi_agent/test_worlds.hpp"

namespace troupe::testing {

namespace {

/// A pole that is to be balanced for 8, 12 or 16 steps, by its level.
template <bool Saves>
class level_pole final : public environment {
 public:
  env_spec spec() const override {
    auto spec = inner_.spec();
    spec.levels = 3;
    return spec;
  }
  void set_level(std::size_t level) override { level_ = level; }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    inner_.reset(seed, obs);
    steps_ = 0;
  }
  step_result step(action_view action, std::span<float> obs) override {
    auto result = inner_.step(action, obs);
    result.truncated = ++steps_ == 8 + 4 * static_cast<std::int64_t>(level_);
    result.success = !result.terminated;
    return result;
  }
  bool save(state_writer& to) const override {
    to.put("steps", steps_);
    return Saves && inner_.save(to);
  }
  void restore(const state_reader& from) override {
    from.get("steps", steps_);
    inner_.restore(from);
  }

 private:
  cartpole inner_;
  std::size_t level_ = 0;
  std::int64_t steps_ = 0;
};

/// A row of six places, of which the last one pays. No episode ends before its limit.
class places final : public environment {
 public:
  env_spec spec() const override {
    return {.id = "Places-v0",
            .observation_space = spaces::multi_discrete({2, 3}),
            .action_space = spaces::discrete(2),
            .max_episode_steps = 10};
  }
  void reset(std::optional<std::uint64_t> seed, std::span<float> obs) override {
    if (seed) random_ = action_random(*seed);
    place_ = static_cast<std::int64_t>(random_.below(3));
    show(obs);
  }
  step_result step(action_view action, std::span<float> obs) override {
    place_ = std::clamp<std::int64_t>(place_ + (action.discrete() == 1 ? 1 : -1), 0, 5);
    show(obs);
    return {.reward = place_ == 5 ? 1.0 : -0.1};
  }
  bool save(state_writer& to) const override {
    const auto random = random_.state();
    to.put("random", std::vector<std::uint64_t>(random.begin(), random.end()));
    to.put("place", place_);
    return true;
  }
  void restore(const state_reader& from) override {
    std::vector<std::uint64_t> random;
    from.get("random", random);
    action_random::state_type state{};
    std::ranges::copy(random, state.begin());
    random_.set_state(state);
    from.get("place", place_);
  }

 private:
  void show(std::span<float> obs) const {
    std::ranges::fill(obs, 0.0f);
    obs[static_cast<std::size_t>(place_ / 3)] = 1.0f;
    obs[static_cast<std::size_t>(2 + place_ % 3)] = 1.0f;
  }

  action_random random_{0};
  std::int64_t place_ = 0;
};

/// Pays for the letters in each of two replies, and refuses a reply without any.
class letters_wanted final : public text_environment {
 public:
  task<text_step> reset(const text_reset& with) override {
    replies_ = 0;
    co_return text_step{.shown = {std::to_string(with.seed % 10)}};
  }
  task<text_step> step(std::string reply) override {
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto letters = std::ranges::count_if(reply, is_letter);
    if (letters == 0) co_return text_step{.refused = "no letter"};
    co_return text_step{
        .shown = {"more"}, .reward = static_cast<double>(letters), .ended = ++replies_ == 2};
  }

 private:
  int replies_ = 0;
};

/// Two replies of a letter each.
std::vector<dialogue_turn> practise_letters(action_random& random) {
  const std::string letter(1, static_cast<char>('a' + random.below(26)));
  return {{.shown = {std::to_string(random.below(10))}, .said = {letter}},
          {.shown = {"more"}, .said = {letter}}};
}

void register_worlds() {
  static const bool known =
      (register_environment<level_pole<true>>("LevelPole-v0"),
       register_environment<level_pole<false>>("ForgetfulLevelPole-v0"),
       register_environment<places>("Places-v0"),
       register_text_environment({.name = "letters_wanted",
                                  .make = [] { return std::make_unique<letters_wanted>(); },
                                  .turns = 3,
                                  .practise = practise_letters}),
       true);
  static_cast<void>(known);
  register_gated();
  register_test_worlds();
  register_departing();
  register_gathering();
  register_leaving();
}

const options evaluated = {"evaluation.every_steps=200", "evaluation.episodes=2",
                           "evaluation.final_episodes=2"};

/// Seven updates of 64 steps.
const options on_policy =
    evaluated + options{"total_steps=448", "env.n_envs=2", "rollout.workers=3", "policy.hidden=[8]",
                        "rollout.n_steps=32"};
const options ppo = on_policy + options{"trainer.batch_size=16", "trainer.n_epochs=2"};

/// Fourteen updates of three gradient steps, after 298 steps that fill a replay which forgets.
/// An episode of Pendulum ends at 400 steps.
const options off_policy = evaluated + options{"total_steps=440",
                                               "env.n_envs=2",
                                               "collection.learning_starts=298",
                                               "collection.train_freq=10",
                                               "collection.gradient_steps=3",
                                               "collection.workers=3",
                                               "collection.max_staleness=4",
                                               "replay.capacity=150",
                                               "trainer.batch_size=8",
                                               "policy.hidden=[8]",
                                               "log.episodes=1"};

/// Fourteen updates of 32 steps.
const options tables = evaluated + options{"total_steps=448",
                                           "env.n_envs=2",
                                           "collection.train_freq=16",
                                           "collection.workers=3",
                                           "collection.max_staleness=4",
                                           "trainer.lr=0.5",
                                           "log.episodes=2"};

/// Seven updates of four environments.
const options joint_on_policy =
    evaluated + options{"total_steps=448",   "env.n_envs=4",          "rollout.n_steps=16",
                        "rollout.workers=3", "trainer.batch_size=32", "policy.hidden=[8]"};
const options joint_ppo = joint_on_policy + options{"trainer.n_epochs=2"};

/// Updates of two gradient steps after each 16 steps, after 100 steps.
const options joint_off_policy = evaluated + options{"total_steps=320",
                                                     "env.n_envs=4",
                                                     "collection.learning_starts=100",
                                                     "collection.train_freq=4",
                                                     "collection.gradient_steps=2",
                                                     "collection.workers=3",
                                                     "collection.max_staleness=4",
                                                     "replay.capacity=150",
                                                     "trainer.batch_size=16",
                                                     "trainer.lr=0.01",
                                                     "policy.hidden=[8]",
                                                     "log.episodes=2"};
const options joint_q = joint_off_policy + options{"trainer.target_update_interval=32",
                                                   "trainer.tau=0.5", "env.id=Meeting-v0"};

const options gated = {"policy.encoder=gated"};

const std::string prioritised = R"(replay.prioritised={"alpha":0.6,"beta":0.4})";

std::vector<subject> single_agents() {
  const options normalized = {"env.normalize_obs=true", "env.normalize_reward=true"};
  const options pendulum = {"env.id=Pendulum-v1"};
  const options sde = {"policy.use_sde=true", "policy.sde_sample_freq=5"};
  const options linear = {"trainer.lr_schedule=linear"};
  const options own_critic = {"policy.layer_norm=true", "policy.critic_hidden=[9]"};
  const options levels = {
      R"(env.curriculum={"promote_at":0.5,"window":8,"min_episodes":4,"demote_at":0.3})"};
  return {
      {"ppo", "ppo", ppo + linear},
      {"ppo whose environments can't be saved", "ppo",
       ppo + levels + options{"env.id=ForgetfulLevelPole-v0"}, true, false, false},
      {"ppo, two rollouts at once", "ppo", ppo + options{"rollout.batch=2", "total_steps=896"},
       true, false},
      {"ppo, normalised", "ppo", ppo + pendulum + normalized},
      {"ppo, state-dependent exploration", "ppo", ppo + pendulum + sde},
      {"ppo, layers that actor and critic share", "ppo",
       ppo + options{"policy.shared_hidden=[6]", "policy.layer_norm=true",
                     "policy.critic_hidden=[7,5]", "env.normalize_obs=true"}},
      {"ppo, a network of one's own", "ppo", ppo + gated},
      {"ppo on a curriculum", "ppo", ppo + levels + options{"env.id=LevelPole-v0"}},
      {"ppo on tasks", "ppo",
       ppo + options{"env.max_episode_steps=30", "env.schedule.rule=by_need",
                     R"(env.tasks=[{"id":"CartPole-v1","floor":0,"target":30},)"
                     R"({"id":"Acrobot-v1","floor":-30,"target":-10}])"},
       true, true, false},
      {"a2c", "a2c", on_policy + linear},
      {"impala", "impala", on_policy + linear + options{"rollout.batch=1"}},
      {"impala, several clipped steps", "impala",
       on_policy + pendulum +
           options{"rollout.batch=1", "trainer.n_epochs=3", "trainer.clip_range=0.2"}},
      {"reinforce", "reinforce", on_policy + linear},
      {"dqn", "dqn",
       off_policy + linear +
           options{"trainer.double_q=true", "trainer.dueling=true",
                   "trainer.target_update_interval=80"}},
      {"dqn, prioritised and normalised", "dqn",
       off_policy + normalized + options{prioritised, "replay.n_step=3"}},
      {"dqn, a network of one's own", "dqn",
       off_policy + gated + options{"policy.layer_norm=true"}},
      {"dqn on a curriculum", "dqn", off_policy + levels + options{"env.id=LevelPole-v0"}},
      {"q_learning", "q_learning", tables + options{"env.id=Places-v0"}},
      {"q_learning, a falling step size", "q_learning",
       tables + linear + options{"env.id=Blackjack-v1"}},
      {"sac", "sac", off_policy + linear},
      {"sac, prioritised and normalised", "sac",
       off_policy + normalized + options{prioritised, "replay.n_step=3"}},
      {"sac, state-dependent exploration", "sac", off_policy + sde},
      {"sac, other critics behind a network of one's own", "sac", off_policy + gated + own_critic},
      {"sac, state-dependent exploration behind a network of one's own", "sac",
       off_policy + gated + sde},
      {"td3", "td3", off_policy + linear},
      {"td3, prioritised and normalised", "td3", off_policy + normalized + options{prioritised}},
      {"td3, other critics with layer norms", "td3", off_policy + normalized + own_critic},
      {"ddpg, correlated noise", "ddpg", off_policy + options{"noise.kind=ornstein_uhlenbeck"}},
  };
}

std::vector<subject> several_agents() {
  const options meeting = {"env.id=Meeting-v0"}, turns = {"env.id=Turns-v0"};
  const options own = {"agents.share=false"}, linear = {"trainer.lr_schedule=linear"};
  const options scaled = {"trainer.normalize_reward=standardize"};
  const options own_critic = {"policy.layer_norm=true", "policy.critic_hidden=[9]"};
  const options gathering = {"env.id=Gathering-v0", "noise.kind=ornstein_uhlenbeck"};
  return {
      {"ippo", "ippo", joint_ppo + meeting + own},
      {"ippo in turns", "ippo", joint_ppo + turns},
      {"mappo", "mappo", joint_ppo + meeting},
      {"mappo, policies of their own", "mappo", joint_ppo + meeting + own + linear},
      {"mappo, layers that actor and critic share", "mappo",
       joint_ppo + own_critic +
           options{"env.id=Turns-v0", "critic=observations", "policy.shared_hidden=[6]"}},
      {"mappo, a network of one's own", "mappo", joint_ppo + meeting + own + gated},
      {"mappo, its code's ways", "mappo",
       joint_ppo + meeting + scaled +
           options{"trainer.value_norm_every=minibatch", "trainer.value_norm_decay=0.9",
                   "trainer.huber_delta=1", "trainer.clip_range_vf=0.2",
                   "trainer.clip_vf_loss=larger", "agents.proper_time_limits=false"}},
      {"coma", "coma", joint_on_policy + meeting + options{"trainer.target_interval=5"}},
      {"coma, a network of one's own", "coma", joint_on_policy + meeting + gated + own_critic},
      {"coma, agents that leave", "coma",
       joint_on_policy + own + scaled + options{"env.id=Leaving-v0", "trainer.target_interval=5"}},
      {"mappo, normalised observations", "mappo",
       joint_ppo + meeting + options{"env.normalize_obs=true", "rollout.groups=2"}},
      {"ippo in turns, normalised observations", "ippo",
       joint_ppo + turns + options{"env.normalize_obs=true"}},
      {"coma, normalised observations of agents that leave", "coma",
       joint_on_policy +
           options{"env.id=Leaving-v0", "env.normalize_obs=true", "critic=observations"}},
      {"iql, prioritised", "iql", joint_q + own + options{prioritised}},
      {"iql in turns", "iql", joint_q + turns},
      {"iql, agents that depart from a team", "iql",
       joint_q + scaled + options{"env.id=Departing-v0", "agents.shared_reward=1"}},
      {"vdn", "vdn", joint_q + scaled},
      {"vdn, agents that depart", "vdn", joint_q + options{"env.id=Departing-v0"}},
      {"qmix", "qmix", joint_q + options{prioritised}},
      {"qmix, policies of their own", "qmix", joint_q + own},
      {"maddpg", "maddpg", joint_off_policy + gathering + scaled},
      {"qmix, a network of one's own", "qmix", joint_q + gated + options{"policy.layer_norm=true"}},
      {"maddpg, a network of one's own", "maddpg",
       joint_off_policy + gathering + gated + own_critic},
      {"maddpg, agents that leave", "maddpg",
       joint_off_policy + own + options{"env.id=GatheringLeaving-v0"}},
      {"matd3, correlated noise", "matd3", joint_off_policy + gathering + own},
  };
}

std::vector<subject> language_models(const std::filesystem::path& folder) {
  const auto data = folder / "letters.jsonl";
  std::ofstream to(data);
  for (char c = 'a'; c < 'q'; ++c) {
    const nlohmann::json line{{"prompt", std::string(1, c)}, {"answer", std::string(1, c + 1)}};
    to << line.dump() << '\n';
  }
  const options sft = {
      "task.data=" + data.string(), "task.held_out=0.25",      "model.layers=2",
      "model.hidden_size=32",       "model.max_positions=128", "trainer.batch_size=5",
      "trainer.epochs=3",           "trainer.lr=1e-3",         "trainer.warmup_updates=1"};
  // Six updates of a model of 21,000 weights. That of letters, which the built-in tasks have, has
  // 790,000, and takes most of the time of a run as short as this.
  const options grpo = {"total_steps=6",
                        "model.layers=1",
                        "model.hidden_size=32",
                        "model.max_positions=128",
                        "warm_start.batches=3",
                        "warm_start.batch_size=8",
                        "warm_start.lr=1e-3",
                        "rollout.prompts=4",
                        "rollout.group=4",
                        "rollout.max_completion_tokens=4",
                        "rollout.workers=6",
                        "rollout.max_staleness=2",
                        "trainer.lr=3e-3",
                        "trainer.zero_variance_groups=keep",
                        "evaluation.every_updates=2",
                        "evaluation.problems=2",
                        "evaluation.final_problems=3"};
  // Epochs end within an update. About a third of the first model's answers have a letter, so that
  // the answers of most groups are rewarded differently.
  const options letters = grpo + options{"task.data=" + data.string(), "task.problems.held_out=5",
                                         R"(task.reward=["pattern:.*[a-z].*"])"};
  const options lora = {"trainer.lora.rank=2"};
  return {
      {"sft", "sft", sft, false},
      {"sft, adapters", "sft", sft + lora, false},
      {"grpo", "grpo", letters},
      {"grpo in a world", "grpo", grpo + options{"task.world=letters_wanted", "world.replicas=8"}},
      {"grpo, a refreshed reference", "grpo",
       letters + options{"trainer.kl_coef=0.5", "trainer.reference_every_updates=1"}},
      {"grpo, adapters", "grpo", letters + lora},
  };
}

}  // namespace

const std::vector<named_algorithm>& known_algorithms() {
  static const auto all = [] {
    auto known = built_in_algorithms();
    known.push_back(grpo_algorithm());
    known.push_back(sft_algorithm());
    return known;
  }();
  return all;
}

std::vector<subject> make_subjects(const std::filesystem::path& folder) {
  register_worlds();
  auto all = single_agents();
  for (const auto& some : {several_agents(), language_models(folder)}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

algorithm algorithm_of_subject(const subject& one, const options& more) {
  const auto& all = known_algorithms();
  const auto found = std::ranges::find(all, one.algo, &named_algorithm::name);
  const auto document =
      load_config({}, one.options + options{"deterministic=true", "checkpoint.keep=20"} + more);
  return found->configure(document, {});
}

}  // namespace troupe::testing
