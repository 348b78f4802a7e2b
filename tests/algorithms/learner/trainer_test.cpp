#include "actors/torch/torch.hpp"

#include "algorithms/learner/trainer.hpp"

#include "actors/checkpoint/state_codec.hpp"
#include "actors/trainer/learn_and_push.hpp"
#include "algorithms/learner/learner.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;
using versions = std::vector<std::int64_t>;

const network_shape shape{.obs_size = 2, .discrete_actions = 2};

/// Adds the batch, a number, to every weight, times the learning rate.
class adder final : public learner<float> {
 public:
  adder() : learner("adder", {.lr = 1.0, .lr_schedule = annealing::linear}, 0) {
    parameters_.resize(static_cast<std::size_t>(actor_critic(shape, {}, 0).parameter_count()));
  }

  std::span<const float> acting() const override { return parameters_; }
  void start_from(std::span<const float> acting, const named_tensors&) override {
    parameters_.assign(acting.begin(), acting.end());
  }

 private:
  void check_batch(const float&) const override {}
  bool step(const float& by) override {
    for (auto& p : parameters_) p += by * static_cast<float>(report().learning_rate);
    report().metrics = {{"train/sum", parameters_[0]}};
    return true;
  }

  std::vector<float> parameters_;
};

struct mortal_trainer : trainer<adder> {
  using trainer::trainer;
  void die() { throw fatal("it was told to"); }
};
struct mortal_policy : policy {
  using policy::policy;
  void die() { throw fatal("it was told to"); }
};

struct roles {
  service<weight_store> store;
  service<mortal_trainer> learner;
  service<mortal_policy> policies;
};

task<roles> serve(system& sys) {
  roles c;
  c.store = co_await sys.serve<weight_store>({.name = "weights"});
  trainer<adder>::maker make = [] { return std::make_unique<adder>(); };
  c.learner = co_await sys.serve<mortal_trainer>({.name = "trainer"}, make, c.store);
  c.policies = co_await sys.serve<mortal_policy>(
      {.name = "policy", .replicas = 3}, policy_options{.shape = shape, .network = {}, .seed = 1},
      c.store);
  co_return c;
}

task<learner_report> learn(roles c, float by, double progress_remaining = 1.0,
                           std::optional<double> chosen_lr = {}) {
  co_return co_await c.learner.route<&mortal_trainer::train_step>(by, progress_remaining,
                                                                  chosen_lr);
}

task<std::int64_t> learn_and_push(roles c, float by) {
  co_await learn(c, by);
  co_return co_await c.learner.route<&mortal_trainer::push_weights>(c.policies);
}

task<float> newest_weight(roles c) {
  const auto newest = co_await c.store.route<&weight_store::latest>();
  co_return newest.parameters[0].item<float>();
}

task<> die(service<mortal_trainer> who) { co_await who.route<&mortal_trainer::die>(); }
task<> die(session<mortal_policy> who) { co_await who.route<&mortal_policy::die>(); }

task<> push(system& sys) {
  const auto c = co_await serve(sys);
  auto known = co_await c.policies.fanout<&policy::version>();
  CHECK(known == versions{0, 0, 0});
  for (std::int64_t version : {1, 2}) {
    const auto pushed = co_await learn_and_push(c, 0.5f);
    CHECK(pushed == version);
    known = co_await c.policies.fanout<&policy::version>();
    CHECK(known == versions{version, version, version});
  }
  const float newest = co_await newest_weight(c);
  CHECK(newest == 1.0f);
}

task<> keep_unpushed(system& sys) {
  const auto c = co_await serve(sys);
  co_await learn(c, 1.0f);
  const float newest = co_await newest_weight(c);
  CHECK(newest == 0.0f);  // the trainer's own until pushed, and a version is never changed
  const auto known = co_await c.policies.fanout<&policy::version>();
  CHECK(known == versions{0, 0, 0});
}

task<> restart(system& sys) {
  const auto c = co_await serve(sys);
  co_await learn_and_push(c, 2.0f);
  co_await learn(c, 7.0f);  // lost with the replica
  const auto error = co_await error_of(die(c.learner));
  CHECK_THAT(error, has_text("replica_lost"));
  const auto version = co_await learn_and_push(c, 0.5f);
  CHECK(version == 2);
  const float newest = co_await newest_weight(c);
  CHECK(newest == 2.5f);
}

task<> pass_on_the_rate(system& sys) {
  const auto c = co_await serve(sys);
  auto made = co_await learn(c, 8.0f, 0.25);
  CHECK(made.learning_rate == 0.25);
  CHECK(made["train/sum"] == 2.0);
  made = co_await learn(c, 8.0f, 0.25, 0.5);
  CHECK(made.learning_rate == 0.5);
  CHECK(made["train/sum"] == 6.0);
  CHECK(made.n_updates == 2);
}

task<outcome<int>> die_before_the_last(int* attempts) {
  if (++*attempts == update_attempts_max) co_return 7;
  co_return std::make_exception_ptr(call_error(error_kind::replica_lost, "planted"));
}

/// An update whose trainer dies in every attempt but the last that is allowed.
task<> survive_the_last_attempt(system&) {
  int attempts = 0;
  const auto train = [&] { return die_before_the_last(&attempts); };
  const auto push_next = []() -> task<std::int64_t> { co_return 1; };
  const auto pushed = co_await troupe::learn_and_push<int>(0, train, push_next);
  CHECK(pushed.report == 7);
  CHECK(attempts == update_attempts_max);
}

task<> push_to_the_dying(system& sys) {
  const auto c = co_await serve(sys);
  const auto one = co_await c.policies.session();
  co_await with_group(
      [](group& beside, roles c, session<mortal_policy> one) -> task<> {
        beside.start([](session<mortal_policy> one) -> task<> {
          const auto error = co_await error_of(die(one));
          CHECK_THAT(error, has_text("session_lost"));
        }(one));
        const auto version = co_await learn_and_push(c, 1.0f);
        CHECK(version == 1);
        co_await beside.join();
      },
      c, one);
  co_await sleep_for(1s);
  const auto version = co_await learn_and_push(c, 1.0f);
  const auto known = co_await c.policies.fanout<&policy::version>();
  CHECK(known == versions{version, version, version});
}

}  // namespace

TEST_CASE("trainer: a push reaches the store and every policy replica") { play(push); }

TEST_CASE("trainer: an update changes nobody else's weights until it is pushed") {
  play(keep_unpushed);
}

TEST_CASE("trainer: an update is told what is left of training, and a chosen learning rate") {
  play(pass_on_the_rate);
}

TEST_CASE("trainer: an update has as many attempts as its error says") {
  play(survive_the_last_attempt);
}

TEST_CASE("trainer: a restarted one goes on from the newest weights that were pushed") {
  for (std::uint64_t seed : {1, 2, 3}) play(restart, seed);
}

TEST_CASE("trainer: a policy that dies during a push does not fail it") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) play(push_to_the_dying, seed);
}

TEST_CASE("learner_report: goes to another process with the names of its metrics") {
  learner_report made;
  made.metrics = {{"train/loss", 2.5}, {"train/q_mean", -1.0}};
  made.td_errors = {1, 2};
  made.learning_rate = 0.5;
  made.n_updates = 3;
  made.trained_rows = 4;
  made.optimizer_steps = 5;
  made.skipped_steps = 6;
  const auto read = state_of<learner_report>(state_bytes(made));
  CHECK(read["train/loss"] == 2.5);
  CHECK(read["train/q_mean"] == -1.0);
  CHECK(read.metrics.size() == 2);
  CHECK(read.td_errors == made.td_errors);
  CHECK(read.learning_rate == 0.5);
  CHECK(std::vector{read.n_updates, read.trained_rows, read.optimizer_steps, read.skipped_steps} ==
        versions{3, 4, 5, 6});
  CHECK(kept_name("train/loss") == kept_name(std::string("train/") + "loss"));
}

}  // namespace troupe
