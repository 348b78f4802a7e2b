#include "actors/torch/torch.hpp"

#include <signal.h>

#include <fstream>
#include <future>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/torch/tensor_codec.hpp"
#include "algorithms/on_policy/ppo/learner.hpp"
#include "tests/actors/collective/rank_process.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/algorithms/on_policy/ppo/acted_batch.hpp"
#include "tests/eventually.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t T = 16, B = 8;
constexpr std::uint64_t seed = 7;

/// A training of 100 steps. Only the first `steps_of_rank_1` steps of rank 1 are valid.
struct training {
  std::string name;
  network_shape shape;
  ppo_options options;
  std::int64_t steps_of_rank_1 = T;
  int updates = 5;
};

const network_shape discrete{.obs_size = 4, .discrete_actions = 3};
const network_shape continuous{.obs_size = 4, .continuous_size = 2};

/// In the second, rank 1 has no row of many a minibatch.
const std::vector<training>& trainings() {
  static std::vector<training> all{
      {"discrete", discrete, {{.batch_size = 32, .n_epochs = 5, .ent_coef = 0.01}}},
      {"continuous, 4 to 1",
       continuous,
       {{.batch_size = 8, .n_epochs = 2, .network = {.normalize_obs = true}}},
       4},
      {"libtorch, 8 to 5",
       discrete,
       {{.batch_size = 32,
         .n_epochs = 5,
         .ent_coef = 0.01,
         .network = {.backend = gradient_backend::libtorch}}},
       10},
      {"A2C",
       continuous,
       {{.lr = 7e-4,
         .batch_size = T * B,
         .n_epochs = 1,
         .normalize_advantage = false,
         .optimizer = optimizer_kind::rmsprop}},
       T,
       100}};
  all[1].options.clip_range_vf = 0.3;
  all[3].options.clip_range = std::numeric_limits<double>::infinity();
  return all;
}

/// What is trained on in one update. Drawn from the first weights, so after the first update it is
/// corrected for; some of its rows are invalid.
rollout_batch batch_of(const training& what, int update) {
  actor_critic first(what.shape, what.options.network, seed);
  auto batch = acted_batch(first, T, B, 100 + static_cast<std::uint64_t>(update));
  batch.proximal_correction = update > 0;
  batch.valid = at::ones({T, B}, at::kBool);
  for (std::int64_t t = 3; t < 3 + update % 5; ++t) batch.valid[t][t % B] = false;
  batch.valid.narrow(1, B / 2, B / 2).slice(0, what.steps_of_rank_1).fill_(false);
  return batch;
}

/// Weights other than rank 0's are replaced when the learner joins.
ppo_learner rank_of(const training& what, std::size_t rank) {
  ppo_learner learner(what.shape, what.options, seed);
  if (rank != 0) learner.model().parameters().narrow(0, 0, 10).fill_(9.0f);
  return learner;
}

/// What a learner goes on from.
struct saved_rank {
  std::vector<float> acting;
  std::string state;
};

std::string saved(const ppo_learner& learner) {
  const auto acting = learner.acting();
  return state_bytes(saved_rank{{acting.begin(), acting.end()}, learner.save()});
}

void restore(ppo_learner& learner, const std::string& bytes) {
  const auto from = state_of<saved_rank>(bytes);
  learner.start_from(from.acting, {});
  learner.restore(from.state);
}

gloo_rendezvous nth(gloo_rendezvous where, std::size_t n) {
  where.file += "-" + std::to_string(n);
  return where;
}

std::vector<float> numbers(const at::Tensor& tensor) {
  const auto* first = tensor.data_ptr<float>();
  return {first, first + tensor.numel()};
}

struct outcome_of_rank {
  std::vector<float> parameters;
  learner_report last;
};

/// A rank's part in a training.
outcome_of_rank train_shard(const training& what, const gloo_rendezvous& where) {
  auto learner = rank_of(what, where.rank);
  learner.join(join_gloo(where));
  outcome_of_rank out;
  for (int update = 0; update < what.updates; ++update) {
    out.last = learner.update(batch_of(what, update), 0.5);
  }
  out.parameters = numbers(learner.model().parameters());
  return out;
}

/// All ranks' parts, each on a thread.
std::vector<outcome_of_rank> train_on_threads(const training& what, const std::string& file) {
  std::vector<outcome_of_rank> out(2);
  const auto other = std::async(std::launch::async, [&] {
    out[1] = train_shard(what, {.rank = 1, .world = 2, .file = file});
  });
  out[0] = train_shard(what, {.rank = 0, .world = 2, .file = file});
  other.wait();
  return out;
}

/// A rank whose process is killed in one of its sums.
class mortal_rank final : public collective {
 public:
  mortal_rank(std::unique_ptr<collective> inner, int sums)
      : inner_(std::move(inner)), left_(sums) {}
  std::size_t rank() const noexcept override { return inner_->rank(); }
  std::size_t world() const noexcept override { return inner_->world(); }
  void sum(std::span<float> values) override {
    if (left_-- == 0) ::raise(SIGKILL);
    inner_->sum(values);
  }
  void sum(std::span<double> values) override { inner_->sum(values); }
  void broadcast(std::span<float> values) override { inner_->broadcast(values); }

 private:
  std::unique_ptr<collective> inner_;
  int left_;
};

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

}  // namespace

TEST_CASE(
    "data parallel ppo: 100 steps of two processes give the weights of one on the whole batch",
    "[data_parallel]") {
  const temporary_folder folder;
  const gloo_rendezvous me{.rank = 0, .world = 2, .file = folder.path / "group", .timeout = 20s};
  auto other = me;
  other.rank = 1;
  rank_process child("rank 1 of every training", other);
  for (std::size_t i = 0; i < trainings().size(); ++i) {
    const auto& what = trainings()[i];
    const auto shared = train_shard(what, nth(me, i));
    ppo_learner whole(what.shape, what.options, seed);
    const auto start = whole.model().parameters().clone();
    learner_report last;
    std::int64_t steps = 0;
    for (int update = 0; update < what.updates; ++update) {
      last = whole.update(batch_of(what, update), 0.5);
      steps += last.optimizer_steps;
    }
    const auto expected = whole.model().parameters();
    const auto got = at::tensor(shared.parameters);
    const auto apart = (got - expected).to(at::kDouble);
    const auto moved = (expected - start).to(at::kDouble);
    const double of_norm = (apart.norm() / expected.to(at::kDouble).norm()).item<double>();
    const double of_movement = (apart.norm() / moved.norm()).item<double>();
    const double of_largest = (apart.abs().max() / expected.abs().max()).item<double>();
    const double of_element = (apart.abs() / expected.abs().clamp_min(1e-30)).max().item<double>();
    INFO(what.name << ": relative to the norm " << of_norm << ", to the largest weight "
                   << of_largest << ", to the movement's norm " << of_movement
                   << ", to each weight at most " << of_element << ", absolute at most "
                   << apart.abs().max().item<double>());
    CHECK(steps == 100);
    CHECK(of_norm <= 1e-6);
    CHECK(of_largest <= 1e-6);
    CHECK(of_movement < 1e-3);  // and that is not for want of training
    CHECK(shared.last["train/loss"] == Approx(last["train/loss"]).epsilon(1e-4));
    CHECK(shared.last["train/explained_variance"] ==
          Approx(last["train/explained_variance"]).epsilon(1e-4));
    CHECK(shared.last["train/approx_kl"] ==
          Approx(last["train/approx_kl"]).epsilon(1e-3).margin(1e-7));
    CHECK(shared.last.trained_rows == last.trained_rows);
    CHECK(shared.last["train/dropped_rows"] == last["train/dropped_rows"]);
    CHECK(shared.last["train/dropped_rows"] > 0);
    const auto theirs = me.file + "-" + std::to_string(i) + ".rank1";
    CHECK(testing::eventually([&] { return std::filesystem::exists(theirs); }, 30s));
    CHECK((read_text(theirs) == bytes_of(shared.parameters)));
  }
  CHECK(child.wait(30s) == 0);
}

TEST_CASE("rank 1 of every training", "[.rank]") {
  const auto me = rank_of_this_process();
  for (std::size_t i = 0; i < trainings().size(); ++i) {
    const auto where = nth(me, i);
    const auto out = train_shard(trainings()[i], where);
    std::ofstream(where.file + ".unfinished", std::ios::binary) << bytes_of(out.parameters);
    std::filesystem::rename(where.file + ".unfinished", where.file + ".rank1");
  }
}

TEST_CASE("data parallel ppo: after a rank is killed in mid-update both go on from the checkpoint",
          "[data_parallel]") {
  const temporary_folder folder;
  const auto& what = trainings().front();
  const gloo_rendezvous me{.rank = 0, .world = 2, .file = folder.path / "group", .timeout = 20s};
  auto other = me;
  other.rank = 1;
  auto learner = rank_of(what, 0);
  {
    rank_process child("rank 1 that is killed in its fourth update", other);
    learner.join(join_gloo(me));
    for (int update = 0; update < 3; ++update) {
      if (update == 2) std::ofstream(me.file + ".checkpoint") << saved(learner);
      learner.update(batch_of(what, update), 0.5);
    }
    const auto before = numbers(learner.model().parameters());
    CHECK_THROWS_WITH(learner.update(batch_of(what, 3), 0.5),
                      Catch::Contains("data-parallel rank 0 of 2: sum of ") &&
                          Catch::Contains("(time-out 20.000 s)"));
    CHECK(numbers(learner.model().parameters()) != before);  // it was in the middle of an update
    CHECK_THROWS_WITH(learner.update(batch_of(what, 3), 0.5),
                      Catch::Contains("an earlier call has failed"));
    CHECK(child.wait(30s) == 128 + SIGKILL);
  }
  rank_process child("rank 1 that goes on from the checkpoint", nth(other, 2));
  restore(learner, read_text(me.file + ".checkpoint"));
  learner.join(join_gloo(nth(me, 2)));
  for (int update = 2; update < what.updates; ++update) {
    learner.update(batch_of(what, update), 0.5);
  }
  CHECK(child.wait(30s) == 0);
  const auto undisturbed = train_on_threads(what, folder.path / "undisturbed");
  CHECK((numbers(learner.model().parameters()) == undisturbed[0].parameters));
}

TEST_CASE("rank 1 that is killed in its fourth update", "[.rank]") {
  const auto& what = trainings().front();
  auto learner = rank_of(what, 1);
  constexpr int steps_of_update = 20;  // each a sum of floats: the gradient
  learner.join(
      std::make_shared<mortal_rank>(join_gloo(rank_of_this_process()), 3 * steps_of_update + 7));
  for (int update = 0; update < 4; ++update) learner.update(batch_of(what, update), 0.5);
}

TEST_CASE("rank 1 that goes on from the checkpoint", "[.rank]") {
  const auto me = rank_of_this_process();
  const auto& what = trainings().front();
  auto learner = rank_of(what, 1);
  restore(learner, read_text(me.file.substr(0, me.file.size() - 2) + ".checkpoint"));
  learner.join(join_gloo(me));
  for (int update = 2; update < what.updates; ++update) {
    learner.update(batch_of(what, update), 0.5);
  }
}

TEST_CASE("data parallel ppo: ranks stop an update together by the divergence of the whole batch",
          "[data_parallel]") {
  const temporary_folder folder;
  auto what = trainings().front();
  what.options.lr = 2e-3;
  what.options.target_kl = 3e-4;
  what.updates = 3;
  const auto shared = train_on_threads(what, folder.path / "group");
  ppo_learner whole(what.shape, what.options, seed);
  learner_report last;
  for (int update = 0; update < what.updates; ++update) {
    last = whole.update(batch_of(what, update), 0.5);
  }
  CHECK(last["train/n_updates"] < what.updates * what.options.n_epochs);
  CHECK(last.optimizer_steps > 0);
  for (const auto& rank : shared) {
    CHECK(rank.last["train/n_updates"] == last["train/n_updates"]);
    CHECK(rank.last.optimizer_steps == last.optimizer_steps);
    CHECK((rank.parameters == shared[0].parameters));
  }
  const auto apart = at::tensor(shared[0].parameters) - whole.model().parameters();
  CHECK(apart.norm().item<double>() <= 1e-6 * whole.model().parameters().norm().item<double>());
}

TEST_CASE("data parallel ppo: ranks whose generators differ are refused", "[data_parallel]") {
  const temporary_folder folder;
  const auto& what = trainings().front();
  const auto refusal = [&](std::size_t rank) {
    ppo_learner learner(what.shape, what.options, seed + rank);
    return testing::message_of<collective_error>([&] {
      learner.join(join_gloo({.rank = rank, .world = 2, .file = folder.path / "group"}));
    });
  };
  auto other = std::async(std::launch::async, refusal, 1);
  CHECK_THAT(refusal(0), Catch::Contains("ppo: rank 1 of 2 has another optimiser or generator"));
  CHECK_THAT(other.get(), Catch::Contains("ppo: rank 1 of 2 has another optimiser or generator"));
}
