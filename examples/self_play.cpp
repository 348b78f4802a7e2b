// Self-play: a policy learns rock, paper, scissors against frozen versions of itself.
//
// The roles are those of IPPO with two policies, which are services: `learner` is trained, and
// `opponent` is frozen at what the learner was a round before. No move beats all others, so the
// learner runs after its own past in a circle, which the program draws.
//
//   ./self_play
//
// It ends after some seconds. Each line is a round: how often the learner shows rock, paper and
// scissors, and what it wins of the version before. The picture is cycle.gif.

#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "actors/torch/torch.hpp"

#include "actors/networks/acting_network.hpp"
#include "actors/networks/joint_shape.hpp"
#include "actors/networks/model_file.hpp"
#include "actors/recorder/run_directory.hpp"
#include "actors/torch/torch_threads.hpp"
#include "actors/video/cairo_canvas.hpp"
#include "actors/video/video_file.hpp"
#include "algorithms/multi_agent/on_policy/ippo/ippo.hpp"
#include "algorithms/run/initial_model.hpp"
#include "runtime/system/run.hpp"

constexpr int rounds = 12, moves = 3;
using strategy = std::array<double, moves>;

/// Counts what the learner shows in the first round of 3000 games.
strategy strategy_of(const troupe::saved_model& model) {
  const auto own = troupe::shape_of(model.shape.policies[0]);
  troupe::actor_critic network(own, model.options, 0);
  network.load_parameters(model.parameters.narrow(0, 0, network.parameter_count()));
  troupe::action_random random(1);
  constexpr int games = 3000;
  const auto shown = network.act(at::zeros({games, own.obs_size}), random).action;
  strategy how{};
  for (int move = 0; move < moves; ++move) {
    how[static_cast<std::size_t>(move)] = (shown == move).sum().item<double>() / games;
  }
  return how;
}

/// The model with the learner's network in both places: the next round's opponent is the learner.
std::shared_ptr<const troupe::initial_model> against_itself(troupe::saved_model model) {
  const auto own = model.parameters.narrow(0, 0, model.parameters.size(0) / 2);
  model.parameters = at::cat({own, own});
  return std::make_shared<const troupe::initial_model>(troupe::initial_model{"self-play", model});
}

/// Draws strategies as a path in the triangle of rock, paper and scissors, a picture a round.
void draw(const std::vector<strategy>& path) {
  constexpr int width = 420, height = 380;
  constexpr troupe::canvas::colour white{255, 255, 255}, grey{150, 150, 150}, blue{40, 90, 200};
  const std::array<troupe::canvas::point, moves> corners{{{210, 40}, {350, 330}, {70, 330}}};
  const auto place_of = [&](const strategy& how) {
    troupe::canvas::point at;
    for (std::size_t i = 0; i < moves; ++i) {
      at.x += how[i] * corners[i].x;
      at.y += how[i] * corners[i].y;
    }
    return at;
  };
  const auto video = troupe::open_video("cycle.gif", {width, height, 2});
  troupe::cairo_canvas on;
  for (std::size_t shown = 1; shown <= path.size(); ++shown) {
    on.begin(width, height, white);
    for (std::size_t i = 0; i < moves; ++i) on.line(corners[i], corners[(i + 1) % moves], 2, grey);
    on.text({210, 22}, "rock", 18, grey);
    on.text({350, 352}, "paper", 18, grey);
    on.text({70, 352}, "scissors", 18, grey);
    for (std::size_t i = 1; i < shown; ++i) {
      on.line(place_of(path[i - 1]), place_of(path[i]), 2, blue);
    }
    on.circle(place_of(path[shown - 1]), 7, blue);
    video->add(on.rgb(width, height));
  }
  video->finish();
}

troupe::task<> main_task(troupe::system& sys) {
  troupe::ippo_config config;
  config.env = {.id = "rock_paper_scissors-v0", .n_envs = 64, .options = {R"({"rounds": 1})"}};
  config.agents.policies = {R"({"agent_0": "learner", "agent_1": "opponent"})"};
  config.agents.frozen = {"opponent"};
  config.agents.score = "learner";
  config.rollout.n_steps = 8;
  config.total_steps = 20 * 64 * 8;
  config.trainer.batch_size = 512;
  config.trainer.lr = 1e-2;
  config.trainer.ent_coef = 0.2;  // keeps moves alive that are worth nothing now
  config.policy.hidden = {16};
  config.evaluation = {.every_steps = 0, .final_episodes = 100};
  std::vector<strategy> path;
  std::shared_ptr<const troupe::initial_model> before;
  std::puts("round  rock paper scissors  won");
  for (int round = 1; round <= rounds; ++round) {
    config.seed = static_cast<std::uint64_t>(round);
    auto what = troupe::algorithm_with(config);
    what.settings.init = before;
    const auto result = co_await troupe::train_in(sys, what, {.root = "runs"});
    const auto model =
        troupe::load_model(troupe::run_directory::open(result.run_directory).last_model());
    path.push_back(strategy_of(model));
    const auto& now = path.back();
    std::printf("%5d  %.2f  %.2f     %.2f %+.2f\n", round, now[0], now[1], now[2],
                result.eval_mean);
    before = against_itself(model);
  }
  draw(path);
}

int main(int argc, char** argv) {
  troupe::use_one_torch_thread();
  return troupe::run(argc, argv, main_task);
}
