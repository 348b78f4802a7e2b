#include "actors/torch/torch.hpp"

#include "actors/trainer/trainer.hpp"

#include "actors/trainer/learn_and_push.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;
using versions = std::vector<std::int64_t>;

const network_shape shape{.obs_size = 2, .discrete_actions = 2};

/// Adds the batch, a number, to every weight.
class adder {
 public:
  using batch = float;
  using report = int;
  adder() : parameters_(at::zeros({actor_critic(shape, {}, 0).parameter_count()})) {}
  int update(const float& by) {
    parameters_ += by;
    return ++updates_;
  }
  const at::Tensor& parameters() const { return parameters_; }
  void load_parameters(const at::Tensor& p) { parameters_.copy_(p); }

 private:
  at::Tensor parameters_;
  int updates_ = 0;
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
  std::function<adder()> make = [] { return adder(); };
  c.learner = co_await sys.serve<mortal_trainer>({.name = "trainer"}, make, c.store);
  c.policies = co_await sys.serve<mortal_policy>(
      {.name = "policy", .replicas = 3}, policy_options{.shape = shape, .network = {}, .seed = 1},
      c.store);
  co_return c;
}

task<std::int64_t> learn_and_push(roles c, float by) {
  co_await c.learner.route<&mortal_trainer::train_step>(by);
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
  co_await c.learner.route<&mortal_trainer::train_step>(1.0f);
  const float newest = co_await newest_weight(c);
  CHECK(newest == 0.0f);  // the trainer's own until pushed, and a version is never changed
  const auto known = co_await c.policies.fanout<&policy::version>();
  CHECK(known == versions{0, 0, 0});
}

task<> restart(system& sys) {
  const auto c = co_await serve(sys);
  co_await learn_and_push(c, 2.0f);
  co_await c.learner.route<&mortal_trainer::train_step>(7.0f);  // lost with the replica
  const auto error = co_await error_of(die(c.learner));
  CHECK_THAT(error, has_text("replica_lost"));
  const auto version = co_await learn_and_push(c, 0.5f);
  CHECK(version == 2);
  const float newest = co_await newest_weight(c);
  CHECK(newest == 2.5f);
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

TEST_CASE("trainer: an update has as many attempts as its error says") {
  play(survive_the_last_attempt);
}

TEST_CASE("trainer: a restarted one goes on from the newest weights that were pushed") {
  for (std::uint64_t seed : {1, 2, 3}) play(restart, seed);
}

TEST_CASE("trainer: a policy that dies during a push does not fail it") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) play(push_to_the_dying, seed);
}

}  // namespace troupe
