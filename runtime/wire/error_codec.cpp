#include "runtime/wire/error_codec.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <optional>
#include <system_error>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <variant>

#include "runtime/base/demangled.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe {

namespace {

/// The maximal number of bytes of a text; the rest is cut off.
constexpr std::size_t text_bytes_max = std::size_t{64} << 10;
/// The same for the name of a type.
constexpr std::size_t type_bytes_max = 1000;

/// A std::system_error whose what() is the text from its own process. The standard library's
/// constructor would append to the text.
class received_system_error final : public std::system_error {
 public:
  received_system_error(std::error_code code, std::string text)
      : std::system_error(code), text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// A type of exceptions that are made from their text, or always have the same text.
struct known_type {
  const std::type_info* type;
  std::exception_ptr (*make)(const std::string& text);
};

template <class E>
known_type with_text() {
  return {&typeid(E), [](const std::string& text) { return std::make_exception_ptr(E(text)); }};
}
template <class E>
known_type without_text() {
  return {&typeid(E), [](const std::string&) { return std::make_exception_ptr(E()); }};
}

/// The types that are known on both sides. A type is sent as its index, because both sides are of
/// the same build.
const auto& known_types() {
  static const std::array types{
      with_text<std::runtime_error>(),
      with_text<std::logic_error>(),
      with_text<std::invalid_argument>(),
      with_text<std::out_of_range>(),
      with_text<std::domain_error>(),
      with_text<std::length_error>(),
      with_text<std::range_error>(),
      with_text<std::overflow_error>(),
      with_text<std::underflow_error>(),
      with_text<fatal>(),
      with_text<wire_error>(),
      without_text<std::exception>(),
      without_text<std::bad_alloc>(),
      without_text<std::bad_array_new_length>(),
      without_text<std::bad_cast>(),
      without_text<std::bad_typeid>(),
      without_text<std::bad_exception>(),
      without_text<std::bad_function_call>(),
      without_text<std::bad_optional_access>(),
      without_text<std::bad_variant_access>(),
      without_text<std::bad_weak_ptr>(),
  };
  return types;
}

enum class form : std::uint8_t { known, call, role, system, other };

/// The encoded form of an exception.
struct error_snapshot {
  form kind = form::known;
  std::uint8_t known = 0;  ///< The index of the type in known_types.
  error_kind call{};       ///< The kind of a call_error.
  std::int32_t code = 0;   ///< The code of a std::system_error.
  /// True if the category of the code is generic, false if it is system.
  bool generic = false;
  std::string type;          ///< The type's name of a remote_error.
  std::string text;          ///< The text of what(), without the prefix that the constructor adds.
  std::exception_ptr cause;  ///< The cause of a role_error.
};

/// Returns the text as UTF-8 of at most text_bytes_max bytes.
std::string as_text(std::string text) {
  if (text.size() <= text_bytes_max && detail::is_utf8(text)) return text;
  return detail::printable(text, text_bytes_max);
}

/// Returns a text that came from another process in a form that is safe on a terminal: at most
/// text_bytes_max bytes, without control characters other than the ends of lines and tabs.
std::string as_received(std::string_view text) {
  constexpr std::string_view kept = "\n\t";
  const auto is_cut = text.size() > text_bytes_max + 3;  // A sender that cuts adds "...".
  if (is_cut) text = text.substr(0, text_bytes_max);
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find_first_of(kept, at), text.size());
    result += detail::printable(text.substr(at, end - at), text.size() * 6);
    if (end < text.size()) result += text[end];
    at = end + 1;
  }
  return is_cut ? result + "..." : result;
}

std::string without_prefix(std::string text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

std::string without_suffix(std::string text, const std::string& suffix) {
  return text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text;
}

error_snapshot of_call_error(const call_error& e) {
  error_snapshot result;
  result.text = without_prefix(e.what(), std::string(to_string(e.kind())) + ": ");
  if (const auto* role = dynamic_cast<const role_error*>(&e)) {
    result.kind = form::role;
    result.text = without_suffix(result.text, " threw: " + describe(role->cause()));
    result.cause = role->cause();
  } else {
    result.kind = form::call;
    result.call = e.kind();
  }
  return result;
}

error_snapshot of_exception(const std::exception& e) {
  error_snapshot result;
  result.text = e.what();
  for (std::size_t i = 0; i < known_types().size(); ++i) {
    if (*known_types()[i].type != typeid(e)) continue;
    result.kind = form::known;
    result.known = static_cast<std::uint8_t>(i);
    return result;
  }
  if (const auto* system = dynamic_cast<const std::system_error*>(&e)) {
    const auto& category = system->code().category();
    result.generic = category == std::generic_category();
    if ((typeid(e) == typeid(std::system_error) || typeid(e) == typeid(received_system_error)) &&
        (result.generic || category == std::system_category())) {
      result.kind = form::system;
      result.code = system->code().value();
      return result;
    }
  }
  result.kind = form::other;
  result.type = detail::demangled(typeid(e).name());
  return result;
}

error_snapshot snapshot_of(const std::exception_ptr& error) {
  error_snapshot result;
  try {
    std::rethrow_exception(error);
  } catch (const call_error& e) {
    result = of_call_error(e);
  } catch (const remote_error& e) {
    result.kind = form::other;
    result.type = e.type();
    result.text = e.message();
  } catch (const std::exception& e) {
    result = of_exception(e);
  } catch (...) {
    result.kind = form::other;
    result.type = detail::demangled(abi::__cxa_current_exception_type()->name());
    result.text = describe(error);
  }
  result.text = as_text(std::move(result.text));
  return result;
}

std::exception_ptr make(error_snapshot seen) {
  switch (seen.kind) {
    case form::known:
      return known_types()[seen.known].make(seen.text);
    case form::call:
      return std::make_exception_ptr(call_error(seen.call, seen.text));
    case form::role:
      return std::make_exception_ptr(role_error(seen.text, seen.cause));
    case form::system:
      return std::make_exception_ptr(received_system_error(
          {seen.code, seen.generic ? std::generic_category() : std::system_category()},
          std::move(seen.text)));
    case form::other:
      return std::make_exception_ptr(remote_error(std::move(seen.type), std::move(seen.text)));
  }
  return nullptr;
}

}  // namespace

remote_error::remote_error(std::string type, std::string message)
    : std::runtime_error(type + ": " + message),
      type_(std::move(type)),
      message_(std::move(message)) {}

// The first byte is 1 if there is an exception, or else 0.

std::size_t wire_codec<std::exception_ptr>::size(const std::exception_ptr& error) {
  return 1 + (error ? wire_size(snapshot_of(error)) : 0);
}

void wire_codec<std::exception_ptr>::write(const std::exception_ptr& error, wire_writer& to) {
  to.write(error != nullptr);
  if (error) to.write(snapshot_of(error));
}

std::exception_ptr wire_codec<std::exception_ptr>::read(wire_reader& from) {
  if (!from.read<bool>()) return nullptr;
  const wire_reader::level within(from, "std::exception_ptr");
  auto seen = from.read<error_snapshot>();
  if (seen.known >= known_types().size()) {
    from.fail("std::exception_ptr", "no exception has number " + std::to_string(seen.known));
  }
  if (!detail::is_utf8(seen.type) || !detail::is_utf8(seen.text)) {
    from.fail("std::exception_ptr", "its text is no UTF-8");
  }
  seen.type = detail::printable(seen.type, type_bytes_max);
  seen.text = as_received(seen.text);
  return make(std::move(seen));
}

}  // namespace troupe
