#include "actors/replay/image_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "actors/checkpoint/state.hpp"

namespace troupe {
namespace {

bool is_byte(float number) {
  return number >= 0 && number <= 255 && number == static_cast<float>(static_cast<int>(number));
}

/// Returns whether all numbers are bytes, without a branch that depends on one of them.
bool are_bytes(std::span<const float> numbers) {
  bool all = true;
  for (const auto number : numbers) {
    const auto bounded = number > 0 ? std::min(number, 255.0F) : 0.0F;
    const auto byte = static_cast<int>(bounded);
    all &= static_cast<float>(byte) == number;
  }
  return all;
}

std::string name_of(const char* what, std::size_t part) { return what + std::to_string(part); }

}  // namespace

std::size_t image_rows::bytes_of_names(const std::vector<image_part>& parts) {
  std::size_t names = 0;
  for (const auto& part : parts) names += 2 * part.frames;
  return names * sizeof(frame_id);
}

std::size_t image_rows::bytes_of_frames(const std::vector<image_part>& parts) {
  std::size_t bytes = 0;
  for (const auto& part : parts) {
    bytes += part.fresh * frame_pool::bytes_of_frame(part.frame_size());
  }
  return bytes;
}

image_rows::image_rows(std::vector<image_part> parts, std::size_t width, std::size_t transitions)
    : parts_(std::move(parts)), width_(width) {
  std::size_t end = 0, largest = 0;
  for (const auto& part : parts_) {
    if (part.begin > end) others_.emplace_back(end, part.begin - end);
    end = part.begin + part.size;
    names_ += 2 * part.frames;
    largest = std::max(largest, part.frame_size());
    const auto limit = transitions * part.fresh;
    if (limit < 2 * part.frames) {
      throw std::invalid_argument(fmt::format(
          "transition_ring: max_bytes: expected room for the {} frames of a transition, got room "
          "for {}",
          2 * part.frames, limit));
    }
    pools_.emplace_back(part.frame_size(), limit);
  }
  if (width > end) others_.emplace_back(end, width - end);
  frame_.resize(largest);
}

void image_rows::check(const char* column, std::span<const float> rows) const {
  for (std::size_t first = 0; first < rows.size(); first += width_) {
    for (const auto& part : parts_) {
      const auto numbers = rows.subspan(first + part.begin, part.size);
      if (are_bytes(numbers)) continue;
      const auto bad = std::find_if_not(numbers.begin(), numbers.end(), is_byte);
      throw std::invalid_argument(fmt::format(
          "transition_ring: {}: expected whole numbers from 0 to 255, because the observation "
          "space has bytes there, got {} as element {}",
          column, *bad, part.begin + static_cast<std::size_t>(bad - numbers.begin())));
    }
  }
}

void image_rows::allocate(std::size_t place) {
  while (place / block_rows >= blocks_.size()) {
    blocks_.emplace_back(new frame_id[block_rows * names_]);
    std::fill_n(blocks_.back().get(), block_rows * names_, frame_pool::none);
  }
}

/// Keeps the frames of one image. Returns false if there is no room; the names of the frames that
/// were kept are then set.
bool image_rows::put_image(const image_part& part, frame_pool& pool, const float* obs,
                           frame_id* names) {
  const auto size = part.frame_size();
  for (std::size_t f = 0; f < part.frames; ++f) {
    const auto* from = obs + part.begin + (part.interleaved ? f : f * size);
    const auto apart = part.interleaved ? part.frames : std::size_t{1};
    for (std::size_t i = 0; i < size; ++i) {
      frame_[i] = static_cast<std::uint8_t>(static_cast<int>(from[i * apart]));
    }
    names[f] = pool.acquire(frame_.data());
    if (names[f] == frame_pool::none) return false;
  }
  return true;
}

bool image_rows::put(std::size_t place, const float* obs, const float* next_obs) {
  allocate(place);
  auto* names = names_of(place);
  bool fits = true;
  for (const auto* from : {obs, next_obs}) {
    for (std::size_t p = 0; p < parts_.size() && fits; ++p) {
      fits = put_image(parts_[p], pools_[p], from, names);
      names += parts_[p].frames;
    }
  }
  if (!fits) drop(place);
  return fits;
}

void image_rows::drop(std::size_t place) {
  if (place / block_rows >= blocks_.size()) return;
  auto* names = names_of(place);
  for (int column = 0; column < 2; ++column) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      for (std::size_t f = 0; f < parts_[p].frames; ++f, ++names) {
        if (*names != frame_pool::none) pools_[p].release(*names);
        *names = frame_pool::none;
      }
    }
  }
}

void image_rows::copy(std::size_t place, float* obs, float* next_obs) const {
  const auto* names = names_of(place);
  for (auto* to : {obs, next_obs}) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto& part = parts_[p];
      const auto size = part.frame_size();
      for (std::size_t f = 0; f < part.frames; ++f, ++names) {
        const auto* frame = pools_[p].at(*names);
        if (!part.interleaved) {
          std::copy_n(frame, size, to + part.begin + f * size);
          continue;
        }
        for (std::size_t i = 0; i < size; ++i) to[part.begin + f + i * part.frames] = frame[i];
      }
    }
  }
}

std::size_t image_rows::bytes() const noexcept {
  auto all = blocks_.size() * block_rows * names_ * sizeof(frame_id);
  for (const auto& pool : pools_) all += pool.bytes();
  return all;
}

void image_rows::save(state_writer& to, std::size_t end) const {
  std::vector<frame_id> names;
  std::vector<std::string> frames(parts_.size());
  // A frame is saved once, and is named by its index among the saved ones.
  std::vector<std::vector<frame_id>> saved(parts_.size());
  const auto saved_name = [&](std::size_t p, frame_id id) {
    if (id == frame_pool::none) return id;
    auto& known = saved[p];
    if (id >= known.size()) known.resize(id + std::size_t{1}, frame_pool::none);
    const auto size = parts_[p].frame_size();
    if (known[id] == frame_pool::none) {
      known[id] = static_cast<frame_id>(frames[p].size() / size);
      frames[p].append(reinterpret_cast<const char*>(pools_[p].at(id)), size);
    }
    return known[id];
  };
  names.reserve(end * names_);
  for (std::size_t place = 0; place < end; ++place) {
    const auto* of_row = names_of(place);
    for (int column = 0; column < 2; ++column) {
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        for (std::size_t f = 0; f < parts_[p].frames; ++f, ++of_row) {
          names.push_back(saved_name(p, *of_row));
        }
      }
    }
  }
  to.put("frame_names", names);
  for (std::size_t p = 0; p < parts_.size(); ++p) to.put(name_of("frames", p), frames[p]);
}

void image_rows::restore_names(const state_reader& from, std::size_t end) {
  const auto names = from.get<std::vector<frame_id>>("frame_names");
  if (names.size() != end * names_) {
    throw state_error(
        fmt::format("saved transitions: frame_names: expected {} for each of {} "
                    "transitions, got {}",
                    names_, end, names.size()));
  }
  std::vector<std::string> frames(parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) from.get(name_of("frames", p), frames[p]);
  const auto restored_name = [&](std::size_t p, frame_id saved) {
    const auto size = parts_[p].frame_size();
    const auto count = frames[p].size() / size;
    if (saved == frame_pool::none) return saved;
    if (saved >= count || frames[p].size() % size != 0) {
      throw state_error(
          fmt::format("saved transitions: {}: expected a frame {} of {} bytes, got "
                      "{} bytes",
                      name_of("frames", p), saved, size, frames[p].size()));
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(frames[p].data()) + saved * size;
    const auto id = pools_[p].acquire(bytes);
    if (id == frame_pool::none) {
      throw state_error(
          fmt::format("saved transitions: {}: expected at most {} frames, which replay.max_bytes "
                      "holds, got more",
                      name_of("frames", p), pools_[p].limit()));
    }
    return id;
  };
  auto next = names.begin();
  for (std::size_t place = 0; place < end; ++place) {
    allocate(place);
    auto* of_row = names_of(place);
    for (int column = 0; column < 2; ++column) {
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        for (std::size_t f = 0; f < parts_[p].frames; ++f) *of_row++ = restored_name(p, *next++);
      }
    }
  }
}

void image_rows::require_row(std::size_t place, bool expected) const {
  const auto* names = names_of(place);
  const auto kept =
      std::count_if(names, names + names_, [](frame_id name) { return name != frame_pool::none; });
  if (kept == (expected ? static_cast<std::ptrdiff_t>(names_) : 0)) return;
  throw state_error(
      fmt::format("saved transitions: frame_names: expected {} frames of row {}, got "
                  "{}",
                  expected ? names_ : 0, place, kept));
}

}  // namespace troupe
