#include "runtime/process/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace troupe::detail {

namespace {

constexpr auto page = shared_memory::page;
constexpr std::size_t trimmed_at_once = 32 << 20;
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::size_t whole_pages(std::size_t size) { return (size + page - 1) / page * page; }

/// The size of the table at the beginning of a half, one byte per page.
std::size_t table_size(std::size_t half) { return whole_pages(half / page); }

/// The table's byte for a block. The receiver sets it, and the sender clears it.
std::atomic_ref<unsigned char> returned(std::byte* base, std::size_t offset) {
  return std::atomic_ref(reinterpret_cast<unsigned char&>(base[offset / page]));
}
static_assert(std::atomic_ref<unsigned char>::is_always_lock_free);

[[noreturn]] void fail(const char* action) {
  throw std::system_error(errno, std::generic_category(),
                          "cannot " + std::string(action) + " shared memory");
}

}  // namespace

// ---- the memory

shared_memory::shared_memory(std::size_t half)
    : memory_(memfd_create("troupe-blocks", MFD_CLOEXEC | MFD_ALLOW_SEALING), "make shared memory"),
      half_(whole_pages(half)) {
  if (ftruncate(memory_.number(), static_cast<off_t>(2 * half_)) != 0) fail("size");
  if (fcntl(memory_.number(), F_ADD_SEALS, seals) != 0) fail("seal");
  map();
}

shared_memory::shared_memory(descriptor inherited) : memory_(std::move(inherited)) {
  struct stat about{};
  if (fstat(memory_.number(), &about) != 0) fail("inherit");
  if ((fcntl(memory_.number(), F_GET_SEALS) & seals) != seals || about.st_size <= 0 ||
      static_cast<std::size_t>(about.st_size) % (2 * page) != 0) {
    throw std::runtime_error("shared memory: descriptor " + std::to_string(memory_.number()) +
                             " is not of Troupe's making");
  }
  half_ = static_cast<std::size_t>(about.st_size) / 2;
  map();
  memory_ = descriptor();
}

void shared_memory::map() {
  void* at = mmap(nullptr, 2 * half_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                  memory_.number(), 0);
  if (at == MAP_FAILED) fail("map");
  base_ = static_cast<std::byte*>(at);
}

shared_memory::~shared_memory() {
  if (base_) munmap(base_, 2 * half_);
}

// ---- sending

outbound_arena::outbound_arena(std::shared_ptr<shared_memory> memory, bool parents)
    : memory_(std::move(memory)), base_(memory_->base(parents)) {
  const auto table = table_size(memory_->half());
  if (table < memory_->half()) free_.emplace(table, memory_->half() - table);
}

std::optional<block> outbound_arena::allocate(std::size_t size) {
  if (size == 0 || size > memory_->half()) return {};
  const auto needed = whole_pages(size);
  std::lock_guard lock(mutex_);
  reclaim();
  // This takes the lowest range that is large enough, because its pages have most likely been
  // touched before.
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    const auto [offset, room] = *at;
    if (room < needed) continue;
    free_.erase(at);
    if (room > needed) free_.emplace(offset + needed, room - needed);
    taken_.emplace(offset, range{needed, false});
    reached_ = std::max(reached_, offset + needed);
    touched_ = std::max(touched_, reached_);
    return block(base_ + offset, size, shared_from_this());
  }
  return {};
}

std::optional<std::uint64_t> outbound_arena::hand_over(block& message) {
  if (message.data() < base_ || message.data() >= base_ + memory_->half()) return {};
  const auto offset = static_cast<std::size_t>(message.data() - base_);
  {
    std::lock_guard lock(mutex_);
    const auto found = taken_.find(offset);
    if (found == taken_.end()) return {};
    returned(base_, offset).store(0, std::memory_order_relaxed);
    found->second.handed_over = true;
  }
  // The block is dropped now, because its memory may belong to another block once the receiver
  // gives it back.
  message = block();
  return offset;
}

void outbound_arena::give_back(std::byte* data, std::size_t) noexcept {
  std::lock_guard lock(mutex_);
  const auto found = taken_.find(static_cast<std::size_t>(data - base_));
  if (found != taken_.end() && !found->second.handed_over) release(found);
}

std::size_t outbound_arena::used() {
  std::lock_guard lock(mutex_);
  reclaim();
  std::size_t sum = 0;
  for (const auto& [offset, taken] : taken_) sum += taken.size;
  return sum;
}

std::size_t outbound_arena::touched() {
  std::lock_guard lock(mutex_);
  return touched_;
}

void outbound_arena::trim() {
  std::lock_guard lock(mutex_);
  reclaim();
  const auto needed = std::max(reached_, kept);
  // Memory is returned in steps, because other threads wait for the lock.
  const auto from = std::max(needed, touched_ - std::min(touched_, trimmed_at_once));
  if (from < touched_ && madvise(base_ + from, touched_ - from, MADV_REMOVE) == 0) touched_ = from;
  reached_ = taken_.empty() ? 0 : taken_.rbegin()->first + taken_.rbegin()->second.size;
}

void outbound_arena::reclaim() {
  for (auto at = taken_.begin(); at != taken_.end();) {
    const auto next = std::next(at);
    if (at->second.handed_over && returned(base_, at->first).load(std::memory_order_acquire) != 0) {
      release(at);
    }
    at = next;
  }
}

void outbound_arena::release(std::map<std::size_t, range>::iterator at) {
  auto [offset, size] = std::pair(at->first, at->second.size);
  taken_.erase(at);
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && offset + size == after->first) {
    size += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += size;
      return;
    }
  }
  free_.emplace(offset, size);
}

// ---- receiving

inbound_arena::inbound_arena(std::shared_ptr<shared_memory> memory, bool parents)
    : memory_(std::move(memory)), base_(memory_->base(parents)) {}

std::optional<block> inbound_arena::at(std::uint64_t offset, std::uint64_t size) {
  const auto half = memory_->half();
  if (offset % page != 0 || offset < table_size(half) || offset >= half) return {};
  if (size == 0 || size > half - offset) return {};
  return block(base_ + offset, size, shared_from_this());
}

void inbound_arena::give_back(std::byte* data, std::size_t) noexcept {
  returned(base_, static_cast<std::size_t>(data - base_)).store(1, std::memory_order_release);
}

}  // namespace troupe::detail
