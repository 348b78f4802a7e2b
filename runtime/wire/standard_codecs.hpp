#pragma once
// Codecs of the standard library's types. Include codec.hpp, which includes this file.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/wire/codec.hpp"

namespace troupe {

template <class T>
class recycled_vector;

namespace detail {

inline constexpr std::size_t count_bytes = sizeof(std::uint64_t);

inline void write_count(std::size_t count, wire_writer& to) {
  to.write(static_cast<std::uint64_t>(count));
}

/// Iterates over flat elements in bytes that need not be aligned for them.
template <class T>
class flat_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = T;

  explicit flat_iterator(const std::byte* at) : at_(at) {}
  T operator*() const { return wire_codec<T>::load(at_); }
  flat_iterator& operator++() { return at_ += sizeof(T), *this; }
  flat_iterator operator++(int) { return std::exchange(*this, flat_iterator(at_ + sizeof(T))); }
  difference_type operator-(const flat_iterator& other) const {
    return (at_ - other.at_) / static_cast<difference_type>(sizeof(T));
  }
  bool operator==(const flat_iterator&) const = default;

 private:
  const std::byte* at_;
};

/// Encodes a list as the count and the elements. `List` is a std::vector or derived from one.
template <class List>
struct list_codec {
  using element = typename List::value_type;
  using parts = types<element>;
  static constexpr std::size_t bytes_min = count_bytes;

  static std::size_t size(const List& list) {
    if constexpr (flat<element>) {
      return count_bytes + list.size() * sizeof(element);
    } else {
      return count_bytes + size_of_elements(list);
    }
  }
  static void write(const List& list, wire_writer& to) {
    write_count(list.size(), to);
    if constexpr (flat<element>) {
      to.bytes(list.data(), list.size() * sizeof(element));
    } else {
      for (const auto& each : list) to.write<element>(each);
    }
  }
  static List read(wire_reader& from) {
    constexpr auto name = type_name<List>();
    const auto count = from.count(detail::bytes_min<element>(), name);
    if constexpr (flat<element>) {
      const auto bytes = from.bytes(count * sizeof(element), name);
      return List(flat_iterator<element>(bytes.data()),
                  flat_iterator<element>(bytes.data() + bytes.size()));
    } else {
      const wire_reader::level within(from, name);
      List list;
      // The count is not trusted: no more memory is reserved than bytes were sent.
      list.reserve(std::min(count, from.left() / sizeof(element) + 1));
      for (std::size_t i = 0; i < count; ++i) {
        const auto began = from.offset();
        list.push_back(from.read<element>());
        if constexpr (detail::bytes_min<element>() == 0) from.took_element(began, name);
      }
      return list;
    }
  }

 private:
  static std::size_t size_of_elements(const List& list) {
    if (detail::bytes_min<element>() == 0 && list.size() > wire_reader::empty_elements_max) {
      throw wire_error(std::string(type_name<List>()) + " of more than " +
                       std::to_string(wire_reader::empty_elements_max) + " elements");
    }
    std::size_t size = 0;
    for (const auto& each : list) size += wire_codec<element>::size(each);
    return size;
  }
};

/// Encodes a set or a map as the count and the elements, none of them twice. `Element` is
/// value_type without const.
template <class Set, class Element>
struct set_codec {
  using parts = types<Element>;
  static constexpr std::size_t bytes_min = count_bytes;

  static std::size_t size(const Set& set) {
    std::size_t size = count_bytes;
    for (const auto& each : set) size += wire_codec<typename Set::value_type>::size(each);
    return size;
  }
  static void write(const Set& set, wire_writer& to) {
    write_count(set.size(), to);
    for (const auto& each : set) to.write(each);
  }
  static Set read(wire_reader& from) {
    constexpr auto name = type_name<Set>();
    const auto count = from.count(detail::bytes_min<Element>(), name);
    const wire_reader::level within(from, name);
    Set set;
    for (std::size_t i = 0; i < count; ++i) {
      const auto before = set.size();
      set.insert(set.end(), from.read<Element>());
      if (set.size() == before) from.fail(name, "a key comes twice");
    }
    return set;
  }
};

/// Encodes an optional value as one byte, 0 or 1, followed by the value if it is 1. `Holder` is
/// made from an Element.
template <class Holder, class Element>
struct optional_codec {
  using parts = types<std::remove_cv_t<Element>>;
  static constexpr std::size_t bytes_min = 1;

  static std::size_t size(const Holder& held) {
    return 1 + (held ? wire_codec<std::remove_cv_t<Element>>::size(*held) : 0);
  }
  static void write(const Holder& held, wire_writer& to) {
    to.write(static_cast<bool>(held));
    if (held) to.write<std::remove_cv_t<Element>>(*held);
  }
  static Holder read(wire_reader& from) {
    if (!from.read<bool>()) return Holder();
    const wire_reader::level within(from, type_name<Holder>());
    return make(from, static_cast<Holder*>(nullptr));
  }

 private:
  template <class T>
  static Holder make(wire_reader& from, std::optional<T>*) {
    return Holder(from.read<T>());
  }
  template <class T>
  static Holder make(wire_reader& from, std::unique_ptr<T>*) {
    return Holder(new T(from.read<T>()));
  }
  template <class T>
  static Holder make(wire_reader& from, std::shared_ptr<T>*) {
    return std::make_shared<std::remove_cv_t<T>>(from.read<T>());
  }
};

/// A type whose pointers own exactly one object of exactly this type.
template <class T>
concept sole_object = !std::is_array_v<T> && !std::is_polymorphic_v<T>;

}  // namespace detail

template <>
struct wire_codec<std::string> {
  static constexpr std::size_t bytes_min = detail::count_bytes;
  static std::size_t size(const std::string& text) { return detail::count_bytes + text.size(); }
  static void write(const std::string& text, wire_writer& to) {
    detail::write_count(text.size(), to);
    to.bytes(text.data(), text.size());
  }
  static std::string read(wire_reader& from) {
    const auto bytes = from.bytes(from.count(1, "std::string"), "std::string");
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

template <class T, class Allocator>
struct wire_codec<std::vector<T, Allocator>> : detail::list_codec<std::vector<T, Allocator>> {};
template <class T>
struct wire_codec<recycled_vector<T>> : detail::list_codec<recycled_vector<T>> {};

template <class K, class V, class Compare>
struct wire_codec<std::map<K, V, Compare>>
    : detail::set_codec<std::map<K, V, Compare>, std::pair<K, V>> {};
template <class K, class V, class Hash, class Equal>
struct wire_codec<std::unordered_map<K, V, Hash, Equal>>
    : detail::set_codec<std::unordered_map<K, V, Hash, Equal>, std::pair<K, V>> {};
template <class K, class Compare>
struct wire_codec<std::set<K, Compare>> : detail::set_codec<std::set<K, Compare>, K> {};
template <class K, class Hash, class Equal>
struct wire_codec<std::unordered_set<K, Hash, Equal>>
    : detail::set_codec<std::unordered_set<K, Hash, Equal>, K> {};

template <class T>
struct wire_codec<std::optional<T>> : detail::optional_codec<std::optional<T>, T> {};
// Pointers are encoded by value, so an object that several pointers share arrives as several
// copies. Pointers to classes with virtual functions are not encodable, because derived objects
// would be cut off.
template <detail::sole_object T>
struct wire_codec<std::unique_ptr<T>> : detail::optional_codec<std::unique_ptr<T>, T> {};
template <detail::sole_object T>
struct wire_codec<std::shared_ptr<T>> : detail::optional_codec<std::shared_ptr<T>, T> {};

template <class T, std::size_t N>
struct wire_codec<std::array<T, N>> {
  using parts = detail::types<T>;
  static constexpr std::size_t bytes_min = N * detail::bytes_min<T>();
  static constexpr bool flat = detail::flat<T> && N > 0;

  static std::size_t size(const std::array<T, N>& array) {
    std::size_t size = 0;
    for (const auto& each : array) size += wire_codec<T>::size(each);
    return size;
  }
  static void write(const std::array<T, N>& array, wire_writer& to) {
    if constexpr (flat) {
      to.bytes(array.data(), sizeof array);
    } else {
      for (const auto& each : array) to.write(each);
    }
  }
  static std::array<T, N> read(wire_reader& from) {
    return make(from, std::make_index_sequence<N>());
  }
  static std::array<T, N> load(const std::byte* from) {
    return detail::flat_codec<std::array<T, N>>::load(from);
  }

 private:
  template <std::size_t... I>
  static std::array<T, N> make(wire_reader& from, std::index_sequence<I...>) {
    return {((void)I, from.read<T>())...};
  }
};

template <class A, class B>
struct wire_codec<std::pair<A, B>> {
  using row = detail::row<std::remove_cv_t<A>, B>;
  using parts = detail::types<std::remove_cv_t<A>, B>;
  static constexpr std::size_t bytes_min = row::bytes_min;
  static std::size_t size(const std::pair<A, B>& pair) {
    return row::size(pair.first, pair.second);
  }
  static void write(const std::pair<A, B>& pair, wire_writer& to) {
    row::write(to, pair.first, pair.second);
  }
  static std::pair<A, B> read(wire_reader& from) { return {from.read<A>(), from.read<B>()}; }
};

template <class... T>
struct wire_codec<std::tuple<T...>> {
  using row = detail::row<T...>;
  using parts = detail::types<T...>;
  static constexpr std::size_t bytes_min = row::bytes_min;
  static std::size_t size(const std::tuple<T...>& tuple) {
    return std::apply([](const T&... part) { return row::size(part...); }, tuple);
  }
  static void write(const std::tuple<T...>& tuple, wire_writer& to) {
    std::apply([&](const T&... part) { row::write(to, part...); }, tuple);
  }
  static std::tuple<T...> read([[maybe_unused]] wire_reader& from) {
    return std::tuple<T...>{from.read<T>()...};
  }
};

template <>
struct wire_codec<std::monostate> {
  static std::size_t size(std::monostate) { return 0; }
  static void write(std::monostate, wire_writer&) {}
  static std::monostate read(wire_reader&) { return {}; }
};

template <class... T>
struct wire_codec<std::variant<T...>> {
  using variant = std::variant<T...>;
  using parts = detail::types<T...>;
  static_assert(sizeof...(T) < 256, "the index is one byte");
  static constexpr std::size_t bytes_min = 1;

  static std::size_t size(const variant& value) {
    if (value.valueless_by_exception()) {
      throw wire_error(std::string(detail::type_name<variant>()) + " has lost its value");
    }
    return 1 + std::visit([](const auto& held) { return wire_size(held); }, value);
  }
  static void write(const variant& value, wire_writer& to) {
    to.write(static_cast<std::uint8_t>(value.index()));
    std::visit([&](const auto& held) { to.write(held); }, value);
  }
  static variant read(wire_reader& from) {
    const auto index = from.read<std::uint8_t>();
    if (index >= sizeof...(T)) {
      from.fail(detail::type_name<variant>(), "its index is " + std::to_string(index));
    }
    return read_at(index, from, std::make_index_sequence<sizeof...(T)>());
  }

 private:
  template <std::size_t... I>
  static variant read_at(std::size_t index, wire_reader& from, std::index_sequence<I...>) {
    using alternative = variant (*)(wire_reader&);
    static constexpr alternative alternatives[] = {
        [](wire_reader& r) { return variant(std::in_place_index<I>, r.read<T>()); }...};
    return alternatives[index](from);
  }
};

/// Time points of std::chrono::steady_clock are not encodable, because another process may count
/// from another epoch.
template <class Rep, class Period>
struct wire_codec<std::chrono::duration<Rep, Period>>
    : detail::flat_codec<std::chrono::duration<Rep, Period>> {};
template <class Duration>
struct wire_codec<std::chrono::time_point<std::chrono::system_clock, Duration>>
    : detail::flat_codec<std::chrono::time_point<std::chrono::system_clock, Duration>> {};

}  // namespace troupe
