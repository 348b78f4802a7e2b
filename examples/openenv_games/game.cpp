#include "examples/openenv_games/game.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "actors/worlds/registry.hpp"
#include "examples/openenv_games/blackjack_hand.hpp"

namespace games {

namespace openenv = troupe::openenv;
namespace spaces = troupe::spaces;
using nlohmann::json;

namespace {

const json& list_of(const json& observation, const char* key, std::size_t length) {
  const auto found = observation.find(key);
  if (found == observation.end() || !found->is_array() || found->size() != length)
    throw std::invalid_argument(std::string(key) + ": expected a list of " +
                                std::to_string(length) + " numbers, got " + observation.dump());
  return *found;
}

/// Puts a 1 at each part's number.
void write_one_hot(std::span<const std::int64_t> numbers, std::span<const std::int64_t> widths,
                   std::span<float> obs) {
  std::ranges::fill(obs, 0.0F);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    obs[static_cast<std::size_t>(before + numbers[i])] = 1;
    before += widths[i];
  }
}

std::int64_t choose_any(const json& observation, troupe::action_random& random) {
  const auto& legal = observation.at("legal_actions");
  return legal[random.below(legal.size())].get<std::int64_t>();
}

std::int64_t choose_first(const json& observation, troupe::action_random&) {
  return observation.at("legal_actions").front().get<std::int64_t>();
}

// ---- Blackjack

using hand_reader = std::function<blackjack_hand(const json& observation)>;

openenv::numeric_view view_of_hand(openenv::numeric_view view, hand_reader read) {
  static constexpr std::array<std::int64_t, 3> widths{32, 11, 2};
  view.spec.observation_space = troupe::spaces::tuple({troupe::spaces::discrete(widths[0]),
                                                       troupe::spaces::discrete(widths[1]),
                                                       troupe::spaces::discrete(widths[2])});
  view.observe = [read = std::move(read)](const json& observation, std::span<float> obs) {
    const auto hand = read(observation);
    const std::array<std::int64_t, 3> numbers{std::min(hand.total, widths[0] - 1), hand.dealer,
                                              hand.usable_ace};
    write_one_hot(numbers, widths, obs);
  };
  return view;
}

game blackjack(std::string name, const openenv::numeric_view& from, const hand_reader& read,
               std::int64_t hit, std::int64_t stand, std::int64_t steps) {
  const auto view = view_of_hand(from, read);
  const auto random = [](const json&, troupe::action_random& random) {
    return static_cast<std::int64_t>(random.below(2));
  };
  const auto always_stand = [=](const json&, troupe::action_random&) { return stand; };
  const auto basic = [=](const json& observation, troupe::action_random&) {
    return basic_strategy_hits(read(observation)) ? hit : stand;
  };
  return {.name = std::move(name),
          .view = view,
          .table_view = view,
          .baselines = {{"random", random}, {"stand", always_stand}, {"basic", basic}},
          .steps = steps};
}

// ---- games on a board

/// OpenSpiel shows a board as three planes, for the places that are empty, one player's, and the
/// other player's.
constexpr std::int64_t planes = 3;

/// A part with 3 values for each place.
openenv::numeric_view view_of_places(openenv::numeric_view view, std::int64_t places) {
  view.spec.observation_space = troupe::spaces::tuple(std::vector<troupe::space>(
      static_cast<std::size_t>(places), troupe::spaces::discrete(planes)));
  view.observe = [places](const json& observation, std::span<float> obs) {
    const auto& board = list_of(observation, "info_state", obs.size());
    for (std::int64_t at = 0; at < places; ++at) {
      for (std::int64_t plane = 0; plane < planes; ++plane) {
        obs[static_cast<std::size_t>(at * planes + plane)] =
            board[static_cast<std::size_t>(plane * places + at)].get<float>();
      }
    }
  };
  return view;
}

/// Connect four has 4.5e12 boards. This gives 16 bits of a board's hash (FNV-1a), so that some
/// boards share a row of the table.
openenv::numeric_view view_of_hash(openenv::numeric_view view, std::size_t length) {
  static constexpr std::array<std::int64_t, 2> widths{256, 256};
  view.spec.observation_space = troupe::spaces::tuple(
      {troupe::spaces::discrete(widths[0]), troupe::spaces::discrete(widths[1])});
  view.observe = [length](const json& observation, std::span<float> obs) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const auto& number : list_of(observation, "info_state", length))
      hash = (hash ^ (number.get<float>() > 0 ? 1U : 0U)) * 0x100000001b3U;
    hash ^= hash >> 32;
    const std::array<std::int64_t, 2> numbers{static_cast<std::int64_t>(hash & 255),
                                              static_cast<std::int64_t>(hash >> 8 & 255)};
    write_one_hot(numbers, widths, obs);
  };
  return view;
}

std::vector<named_player> board_baselines() {
  return {{"random", choose_any}, {"first_legal", choose_first}};
}

}  // namespace

game openspiel_game(const std::string& name) {
  const auto view = [&] { return openenv::openspiel_view(name); };
  if (name == "blackjack")
    return blackjack(name, view(), openenv::read_openspiel_hand, 0, 1, 300'000);
  if (name == "tic_tac_toe")
    return {.name = name,
            .view = view(),
            .table_view = view_of_places(view(), 9),
            .baselines = board_baselines(),
            .steps = 200'000};
  if (name == "connect_four")
    return {.name = name,
            .view = view(),
            .table_view = view_of_hash(view(), 126),
            .baselines = board_baselines(),
            .steps = 200'000};
  throw std::invalid_argument("expected blackjack, tic_tac_toe or connect_four, got \"" + name +
                              '"');
}

game served_blackjack() {
  const auto spec = troupe::make_vector_environment("Blackjack-v1", 1)->spec();
  return blackjack("Blackjack-v1", openenv::served_view(spec), openenv::read_served_hand, 1, 0,
                   100'000);
}

}  // namespace games
