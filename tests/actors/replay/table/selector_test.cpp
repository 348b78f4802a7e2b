#include "actors/replay/selector.hpp"

#include <cmath>
#include <map>
#include <random>

#include "actors/checkpoint/state.hpp"
#include "tests/runtime/support.hpp"

namespace troupe {
namespace {

using testing::has_text;
using key = std::uint64_t;
using probabilities = std::map<key, double>;

constexpr selection_order all_orders[] = {selection_order::uniform,  selection_order::prioritised,
                                          selection_order::fifo,     selection_order::lifo,
                                          selection_order::min_heap, selection_order::max_heap};

std::unique_ptr<selector> make(selection_order order, double exponent = 1) {
  return make_selector({.order = order, .exponent = exponent}, /*seed=*/7);
}

/// Pearson's statistic of `draws` selections against what is expected of them.
double chi_square(selector& from, const probabilities& expected, int draws = 100'000) {
  std::map<key, int> seen;
  for (int i = 0; i < draws; ++i) ++seen[from.select().key];
  double sum = 0;
  for (const auto& [k, probability] : expected) {
    const auto mean = probability * draws;
    sum += (seen[k] - mean) * (seen[k] - mean) / mean;
    seen.erase(k);
  }
  CHECK(seen.empty());  // nothing else was drawn
  return sum;
}

/// Which no right generator exceeds once in a thousand seeds: 9, 3 degrees of freedom.
constexpr double limit_of_10 = 27.88;
constexpr double limit_of_4 = 16.27;

double priority_of(key k) { return static_cast<double>(k % 5); }

std::vector<key> next_keys(selector& from, int count) {
  std::vector<key> keys;
  for (int i = 0; i < count; ++i) keys.push_back(from.select().key);
  return keys;
}

}  // namespace

TEST_CASE("uniform selector: draws each key as often, and those alone that are left") {
  const auto uniform = make(selection_order::uniform);
  for (key k = 1; k <= 12; ++k) uniform->insert(k, static_cast<double>(k));
  uniform->erase(12);
  uniform->erase(3);
  probabilities tenth;
  for (const key k : {1, 2, 4, 5, 6, 7, 8, 9, 10, 11}) tenth[k] = 0.1;
  CHECK(uniform->select().probability == 0.1);
  CHECK(chi_square(*uniform, tenth) < limit_of_10);
}

TEST_CASE("prioritised selector: draws in proportion to priority^exponent") {
  const auto prioritised = make(selection_order::prioritised, /*exponent=*/2);
  for (key k = 0; k < 5; ++k) prioritised->insert(k, static_cast<double>(k));
  // Squares 0, 1, 4, 9, 16: sum 30.
  const probabilities squares{{1, 1 / 30.}, {2, 4 / 30.}, {3, 9 / 30.}, {4, 16 / 30.}};
  CHECK(chi_square(*prioritised, squares) < limit_of_4);
  // The statistic tells them from draws in proportion to the priority itself.
  CHECK(chi_square(*prioritised, {{1, .1}, {2, .2}, {3, .3}, {4, .4}}) > 100 * limit_of_4);
  const auto one = prioritised->select();
  CHECK(one.probability == Approx(squares.at(one.key)));
}

TEST_CASE("prioritised selector: follows updates and erasures") {
  const auto prioritised = make(selection_order::prioritised, /*exponent=*/1);
  for (key k = 0; k < 6; ++k) prioritised->insert(k, 100);
  prioritised->erase(0);  // key 5 takes its place
  prioritised->erase(4);
  prioritised->update(1, 1);
  prioritised->update(2, 2);
  prioritised->update(3, 3);
  prioritised->update(5, 4);
  CHECK(chi_square(*prioritised, {{1, .1}, {2, .2}, {3, .3}, {5, .4}}) < limit_of_4);
}

TEST_CASE("prioritised selector: exponent 0 is uniform, but never draws priority 0") {
  const auto prioritised = make(selection_order::prioritised, /*exponent=*/0);
  for (key k = 0; k <= 10; ++k) prioritised->insert(k, static_cast<double>(k));
  probabilities tenth;
  for (key k = 1; k <= 10; ++k) tenth[k] = 0.1;
  CHECK(chi_square(*prioritised, tenth) < limit_of_10);
}

TEST_CASE("prioritised selector: where every priority is 0 the draw is uniform") {
  const auto prioritised = make(selection_order::prioritised);
  for (key k = 1; k <= 4; ++k) prioritised->insert(k, 0);
  CHECK(prioritised->select().probability == 0.25);
  CHECK(chi_square(*prioritised, {{1, .25}, {2, .25}, {3, .25}, {4, .25}}) < limit_of_4);
}

TEST_CASE("prioritised selector: the largest doubles don't make its sum infinite") {
  const auto prioritised = make(selection_order::prioritised, /*exponent=*/2);
  for (key k = 1; k <= 100; ++k) prioritised->insert(k, 1e300);
  CHECK(prioritised->select().probability == Approx(0.01));
}

TEST_CASE("fifo selector: the key that came first") {
  const auto fifo = make(selection_order::fifo);
  fifo->insert(20, 1);
  fifo->insert(10, 5);
  fifo->insert(30, 9);
  CHECK(fifo->select().key == 20);
  CHECK(fifo->select().probability == 1);
  fifo->update(20, 100);
  CHECK(fifo->select().key == 20);
  fifo->erase(20);
  CHECK(fifo->select().key == 10);
}

TEST_CASE("lifo selector: the key that came last") {
  const auto lifo = make(selection_order::lifo);
  lifo->insert(20, 1);
  lifo->insert(30, 9);
  lifo->insert(10, 5);
  CHECK(lifo->select().key == 10);
  lifo->update(20, 100);
  CHECK(lifo->select().key == 10);
  lifo->erase(10);
  CHECK(lifo->select().key == 30);
}

TEST_CASE("heap selector: the lowest or the highest priority, of equal ones the first") {
  const auto lowest = make(selection_order::min_heap);
  const auto highest = make(selection_order::max_heap);
  for (const auto& heap : {lowest.get(), highest.get()}) {
    heap->insert(7, 3);
    heap->insert(5, 1);
    heap->insert(6, 3);
    heap->insert(4, 1);
  }
  CHECK(lowest->select().key == 5);
  CHECK(highest->select().key == 7);
  lowest->update(5, 2);
  highest->update(7, 2);
  CHECK(lowest->select().key == 4);
  CHECK(highest->select().key == 6);
  lowest->erase(4);
  highest->erase(6);
  CHECK(lowest->select().key == 5);
  CHECK(highest->select().key == 7);
}

TEST_CASE("selector: refuses priorities and keys that can't be, and stays as it was") {
  for (const auto order : all_orders) {
    const auto some = make(order);
    CHECK_THROWS_WITH(some->select(), has_text("expected at least one key, got none"));
    some->insert(1, 1);
    for (const double bad : {-1.0, -1e-300, std::nan(""), HUGE_VAL}) {
      CHECK_THROWS_WITH(some->insert(2, bad), has_text("expected a finite number >= 0, got "));
      CHECK_THROWS_AS(some->update(1, bad), std::invalid_argument);
    }
    CHECK_THROWS_WITH(some->insert(1, 1), "selector: key 1: expected a new one");
    CHECK_THROWS_WITH(some->update(2, 1), "selector: key 2: not there");
    CHECK_THROWS_WITH(some->erase(2), "selector: key 2: not there");
    CHECK(some->size() == 1);
    CHECK(some->select().key == 1);
  }
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    CHECK_THROWS_WITH(make(selection_order::prioritised, bad),
                      has_text("exponent: expected a finite number >= 0"));
  }
}

TEST_CASE("selector: a restored one selects on as if nothing had been") {
  for (const auto order : all_orders) {
    std::mt19937 random(1);
    const auto before = make(order);
    for (key k = 0; k < 40; ++k) before->insert(k, priority_of(k));
    for (int i = 0; i < 20; ++i) before->erase(static_cast<key>(2 * i));
    for (int i = 0; i < 10; ++i) before->update(before->select().key, 1);
    for (key k = 1; k < 40; k += 2) before->update(k, priority_of(k));
    state_writer to;
    before->save(to, "sampler");
    const auto after = make_selector({.order = order, .exponent = 1}, /*seed=*/8);
    after->restore(state_reader(to.bytes()), "sampler", priority_of);
    for (int round = 0; round < 10; ++round) {
      const auto keys = next_keys(*before, 20);
      CHECK(next_keys(*after, 20) == keys);
      before->erase(keys.back());
      after->erase(keys.back());
    }
  }
}

TEST_CASE("selector: a state without a generator leaves its own, a damaged one is refused") {
  const auto fifo = make(selection_order::fifo);
  fifo->insert(1, 1);
  fifo->insert(2, 1);
  state_writer kept;
  fifo->save(kept, "sampler");
  const auto uniform = make(selection_order::uniform);
  uniform->restore(state_reader(kept.bytes()), "sampler", priority_of);
  CHECK(chi_square(*uniform, {{1, .5}, {2, .5}}) < 10.83);  // 1 degree of freedom

  state_writer zero;
  zero.put("sampler_keys", std::vector<key>{1});
  zero.put("sampler_random", std::vector<std::uint64_t>(4));
  CHECK_THROWS_AS(
      make(selection_order::uniform)->restore(state_reader(zero.bytes()), "sampler", priority_of),
      state_error);
}

}  // namespace troupe
