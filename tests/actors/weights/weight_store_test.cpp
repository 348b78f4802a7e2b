#include "actors/torch/torch.hpp"

#include "actors/weights/weight_store.hpp"

#include <limits>

#include "actors/networks/model_file.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using namespace testing;
using versions = std::vector<std::int64_t>;

weights make(std::int64_t version, std::int64_t size = 3, float value = 1.0f) {
  return {version, at::full({size}, value), {}};
}

task<> put_later(service<weight_store> store, duration pause, std::int64_t version) {
  co_await sleep_for(pause);
  co_await store.route<&weight_store::put>(make(version));
}

task<std::int64_t> latest_of(service<weight_store> store) {
  const auto newest = co_await store.route<&weight_store::latest>();
  co_return newest.version;
}

task<std::int64_t> wait_for(service<weight_store> store, std::int64_t version) {
  const auto newest = co_await store.route<&weight_store::wait_for>(version);
  co_return newest.version;
}

task<> wait_in_turn(system& sys) {
  auto store = co_await sys.serve<weight_store>({.name = "weights"});
  const auto seen = co_await all(latest_of(store), wait_for(store, 2), put_later(store, 1s, 0),
                                 put_later(store, 2s, 1), put_later(store, 3s, 5));
  CHECK(std::get<0>(seen) == 0);
  CHECK(std::get<1>(seen) == 5);
  const auto newest = co_await latest_of(store);
  CHECK(newest == 5);
}

}  // namespace

TEST_CASE("weight_store: hands out what was put, with the hash of its bytes") {
  weight_store store;
  const auto given = at::tensor({1.0f, 2.0f, 3.0f});
  store.put({7, given, {}});
  const auto kept = store.get(7);
  CHECK(kept.version == 7);
  CHECK(kept.parameters.data_ptr() == given.data_ptr());  // shared, not copied
  CHECK(kept.sha256 == weights_sha256(given));
  CHECK(kept.sha256.size() == 64);
}

TEST_CASE("weight_store: keeps the newest few, and older ones as long as they are leased") {
  weight_store store(2);
  store.put(make(0));
  store.put(make(1));
  store.lease(0);
  store.lease(0);
  store.put(make(2));
  store.put(make(3));
  CHECK(store.versions() == versions{0, 2, 3});
  store.release(0);
  CHECK(store.versions() == versions{0, 2, 3});
  store.release(0);
  CHECK(store.versions() == versions{2, 3});
  store.lease(2);
  store.release(2);
  CHECK(store.versions() == versions{2, 3});  // still one of the newest
}

TEST_CASE("weight_store: a version that is not kept is named with those that are") {
  weight_store store(2);
  for (std::int64_t version : {1, 2, 3}) store.put(make(version));
  CHECK_THROWS_WITH(store.get(1), "weights of version 1 are not kept; these are: [2, 3]");
  CHECK_THROWS_AS(store.lease(9), weights_error);
  CHECK_THROWS_WITH(store.release(2), has_text("released more often than leased"));
}

TEST_CASE("weight_store: refuses what may not follow, and keeps what it has") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  weight_store store;
  store.put(make(5));
  auto other = make(5);
  other.parameters = other.parameters + 1;
  CHECK_THROWS_WITH(store.put(other), "weights of version 5: expected a version newer than 5");
  CHECK_THROWS_WITH(store.put(make(4)), "weights of version 4: expected a version newer than 5");
  CHECK_THROWS_WITH(store.put(make(6, 4)), "weights of version 6: expected 3 parameters, got 4");
  for (const float bad : {nan, infinity, -infinity}) {
    auto fresh = make(6);
    fresh.parameters[1] = bad;
    CHECK_THROWS_WITH(store.put(fresh), "weights of version 6: a value is not finite");
  }
  const auto bad_tensors = {at::Tensor(), at::zeros({3}, at::kDouble), at::zeros({3, 1}),
                            at::zeros({6}).slice(0, 0, 6, 2)};
  for (const auto& bad : bad_tensors) {
    CHECK_THROWS_WITH(store.put({6, bad, {}}), has_text("expected a contiguous float [P] tensor"));
  }
  CHECK(store.versions() == versions{5});
}

TEST_CASE("weight_store: the newest version once more changes nothing") {
  weight_store store;
  store.put(make(5));
  store.put(make(5));
  CHECK(store.versions() == versions{5});
}

TEST_CASE("weight_store: one that is restarted has what is in its storage") {
  const auto storage = std::make_shared<weight_store::storage>();
  {
    weight_store first(3, storage);
    first.put(make(1));
    first.put(make(2));
    first.lease(1);
    CHECK_THROWS_WITH(weight_store(1, storage),
                      has_text("weight_store: expected storage that no other replica has"));
  }
  weight_store second(1, storage);
  CHECK(second.versions() == versions{1, 2});
  CHECK(at::equal(second.get(2).parameters, make(2).parameters));
  second.put(make(3));
  CHECK(second.versions() == versions{1, 3});  // 1 is still on lease
}

TEST_CASE("weight_store: expects to keep at least one version") {
  CHECK_THROWS_WITH(weight_store(0), has_text("keep: expected a number > 0, got 0"));
}

TEST_CASE("weight_store: latest waits for the first version, wait_for for one new enough") {
  for (std::uint64_t seed : {1, 2, 3}) play(wait_in_turn, seed);
}

}  // namespace troupe
