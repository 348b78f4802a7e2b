#include "actors/llm/jinja/operations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "actors/llm/jinja/library.hpp"
#include "actors/llm/jinja/loop_state.hpp"

namespace troupe::llm::jinja {
namespace {

std::string quoted_type(const value& of) { return std::string(of.type()); }

[[noreturn]] void not_defined(const value& of) {
  const auto& name = of.as_undefined()->name;
  fail((name.empty() ? std::string("a value") : name) + " is undefined");
}

/// A float as Python's repr writes it: the fewest digits that give it back.
std::string text_of_float(double of) {
  if (std::isnan(of)) return "nan";
  if (std::isinf(of)) return of > 0 ? "inf" : "-inf";
  std::array<char, 40> buffer;
  const auto end =
      std::to_chars(buffer.begin(), buffer.end(), of, std::chars_format::scientific).ptr;
  std::string made(buffer.begin(), end);
  const auto e = made.find('e');
  const int exponent = std::atoi(made.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return made;
  const auto fixed = std::to_chars(buffer.begin(), buffer.end(), of, std::chars_format::fixed).ptr;
  made.assign(buffer.begin(), fixed);
  return made.find('.') == made.npos ? made + ".0" : made;
}

void add_escaped(text_builder& to, std::string_view chars, std::size_t at, std::size_t bytes,
                 char mark, char quote) {
  const auto code = code_at(chars, at);
  const auto hex = [&](std::string_view prefix, int digits) {
    std::string made(prefix);
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
      made += "0123456789abcdef"[(static_cast<std::uint32_t>(code) >> shift) & 15];
    to.add(made, mark);
  };
  if (code == '\n') return to.add("\\n", mark);
  if (code == '\r') return to.add("\\r", mark);
  if (code == '\t') return to.add("\\t", mark);
  if (code == '\\') return to.add("\\\\", mark);
  if (code == static_cast<unsigned char>(quote)) return to.add(std::string{'\\', quote}, mark);
  if (is_printable(code)) return to.add(chars.substr(at, bytes), mark);
  if (code < 0x100) return hex("\\x", 2);
  if (code < 0x10000) return hex("\\u", 4);
  hex("\\U", 8);
}

void add_repr(text_builder& to, const text& of) {
  const bool has_single = of.chars.find('\'') != of.chars.npos;
  const char quote = has_single && of.chars.find('"') == of.chars.npos ? '"' : '\'';
  to.add(std::string_view(&quote, 1));
  for (std::size_t at = 0; at < of.size();) {
    const auto bytes = char_bytes(of.chars, at);
    add_escaped(to, of.chars, at, bytes, of.mark(at), quote);
    at += bytes;
  }
  to.add(std::string_view(&quote, 1));
}

void add_text(machine& run, text_builder& to, const value& of, bool as_repr);

void add_items(machine& run, text_builder& to, const list& of, std::string_view begin,
               std::string_view end) {
  to.add(begin);
  for (std::size_t i = 0; i < of.items.size(); ++i) {
    if (i > 0) to.add(", ");
    add_text(run, to, of.items[i], true);
  }
  if (of.kind == list_kind::tuple && of.items.size() == 1) to.add(",");
  to.add(end);
}

void add_text(machine& run, text_builder& to, const value& of, bool as_repr) {
  run.work(1);
  if (of.is_undefined()) {
    if (as_repr) return to.add("Undefined");
  } else if (of.is_none()) {
    to.add("None");
  } else if (of.is_bool()) {
    to.add(of.truth() ? "True" : "False");
  } else if (of.is_int()) {
    to.add(std::to_string(of.integer()));
  } else if (of.is_float()) {
    to.add(text_of_float(of.real()));
  } else if (const auto* chars = of.as_text()) {
    if (!as_repr) return to.add(*chars);
    if (chars->markup) fail("expected no text of the filter safe in a list that is written");
    add_repr(to, *chars);
  } else if (const auto* entries = of.as_dict()) {
    to.add("{");
    for (std::size_t i = 0; i < entries->entries.size(); ++i) {
      if (i > 0) to.add(", ");
      add_text(run, to, entries->entries[i].first, true);
      to.add(": ");
      add_text(run, to, entries->entries[i].second, true);
    }
    to.add("}");
  } else if (const auto* all = of.as_list();
             all && all->kind != list_kind::generator && all->kind != list_kind::range) {
    if (all->kind == list_kind::list) return add_items(run, to, *all, "[", "]");
    if (all->kind == list_kind::tuple) return add_items(run, to, *all, "(", ")");
    add_items(run, to, *all, quoted_type(of) + "([", "])");
  } else {
    fail("expected a value with a text, got a " + quoted_type(of));
  }
}

}  // namespace

text str_of(machine& run, const value& of) {
  if (const auto* chars = of.as_text()) return *chars;
  text_builder to(run);
  add_text(run, to, of, false);
  return to.take();
}

text repr_of(machine& run, const value& of) {
  text_builder to(run);
  add_text(run, to, of, true);
  return to.take();
}

namespace {

void add_json_text(text_builder& to, const text& of, bool ascii) {
  const auto unit = [&](std::uint32_t code, char mark) {
    std::string made = "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) made += "0123456789abcdef"[(code >> shift) & 15];
    to.add(made, mark);
  };
  to.add("\"");
  for (std::size_t at = 0; at < of.size();) {
    const auto bytes = char_bytes(of.chars, at);
    const auto code = static_cast<std::uint32_t>(code_at(of.chars, at));
    const char mark = of.mark(at);
    constexpr std::string_view from = "\"\\\n\r\t\f\b", to_letters = "\"\\nrtfb";
    if (const auto known = code < 0x80 ? from.find(static_cast<char>(code)) : from.npos;
        known != from.npos) {
      to.add(std::string{'\\', to_letters[known]}, mark);
    } else if (code < 0x20 || (ascii && code > 0x7e && code < 0x10000)) {
      unit(code, mark);
    } else if (ascii && code >= 0x10000) {
      unit(0xd800 + ((code - 0x10000) >> 10), mark);
      unit(0xdc00 + ((code - 0x10000) & 0x3ff), mark);
    } else {
      to.add(std::string_view(of.chars).substr(at, bytes), mark);
    }
    at += bytes;
  }
  to.add("\"");
}

class json_writer {
 public:
  json_writer(machine& run, text_builder& to, const json_format& format)
      : run_(run), to_(to), format_(format) {}

  void add(const value& of, int level) {
    run_.work(1);
    if (of.is_none()) {
      to_.add("null");
    } else if (of.is_bool()) {
      to_.add(of.truth() ? "true" : "false");
    } else if (of.is_int()) {
      to_.add(std::to_string(of.integer()));
    } else if (of.is_float()) {
      to_.add(number(of.real()));
    } else if (const auto* chars = of.as_text()) {
      add_json_text(to_, *chars, format_.ascii);
    } else if (const auto* entries = of.as_dict()) {
      add_dict(*entries, level);
    } else if (of.as_list(list_kind::list) || of.as_list(list_kind::tuple)) {
      add_list(*of.as_list(), level);
    } else {
      fail("tojson: expected a value that JSON has, got a " + quoted_type(of));
    }
  }

 private:
  static std::string number(double of) {
    if (std::isnan(of)) return "NaN";
    if (std::isinf(of)) return of > 0 ? "Infinity" : "-Infinity";
    return text_of_float(of);
  }

  void begin_line(int level) {
    if (!format_.indented) return;
    to_.add("\n");
    for (int i = 0; i < level; ++i) to_.add(format_.indent);
  }

  void add_list(const list& of, int level) {
    if (of.items.empty()) return to_.add("[]");
    to_.add("[");
    for (std::size_t i = 0; i < of.items.size(); ++i) {
      if (i > 0) to_.add(format_.item_separator);
      begin_line(level + 1);
      add(of.items[i], level + 1);
    }
    begin_line(level);
    to_.add("]");
  }

  void add_dict(const dict& of, int level) {
    if (of.entries.empty()) return to_.add("{}");
    std::vector<const std::pair<value, value>*> entries;
    for (const auto& entry : of.entries) entries.push_back(&entry);
    if (format_.sorted) {
      std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
        return compare(run_, a->first, b->first) < 0;
      });
    }
    to_.add("{");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) to_.add(format_.item_separator);
      begin_line(level + 1);
      add_key(entries[i]->first);
      to_.add(format_.key_separator);
      add(entries[i]->second, level + 1);
    }
    begin_line(level);
    to_.add("}");
  }

  void add_key(const value& key) {
    if (key.as_text()) return add(key, 0);
    to_.add("\"");
    add(key, 0);
    to_.add("\"");
  }

  machine& run_;
  text_builder& to_;
  const json_format& format_;
};

}  // namespace

text json_of(machine& run, const value& of, const json_format& format) {
  text_builder to(run);
  json_writer(run, to, format).add(of, 0);
  return to.take();
}

std::vector<value> items_of(machine& run, const value& of) {
  std::vector<value> items;
  if (auto* all = of.as_list()) {
    run.work(all->items.size());
    if (all->kind != list_kind::generator) return all->items;
    if (std::exchange(all->consumed, true)) return {};
    return all->items;
  }
  if (const auto* entries = of.as_dict()) {
    run.work(entries->entries.size());
    for (const auto& [key, held] : entries->entries) items.push_back(key);
    return items;
  }
  if (const auto* chars = of.as_text()) {
    run.work(chars->size());
    for (std::size_t at = 0; at < chars->size();) {
      const auto next = at + char_bytes(chars->chars, at);
      items.push_back(part(*chars, at, next));
      at = next;
    }
    return items;
  }
  if (of.is_undefined()) return items;
  fail("expected something with items, got a " + quoted_type(of));
}

std::int64_t length_of(const value& of) {
  if (of.is_undefined()) return 0;
  if (const auto* chars = of.as_text()) return static_cast<std::int64_t>(count_chars(chars->chars));
  if (const auto* entries = of.as_dict()) return std::ssize(entries->entries);
  if (const auto* all = of.as_list(); all && all->kind != list_kind::generator)
    return std::ssize(all->items);
  fail("expected something with a length, got a " + quoted_type(of));
}

bool equal(machine& run, const value& a, const value& b) {
  run.work(1);
  if (a.is_undefined() || b.is_undefined()) return a.is_undefined() && b.is_undefined();
  if (a.is_int() && b.is_int()) return a.integer() == b.integer();
  if (a.is_number() && b.is_number()) return a.real() == b.real();
  if (a.as_text() && b.as_text()) {
    run.work(a.as_text()->size() / 16);
    return a.as_text()->chars == b.as_text()->chars;
  }
  const auto *first = a.as_list(), *second = b.as_list();
  if (first && second) {
    if (first == second) return true;
    if (first->kind != second->kind || first->items.size() != second->items.size()) return false;
    if (first->kind == list_kind::generator || first->kind == list_kind::values) return false;
    for (std::size_t i = 0; i < first->items.size(); ++i)
      if (!equal(run, first->items[i], second->items[i])) return false;
    return true;
  }
  const auto *some = a.as_dict(), *others = b.as_dict();
  if (some && others) {
    if (some->entries.size() != others->entries.size()) return false;
    for (const auto& [key, held] : some->entries) {
      run.work(others->entries.size() / 8);
      const auto* other = others->find(key);
      if (!other || !equal(run, held, *other)) return false;
    }
    return true;
  }
  if (a.as_namespace() || b.as_namespace()) return a.as_namespace() == b.as_namespace();
  if (a.as_macro() || b.as_macro()) return a.as_macro() == b.as_macro();
  return a.is_none() && b.is_none();
}

int compare(machine& run, const value& a, const value& b) {
  run.work(1);
  if (a.is_undefined()) not_defined(a);
  if (b.is_undefined()) not_defined(b);
  if (a.is_int() && b.is_int()) return (a.integer() > b.integer()) - (a.integer() < b.integer());
  if (a.is_number() && b.is_number()) {
    // NaN has no order; every comparison with it is false in Python.
    if (std::isnan(a.real()) || std::isnan(b.real()))
      fail("expected numbers with an order, got nan");
    return (a.real() > b.real()) - (a.real() < b.real());
  }
  if (a.as_text() && b.as_text()) {
    // The order of UTF-8's bytes is that of the characters' numbers.
    run.work(a.as_text()->size() / 16);
    return a.as_text()->chars.compare(b.as_text()->chars);
  }
  const auto *first = a.as_list(), *second = b.as_list();
  if (first && second && first->kind == second->kind &&
      (first->kind == list_kind::list || first->kind == list_kind::tuple)) {
    for (std::size_t i = 0; i < first->items.size() && i < second->items.size(); ++i) {
      if (equal(run, first->items[i], second->items[i])) continue;
      return compare(run, first->items[i], second->items[i]);
    }
    return (first->items.size() > second->items.size()) -
           (first->items.size() < second->items.size());
  }
  fail("expected values with an order, got a " + quoted_type(a) + " and a " + quoted_type(b));
}

bool contains(machine& run, const value& all, const value& one) {
  if (const auto* chars = all.as_text()) {
    if (one.is_undefined()) not_defined(one);
    if (!one.as_text())
      fail("in: expected a text to look for in a text, got a " + quoted_type(one));
    run.work(chars->size() / 16);
    return chars->chars.find(one.as_text()->chars) != chars->chars.npos;
  }
  if (const auto* entries = all.as_dict()) {
    if (one.as_list(list_kind::list) || one.as_dict())
      fail("in: expected a key, got a " + quoted_type(one));
    run.work(entries->entries.size() / 8);
    return entries->find(one) != nullptr;
  }
  if (const auto* list = all.as_list(); list && list->kind != list_kind::generator) {
    return std::ranges::any_of(list->items,
                               [&](const value& item) { return equal(run, item, one); });
  }
  for (const auto& item : items_of(run, all))
    if (equal(run, item, one)) return true;
  return false;
}

bool compare_with(machine& run, std::string_view sign, const value& a, const value& b) {
  if (sign == "==") return equal(run, a, b);
  if (sign == "!=") return !equal(run, a, b);
  if (sign == "in") return contains(run, b, a);
  if (sign == "not in") return !contains(run, b, a);
  const int order = compare(run, a, b);
  if (sign == "<") return order < 0;
  if (sign == "<=") return order <= 0;
  return sign == ">" ? order > 0 : order >= 0;
}

namespace {

[[noreturn]] void too_large() { fail("expected numbers that 64 bits can hold, got a larger one"); }

value power(const value& a, const value& b) {
  if (a.is_int() && b.is_int() && b.integer() >= 0) {
    std::int64_t made = 1, base = a.integer();
    for (auto exponent = b.integer(); exponent > 0; exponent /= 2) {
      if (exponent % 2 && __builtin_mul_overflow(made, base, &made)) too_large();
      if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) too_large();
    }
    return made;
  }
  const double made = std::pow(a.real(), b.real());
  if (a.real() == 0 && b.real() < 0) fail("expected no power of zero below zero");
  if (std::isnan(made) || std::isinf(made)) fail("expected a power that is a number");
  return made;
}

value calculate_ints(std::string_view sign, std::int64_t a, std::int64_t b) {
  std::int64_t made = 0;
  if (sign == "+")
    return __builtin_add_overflow(a, b, &made) ? (too_large(), value()) : value(made);
  if (sign == "-")
    return __builtin_sub_overflow(a, b, &made) ? (too_large(), value()) : value(made);
  if (sign == "*")
    return __builtin_mul_overflow(a, b, &made) ? (too_large(), value()) : value(made);
  if (b == 0) fail("expected no division by zero");
  if (sign == "/") return static_cast<double>(a) / static_cast<double>(b);
  if (b == -1) {
    if (sign == "%") return 0;
    return __builtin_sub_overflow(std::int64_t{0}, a, &made) ? (too_large(), value()) : value(made);
  }
  // Python rounds down, and the remainder has the sign of the divisor.
  const auto remainder = a % b;
  const bool below = remainder != 0 && (remainder < 0) != (b < 0);
  if (sign == "//") return a / b - (below ? 1 : 0);
  return below ? remainder + b : remainder;
}

value calculate_floats(std::string_view sign, double a, double b) {
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  if (b == 0) fail("expected no division by zero");
  if (sign == "/") return a / b;
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  if (sign == "%") return remainder == 0 ? std::copysign(0.0, b) : remainder;
  const double quotient = (a - remainder) / b;
  return quotient == 0 ? std::copysign(0.0, a / b) : std::floor(quotient + 0.5);
}

value repeated(machine& run, const value& of, std::int64_t times) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  if (const auto* chars = of.as_text()) {
    if (chars->size() > 0 && count > text_bytes_max / chars->size())
      machine::check_size(text_bytes_max + 1);
    text_builder to(run);
    for (std::size_t i = 0; i < count && chars->size() > 0; ++i) {
      run.work(1);
      to.add(*chars);
    }
    auto made = to.take();
    made.markup = chars->markup;
    return run.make(std::move(made));
  }
  const auto& items = of.as_list()->items;
  if (!items.empty() && count > items_max / items.size())
    fail("expected lists of at most " + std::to_string(items_max) + " items");
  std::vector<value> made;
  for (std::size_t i = 0; i < count && !items.empty(); ++i)
    made.insert(made.end(), items.begin(), items.end());
  return run.make(std::move(made), of.as_list()->kind);
}

bool is_sequence(const value& of) {
  return of.as_text() || of.as_list(list_kind::list) || of.as_list(list_kind::tuple);
}

value added_texts(machine& run, const text& a, const text& b) {
  text_builder to(run);
  const bool markup = a.markup || b.markup;
  to.add(markup && !a.markup ? escaped(a) : a);
  to.add(markup && !b.markup ? escaped(b) : b);
  auto made = to.take();
  made.markup = markup;
  return run.make(std::move(made));
}

/// text % values, with %s, %d, %i, %r and %%.
value formatted(machine& run, const text& format, const value& given) {
  std::vector<value> values{given};
  if (given.as_list(list_kind::tuple)) values = given.as_list()->items;
  if (format.markup) fail("%: expected a format that isn't of the filter safe");
  text_builder to(run);
  std::size_t used = 0;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format.chars[at] != '%') {
      to.add(std::string_view(format.chars).substr(at, 1), format.mark(at));
      continue;
    }
    const char kind = ++at < format.size() ? format.chars[at] : ' ';
    if (kind == '%') {
      to.add("%", format.mark(at));
      continue;
    }
    if (kind != 's' && kind != 'd' && kind != 'i' && kind != 'r')
      fail("%: expected %s, %d, %i, %r or %% in the format");
    if (used == values.size()) fail("%: expected a value for each % of the format");
    const auto& one = values[used++];
    if (kind == 'r') {
      to.add(repr_of(run, one));
    } else if (kind == 's') {
      to.add(str_of(run, one));
    } else if (one.is_float()) {
      if (!(std::abs(one.real()) < 9e18)) too_large();
      to.add(std::to_string(static_cast<std::int64_t>(one.real())));
    } else if (one.is_int()) {
      to.add(std::to_string(one.integer()));
    } else {
      fail("%: expected a number for %d, got a " + quoted_type(one));
    }
  }
  if (used < values.size() && !given.as_dict()) fail("%: expected a % for each value");
  return run.make(to.take());
}

}  // namespace

value calculate(machine& run, std::string_view sign, const value& a, const value& b) {
  if (a.is_undefined()) not_defined(a);
  if (b.is_undefined() && !(sign == "%" && a.as_text())) not_defined(b);
  if (a.is_number() && b.is_number()) {
    if (sign == "**") return power(a, b);
    if (a.is_int() && b.is_int()) return calculate_ints(sign, a.integer(), b.integer());
    return calculate_floats(sign, a.real(), b.real());
  }
  if (sign == "+" && a.as_text() && b.as_text())
    return added_texts(run, *a.as_text(), *b.as_text());
  if (sign == "+" && is_sequence(a) && is_sequence(b) && a.type() == b.type()) {
    auto items = a.as_list()->items;
    items.insert(items.end(), b.as_list()->items.begin(), b.as_list()->items.end());
    return run.make(std::move(items), a.as_list()->kind);
  }
  if (sign == "*" && is_sequence(a) && b.is_int()) return repeated(run, a, b.integer());
  if (sign == "*" && a.is_int() && is_sequence(b)) return repeated(run, b, a.integer());
  if (sign == "%" && a.as_text()) return formatted(run, *a.as_text(), b);
  fail("expected values for " + std::string(sign) + " that go together, got a " + quoted_type(a) +
       " and a " + quoted_type(b));
}

value with_sign(std::string_view sign, const value& of) {
  if (of.is_undefined()) not_defined(of);
  if (!of.is_number())
    fail("expected a number after " + std::string(sign) + ", got a " + quoted_type(of));
  if (sign == "+") return of.is_float() ? of : value(of.integer());
  if (of.is_float()) return -of.real();
  return calculate_ints("-", 0, of.integer());
}

namespace {

value no_attribute(const value& of, std::string_view name) {
  return undefined{"the field " + std::string(name) + " of a " + quoted_type(of)};
}

value method_of(const value& of, std::string_view name) {
  if (!is_method(name)) fail("the method " + std::string(name) + " isn't known");
  return std::make_shared<const bound_method>(bound_method{of, std::string(name)});
}

/// The key's value in a dictionary or an attribute in a namespace.
const value* entry_of(machine& run, const value& of, const value& key) {
  const auto* entries = of.as_namespace() ? &of.as_namespace()->attributes : of.as_dict();
  if (!entries) return nullptr;
  run.work(entries->entries.size() / 8);
  return entries->find(key);
}

}  // namespace

value attribute_of(machine& run, const value& of, std::string_view name) {
  if (of.is_undefined()) not_defined(of);
  // As in Python, a method comes before an entry of the same name.
  if (has_method(of, name)) return method_of(of, name);
  if (auto* loop = of.as_loop()) return loop->attribute(run, name);
  if (const auto* held = entry_of(run, of, unmarked(name))) return *held;
  return no_attribute(of, name);
}

value item_of(machine& run, const value& of, const value& key) {
  if (of.is_undefined()) not_defined(of);
  if (key.is_int() && (of.as_text() || of.as_list())) {
    if (of.as_list() && of.as_list()->kind > list_kind::range)
      return no_attribute(of, "of a number");
    auto at = key.integer();
    const auto length = length_of(of);
    if (at < 0) at += length;
    if (at < 0 || at >= length)
      return undefined{"item " + std::to_string(key.integer()) + " of a " + quoted_type(of)};
    if (of.as_list()) return of.as_list()->items[static_cast<std::size_t>(at)];
    run.work(of.as_text()->size() / 16);
    const auto starts = char_starts(of.as_text()->chars);
    const auto i = static_cast<std::size_t>(at);
    return run.make(part(*of.as_text(), starts[i], starts[i + 1]));
  }
  if (const auto* held = entry_of(run, of, key)) return *held;
  if (const auto* name = key.as_text()) {
    if (has_method(of, name->chars)) return method_of(of, name->chars);
    if (auto* loop = of.as_loop()) return loop->attribute(run, name->chars);
    return no_attribute(of, name->chars);
  }
  return no_attribute(of, quoted_type(key));
}

value slice_of(machine& run, const value& of, const value& begin, const value& end,
               const value& step) {
  if (of.is_undefined()) not_defined(of);
  const bool is_list = of.as_list() && of.as_list()->kind <= list_kind::range;
  if (!is_list && !of.as_text())
    fail("expected a list or a text to take a part of, got a " + quoted_type(of));
  const auto number = [&](const value& part, std::int64_t otherwise) {
    if (part.is_none()) return otherwise;
    if (part.is_undefined()) not_defined(part);
    if (!part.is_int()) fail("expected whole numbers in [ : ], got a " + quoted_type(part));
    return part.integer();
  };
  const auto by = number(step, 1);
  if (by == 0) fail("expected a step other than zero in [ : : ]");
  const auto length = length_of(of);
  const std::int64_t low = by > 0 ? 0 : -1, high = by > 0 ? length : length - 1;
  const auto bound = [&](const value& part, std::int64_t otherwise) {
    if (part.is_none()) return otherwise;
    auto at = number(part, 0);
    if (at < 0) at = at < -length ? low : at + length;
    return std::clamp(at, low, high);
  };
  const auto first = bound(begin, by > 0 ? low : high), last = bound(end, by > 0 ? high : low);
  std::vector<std::size_t> chosen;
  for (auto at = first; by > 0 ? at < last : at > last;) {
    chosen.push_back(static_cast<std::size_t>(at));
    if (__builtin_add_overflow(at, by, &at)) break;
  }
  run.work(chosen.size());
  if (const auto* chars = of.as_text()) {
    const auto starts = char_starts(chars->chars);
    run.work(starts.size());
    if (by == 1) {
      const auto from = static_cast<std::size_t>(std::max(first, std::int64_t{0}));
      return run.make(part(*chars, starts[from], starts[from + chosen.size()]));
    }
    text_builder to(run);
    for (const auto at : chosen) to.add(part(*chars, starts[at], starts[at + 1]));
    auto made = to.take();
    made.markup = chars->markup;
    return run.make(std::move(made));
  }
  std::vector<value> items;
  for (const auto at : chosen) items.push_back(of.as_list()->items[at]);
  return run.make(std::move(items), of.as_list()->kind);
}

}  // namespace troupe::llm::jinja
