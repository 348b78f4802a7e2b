#include "actors/replay/transition_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "actors/checkpoint/state.hpp"

namespace troupe {

void transition_rows::resize(std::size_t rows, const transition_widths& widths) {
  const auto each = [rows](const char*, std::size_t width, auto& column) {
    column.resize(rows * width);
  };
  for_each_column(widths, each, *this);
}

transition_ring::block::block(const transition_widths& widths) {
  const auto each = [](const char*, std::size_t width, auto& column) {
    using element = std::remove_cvref_t<decltype(column[0])>;
    column.reset(new element[block_rows * width]);
  };
  for_each_column(widths, each, *this);
  for_each_place_column(each, *this);
  each("previous", 1, previous);
  each("next", 1, next);
}

namespace {

/// Returns the widths of what a ring keeps beside the frames of images.
transition_widths without_images(transition_widths widths, const std::vector<image_part>& images) {
  std::size_t end = 0;
  auto others = widths.obs;
  for (const auto& image : images) {
    if (image.begin < end || image.frames < 1 || image.size < image.frames ||
        image.size % image.frames != 0 || image.begin + image.size > widths.obs) {
      throw std::invalid_argument(fmt::format(
          "transition_ring: images: expected parts of {} numbers that follow one another, got {} "
          "numbers in {} frames from {} on",
          widths.obs, image.size, image.frames, image.begin));
    }
    end = image.begin + image.size;
    others -= image.size;
  }
  widths.obs = others;
  return widths;
}

}  // namespace

std::size_t transition_bytes(const transition_widths& widths,
                             const std::vector<image_part>& images) {
  return without_images(widths, images).bytes() + image_rows::bytes_of_names(images) +
         image_rows::bytes_of_frames(images);
}

transition_ring::transition_ring(const transition_widths& widths,
                                 const transition_ring_options& options)
    : widths_(widths),
      kept_(without_images(widths, options.images)),
      plain_(widths),
      options_(options),
      capacity_(options.capacity) {
  constexpr std::int64_t capacity_max = std::numeric_limits<std::uint32_t>::max();
  if (capacity_ < 1 || capacity_ > capacity_max || widths.obs < 1 ||
      widths.action + widths.choices < 1) {
    throw std::invalid_argument(
        fmt::format("transition_ring: expected a capacity within 1 .. {}, observations and "
                    "actions, got {}, obs {}, action {}, choices {}",
                    capacity_max, capacity_, widths.obs, widths.action, widths.choices));
  }
  const auto each = transition_bytes(widths, options.images);
  const auto wanted = static_cast<double>(each) * static_cast<double>(capacity_);
  if (wanted > static_cast<double>(options.max_bytes)) {
    throw std::invalid_argument(fmt::format(
        "transition_ring: capacity: {} transitions of {} bytes take {:.0f} MB, expected at most "
        "max_bytes, {:.0f} MB",
        capacity_, each, wanted * 1e-6, static_cast<double>(options.max_bytes) * 1e-6));
  }
  if (options.images.empty()) return;
  plain_.obs = 0;
  const auto frames = image_rows::bytes_of_frames(options.images);
  const auto rows = static_cast<std::size_t>(capacity_) * (each - frames);
  const auto room = static_cast<std::size_t>(options.max_bytes) - rows;
  images_.emplace(options.images, widths.obs, room / frames);
}

namespace {

/// Copies n rows of `width` numbers.
template <class From, class To>
void copy_rows(const From& from, std::size_t first, To& to, std::size_t place, std::size_t n,
               std::size_t width) {
  std::copy_n(&from[0] + first * width, n * width, &to[0] + place * width);
}

}  // namespace

bool transition_ring::holds(std::int64_t number) const noexcept {
  return number >= inserted_ - size_ && number < inserted_;
}

void transition_ring::require(std::int64_t number) const {
  if (holds(number)) return;
  throw std::out_of_range(fmt::format("transition_ring: expected a row from {} to {}, got {}",
                                      inserted_ - size_, inserted_ - 1, number));
}

transition_ring::cell transition_ring::cell_of(std::int64_t number) const {
  const auto place = place_number(number);
  return {blocks_[place / block_rows], place % block_rows};
}

void transition_ring::check_columns(const transition_widths& widths, const transition_rows& rows) {
  const auto n = rows.size();
  const auto each = [n](const char* name, std::size_t width, const auto& column) {
    if (column.size() == n * width) return;
    throw std::invalid_argument(
        fmt::format("transition_ring: {}: expected {} numbers for each of {} transitions, got {}",
                    name, width, n, column.size()));
  };
  for_each_column(widths, each, rows);
  for_each_place_column(each, rows);
  for (const auto ended : rows.ended) {
    if (ended <= static_cast<std::uint8_t>(episode_end::truncated)) continue;
    throw std::invalid_argument(
        fmt::format("transition_ring: ended: expected 0 to 2, got {}", ended));
  }
}

void transition_ring::check(const transition_rows& rows) const {
  check_columns(widths_, rows);
  if (!images_) return;
  images_->check("obs", rows.obs);
  images_->check("next_obs", rows.next_obs);
}

std::size_t transition_ring::put_columns(const transition_widths& widths,
                                         const transition_rows& rows, std::size_t first,
                                         std::size_t place) {
  if (place / block_rows == blocks_.size()) blocks_.emplace_back(kept_);
  const auto at = place % block_rows;
  const auto capacity = static_cast<std::size_t>(capacity_);
  auto some = std::min({block_rows - at, capacity - place, rows.size() - first});
  if (images_) some = 1;  // each row may need the room of the oldest rows
  auto& in = blocks_[place / block_rows];
  while (size_ + static_cast<std::int64_t>(some) > capacity_) drop_oldest();
  const auto copy = [&](const char*, std::size_t width, const auto& from, auto& to) {
    if (width > 0) copy_rows(from, first, to, at, some, width);
  };
  for_each_column(widths, copy, rows, in);
  for_each_place_column(copy, rows, in);
  std::fill_n(&in.previous[at], some, 0);
  std::fill_n(&in.next[at], some, 0);
  return some;
}

std::size_t transition_ring::put(const transition_rows& rows, std::size_t first) {
  const auto place = place_number(inserted_);
  const auto some = static_cast<std::int64_t>(put_columns(plain_, rows, first, place));
  if (images_) put_images(rows, first, place);
  inserted_ += some;
  size_ += some;
  return static_cast<std::size_t>(some);
}

void transition_ring::put_images(const transition_rows& rows, std::size_t row, std::size_t place) {
  const auto* obs = rows.obs.data() + row * widths_.obs;
  const auto* next_obs = rows.next_obs.data() + row * widths_.obs;
  while (!images_->put(place, obs, next_obs)) {
    // An empty ring has room for any row; see the constructor of image_rows.
    if (size_ == 0) throw std::logic_error("transition_ring: an empty ring has no room for a row");
    drop_oldest();
  }
  auto& in = blocks_[place / block_rows];
  auto to = place % block_rows * kept_.obs;
  for (const auto& [begin, size] : images_->others()) {
    std::copy_n(obs + begin, size, &in.obs[to]);
    std::copy_n(next_obs + begin, size, &in.next_obs[to]);
    to += size;
  }
}

void transition_ring::copy_images(std::size_t place, transition_rows& into, std::size_t row) const {
  auto* obs = into.obs.data() + row * widths_.obs;
  auto* next_obs = into.next_obs.data() + row * widths_.obs;
  images_->copy(place, obs, next_obs);
  const auto& in = blocks_[place / block_rows];
  auto from = place % block_rows * kept_.obs;
  for (const auto& [begin, size] : images_->others()) {
    std::copy_n(&in.obs[from], size, obs + begin);
    std::copy_n(&in.next_obs[from], size, next_obs + begin);
    from += size;
  }
}

void transition_ring::drop_oldest() {
  forget(oldest());
  if (images_) images_->drop(place_number(oldest()));
  --size_;
}

void transition_ring::forget(std::int64_t number) {
  const auto row = cell_of(number);
  if (row.in.next[row.at] != 0) return;
  const auto newest = newest_.find(row.in.environment[row.at]);
  if (newest != newest_.end() && newest->second.number == number) newest_.erase(newest);
}

bool transition_ring::adjoin(const cell& one, const cell& other) {
  return one.in.environment[one.at] == other.in.environment[other.at] &&
         one.in.ended[one.at] == 0 && one.in.step[one.at] + 1 == other.in.step[other.at];
}

void transition_ring::tie(std::int64_t one, std::int64_t other) {
  const auto first = cell_of(one), second = cell_of(other);
  first.in.next[first.at] = second.in.previous[second.at] = static_cast<std::uint32_t>(other - one);
}

void transition_ring::link(std::int64_t number, std::uint32_t episode) {
  const auto row = cell_of(number);
  const auto [newest, is_first] =
      newest_.try_emplace(row.in.environment[row.at], newest_row{number, episode});
  if (is_first) return;
  const auto before = std::exchange(newest->second, {number, episode});
  if (before.episode == episode && adjoin(cell_of(before.number), row)) tie(before.number, number);
}

void transition_ring::insert(const transition_rows& rows) {
  check(rows);
  if (rows.episode.size() != rows.size()) {
    throw std::invalid_argument(
        fmt::format("transition_ring: episode: expected one of each of {} transitions, got {}",
                    rows.size(), rows.episode.size()));
  }
  for (std::size_t first = 0; first < rows.size();) {
    const auto number = inserted_;
    const auto some = put(rows, first);
    for (std::size_t k = 0; k < some; ++k) {
      link(number + static_cast<std::int64_t>(k), rows.episode[first + k]);
    }
    first += some;
  }
}

row_place transition_ring::place_of(std::int64_t number) const {
  require(number);
  const auto row = cell_of(number);
  return {row.in.environment[row.at], row.in.step[row.at],
          static_cast<episode_end>(row.in.ended[row.at])};
}

episode_rows transition_ring::episode_of(std::int64_t number) const {
  require(number);
  for (;;) {
    const auto row = cell_of(number);
    const auto before = number - row.in.previous[row.at];
    if (before == number || !holds(before)) break;
    number = before;
  }
  const auto first = place_of(number);
  auto numbers = sequence(number, static_cast<std::size_t>(size_));
  const auto end = place_of(numbers.back()).end;
  return {first.environment, first.step, std::move(numbers), end};
}

std::vector<std::int64_t> transition_ring::sequence(std::int64_t number, std::size_t length) const {
  require(number);
  std::vector<std::int64_t> numbers;
  while (numbers.size() < length) {
    numbers.push_back(number);
    const auto row = cell_of(number);
    if (row.in.next[row.at] == 0) break;
    number += row.in.next[row.at];
  }
  return numbers;
}

// It is inlined, because a call costs as much as a short row.
[[gnu::always_inline]] inline void transition_ring::copy_row(std::size_t place,
                                                             transition_rows& into,
                                                             std::size_t row) const {
  const auto copy = [&](const char*, std::size_t width, const auto& from, auto& to) {
    if (width > 0) copy_rows(from, place % block_rows, to, row, 1, width);
  };
  for_each_column(plain_, copy, blocks_[place / block_rows], into);
  if (images_) copy_images(place, into, row);
}

void transition_ring::gather(std::span<const std::int64_t> numbers, transition_rows& into) const {
  for (const auto number : numbers) require(number);
  into.resize(numbers.size(), widths_);
  for (std::size_t row = 0; row < numbers.size(); ++row) {
    copy_row(place_number(numbers[row]), into, row);
  }
}

void transition_ring::sample(std::size_t count, action_random& random,
                             transition_rows& into) const {
  if (size_ == 0) throw std::logic_error("transition_ring: a sample of an empty ring");
  into.resize(count, widths_);
  const auto capacity = static_cast<std::size_t>(capacity_);
  // A full ring has rows at all places, so that the first one is as good as that of the oldest row.
  const auto first = size_ == capacity_ ? std::size_t{0} : place_number(oldest());
  for (std::size_t row = 0; row < count; ++row) {
    const auto drawn = random.below(static_cast<std::uint64_t>(size_));
    const auto place = first + static_cast<std::size_t>(drawn);
    copy_row(place < capacity ? place : place - capacity, into, row);
  }
}

void transition_ring::save(state_writer& to) const {
  transition_rows all;
  std::vector<std::uint32_t> next;
  const auto used = static_cast<std::size_t>(places());
  all.resize(used, kept_);
  const auto resize = [used](const char*, std::size_t, auto& column) { column.resize(used); };
  for_each_place_column(resize, all);
  next.resize(used);
  for (std::size_t first = 0; first < used; first += block_rows) {
    const auto& block = blocks_[first / block_rows];
    const auto n = std::min(block_rows, used - first);
    const auto copy = [&](const char*, std::size_t width, const auto& from, auto& column) {
      if (width > 0) copy_rows(from, 0, column, first, n, width);
    };
    for_each_column(kept_, copy, block, all);
    for_each_place_column(copy, block, all);
    copy("next", 1, block.next, next);
  }
  to.put("capacity", capacity_);
  to.put("inserted", inserted_);
  const auto put = [&](const char* name, std::size_t, const auto& column) { to.put(name, column); };
  for_each_column(kept_, put, all);
  for_each_place_column(put, all);
  if (images_) {
    to.put("held", size_);
    images_->save(to, used);
  }
  to.put("next", next);
  std::vector<std::uint32_t> environments, episodes;
  for (const auto& [environment, newest] : newest_) {
    environments.push_back(environment);
    episodes.push_back(newest.episode);
  }
  to.put("newest.environments", environments);
  to.put("newest.episodes", episodes);
}

void transition_ring::restore_links(const state_reader& from) {
  const auto next = from.get<std::vector<std::uint32_t>>("next");
  const auto environments = from.get<std::vector<std::uint32_t>>("newest.environments");
  const auto episodes = from.get<std::vector<std::uint32_t>>("newest.episodes");
  if (std::cmp_not_equal(next.size(), places())) {
    throw state_error(
        fmt::format("saved transitions: next: expected {} numbers, got {}", places(), next.size()));
  }
  for (auto number = oldest(); number < inserted_; ++number) {
    const auto row = cell_of(number);
    newest_[row.in.environment[row.at]].number = number;
    const auto distance = next[place_number(number)];
    if (distance == 0) continue;
    const auto after = number + distance;
    if (!holds(after) || !adjoin(row, cell_of(after))) {
      throw state_error(
          fmt::format("saved transitions: next: expected the step after that of row {}, got row {}",
                      number, after));
    }
    tie(number, after);
  }
  bool known = environments.size() == newest_.size() && episodes.size() == newest_.size();
  for (std::size_t i = 0; known && i < environments.size(); ++i) {
    const auto newest = newest_.find(environments[i]);
    known = newest != newest_.end();
    if (known) newest->second.episode = episodes[i];
  }
  if (!known) {
    throw state_error(
        fmt::format("saved transitions: newest: expected an episode of each of {} environments",
                    newest_.size()));
  }
}

void transition_ring::restore(const state_reader& from) {
  if (!from.has("newest.episodes")) {
    throw state_error(
        "saved transitions: expected where each lies in its episode, which is not in checkpoints "
        "that were written before rows had it");
  }
  if (from.has("agent_reward") != (widths_.agents > 0)) {
    throw state_error(fmt::format("saved transitions: expected rewards of {} agents, got {}",
                                  widths_.agents, widths_.agents > 0 ? "none" : "some"));
  }
  if (from.has("frame_names") != images_.has_value()) {
    throw state_error(fmt::format(
        "saved transitions: expected {}, got {}",
        images_ ? "images as bytes" : "observations without images",
        images_ ? "floats, as in checkpoints that were written before images were kept as bytes"
                : "images"));
  }
  const auto capacity = from.get<std::int64_t>("capacity");
  const auto inserted = from.get<std::int64_t>("inserted");
  transition_rows rows;
  const auto get = [&](const char* name, std::size_t, auto& column) { from.get(name, column); };
  for_each_column(kept_, get, rows);
  for_each_place_column(get, rows);
  const auto n = static_cast<std::int64_t>(rows.size());
  if (capacity != capacity_ || n != std::min(capacity, inserted)) {
    throw state_error(fmt::format(
        "saved transitions: expected a ring of capacity {}, got {} transitions of one of {}",
        capacity_, n, capacity));
  }
  try {
    check_columns(kept_, rows);
  } catch (const std::invalid_argument& e) {
    throw state_error(std::string("saved transitions: ") + e.what());
  }
  transition_ring fresh(widths_, options_);
  fresh.restore_rows(from, rows, inserted);
  fresh.restore_links(from);
  *this = std::move(fresh);
}

void transition_ring::restore_rows(const state_reader& from, const transition_rows& rows,
                                   std::int64_t inserted) {
  for (std::size_t first = 0; first < rows.size();) first += put_columns(kept_, rows, first, first);
  inserted_ = inserted;
  size_ = images_ ? from.get<std::int64_t>("held") : places();
  if (size_ < 0 || size_ > places()) {
    throw state_error(
        fmt::format("saved transitions: held: expected 0 to {}, got {}", places(), size_));
  }
  if (!images_) return;
  const auto first = place_number(oldest());
  const auto is_held = [&](std::size_t place) {
    const auto capacity = static_cast<std::size_t>(capacity_);
    return (place + capacity - first) % capacity < static_cast<std::size_t>(size_);
  };
  images_->restore(from, rows.size(), is_held);
}

}  // namespace troupe
