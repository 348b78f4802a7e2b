#include "actors/worlds/board_games/line_game.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/environments/canvas.hpp"

namespace troupe {
namespace {

constexpr std::int64_t cells_max = 4096;
constexpr std::int64_t marks = 3;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

line_game_options connect_four_options() {
  return {.id = "ConnectFour-v0", .rows = 6, .columns = 7, .line = 4, .falls = true};
}

line_game::line_game(line_game_options options) : options_(std::move(options)) {
  const auto& o = options_;
  if (o.rows < 1 || o.columns < 1 || o.rows > cells_max / o.columns)
    throw std::invalid_argument(o.id + ": expected a board of 1 to " + std::to_string(cells_max) +
                                " cells, got " + std::to_string(o.rows) + " x " +
                                std::to_string(o.columns));
  cells_.resize(at(o.rows * o.columns));
}

env_spec line_game::spec() const {
  std::vector<space> parts(cells_.size(), spaces::discrete(marks));
  parts.push_back(spaces::discrete(moves(options_) + 1));
  return {.id = options_.id,
          .observation_space = spaces::tuple(std::move(parts)),
          .action_space = spaces::discrete(moves(options_)),
          .render_fps = 2};
}

void line_game::reset(std::optional<std::uint64_t> seed, std::span<float> obs) {
  random_.begin_episode(seed);
  std::ranges::fill(cells_, mark::none);
  opponent_last_ = moves(options_);
  show(obs);
}

step_result line_game::step(action_view action, std::span<float> obs) {
  const auto move = action.discrete();
  if (move < 0 || move >= moves(options_))
    throw std::invalid_argument(options_.id + ": expected an action of 0 to " +
                                std::to_string(moves(options_) - 1) + ", got " +
                                std::to_string(move));
  auto legal = legal_moves(options_, cells_);
  step_result result{.reward = -1, .terminated = true};
  if (std::ranges::find(legal, move) != legal.end()) {
    if (put(move, mark::own)) {
      result.reward = 1;
    } else if (legal = legal_moves(options_, cells_); legal.empty()) {
      result.reward = 0;
    } else {
      opponent_last_ = random_->choice(std::span<const std::int64_t>(legal));
      result.terminated = put(opponent_last_, mark::opponent);
      result.reward = result.terminated ? -1 : 0;
      result.terminated |= legal_moves(options_, cells_).empty();
    }
  }
  show(obs);
  return result;
}

// The agent's marks are crosses or red discs, the opponent's are rings or yellow discs.
bool line_game::render(canvas& on) const {
  constexpr canvas::colour white{255, 255, 255}, black{}, board{25, 80, 170};
  constexpr canvas::colour red{214, 54, 54}, blue{40, 90, 200}, yellow{242, 203, 44};
  constexpr std::int64_t picture_side = 480, cell_max = 100;
  const auto longer = std::max(options_.rows, options_.columns);
  const auto cell = std::clamp<std::int64_t>(picture_side / longer, 1, cell_max);
  const auto width = options_.columns * cell, height = options_.rows * cell;
  const bool falls = options_.falls;
  const auto side = static_cast<double>(cell), radius = 0.4 * side, stroke = 0.1 * side;
  on.begin(static_cast<int>(width), static_cast<int>(height), falls ? board : white);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / options_.columns;
    const auto column = static_cast<std::int64_t>(i) % options_.columns;
    const auto from_top = falls ? options_.rows - 1 - row : row;
    const canvas::point at{(static_cast<double>(column) + 0.5) * side,
                           (static_cast<double>(from_top) + 0.5) * side};
    if (falls) {
      const bool is_free = cells_[i] == mark::none;
      on.circle(at, radius, is_free ? white : cells_[i] == mark::own ? red : yellow);
    } else if (cells_[i] == mark::own) {
      const double reach = radius * 0.75;
      on.line({at.x - reach, at.y - reach}, {at.x + reach, at.y + reach}, stroke, red);
      on.line({at.x - reach, at.y + reach}, {at.x + reach, at.y - reach}, stroke, red);
    } else if (cells_[i] == mark::opponent) {
      on.circle(at, radius, blue);
      on.circle(at, radius - stroke, white);
    }
  }
  if (falls) return true;
  const double right = static_cast<double>(width), bottom = static_cast<double>(height);
  for (double x = side; x < right; x += side) on.line({x, 0}, {x, bottom}, 0.03 * side, black);
  for (double y = side; y < bottom; y += side) on.line({0, y}, {right, y}, 0.03 * side, black);
  return true;
}

bool line_game::save(state_writer& to) const {
  std::vector<std::int64_t> cells;
  for (const auto cell : cells_) cells.push_back(static_cast<std::int64_t>(cell));
  to.put("cells", cells);
  to.put("opponent_last", opponent_last_);
  random_.save(to);
  return true;
}

void line_game::restore(const state_reader& from) {
  const auto cells = from.get<std::vector<std::int64_t>>("cells");
  const auto last = from.get<std::int64_t>("opponent_last");
  const bool known = std::ranges::all_of(cells, [](auto c) { return c >= 0 && c < marks; });
  if (cells.size() != cells_.size() || !known || last < 0 || last > moves(options_))
    throw state_error(options_.id + ": expected " + std::to_string(cells_.size()) +
                      " cells of 0 to 2 and a move of 0 to " + std::to_string(moves(options_)) +
                      ", got " + std::to_string(cells.size()) + " cells and " +
                      std::to_string(last));
  for (std::size_t i = 0; i < cells.size(); ++i) cells_[i] = static_cast<mark>(cells[i]);
  opponent_last_ = last;
  random_.restore(from);
}

std::optional<std::int64_t> line_game::opponent_last() const {
  if (opponent_last_ == moves(options_)) return std::nullopt;
  return opponent_last_;
}

std::vector<std::int64_t> line_game::legal_moves(const line_game_options& game,
                                                 std::span<const mark> cells) {
  // A column is legal as long as its highest cell is free.
  const auto first = game.falls ? (game.rows - 1) * game.columns : 0;
  std::vector<std::int64_t> legal;
  for (auto i = first; i < std::ssize(cells); ++i) {
    if (cells[at(i)] == mark::none) legal.push_back(i - first);
  }
  return legal;
}

bool line_game::put(std::int64_t move, mark whose) {
  auto cell = move;
  while (options_.falls && cells_[at(cell)] != mark::none) cell += options_.columns;
  cells_[at(cell)] = whose;
  return has_line_through(cell);
}

bool line_game::has_line_through(std::int64_t cell) const {
  const auto row = cell / options_.columns, column = cell % options_.columns;
  const auto whose = cells_[at(cell)];
  // Returns how many equal marks follow in one direction.
  const auto count = [&](std::int64_t down, std::int64_t right) {
    std::int64_t n = 0;
    for (auto r = row + down, c = column + right;
         r >= 0 && r < options_.rows && c >= 0 && c < options_.columns &&
         cells_[at(r * options_.columns + c)] == whose;
         r += down, c += right)
      ++n;
    return n;
  };
  const auto both = [&](std::int64_t down, std::int64_t right) {
    return 1 + count(down, right) + count(-down, -right) >= options_.line;
  };
  return both(0, 1) || both(1, 0) || both(1, 1) || both(1, -1);
}

void line_game::show(std::span<float> obs) const {
  std::ranges::fill(obs, 0.0F);
  std::size_t next = 0;
  for (const auto cell : cells_) {
    obs[next + static_cast<std::size_t>(cell)] = 1;
    next += marks;
  }
  obs[next + at(opponent_last_)] = 1;
}

}  // namespace troupe
