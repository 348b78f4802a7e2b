#include "actors/collective/gloo_collective.hpp"

#include <signal.h>

#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "tests/actors/collective/rank_process.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/message_of.hpp"
#include "tests/test.hpp"

using namespace troupe;
using namespace std::chrono_literals;

namespace {

/// Calls `play(rank's end)` on a thread of its own for each rank; what a rank throws is rethrown.
template <class Play>
void with_ranks(std::size_t world, const std::string& file, const Play& play) {
  std::vector<std::exception_ptr> errors(world);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < world; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const auto group = join_gloo({.rank = rank, .world = world, .file = file});
        play(*group);
      } catch (...) {
        errors[rank] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

std::string refusal(const gloo_rendezvous& where) {
  return testing::message_of([&] { join_gloo(where); });
}

constexpr std::size_t numbers = 10'000;

}  // namespace

TEST_CASE("collective: a sum is over all ranks, and its bits are the same on each",
          "[collective]") {
  const temporary_folder folder;
  constexpr std::size_t world = 3;
  std::vector<std::vector<float>> floats(world);
  std::vector<std::vector<double>> doubles(world);
  with_ranks(world, folder.path / "group", [&](collective& group) {
    auto& f = floats[group.rank()];
    auto& d = doubles[group.rank()];
    for (std::size_t i = 0; i < numbers; ++i) {
      f.push_back(std::sin(static_cast<float>(i + numbers * group.rank())));
      d.push_back(static_cast<double>(i) * static_cast<double>(group.rank() + 1));
    }
    group.sum(std::span<float>(f));
    group.sum(std::span<double>(d));
  });
  CHECK(floats[1] == floats[0]);
  CHECK(floats[2] == floats[0]);
  CHECK(doubles[1] == doubles[0]);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, numbers - 1}) {
    double expected = 0.0;
    for (std::size_t rank = 0; rank < world; ++rank) {
      expected += std::sin(static_cast<float>(i + numbers * rank));
    }
    CHECK(floats[0][i] == Approx(expected).margin(1e-6));
    CHECK(doubles[2][i] == static_cast<double>(i) * 6.0);
  }
}

TEST_CASE("collective: what is not finite reaches every rank, and rank 0's numbers too",
          "[collective]") {
  const temporary_folder folder;
  std::vector<std::vector<float>> sums(2), given(2);
  with_ranks(2, folder.path / "group", [&](collective& group) {
    const auto me = group.rank();
    sums[me] = {me == 0 ? std::numeric_limits<float>::quiet_NaN() : 1.0f,
                me == 1 ? std::numeric_limits<float>::infinity() : 1.0f};
    given[me] = {me == 0 ? 1e-40f : 7.0f, me == 0 ? -0.0f : 7.0f};
    group.sum(std::span<float>(sums[me]));
    group.broadcast(given[me]);
    group.sum(std::span<float>());  // nothing: no call
  });
  for (const auto& of_rank : sums) {
    CHECK(std::isnan(of_rank[0]));
    CHECK(std::isinf(of_rank[1]));
  }
  for (const auto& of_rank : given) {
    CHECK(of_rank[0] == 1e-40f);
    CHECK(std::signbit(of_rank[1]));
  }
}

TEST_CASE("collective: a lone rank keeps its numbers", "[collective]") {
  single_rank group;
  std::vector<float> values{1.0f, 2.0f};
  group.sum(std::span<float>(values));
  group.broadcast(values);
  CHECK(values == std::vector<float>{1.0f, 2.0f});
  CHECK(group.world() == 1);
}

TEST_CASE("collective: what can't be joined is refused by name", "[collective]") {
  const temporary_folder folder;
  const auto file = (folder.path / "group").string();
  CHECK_THROWS_AS(join_gloo({.rank = 2, .world = 2, .file = file}), std::invalid_argument);
  CHECK(refusal({.rank = 2, .world = 2, .file = file}) ==
        "gloo group: rank 2 of 2, expected a rank below the number of ranks");
  CHECK(refusal({.rank = 0, .world = 0, .file = file}) ==
        "gloo group: rank 0 of 0, expected a rank below the number of ranks");
  CHECK(refusal({.world = 2, .file = file, .timeout = 0ms}) ==
        "gloo group: a time-out of 0 ms, expected >= 1");
  CHECK(refusal({.world = 2}) == "gloo group: expected the name of a file");
}

TEST_CASE("collective: a rank that never joins ends the others' wait", "[collective]") {
  const temporary_folder folder;
  const auto file = (folder.path / "group").string();
  const auto message = refusal({.rank = 1, .world = 2, .file = file, .timeout = 200ms});
  CHECK_THAT(message,
             Catch::Contains("data-parallel rank 1 of 2: could not join the group at " + file) &&
                 Catch::Contains("(time-out 0.200 s)"));
}

TEST_CASE("collective: a rank that does not make the call ends the others' wait", "[collective]") {
  const temporary_folder folder;
  const auto file = (folder.path / "group").string();
  std::string first, second;
  std::thread idle;
  {
    std::unique_ptr<collective> other;
    idle = std::thread(
        [&] { other = join_gloo({.rank = 1, .world = 2, .file = file, .timeout = 10s}); });
    const auto group = join_gloo({.rank = 0, .world = 2, .file = file, .timeout = 200ms});
    idle.join();
    std::vector<double> values(3);
    for (auto* message : {&first, &second}) {
      try {
        group->sum(std::span<double>(values));
      } catch (const collective_error& e) {
        *message = e.what();
      }
    }
  }
  CHECK_THAT(first, Catch::Contains("data-parallel rank 0 of 2: sum of 3 numbers failed after") &&
                        Catch::Contains("(time-out 0.200 s)"));
  CHECK_THAT(second, Catch::Contains("an earlier call has failed"));
}

TEST_CASE("collective: a rank that is killed ends the others' call at once", "[collective]") {
  const temporary_folder folder;
  const gloo_rendezvous me{.rank = 0, .world = 2, .file = folder.path / "group", .timeout = 60s};
  auto other = me;
  other.rank = 1;
  rank_process child("rank that is killed in its second sum", other);
  const auto group = join_gloo(me);
  std::vector<float> values(numbers, 1.0f);
  group->sum(std::span<float>(values));
  CHECK(values.back() == 3.0f);
  const auto began = std::chrono::steady_clock::now();
  CHECK_THROWS_WITH(
      group->sum(std::span<float>(values)),
      Catch::Contains("data-parallel rank 0 of 2: sum of 10000 numbers failed after"));
  CHECK(std::chrono::steady_clock::now() - began < me.timeout);
  CHECK(child.wait(30s) == 128 + SIGKILL);
}

TEST_CASE("rank that is killed in its second sum", "[.rank]") {
  const auto group = join_gloo(rank_of_this_process());
  std::vector<float> values(numbers, 2.0f);
  group->sum(std::span<float>(values));
  ::raise(SIGKILL);
}
