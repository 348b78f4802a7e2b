#include "actors/environments/action_numbers.hpp"

#include <stdexcept>

namespace troupe {
namespace {

const space& part(const space& of) { return of; }
const space& part(const std::pair<std::string, space>& of) { return of.second; }

struct collector_of_numbers {
  action_numbers& to;

  void operator()(const spaces::box& of) const {
    to.low.insert(to.low.end(), of.low.begin(), of.low.end());
    to.high.insert(to.high.end(), of.high.begin(), of.high.end());
  }
  void operator()(const spaces::discrete& of) const { to.integers.push_back({of.start, of.n}); }
  void operator()(const spaces::multi_discrete& of) const {
    for (std::size_t i = 0; i < of.n.size(); ++i) to.integers.push_back({of.start[i], of.n[i]});
  }
  void operator()(const spaces::multi_binary& of) const {
    to.integers.insert(to.integers.end(), static_cast<std::size_t>(of.n),
                       {.first = 0, .count = 2, .binary = true});
  }
  void operator()(const spaces::text& of) const {
    throw std::invalid_argument("actions: expected actions of numbers, got " + to_string(of));
  }
  void operator()(const auto& of) const {
    for (const auto& each : of.parts) std::visit(*this, part(each).as_variant());
  }
};

}  // namespace

action_numbers numbers_of(const space& actions) {
  action_numbers made;
  std::visit(collector_of_numbers{made}, actions.as_variant());
  return made;
}

}  // namespace troupe
