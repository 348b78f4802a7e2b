#include "actors/torch/torch.hpp"

#include <nlohmann/json.hpp>

#include "actors/networks/model_file.hpp"
#include "algorithms/on_policy/on_policy.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "tests/algorithms/stage.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

ppo_config short_run(int replicas) {
  ppo_config config;
  config.env.n_envs = 4;
  config.total_steps = 6 * 4 * 16;
  config.rollout.n_steps = 16;
  config.trainer.batch_size = 16;
  config.trainer.n_epochs = 2;
  config.trainer.replicas = replicas;
  config.policy.hidden = {8};
  config.evaluation = {.every_steps = 64, .episodes = 1, .final_episodes = 1};
  return config;
}

std::vector<float> last_model(const run_result& of) {
  const auto model = load_model(run_directory::open(of.run_directory).last_model());
  const auto* first = model.parameters.data_ptr<float>();
  return {first, first + model.parameters.numel()};
}

/// Takes rank 1 away after the update of `at_version`, once.
struct loss_of_a_rank {
  std::int64_t at_version;
  int systems = 0;  ///< That the run has had.
  bool lost = false;
  const on_policy* learning = nullptr;
};

task<> lose_a_rank(loss_of_a_rank& how, loops::progress now, evaluation) {
  if (how.lost || now.updates != how.at_version) co_return;
  how.lost = true;
  co_await how.learning->in.sys.scale(how.learning->trainer(), 1);
}

struct stage : testing::quiet_stage {
  run_result run(const ppo_config& config, const std::string& name,
                 loss_of_a_rank* loss = nullptr) {
    auto what = algorithm_with(config);
    run_options options;
    if (loss) {
      what.make = [make = what.make, loss](training_run& in) {
        auto made = make(in);
        loss->learning = &dynamic_cast<detail::running<on_policy>&>(*made).algorithm();
        ++loss->systems;
        return made;
      };
      options.callbacks.on_evaluation = [loss](loops::progress now, evaluation seen) {
        return lose_a_rank(*loss, now, std::move(seen));
      };
    }
    return train(what, {.root = folder.path / name}, options);
  }
};

TEST_CASE("trainer.replicas: a run with two ranks ends with the weights of one with one",
          "[data_parallel]") {
  for (const bool normalized : {false, true}) {
    INFO((normalized ? "normalised" : "as it is"));
    stage on;
    auto config = short_run(1);
    config.env.normalize_obs = config.env.normalize_reward = normalized;
    const auto alone = on.run(config, "alone");
    config.trainer.replicas = 2;
    const auto shared = on.run(config, "shared");
    CHECK(shared.summary.value().steps == alone.summary.value().steps);
    const auto a = at::tensor(last_model(alone));
    const auto b = at::tensor(last_model(shared));
    const auto difference = ((a - b).norm() / a.norm()).item<double>();
    CHECK(difference <= 1e-6);
  }
}

TEST_CASE("trainer.replicas: a run that loses a rank goes on from its last checkpoint by itself",
          "[data_parallel]") {
  stage on;
  auto config = short_run(2);
  config.env.normalize_obs = true;
  config.checkpoint.every_updates = 2;
  const auto whole = on.run(config, "whole");
  loss_of_a_rank loss{.at_version = 3};
  const auto broken = on.run(config, "broken", &loss);
  CHECK(loss.lost);
  CHECK(loss.systems == 5);  // two updates each, those of the second once more, and the evaluation
  CHECK(broken.summary.value().steps == whole.summary.value().steps);
  CHECK(broken.summary.value().weights_sha256 == whole.summary.value().weights_sha256);
}

TEST_CASE("trainer.replicas: without checkpoints a lost rank ends the run, and says so",
          "[data_parallel]") {
  stage on;
  loss_of_a_rank loss{.at_version = 3};
  CHECK_THROWS_WITH(on.run(short_run(2), "broken", &loss),
                    Catch::Contains("the trainer has lost a rank: 1 of 2") &&
                        Catch::Contains("data-parallel rank 0 of 2"));
}

TEST_CASE("trainer.replicas: what can't be shared is refused by name", "[data_parallel]") {
  const auto refusal = [](const std::vector<std::string>& overrides) {
    return testing::message_of([&] { parse_config<ppo_config>(load_config({}, overrides)); });
  };
  CHECK_THAT(refusal({"trainer.replicas=0"}),
             Catch::Contains("/trainer/replicas: expected an integer >= 1"));
  CHECK_THAT(refusal({"trainer.replicas=2", "env.n_envs=4", "deterministic=true"}),
             Catch::Contains("/trainer/replicas: expected 1 where deterministic is true"));
  CHECK(
      refusal({"trainer.replicas=5", "env.n_envs=4"}) ==
      "/trainer/replicas: expected at most 4, env.n_envs times rollout.batch, of which each takes "
      "a share, got 5");
  CHECK_THAT(refusal({"trainer.replicas=2", "env.n_envs=4", "placement.trainer=shared"}),
             Catch::Contains("/placement/trainer: expected auto, thread or process with "
                             "trainer.replicas of 2") &&
                 Catch::Contains("got \"shared\""));
  CHECK(refusal({"trainer.replicas=2", "env.n_envs=4"}) == "");
}

}  // namespace
}  // namespace troupe
