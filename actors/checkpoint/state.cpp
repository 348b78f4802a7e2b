#include "actors/checkpoint/state.hpp"

#include <bit>
#include <nlohmann/json.hpp>
#include <optional>

#include "runtime/config/json_text.hpp"

namespace troupe {

static_assert(std::endian::native == std::endian::little, "vectors are stored as little-endian");

namespace detail {
struct state_values {
  nlohmann::json map = nlohmann::json::object();
};
}  // namespace detail

namespace {

nlohmann::json::binary_t binary(const void* data, std::size_t size) {
  const auto* first = static_cast<const std::uint8_t*>(data);
  return nlohmann::json::binary_t(size == 0 ? std::vector<std::uint8_t>()
                                            : std::vector<std::uint8_t>(first, first + size));
}

std::string_view text_of(const nlohmann::json::binary_t& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the value of that name; null if there is none.
const nlohmann::json* find(const detail::state_values& values, std::string_view name) {
  const auto place = values.map.find(std::string(name));
  return place == values.map.end() ? nullptr : &*place;
}

// The major types of CBOR items (RFC 8949, section 3.1). 4 is an array; the others are numbers and
// simple values.
constexpr unsigned cbor_bytes = 2, cbor_text = 3, cbor_map = 5, cbor_tag = 6;

/// The head of an item: its major type and its argument.
struct cbor_head {
  unsigned major = 0;
  std::uint64_t argument = 0;
};

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

/// Returns true if the bytes begin with a CBOR item whose lengths fit into them. Throws state_error
/// if values are nested too deeply, because nlohmann's reader recurses for each level, and for each
/// part of a text of indefinite length.
bool is_safe(std::string_view bytes) {
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

}  // namespace

state_writer::state_writer() : values_(std::make_unique<detail::state_values>()) {}
state_writer::state_writer(state_writer&&) noexcept = default;
state_writer::~state_writer() = default;

void state_writer::put_signed(std::string_view name, std::int64_t value) {
  values_->map[std::string(name)] = value;
}

void state_writer::put_unsigned(std::string_view name, std::uint64_t value) {
  values_->map[std::string(name)] = value;
}

void state_writer::put_bits(std::string_view name, const void* data, std::size_t size) {
  values_->map[std::string(name)] = nlohmann::json::binary(binary(data, size));
}

void state_writer::put(std::string_view name, const std::vector<std::string>& each) {
  auto list = nlohmann::json::array();
  for (const auto& bytes : each) {
    list.push_back(nlohmann::json::binary(binary(bytes.data(), bytes.size())));
  }
  values_->map[std::string(name)] = std::move(list);
}

std::string state_writer::bytes() const {
  std::string bytes;
  nlohmann::json::to_cbor(values_->map, bytes);
  return bytes;
}

state_reader::state_reader(std::string_view bytes) {
  auto values = std::make_unique<detail::state_values>();
  values->map = is_safe(bytes) ? nlohmann::json::from_cbor(bytes.begin(), bytes.end(), true, false)
                               : nlohmann::json(nlohmann::json::value_t::discarded);
  if (!values->map.is_object()) {
    throw state_error("saved state: expected a CBOR map, got " + std::to_string(bytes.size()) +
                      " bytes that are none");
  }
  values_ = std::move(values);
}
state_reader::state_reader(state_reader&&) noexcept = default;
state_reader::~state_reader() = default;

bool state_reader::has(std::string_view name) const { return find(*values_, name) != nullptr; }

void state_reader::refuse(std::string_view name, std::string_view expected) {
  throw state_error("saved state: " + std::string(name) + ": expected " + std::string(expected));
}

std::int64_t state_reader::signed_of(std::string_view name) const {
  const auto* value = find(*values_, name);
  if (!value || !value->is_number_integer()) refuse(name, "an integer");
  return value->get<std::int64_t>();
}

std::uint64_t state_reader::unsigned_of(std::string_view name) const {
  const auto* value = find(*values_, name);
  if (!value || !value->is_number_unsigned()) refuse(name, "an integer >= 0");
  return value->get<std::uint64_t>();
}

std::string_view state_reader::bytes_of(std::string_view name, std::size_t width) const {
  const auto* value = find(*values_, name);
  if (!value || !value->is_binary()) refuse(name, "bytes");
  const auto bytes = text_of(value->get_binary());
  if (bytes.size() % width != 0) {
    refuse(name, "whole numbers of " + std::to_string(width) + " bytes each");
  }
  return bytes;
}

void state_reader::get(std::string_view name, std::vector<std::string>& to) const {
  const auto* value = find(*values_, name);
  if (!value || !value->is_array()) refuse(name, "a list");
  to.clear();
  for (const auto& element : *value) {
    if (!element.is_binary()) refuse(name, "a list of bytes");
    to.emplace_back(text_of(element.get_binary()));
  }
}

}  // namespace troupe
