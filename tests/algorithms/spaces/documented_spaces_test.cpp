// The tables of spaces in docs/algorithms/index.md say what the algorithms take.

#include "actors/torch/torch.hpp"

#include <fstream>
#include <functional>
#include <limits>
#include <map>

#include "actors/networks/shape_of.hpp"
#include "actors/worlds/registry.hpp"
#include "algorithms/off_policy/dqn/dqn.hpp"
#include "algorithms/off_policy/sac/sac.hpp"
#include "algorithms/off_policy/td3/td3.hpp"
#include "algorithms/on_policy/a2c/a2c.hpp"
#include "algorithms/on_policy/impala/impala.hpp"
#include "algorithms/on_policy/ppo/ppo.hpp"
#include "algorithms/on_policy/reinforce/reinforce.hpp"
#include "tests/actors/environments/scripted_environment.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe {
namespace {

using cells = std::vector<std::string>;

cells cells_of(const std::string& line) {
  cells made;
  for (std::size_t from = 1; from < line.size();) {
    const auto end = line.find('|', from);
    auto cell = line.substr(from, end - from);
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
    made.push_back(cell);
    if (end == std::string::npos) break;
    from = end + 1;
  }
  if (!made.empty() && made.back().empty()) made.pop_back();
  return made;
}

/// The rows of the table whose first heading is `heading`, with the headings as the first row.
std::vector<cells> table_of(const std::string& heading) {
  std::ifstream page(testing::source_path("docs/algorithms/index.md"));
  REQUIRE(page);
  std::vector<cells> rows;
  for (std::string line; std::getline(page, line);) {
    if (rows.empty() && !line.starts_with("| " + heading + " |")) continue;
    if (!line.starts_with('|')) break;
    if (!line.starts_with("|---")) rows.push_back(cells_of(line));
  }
  REQUIRE(rows.size() > 1);
  return rows;
}

constexpr float infinite = std::numeric_limits<float>::infinity();

/// An example of each row of the table of action spaces.
const std::map<std::string, std::vector<space>>& actions_of_rows() {
  static const spaces::tuple mixed({spaces::box(-1, 1, {2}), spaces::discrete(3, 1)});
  static const std::map<std::string, std::vector<space>> all = {
      {"`Discrete`, with any `start`", {spaces::discrete(2), spaces::discrete(3, -4)}},
      {"`MultiDiscrete`", {spaces::multi_discrete({2, 3}), spaces::multi_discrete({2}, {7})}},
      {"`MultiBinary`", {spaces::multi_binary(3)}},
      {"`Box` with bounds", {spaces::box(-1, 1, {2, 2})}},
      {"`Box` without bounds", {spaces::box(-infinite, infinite, {2})}},
      {"`Tuple` or `Dict` of these, nested or not",
       {spaces::tuple({spaces::discrete(2), spaces::multi_binary(2)}), mixed,
        spaces::dict({{"a", mixed}, {"b", spaces::multi_discrete({2, 2})}})}},
      {"`Text`, alone or in a `Tuple`", {spaces::text(3), spaces::tuple({spaces::text(3)})}}};
  return all;
}

/// Registers an environment with that action space, and returns its name.
std::string id_with(const space& actions) {
  static std::map<std::string, std::string> known;
  auto& id = known[to_string(actions)];
  if (id.empty()) {
    id = "Documented" + std::to_string(known.size()) + "-v0";
    register_environment(id, [actions] {
      return std::make_unique<scripted_environment>(
          scripted_environment::script{.action_space = actions});
    });
  }
  return id;
}

template <class Config>
std::function<void(const std::string&)> check_of(std::string algo) {
  return [algo = std::move(algo)](const std::string& id) {
    Config config;
    config.env.id = id;
    config.policy.hidden = {4};
    if constexpr (requires { config.replay.capacity; }) config.replay.capacity = 1000;
    algorithm_with(config).check();
  };
}

const std::map<std::string, std::function<void(const std::string&)>>& checks() {
  static const std::map<std::string, std::function<void(const std::string&)>> all = {
      {"ppo", check_of<ppo_config>("ppo")},
      {"a2c", check_of<a2c_config>("a2c")},
      {"impala", check_of<impala_config>("impala")},
      {"reinforce", check_of<reinforce_config>("reinforce")},
      {"dqn", check_of<dqn_config>("dqn")},
      {"sac", check_of<sac_config>("sac")},
      {"td3", check_of<td3_config>("td3")},
      {"ddpg", check_of<ddpg_config>("ddpg")}};
  return all;
}

TEST_CASE("docs: the table of action spaces says which algorithms take them") {
  const auto rows = table_of("action space");
  CHECK(rows.size() == 1 + actions_of_rows().size());
  CHECK(rows[0].size() == 1 + checks().size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    REQUIRE(rows[i].size() == rows[0].size());
    for (const auto& actions : actions_of_rows().at(rows[i][0])) {
      for (std::size_t column = 1; column < rows[0].size(); ++column) {
        INFO(rows[0][column] << " with " << to_string(actions));
        const auto refusal = testing::message_of<std::invalid_argument>(
            [&] { checks().at(rows[0][column])(id_with(actions)); });
        INFO(refusal);
        CHECK(rows[i][column] == (refusal.empty() ? "yes" : "no"));
      }
    }
  }
}

/// The kind of network that `auto` takes, as the table says it.
std::string network_for(const space& observations) {
  const auto shape = shape_of(
      {.id = "X-v0", .observation_space = observations, .action_space = spaces::discrete(2)});
  if (!has_convolutions(shape, {})) return "an mlp";
  return shape.parts.empty() ? "a cnn" : "multi_input";
}

TEST_CASE("docs: the table of observation spaces says which network they get") {
  spaces::box bytes(0, 255, {4, 5});
  bytes.type = spaces::element::uint8;
  spaces::box board(0, 1, {8, 8, 12});
  board.type = spaces::element::uint8;
  const spaces::dict camera({{"camera", bytes}, {"speed", spaces::box(0, 1, {2})}});
  const std::map<std::string, std::vector<space>> examples = {
      {"`Box`", {spaces::box(-1, 1, {3}), board, spaces::box(0, 1, {3, 40, 40})}},
      {"`Discrete`, `MultiDiscrete`, `MultiBinary`, `Text`",
       {spaces::discrete(3, 1), spaces::multi_discrete({2, 2}), spaces::multi_binary(2),
        spaces::text(3)}},
      {"`Box` of bytes 0 to 255 with two dimensions or more", {bytes, spaces::image(3, 4, 5)}},
      {"`Tuple` or `Dict` without images",
       {spaces::tuple({spaces::discrete(2), spaces::box(0, 1, {2})}),
        spaces::dict({{"a", spaces::multi_binary(2)}})}},
      {"`Tuple` or `Dict` with images, nested or not",
       {camera, spaces::tuple({spaces::discrete(2), camera})}}};
  const auto rows = table_of("observation space");
  CHECK(rows.size() == 1 + examples.size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (const auto& observations : examples.at(rows[i][0])) {
      INFO(to_string(observations));
      CHECK(rows[i][1].starts_with(network_for(observations)));
    }
  }
}

}  // namespace
}  // namespace troupe
