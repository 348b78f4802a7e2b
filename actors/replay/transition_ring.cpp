#include "actors/replay/transition_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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
}

transition_ring::transition_ring(const transition_widths& widths,
                                 const transition_ring_options& options)
    : widths_(widths), capacity_(options.capacity) {
  if (capacity_ < 1 || widths.obs < 1 || widths.action + widths.choices < 1) {
    throw std::invalid_argument(
        fmt::format("transition_ring: expected a capacity > 0, observations and actions, got {}, "
                    "obs {}, action {}, choices {}",
                    capacity_, widths.obs, widths.action, widths.choices));
  }
  const auto each = static_cast<double>(widths.bytes());
  if (each * static_cast<double>(capacity_) > static_cast<double>(options.max_bytes)) {
    throw std::invalid_argument(fmt::format(
        "transition_ring: capacity: {} transitions of {} bytes take {:.0f} MB, expected at most "
        "max_bytes, {:.0f} MB",
        capacity_, widths.bytes(), each * static_cast<double>(capacity_) * 1e-6,
        static_cast<double>(options.max_bytes) * 1e-6));
  }
}

namespace {

/// n rows, each `width` numbers.
template <class From, class To>
void copy_rows(const From& from, std::size_t first, To& to, std::size_t place, std::size_t n,
               std::size_t width) {
  std::copy_n(&from[0] + first * width, n * width, &to[0] + place * width);
}

}  // namespace

void transition_ring::insert(const transition_rows& rows) {
  const auto n = rows.size();
  const auto check = [n](const char* name, std::size_t width, const auto& column) {
    if (column.size() == n * width) return;
    throw std::invalid_argument(
        fmt::format("transition_ring: {}: expected {} numbers for each of {} transitions, got {}",
                    name, width, n, column.size()));
  };
  for_each_column(widths_, check, rows);
  const auto capacity = static_cast<std::size_t>(capacity_);
  for (std::size_t first = 0; first < n;) {
    const auto place = static_cast<std::size_t>(inserted_) % capacity;
    if (place / block_rows == blocks_.size()) blocks_.emplace_back(widths_);
    const auto at = place % block_rows;
    const auto some = std::min({block_rows - at, capacity - place, n - first});
    const auto copy = [&](const char*, std::size_t width, const auto& from, auto& to) {
      if (width > 0) copy_rows(from, first, to, at, some, width);
    };
    for_each_column(widths_, copy, rows, blocks_[place / block_rows]);
    first += some;
    inserted_ += static_cast<std::int64_t>(some);
    size_ = std::min(capacity_, inserted_);
  }
}

// Inline, for a call costs as much as a short row.
[[gnu::always_inline]] inline void transition_ring::copy_row(std::size_t place,
                                                             transition_rows& into,
                                                             std::size_t row) const {
  const auto copy = [&](const char*, std::size_t width, const auto& from, auto& to) {
    if (width > 0) copy_rows(from, place % block_rows, to, row, 1, width);
  };
  for_each_column(widths_, copy, blocks_[place / block_rows], into);
}

void transition_ring::gather(std::span<const std::size_t> places, transition_rows& into) const {
  into.resize(places.size(), widths_);
  for (std::size_t row = 0; row < places.size(); ++row) copy_row(places[row], into, row);
}

void transition_ring::sample(std::size_t count, action_random& random,
                             transition_rows& into) const {
  if (size_ == 0) throw std::logic_error("transition_ring: a sample of an empty ring");
  into.resize(count, widths_);
  for (std::size_t row = 0; row < count; ++row) {
    const auto place = static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(size_)));
    copy_row(place, into, row);
  }
}

void transition_ring::save(state_writer& to) const {
  transition_rows all;
  const auto used = static_cast<std::size_t>(size_);
  all.resize(used, widths_);
  for (std::size_t first = 0; first < used; first += block_rows) {
    const auto n = std::min(block_rows, used - first);
    const auto copy = [&](const char*, std::size_t width, const auto& from, auto& column) {
      if (width > 0) copy_rows(from, 0, column, first, n, width);
    };
    for_each_column(widths_, copy, blocks_[first / block_rows], all);
  }
  to.put("capacity", capacity_);
  to.put("inserted", inserted_);
  const auto put = [&](const char* name, std::size_t, const auto& column) { to.put(name, column); };
  for_each_column(widths_, put, all);
}

void transition_ring::restore(const state_reader& from) {
  const auto capacity = from.get<std::int64_t>("capacity");
  const auto inserted = from.get<std::int64_t>("inserted");
  transition_rows rows;
  const auto get = [&](const char* name, std::size_t, auto& column) { from.get(name, column); };
  for_each_column(widths_, get, rows);
  const auto n = static_cast<std::int64_t>(rows.size());
  if (capacity != capacity_ || n != std::min(capacity, inserted)) {
    throw state_error(fmt::format(
        "saved transitions: expected a ring of capacity {}, got {} transitions of one of {}",
        capacity_, n, capacity));
  }
  transition_ring fresh(
      widths_, {.capacity = capacity, .max_bytes = std::numeric_limits<std::int64_t>::max()});
  try {
    fresh.insert(rows);
  } catch (const std::invalid_argument& e) {
    throw state_error(std::string("saved transitions: ") + e.what());
  }
  fresh.inserted_ = inserted;
  *this = std::move(fresh);
}

}  // namespace troupe
