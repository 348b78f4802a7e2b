#include "actors/checkpoint/state.hpp"

#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "runtime/config/json_text.hpp"

namespace troupe {

static_assert(std::endian::native == std::endian::little, "vectors are stored as little-endian");

namespace detail {

struct written_state {
  /// A CBOR item: its head, and what follows the head.
  struct item {
    std::string head;
    std::string content;
  };
  std::map<std::string, item, std::less<>> items;
};

struct read_state {
  std::string owned;                                           // empty if the bytes are another's
  std::map<std::string, std::string_view, std::less<>> items;  // each with its head
};

}  // namespace detail

namespace {

// The major types of CBOR items (RFC 8949, section 3.1). The others are floats and simple values.
constexpr unsigned cbor_unsigned = 0, cbor_negative = 1, cbor_bytes = 2, cbor_text = 3,
                   cbor_array = 4, cbor_map = 5, cbor_tag = 6;

/// The head of an item: its major type and its argument.
struct cbor_head {
  unsigned major = 0;
  std::uint64_t argument = 0;
};

/// Appends a head in its shortest form.
void append_head(std::string& to, cbor_head head) {
  const auto first = head.major << 5;
  if (head.argument < 24) {
    to += static_cast<char>(first | head.argument);
    return;
  }
  unsigned width = 0;  // the number of bytes is 2 to this power
  while (width < 3 && head.argument >> (8u << width) != 0) ++width;
  to += static_cast<char>(first | (24 + width));
  for (int byte = (1 << width) - 1; byte >= 0; --byte)
    to += static_cast<char>(head.argument >> (8 * byte));
}

std::string head_of(unsigned major, std::uint64_t argument) {
  std::string head;
  append_head(head, {major, argument});
  return head;
}

/// Reads the head of the next item and removes it from `bytes`. Returns nullopt if it is cut off,
/// or if the item has an indefinite length.
std::optional<cbor_head> take_head(std::string_view& bytes) {
  const auto take_byte = [&] {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    return byte;
  };
  if (bytes.empty()) return std::nullopt;
  const unsigned first = take_byte();
  const unsigned info = first & 31u;
  cbor_head head{.major = first >> 5, .argument = info};
  if (info < 24) return head;
  if (info > 27) return std::nullopt;
  const auto size = std::size_t{1} << (info - 24);
  if (bytes.size() < size) return std::nullopt;
  head.argument = 0;
  for (std::size_t i = 0; i < size; ++i) head.argument = head.argument << 8 | take_byte();
  return head;
}

/// Removes the next item from `bytes`. Returns false if it is no item whose lengths fit into them.
/// Throws state_error if values are nested too deeply.
bool take_item(std::string_view& bytes) {
  // The number of items that each open container still needs.
  std::vector<std::uint64_t> to_come{1};
  while (!to_come.empty()) {
    if (to_come.back() == 0) {
      to_come.pop_back();
      continue;
    }
    --to_come.back();
    const auto head = take_head(bytes);
    if (!head) return false;
    if (head->major == cbor_tag) return false;
    // A number consists of its head only.
    if (head->major < cbor_bytes || head->major > cbor_map) continue;
    if (head->argument > bytes.size()) return false;
    if (head->major == cbor_bytes || head->major == cbor_text) {
      bytes.remove_prefix(head->argument);
      continue;
    }
    if (to_come.size() > json_depth_max) {
      throw state_error("saved state: expected at most " + std::to_string(json_depth_max) +
                        " nested values, got more");
    }
    to_come.push_back(head->major == cbor_map ? 2 * head->argument : head->argument);
  }
  return true;
}

/// Reads the items of a map. Returns false if the bytes are no map from names.
bool take_map(std::string_view bytes, std::map<std::string, std::string_view, std::less<>>& to) {
  if (auto rest = bytes; !take_item(rest) || !rest.empty()) return false;
  const auto map = take_head(bytes);
  if (map->major != cbor_map) return false;
  for (std::uint64_t i = 0; i < map->argument; ++i) {
    const auto key = take_head(bytes);
    if (key->major != cbor_text) return false;
    std::string name(bytes.substr(0, key->argument));
    bytes.remove_prefix(key->argument);
    auto after = bytes;
    take_item(after);
    to.insert_or_assign(std::move(name), bytes.substr(0, bytes.size() - after.size()));
    bytes = after;
  }
  return true;
}

void read_items(detail::read_state& to, std::string_view bytes) {
  if (take_map(bytes, to.items)) return;
  throw state_error("saved state: expected a CBOR map, got " + std::to_string(bytes.size()) +
                    " bytes that are none");
}

/// An item's head, and what follows it.
struct found_item {
  cbor_head head;
  std::string_view content;
};

/// Returns the item of that name; nullopt if there is none.
std::optional<found_item> find(const detail::read_state& values, std::string_view name) {
  const auto place = values.items.find(name);
  if (place == values.items.end()) return std::nullopt;
  auto content = place->second;
  const auto head = take_head(content);
  return found_item{*head, content};
}

/// A string of bytes as an item.
detail::written_state::item item_of(std::string bytes) {
  return {head_of(cbor_bytes, bytes.size()), std::move(bytes)};
}

}  // namespace

state_writer::state_writer() : values_(std::make_unique<detail::written_state>()) {}
state_writer::state_writer(state_writer&&) noexcept = default;
state_writer::~state_writer() = default;

void state_writer::put_signed(std::string_view name, std::int64_t value) {
  if (value >= 0) return put_unsigned(name, static_cast<std::uint64_t>(value));
  values_->items[std::string(name)] = {head_of(cbor_negative, ~static_cast<std::uint64_t>(value)),
                                       {}};
}

void state_writer::put_unsigned(std::string_view name, std::uint64_t value) {
  values_->items[std::string(name)] = {head_of(cbor_unsigned, value), {}};
}

void state_writer::put_bits(std::string_view name, const void* data, std::size_t size) {
  put(name, size == 0 ? std::string() : std::string(static_cast<const char*>(data), size));
}

void state_writer::put(std::string_view name, std::string&& bytes) {
  values_->items[std::string(name)] = item_of(std::move(bytes));
}

void state_writer::put(std::string_view name, const std::vector<std::string>& each) {
  detail::written_state::item list{head_of(cbor_array, each.size()), {}};
  for (const auto& bytes : each) {
    append_head(list.content, {cbor_bytes, bytes.size()});
    list.content += bytes;
  }
  values_->items[std::string(name)] = std::move(list);
}

std::string state_writer::bytes() const& {
  state_writer copy;
  *copy.values_ = *values_;
  return std::move(copy).bytes();
}

std::string state_writer::bytes() && {
  auto bytes = head_of(cbor_map, values_->items.size());
  auto size = bytes.size();
  for (const auto& [name, item] : values_->items)
    size += 9 + name.size() + item.head.size() + item.content.size();
  bytes.reserve(size);
  for (auto& [name, item] : values_->items) {
    append_head(bytes, {cbor_text, name.size()});
    bytes.append(name).append(item.head).append(item.content);
    item.content = std::string();
  }
  return bytes;
}

state_reader::state_reader() : values_(std::make_unique<detail::read_state>()) {}
state_reader::state_reader(std::string bytes) : state_reader() {
  values_->owned = std::move(bytes);
  read_items(*values_, values_->owned);
}
state_reader::state_reader(state_reader&&) noexcept = default;
state_reader::~state_reader() = default;

state_reader state_reader::of_view(std::string_view bytes) {
  state_reader made;
  read_items(*made.values_, bytes);
  return made;
}

bool state_reader::has(std::string_view name) const { return values_->items.contains(name); }

void state_reader::refuse(std::string_view name, std::string_view expected) {
  throw state_error("saved state: " + std::string(name) + ": expected " + std::string(expected));
}

std::int64_t state_reader::signed_of(std::string_view name) const {
  const auto item = find(*values_, name);
  if (!item || item->head.major > cbor_negative) refuse(name, "an integer");
  const auto magnitude = item->head.argument;  // of -1 - x, if it is negative
  if (magnitude > std::numeric_limits<std::int64_t>::max()) refuse(name, "a smaller number");
  const auto number = static_cast<std::int64_t>(magnitude);
  return item->head.major == cbor_negative ? -1 - number : number;
}

std::uint64_t state_reader::unsigned_of(std::string_view name) const {
  const auto item = find(*values_, name);
  if (!item || item->head.major != cbor_unsigned) refuse(name, "an integer >= 0");
  return item->head.argument;
}

std::string_view state_reader::bytes_of(std::string_view name, std::size_t width) const {
  const auto item = find(*values_, name);
  if (!item || item->head.major != cbor_bytes) refuse(name, "bytes");
  if (item->content.size() % width != 0) {
    refuse(name, "whole numbers of " + std::to_string(width) + " bytes each");
  }
  return item->content;
}

void state_reader::get(std::string_view name, std::vector<std::string>& to) const {
  const auto list = find(*values_, name);
  if (!list || list->head.major != cbor_array) refuse(name, "a list");
  to.clear();
  auto rest = list->content;
  for (std::uint64_t i = 0; i < list->head.argument; ++i) {
    const auto head = take_head(rest);
    if (head->major != cbor_bytes) refuse(name, "a list of bytes");
    to.emplace_back(rest.substr(0, head->argument));
    rest.remove_prefix(head->argument);
  }
}

}  // namespace troupe
