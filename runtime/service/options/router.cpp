#include "runtime/service/options/router.hpp"

#include <atomic>
#include <vector>

namespace troupe::routing {

namespace {

std::size_t less_loaded_of_two(replica_view& view) {
  const auto n = view.size();
  if (n == 1) return 0;
  const auto first = static_cast<std::size_t>((std::uint64_t{view.random()} * n) >> 32);
  auto second = static_cast<std::size_t>((std::uint64_t{view.random()} * (n - 1)) >> 32);
  if (second >= first) ++second;
  return view.pending(first) <= view.pending(second) ? first : second;
}

class round_robin_router final : public router {
 public:
  std::size_t pick(replica_view& view, std::uint64_t) override {
    return turn_.fetch_add(1, std::memory_order_relaxed) % view.size();
  }

 private:
  std::atomic<std::size_t> turn_{0};
};

class power_of_two_router final : public router {
 public:
  std::size_t pick(replica_view& view, std::uint64_t) override { return less_loaded_of_two(view); }
};

class least_loaded_router final : public router {
 public:
  std::size_t pick(replica_view& view, std::uint64_t) override {
    std::size_t best = 0;
    for (std::size_t i = 1; i < view.size(); ++i) {
      if (view.pending(i) < view.pending(best)) best = i;
    }
    return best;
  }
};

/// The finaliser of MurmurHash3: every input bit changes every output bit with probability one
/// half.
std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

class consistent_hash_router final : public router {
 public:
  std::size_t pick(replica_view& view, std::uint64_t key) override {
    std::size_t best = 0;
    std::uint64_t highest = 0;
    for (std::size_t i = 0; i < view.size(); ++i) {
      const auto weight = mix(key ^ mix(view.index(i) + 1));
      if (i == 0 || weight > highest) {
        best = i;
        highest = weight;
      }
    }
    return best;
  }
};

class locality_router final : public router {
 public:
  std::size_t pick(replica_view& view, std::uint64_t) override {
    const auto start = less_loaded_of_two(view);
    for (std::size_t step = 0; step < view.size(); ++step) {
      const auto i = (start + step) % view.size();
      if (view.local(i)) return i;
    }
    return start;
  }
};

}  // namespace

std::shared_ptr<router> round_robin() { return std::make_shared<round_robin_router>(); }
std::shared_ptr<router> power_of_two() { return std::make_shared<power_of_two_router>(); }
std::shared_ptr<router> least_loaded() { return std::make_shared<least_loaded_router>(); }
std::shared_ptr<router> consistent_hash() { return std::make_shared<consistent_hash_router>(); }
std::shared_ptr<router> locality() { return std::make_shared<locality_router>(); }

}  // namespace troupe::routing
