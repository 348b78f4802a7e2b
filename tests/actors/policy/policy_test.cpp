#include "actors/torch/torch.hpp"

#include "actors/policy/policy.hpp"

#include <limits>

#include "actors/networks/shape_of.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;

constexpr int D = 3;

policy_options discrete() {
  return {.shape = {.obs_size = D, .discrete_actions = 4}, .network = {}, .seed = 7};
}
policy_options continuous() {
  return {.shape = {.obs_size = D, .continuous_size = 2}, .network = {}, .seed = 7};
}

policy make(const policy_options& options, replica_info info = {}) { return {info, options, {}}; }

/// Observations [n, D], others for each n.
std::vector<float> observe(int n) {
  std::vector<float> obs;
  for (int i = 0; i < n * D; ++i) obs.push_back(0.1f * static_cast<float>((i * 7 + n) % 11) - 0.5f);
  return obs;
}

act_reply act_once(policy& who, act_request request) {
  batch<act_request> one;
  one.push_back(std::move(request));
  auto replies = who.act(std::move(one));
  return replies[0];
}

weights fresh(const policy_options& options, std::int64_t version) {
  const actor_critic network(options.shape, options.network, static_cast<std::uint64_t>(version));
  return {version, network.parameters().clone(), {}};
}

void check_equal(const act_reply& a, const act_reply& b) {
  CHECK(a.discrete == b.discrete);
  REQUIRE(a.continuous.size() == b.continuous.size());
  REQUIRE(a.log_prob.size() == b.log_prob.size());
  for (std::size_t i = 0; i < a.continuous.size(); ++i)
    CHECK(a.continuous[i] == Approx(b.continuous[i]).margin(1e-5));
  for (std::size_t i = 0; i < a.log_prob.size(); ++i) {
    CHECK(a.log_prob[i] == Approx(b.log_prob[i]).margin(1e-5));
    CHECK(a.value[i] == Approx(b.value[i]).margin(1e-5));
  }
  CHECK(a.version == b.version);
}

/// A policy that dies on request.
struct mortal_policy : policy {
  using policy::policy;
  void die() { throw fatal("it was told to"); }
};

task<> put(service<weight_store> store, std::int64_t version) {
  co_await store.route<&weight_store::put>(fresh(discrete(), version));
}

task<> restart(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  co_await put(store, 0);
  auto mortals =
      co_await sys.serve<mortal_policy>({.name = "policy", .replicas = 2}, discrete(), store);
  const service<policy> policies = mortals;
  auto versions = co_await policies.fanout<&policy::version>();
  CHECK(versions == std::vector<std::int64_t>{0, 0});

  co_await put(store, 3);  // and nobody pushes it
  const auto one = co_await mortals.session();
  const auto error = co_await error_of(with_timeout(
      [](session<mortal_policy> s) -> task<> { co_await s.route<&mortal_policy::die>(); }(one),
      1s));
  CHECK_THAT(error, has_text("session_lost"));
  co_await sleep_for(1s);
  versions = co_await policies.fanout<&policy::version>();
  std::sort(versions.begin(), versions.end());
  CHECK(versions == std::vector<std::int64_t>{0, 3});
}

task<> refuse(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  co_await put(store, 0);
  auto policies = co_await sys.serve<policy>({.name = "policy"}, discrete(), store);
  auto bad = observe(1);
  bad[1] = std::numeric_limits<float>::quiet_NaN();
  std::vector<task<outcome<act_reply>>> calls;
  for (const auto& obs : {observe(1), bad, observe(2)}) {
    calls.push_back(policies.try_route<&policy::act>(act_request{obs}));
  }
  auto replies = co_await all(std::move(calls));
  CHECK(replies[0].value().discrete.size() == 1);
  CHECK_THROWS_WITH(replies[1].value(), has_text("an observation is not finite"));
  CHECK(replies[2].value().discrete.size() == 2);
}

}  // namespace

TEST_CASE("policy: one batch of requests equals acting on each by itself") {
  for (const auto& options : {discrete(), continuous()}) {
    INFO(to_string(options.shape));
    auto together = make(options);
    auto alone = make(options);
    batch<act_request> requests;
    for (int n : {1, 3, 2, 8}) requests.push_back({observe(n)});
    auto replies = together.act(std::move(requests));
    int i = 0;
    for (int n : {1, 3, 2, 8})
      check_equal(replies[static_cast<std::size_t>(i++)], act_once(alone, {observe(n)}));
  }
}

TEST_CASE(
    "policy: a deterministic request takes the likeliest action, also beside others that draw") {
  for (const auto& options : {discrete(), continuous()}) {
    INFO(to_string(options.shape));
    auto who = make(options);
    const auto likeliest = act_once(who, {observe(5), true});
    bool drew_another = false;
    for (int i = 0; i < 20; ++i) {
      batch<act_request> mixed;
      mixed.push_back({observe(5), false});
      mixed.push_back({observe(5), true});
      mixed.push_back({observe(5), false});
      auto replies = who.act(std::move(mixed));
      check_equal(replies[1], likeliest);
      drew_another |= replies[0].discrete != likeliest.discrete ||
                      replies[2].continuous != likeliest.continuous;
    }
    CHECK(drew_another);
    for (std::size_t i = 0; i < likeliest.discrete.size(); ++i)
      CHECK(likeliest.log_prob[i] >= std::log(0.25f));
  }
}

TEST_CASE("policy: what the caller has normalised is not normalised again, also beside the rest") {
  auto options = continuous();
  options.network.normalize_obs = true;
  actor_critic network(options.shape, options.network, 3);
  const std::vector<double> mean{0.1, -0.2, 0.3}, variance{4.0, 0.25, 1.0};
  network.set_obs_statistics(mean, variance);
  auto who = make(options);
  who.update({1, network.parameters().clone(), {}});

  const auto raw = observe(5);
  auto scaled = raw;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const auto d = i % D;
    scaled[i] = static_cast<float>((raw[i] - mean[d]) / std::sqrt(variance[d] + 1e-8));
  }
  const auto of = [](const std::vector<float>& obs, bool normalized) {
    return act_request{
        .obs = {obs.begin(), obs.end()}, .deterministic = true, .normalized = normalized};
  };
  const auto expected = act_once(who, of(raw, false));
  check_equal(act_once(who, of(scaled, true)), expected);
  CHECK(act_once(who, of(scaled, false)).value != expected.value);
  batch<act_request> mixed;
  mixed.push_back(of(scaled, true));
  mixed.push_back(of(raw, false));
  mixed.push_back(of(scaled, true));
  auto replies = who.act(std::move(mixed));
  for (std::size_t i = 0; i < 3; ++i) check_equal(replies[i], expected);
  const auto values = who.values(scaled, true);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(values[i] == Approx(expected.value[i]).margin(1e-5));
    CHECK(who.values(raw, false)[i] == Approx(expected.value[i]).margin(1e-5));
  }
}

TEST_CASE("policy: the noise of a reply can be explored by again, also elsewhere") {
  auto options = continuous();
  options.network.use_sde = true;
  auto who = make(options), elsewhere = make(options, {1, 0});
  const auto first = act_once(who, {observe(4)});
  CHECK(first.noise_seed != 0);
  CHECK(act_once(who, {observe(4)}).noise_seed != first.noise_seed);
  for (int other = 0; other < 200; ++other) act_once(who, {observe(4)});  // more than are kept
  check_equal(act_once(who, {observe(4), false, first.noise_seed}), first);
  check_equal(act_once(elsewhere, {observe(4), false, first.noise_seed}), first);

  // Each row has noise of its own, beside other requests, too.
  std::vector<float> same;
  for (int row = 0; row < 2; ++row) {
    for (float x : observe(1)) same.push_back(x);
  }
  batch<act_request> requests;
  requests.push_back({same, false, first.noise_seed});
  requests.push_back({same, true});
  requests.push_back({same, false});
  requests.push_back({same, false, first.noise_seed});
  auto replies = who.act(std::move(requests));
  CHECK(replies[0].continuous[0] != replies[0].continuous[2]);
  CHECK(replies[1].continuous[0] == replies[1].continuous[2]);
  CHECK(replies[1].noise_seed == 0);
  CHECK(replies[2].continuous[0] != replies[0].continuous[0]);
  check_equal(replies[3], replies[0]);
}

TEST_CASE("policy: replicas draw from streams of their own, a restarted one from another") {
  std::vector<std::vector<std::int64_t>> drawn;
  for (const auto& info : {replica_info{0, 0}, replica_info{1, 0}, replica_info{0, 1}}) {
    auto who = make(discrete(), info);
    drawn.push_back(act_once(who, {observe(50)}).discrete);
  }
  CHECK(drawn[0] != drawn[1]);
  CHECK(drawn[0] != drawn[2]);
  CHECK(drawn[1] != drawn[2]);
}

TEST_CASE("policy: a request that is no whole rows of finite numbers is refused by name") {
  auto who = make(discrete());
  CHECK_THROWS_WITH(act_once(who, {{}}),
                    "policy: expected observations of 3 numbers each, got 0 numbers");
  CHECK_THROWS_WITH(act_once(who, {{1, 2, 3, 4}}), has_text("got 4 numbers"));
  CHECK_THROWS_WITH(who.values({1, 2}, false), has_text("got 2 numbers"));
  CHECK_THROWS_WITH(act_once(who, {{1, std::numeric_limits<float>::infinity(), 3}}),
                    "policy: an observation is not finite");
}

TEST_CASE("policy: a bad observation is refused alone, its batch goes on") {
  for (std::uint64_t seed : {1, 2, 3}) play(refuse, seed);
}

TEST_CASE("policy: its version only grows, and names the weights that act") {
  auto who = make(discrete());
  CHECK(who.version() == -1);
  who.update(fresh(discrete(), 4));
  const auto acted = act_once(who, {observe(2), true});
  CHECK(acted.version == 4);
  who.update(fresh(discrete(), 3));  // an older one that comes late
  CHECK(who.version() == 4);
  check_equal(act_once(who, {observe(2), true}), acted);
  who.update(fresh(discrete(), 5));
  CHECK(who.version() == 5);
  CHECK(act_once(who, {observe(2), true}).value != acted.value);
}

TEST_CASE("policy: weights of another size are refused, and those in use stay") {
  auto who = make(discrete());
  who.update(fresh(discrete(), 1));
  const auto before = act_once(who, {observe(2), true});
  CHECK_THROWS(who.update({2, at::zeros({5}), {}}));
  CHECK(who.version() == 1);
  check_equal(act_once(who, {observe(2), true}), before);
}

TEST_CASE("policy: values are those that act gives") {
  auto who = make(continuous());
  const auto acted = act_once(who, {observe(4)});
  const auto values = who.values(observe(4), false);
  REQUIRE(values.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(values[i] == Approx(acted.value[i]).margin(1e-6));
}

TEST_CASE("policy: a restarted replica comes back with the newest weights") {
  for (std::uint64_t seed : {1, 2, 3}) play(restart, seed);
}

TEST_CASE("shape_of: the network that fits an environment, or an error that names it") {
  const auto spec = [](space actions) {
    return env_spec{.id = "X-v0",
                    .observation_space = spaces::box(0, 1, {2, 3}),
                    .action_space = std::move(actions)};
  };
  CHECK(shape_of(spec(spaces::discrete(5))) == network_shape{.obs_size = 6, .discrete_actions = 5});
  CHECK(shape_of(spec(spaces::box(-1, 1, {2}))) ==
        network_shape{.obs_size = 6, .continuous_size = 2});
  CHECK(shape_of(spec(spaces::multi_discrete({2, 3}))) ==
        network_shape{.obs_size = 6, .multi_discrete = {2, 3}});
  const env_spec pictures{.id = "Pictures-v0",
                          .observation_space = spaces::image(3, 4, 5),
                          .action_space = spaces::discrete(2)};
  CHECK(shape_of(pictures).image == std::vector<int>{3, 4, 5});
  CHECK(shape_of(spec(spaces::discrete(2, 1))).discrete_actions == 2);
  CHECK(shape_of(spec(spaces::multi_binary(2))) == network_shape{.obs_size = 6, .multi_binary = 2});
  const spaces::tuple mixed({spaces::discrete(3, 5), spaces::multi_binary(2),
                             spaces::box(-1, 1, {2}), spaces::multi_discrete({2, 4})});
  CHECK(shape_of(spec(mixed)) ==
        network_shape{
            .obs_size = 6, .continuous_size = 2, .multi_discrete = {3, 2, 4}, .multi_binary = 2});
  for (const space& none : {space(spaces::text(3)), space(spaces::tuple({spaces::text(3)})),
                            space(spaces::box(0, 1, {0}))}) {
    CHECK_THROWS_WITH(shape_of(spec(none)), has_text("environment X-v0: no network here gives"));
  }
}

spaces::box bytes_up_to(float high, std::vector<std::int64_t> shape) {
  spaces::box made(0, high, std::move(shape));
  made.type = spaces::element::uint8;
  return made;
}

TEST_CASE("shape_of: a board is no image, unless the policy is a cnn") {
  const auto spec = [](space observations) {
    return env_spec{.id = "Board-v0",
                    .observation_space = std::move(observations),
                    .action_space = spaces::discrete(2)};
  };
  const space board = bytes_up_to(1, {8, 8, 12}), floats = spaces::box(-3, 2, {4, 40, 40});
  for (const auto& no_image : {board, floats, space(bytes_up_to(9, {9, 9}))}) {
    CHECK(shape_of(spec(no_image)).image.empty());
    CHECK_FALSE(has_convolutions(shape_of(spec(no_image)), {}));
    const auto notes = image_notes(spec(no_image), network_body::automatic);
    REQUIRE(notes.size() == 1);
    CHECK_THAT(notes[0],
               has_text("observation: expected bytes with bounds 0 and 255 for an image"));
    CHECK_THAT(notes[0], has_text("policy.kind=cnn gives them convolutions; got Box("));
    CHECK(image_notes(spec(no_image), network_body::mlp).empty());
  }
  CHECK(image_notes(spec(spaces::image(3, 40, 40)), network_body::automatic).empty());
  CHECK(image_notes(spec(spaces::box(0, 1, {4, 4})), network_body::automatic).empty());
  const auto asked = shape_of(spec(board), network_body::cnn);
  CHECK(asked.image == std::vector<int>{12, 8, 8});
  CHECK(asked.interleaved == 12);
  CHECK(asked.image_high == 1);
  CHECK(to_string(asked) == "image 12x8x8 (12 interleaved) up to 1, discrete 2");
  CHECK(shape_of(spec(floats), network_body::cnn).image == std::vector<int>{4, 40, 40});
  CHECK(shape_of(spec(floats), network_body::cnn).image_high == 3);
  CHECK(shape_of(spec(bytes_up_to(9, {9, 9})), network_body::cnn).image_high == 9);
  // A picture of one channel or of four is an image.
  CHECK(shape_of(spec(bytes_up_to(255, {40, 50}))).image == std::vector<int>{1, 40, 50});
  CHECK(shape_of(spec(bytes_up_to(255, {40, 50, 1}))).image == std::vector<int>{1, 40, 50});
  CHECK(shape_of(spec(bytes_up_to(255, {40, 50, 4}))).image == std::vector<int>{4, 40, 50});
  const space in_dict = spaces::dict({{"board", board}, {"turn", spaces::box(0, 1, {2})}});
  CHECK(shape_of(spec(in_dict)).parts[0].image.empty());
  CHECK_THAT(image_notes(spec(in_dict), network_body::automatic).at(0),
             has_text("observation \"board\": expected bytes with bounds 0 and 255") &&
                 has_text("policy.kind=multi_input gives"));
  const auto parts = shape_of(spec(in_dict), network_body::multi_input).parts;
  CHECK(parts[0].image == std::vector<int>{12, 8, 8});
  CHECK(parts[0].image_high == 1);
  CHECK(parts[1].image.empty());
}

TEST_CASE("shape_of: images of several agents are told to be plain numbers") {
  const env_spec spec{.id = "Watchers-v0",
                      .agents = {{"ann", spaces::box(0, 1, {2}), spaces::discrete(2)},
                                 {"bob", spaces::image(3, 40, 40), spaces::discrete(2)}}};
  const auto notes = agent_image_notes(spec);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], has_text("agent \"bob\": observation: expected a vector"));
}

TEST_CASE("shape_of: a Dict's parts keep their keys, and images are found among them") {
  spaces::box bytes(0, 255, {8, 9, 3});
  bytes.type = spaces::element::uint8;
  const spaces::dict inner({{"camera", bytes}, {"angle", spaces::box(-1, 1, {2})}});
  const env_spec robot{
      .id = "Robot-v0",
      .observation_space = spaces::dict(
          {{"floor", spaces::image(2, 8, 9)}, {"arm", inner}, {"room", spaces::discrete(3)}}),
      .action_space = spaces::discrete(2)};
  const auto shape = shape_of(robot);
  CHECK(shape.obs_size == 2 + 216 + 144 + 3);
  const std::vector<obs_part> parts{{"arm.angle", 0, 2},
                                    {"arm.camera", 2, 216, {3, 8, 9}, 3},
                                    {"floor", 218, 144, {2, 8, 9}},
                                    {"room", 362, 3}};
  const bool has_parts = shape.parts == parts;  // parts can't be printed
  CHECK(has_parts);
  CHECK(to_string(shape) ==
        "obs 365 (arm.angle 2, arm.camera 3x8x9 (3 interleaved), floor 2x8x9, room 3), discrete 2");
  bytes.shape = {4, 8, 9, 3};  // as frame_stack makes it
  bytes.low.resize(4 * 216);
  bytes.high.resize(4 * 216, 255);
  const env_spec frames{
      .id = "Frames-v0", .observation_space = space(bytes), .action_space = spaces::discrete(2)};
  CHECK(shape_of(frames).image == std::vector<int>{12, 8, 9});
  CHECK(shape_of(frames).interleaved == 3);
}

}  // namespace troupe
