#include "actors/replay/frame_pool.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

namespace troupe {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr std::size_t buckets_min = 64;

std::uint32_t hash_of(const std::uint8_t* frame, std::size_t size) {
  const auto hash = std::hash<std::string_view>()({reinterpret_cast<const char*>(frame), size});
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

frame_pool::frame_pool(std::size_t frame_size, std::size_t limit)
    : frame_size_(frame_size),
      limit_(std::min<std::size_t>(limit, none)),
      block_frames_(std::max<std::size_t>(block_bytes / frame_size, 1)),
      buckets_(buckets_min, none) {}

frame_pool::frame_id frame_pool::acquire(const std::uint8_t* frame) {
  const auto hash = hash_of(frame, frame_size_);
  for (auto id = bucket_of(hash); id != none; id = entry_of(id).next) {
    auto& same = entry_of(id);
    if (same.hash != hash || std::memcmp(at(id), frame, frame_size_) != 0) continue;
    ++same.users;
    return id;
  }
  if (held_ == limit_) return none;
  if (held_ == buckets_.size()) add_buckets();
  const auto id = unused_id();
  std::copy_n(frame, frame_size_,
              blocks_[id / block_frames_].bytes.get() + id % block_frames_ * frame_size_);
  auto& first = bucket_of(hash);
  entry_of(id) = {.users = 1, .hash = hash, .next = first};
  first = id;
  ++held_;
  return id;
}

void frame_pool::release(frame_id id) {
  auto& unused = entry_of(id);
  if (--unused.users > 0) return;
  auto* link = &bucket_of(unused.hash);
  while (*link != id) link = &entry_of(*link).next;
  *link = unused.next;
  unused.next = free_;
  free_ = id;
  --held_;
}

frame_pool::frame_id frame_pool::unused_id() {
  if (free_ != none) {
    const auto id = free_;
    free_ = entry_of(id).next;
    return id;
  }
  if (made_ == blocks_.size() * block_frames_) {
    const auto frames = std::min(block_frames_, limit_ - made_);
    blocks_.push_back(
        {.bytes = std::unique_ptr<std::uint8_t[]>(new std::uint8_t[frames * frame_size_]),
         .entries = std::unique_ptr<entry[]>(new entry[frames])});
  }
  return static_cast<frame_id>(made_++);
}

void frame_pool::add_buckets() {
  buckets_.assign(2 * buckets_.size(), none);
  for (frame_id id = 0; id < made_; ++id) {
    auto& moved = entry_of(id);
    if (moved.users == 0) continue;  // it is among the free ids
    auto& first = bucket_of(moved.hash);
    moved.next = first;
    first = id;
  }
}

std::size_t frame_pool::bytes() const noexcept {
  const auto frames = std::min(blocks_.size() * block_frames_, limit_);
  return frames * (frame_size_ + sizeof(entry)) + buckets_.size() * sizeof(frame_id);
}

}  // namespace troupe
