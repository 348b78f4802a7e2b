#include "actors/llm/jinja/library.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "actors/llm/jinja/loop_state.hpp"
#include "actors/llm/jinja/operations.hpp"
#include "runtime/base/utf8.hpp"

namespace troupe::llm::jinja {

bound_arguments::bound_arguments(std::string_view callee, const given_arguments& given,
                                 std::vector<std::string_view> names)
    : callee_(callee), names_(std::move(names)), found_(names_.size(), nullptr) {
  if (given.positional.size() > names_.size())
    fail(std::string(callee_) + ": expected at most " + std::to_string(names_.size()) +
         " arguments, got " + std::to_string(given.positional.size()));
  for (std::size_t i = 0; i < given.positional.size(); ++i) found_[i] = &given.positional[i];
  for (const auto& [name, held] : given.named) {
    const auto at = std::ranges::find(names_, name);
    if (at == names_.end()) fail(std::string(callee_) + ": the argument " + name + " isn't known");
    auto& found = found_[static_cast<std::size_t>(at - names_.begin())];
    if (found) fail(std::string(callee_) + ": expected the argument " + name + " once");
    found = &held;
  }
}

const value& bound_arguments::need(std::size_t index) const {
  if (!found_[index])
    fail(std::string(callee_) + ": expected the argument " + std::string(names_[index]));
  return *found_[index];
}

bool bound_arguments::truth(std::size_t index, bool otherwise) const {
  return found_[index] ? found_[index]->truth() : otherwise;
}

std::int64_t bound_arguments::integer(std::size_t index, std::int64_t otherwise) const {
  if (!found_[index]) return otherwise;
  if (!found_[index]->is_int())
    fail(std::string(callee_) + ": expected a whole number as " + std::string(names_[index]) +
         ", got a " + std::string(found_[index]->type()));
  return found_[index]->integer();
}

// -- tests --

namespace {

using given = const given_arguments&;
using test = bool (*)(machine&, const value&, given);

template <bool (*Is)(const value&)>
bool plain_test(machine&, const value& of, given all) {
  bound_arguments("the test", all, {});
  return Is(of);
}

const value& only(given all, std::string_view name) {
  if (all.positional.size() != 1 || !all.named.empty())
    fail(std::string(name) + ": expected one value to compare with");
  return all.positional.front();
}

template <char A, char B = 0>
bool comparing(machine& run, const value& of, given all) {
  constexpr char sign[3] = {A, B, 0};
  return compare_with(run, sign, of, only(all, sign));
}

bool is_in(machine& run, const value& of, given all) { return contains(run, only(all, "in"), of); }

bool divisible(machine& run, const value& of, given all) {
  return equal(run, calculate(run, "%", of, only(all, "divisibleby")), 0);
}
bool odd(machine& run, const value& of, given all) {
  bound_arguments("odd", all, {});
  return equal(run, calculate(run, "%", of, 2), 1);
}
bool even(machine& run, const value& of, given all) {
  bound_arguments("even", all, {});
  return equal(run, calculate(run, "%", of, 2), 0);
}
bool lower_test(machine& run, const value& of, given all) {
  bound_arguments("lower", all, {});
  return is_lower(str_of(run, of).chars);
}
bool upper_test(machine& run, const value& of, given all) {
  bound_arguments("upper", all, {});
  return is_upper(str_of(run, of).chars);
}
bool same_as(machine& run, const value& of, given all) {
  const auto& other = only(all, "sameas");
  return of.type() == other.type() && equal(run, of, other);
}
bool known_filter(machine& run, const value& of, given all) {
  bound_arguments("filter", all, {});
  return is_filter(str_of(run, of).chars);
}
bool known_test(machine& run, const value& of, given all) {
  bound_arguments("test", all, {});
  return is_test(str_of(run, of).chars);
}

bool is_list_like(const value& of) {
  return of.as_list() && of.as_list()->kind <= list_kind::range;
}

const std::map<std::string_view, test, std::less<>>& tests() {
  static const std::map<std::string_view, test, std::less<>> all{
      {"!=", comparing<'!', '='>},
      {"<", comparing<'<'>},
      {"<=", comparing<'<', '='>},
      {"==", comparing<'=', '='>},
      {">", comparing<'>'>},
      {">=", comparing<'>', '='>},
      {"boolean", plain_test<[](const value& of) { return of.is_bool(); }>},
      {"callable", plain_test<[](const value& of) {
         return of.as_macro() || of.as_method() || of.as_builtin() || of.as_joiner() ||
                of.as_loop() || of.is_undefined();
       }>},
      {"defined", plain_test<[](const value& of) { return !of.is_undefined(); }>},
      {"divisibleby", divisible},
      {"eq", comparing<'=', '='>},
      {"equalto", comparing<'=', '='>},
      {"escaped", plain_test<[](const value& of) { return of.as_text() && of.as_text()->markup; }>},
      {"even", even},
      {"false", plain_test<[](const value& of) { return of.is_bool() && !of.truth(); }>},
      {"filter", known_filter},
      {"float", plain_test<[](const value& of) { return of.is_float(); }>},
      {"ge", comparing<'>', '='>},
      {"greaterthan", comparing<'>'>},
      {"gt", comparing<'>'>},
      {"in", is_in},
      {"integer", plain_test<[](const value& of) { return of.is_int() && !of.is_bool(); }>},
      {"iterable", plain_test<[](const value& of) {
         return of.as_text() || of.as_list() || of.as_dict() || of.is_undefined() || of.as_loop();
       }>},
      {"le", comparing<'<', '='>},
      {"lessthan", comparing<'<'>},
      {"lower", lower_test},
      {"lt", comparing<'<'>},
      {"mapping", plain_test<[](const value& of) { return of.as_dict() != nullptr; }>},
      {"ne", comparing<'!', '='>},
      {"none", plain_test<[](const value& of) { return of.is_none(); }>},
      {"number", plain_test<[](const value& of) { return of.is_number(); }>},
      {"odd", odd},
      {"sameas", same_as},
      {"sequence", plain_test<[](const value& of) {
         return of.as_text() || of.as_dict() || of.is_undefined() || is_list_like(of);
       }>},
      {"string", plain_test<[](const value& of) { return of.as_text() != nullptr; }>},
      {"test", known_test},
      {"true", plain_test<[](const value& of) { return of.is_bool() && of.truth(); }>},
      {"undefined", plain_test<[](const value& of) { return of.is_undefined(); }>},
      {"upper", upper_test},
  };
  return all;
}

// -- methods --

const text& receiver(const bound_method& method) { return *method.of.as_text(); }

std::vector<value> as_values(std::vector<text> parts) {
  return {std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end())};
}

const text& need_text(const bound_arguments& of, std::size_t index, std::string_view callee) {
  const auto& held = of.need(index);
  if (!held.as_text())
    fail(std::string(callee) + ": expected a text, got a " + std::string(held.type()));
  return *held.as_text();
}

value strip_method(machine& run, const bound_method& method, given all, bool left, bool right) {
  const bound_arguments named(method.name, all, {"chars"});
  if (!named.at(0) || named.at(0)->is_none())
    return run.make(strip(receiver(method), "", left, right));
  const auto& chars = need_text(named, 0, method.name);
  if (chars.size() == 0) return method.of;
  run.work(receiver(method).size() * chars.size() / 16);
  return run.make(strip(receiver(method), chars.chars, left, right));
}
value strip_both(machine& run, const bound_method& m, given all) {
  return strip_method(run, m, all, true, true);
}
value strip_left(machine& run, const bound_method& m, given all) {
  return strip_method(run, m, all, true, false);
}
value strip_right(machine& run, const bound_method& m, given all) {
  return strip_method(run, m, all, false, true);
}

value split_method(machine& run, const bound_method& method, given all, bool from_right) {
  const bound_arguments named(method.name, all, {"sep", "maxsplit"});
  const auto most = named.integer(1, -1);
  const auto& whole = receiver(method);
  run.work(whole.size() / 8);
  if (!named.at(0) || named.at(0)->is_none())
    return run.make(as_values(from_right ? rsplit(whole, most) : split(whole, most)));
  const auto& separator = need_text(named, 0, method.name);
  if (separator.size() == 0) fail(method.name + ": expected a separator, got an empty text");
  return run.make(as_values(from_right ? rsplit(whole, separator.chars, most)
                                       : split(whole, separator.chars, most)));
}
value split_left(machine& run, const bound_method& m, given all) {
  return split_method(run, m, all, false);
}
value split_right(machine& run, const bound_method& m, given all) {
  return split_method(run, m, all, true);
}

value lines_method(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"keepends"});
  run.work(receiver(method).size() / 8);
  return run.make(as_values(split_lines(receiver(method), named.truth(0, false))));
}

value partition_method(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"sep"});
  const auto& separator = need_text(named, 0, method.name);
  const auto& whole = receiver(method);
  if (separator.size() == 0) fail(method.name + ": expected a separator, got an empty text");
  const bool from_right = method.name == "rpartition";
  const auto at =
      from_right ? whole.chars.rfind(separator.chars) : whole.chars.find(separator.chars);
  if (at == whole.chars.npos) {
    if (from_right) return run.make({text(), text(), method.of}, list_kind::tuple);
    return run.make({method.of, text(), text()}, list_kind::tuple);
  }
  const auto end = at + separator.size();
  return run.make({part(whole, 0, at), part(whole, at, end), part(whole, end, whole.size())},
                  list_kind::tuple);
}

/// The bytes [begin, end) between two positions in characters, as Python reads them.
std::pair<std::size_t, std::size_t> bytes_between(machine& run, const text& of,
                                                  const bound_arguments& named, std::size_t first) {
  if (!named.at(first) && !named.at(first + 1)) return {0, of.size()};
  run.work(of.size() / 8);
  const auto starts = char_starts(of.chars);
  const auto length = static_cast<std::int64_t>(starts.size()) - 1;
  const auto place = [&](std::size_t index, std::int64_t otherwise) {
    if (!named.at(index) || named.at(index)->is_none()) return otherwise;
    const auto at = named.integer(index, 0);
    return at < 0 ? std::max<std::int64_t>(at < -length ? 0 : at + length, 0) : at;
  };
  const auto begin = place(first, 0), end = std::min(place(first + 1, length), length);
  if (begin > length) return {of.size() + 1, of.size()};
  return {starts[static_cast<std::size_t>(begin)], starts[static_cast<std::size_t>(end)]};
}

value affix_method(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"affix", "start", "end"});
  const auto [begin, end] = bytes_between(run, receiver(method), named, 1);
  if (begin > end) return false;
  const auto range = std::string_view(receiver(method).chars).substr(begin, end - begin);
  const bool at_start = method.name == "startswith";
  const auto holds = [&](const value& affix) {
    if (!affix.as_text())
      fail(method.name + ": expected a text or a tuple of texts, got a " +
           std::string(affix.type()));
    const auto& chars = affix.as_text()->chars;
    return at_start ? range.starts_with(chars) : range.ends_with(chars);
  };
  const auto& affix = named.need(0);
  if (const auto* several = affix.as_list(list_kind::tuple))
    return std::ranges::any_of(several->items, holds);
  return holds(affix);
}

value remove_affix(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"affix"});
  const auto& affix = need_text(named, 0, method.name).chars;
  const auto& whole = receiver(method);
  if (affix.empty()) return method.of;
  if (method.name == "removeprefix")
    return whole.chars.starts_with(affix) ? run.make(part(whole, affix.size(), whole.size()))
                                          : method.of;
  return whole.chars.ends_with(affix) ? run.make(part(whole, 0, whole.size() - affix.size()))
                                      : method.of;
}

value find_method(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"sub", "start", "end"});
  const auto& whole = receiver(method);
  const auto& sub = need_text(named, 0, method.name).chars;
  run.work(whole.size() / 16);
  const auto [begin, end] = bytes_between(run, whole, named, 1);
  if (begin > end) return -1;
  const auto range = std::string_view(whole.chars).substr(begin, end - begin);
  const auto at = method.name == "rfind" ? range.rfind(sub) : range.find(sub);
  if (at == range.npos) return -1;
  return static_cast<std::int64_t>(
      count_chars(std::string_view(whole.chars).substr(0, begin + at)));
}

value count_method(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"sub"});
  const auto& whole = receiver(method);
  const auto& sub = need_text(named, 0, method.name).chars;
  run.work(whole.size() / 16);
  if (sub.empty()) return static_cast<std::int64_t>(count_chars(whole.chars)) + 1;
  std::int64_t count = 0;
  for (auto at = whole.chars.find(sub); at != whole.chars.npos;
       at = whole.chars.find(sub, at + sub.size()))
    ++count;
  return count;
}

value replace_method(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"old", "new", "count"});
  const auto& whole = receiver(method);
  const auto& from = need_text(named, 0, method.name).chars;
  const auto& to_text = need_text(named, 1, method.name);
  auto left = named.integer(2, -1);
  text_builder to(run);
  std::size_t at = 0;
  while (left != 0 && at <= whole.size()) {
    run.work(1);
    const auto found = whole.chars.find(from, at);
    if (found == whole.chars.npos) break;
    to.add(part(whole, at, found));
    to.add(to_text);
    --left;
    at = found + from.size();
    if (!from.empty()) continue;
    // An empty text is between all characters.
    if (at == whole.size()) {
      ++at;
      break;
    }
    const auto next = at + char_bytes(whole.chars, at);
    to.add(part(whole, at, next));
    at = next;
  }
  if (at < whole.size()) to.add(part(whole, at, whole.size()));
  auto made = to.take();
  made.markup = whole.markup;
  return run.make(std::move(made));
}

template <text (*Change)(const text&)>
value case_method(machine& run, const bound_method& method, given all) {
  bound_arguments(method.name, all, {});
  return run.make(Change(receiver(method)));
}

value join_method(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"iterable"});
  if (receiver(method).markup) fail("join: expected a text that isn't of the filter safe");
  text_builder to(run);
  bool is_first = true;
  if (named.need(0).is_undefined()) return text();
  for (const auto& one : items_of(run, named.need(0))) {
    if (!one.as_text()) fail("join: expected texts, got a " + std::string(one.type()));
    if (!std::exchange(is_first, false)) to.add(receiver(method));
    to.add(*one.as_text());
  }
  return run.make(to.take());
}

/// str.format with {}, {0} and {name} and without formats of their own.
value format_method(machine& run, const bound_method& method, given all) {
  const auto& whole = receiver(method);
  if (whole.markup) fail("format: expected a text that isn't of the filter safe");
  text_builder to(run);
  std::size_t automatic = 0;
  bool has_numbers = false;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const char c = whole.chars[at];
    const bool doubled = at + 1 < whole.size() && whole.chars[at + 1] == c;
    if (c == '}' && !doubled) fail("format: expected } only after {");
    if ((c != '{' && c != '}') || doubled) {
      to.add(std::string_view(whole.chars).substr(at, 1), whole.mark(at));
      at += (c == '{' || c == '}') ? 1 : 0;
      continue;
    }
    const auto end = whole.chars.find('}', at);
    if (end == whole.chars.npos) fail("format: expected } after {");
    const auto field = whole.chars.substr(at + 1, end - at - 1);
    at = end;
    const value* held = nullptr;
    if (field.find_first_not_of("0123456789") == field.npos && field.size() < 6) {
      has_numbers = has_numbers || !field.empty();
      const auto index =
          field.empty() ? automatic++ : static_cast<std::size_t>(std::atoi(field.c_str()));
      if (index < all.positional.size()) held = &all.positional[index];
    } else {
      for (const auto& [name, of] : all.named)
        if (name == field) held = &of;
    }
    if (has_numbers && automatic > 0) fail("format: expected {} or {0}, got both");
    if (!held) fail("format: expected a value for each {}, and no format in it");
    to.add(str_of(run, *held));
  }
  return run.make(to.take());
}

value entries_method(machine& run, const bound_method& method, given all) {
  bound_arguments(method.name, all, {});
  std::vector<value> made;
  for (const auto& [key, held] : method.of.as_dict()->entries) {
    if (method.name == "keys") {
      made.push_back(key);
    } else if (method.name == "values") {
      made.push_back(held);
    } else {
      made.push_back(run.make({key, held}, list_kind::tuple));
    }
  }
  return run.make(std::move(made), method.name == "keys"     ? list_kind::keys
                                   : method.name == "values" ? list_kind::values
                                                             : list_kind::items);
}

value get_method(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"key", "default"});
  const auto& key = named.need(0);
  if (key.as_list(list_kind::list) || key.as_dict())
    fail("get: expected a key, got a " + std::string(key.type()));
  run.work(method.of.as_dict()->entries.size() / 8);
  if (const auto* held = method.of.as_dict()->find(key)) return *held;
  return named.at(1) ? *named.at(1) : value(none{});
}

value copy_method(machine&, const bound_method& method, given all) {
  bound_arguments(method.name, all, {});
  return method.of;
}

value index_method(machine& run, const bound_method& method, given all) {
  const bound_arguments named(method.name, all, {"value"});
  const auto& items = method.of.as_list()->items;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!equal(run, items[i], named.need(0))) continue;
    if (method.name == "index") return static_cast<std::int64_t>(i);
    ++count;
  }
  if (method.name == "index") fail("index: expected a value that is in the list");
  return count;
}

using method_function = value (*)(machine&, const bound_method&, given);
using methods = std::map<std::string_view, method_function, std::less<>>;

const methods& text_methods() {
  static const methods all{
      {"capitalize", case_method<capitalize>},
      {"count", count_method},
      {"endswith", affix_method},
      {"find", find_method},
      {"format", format_method},
      {"join", join_method},
      {"lower", case_method<lower>},
      {"lstrip", strip_left},
      {"partition", partition_method},
      {"removeprefix", remove_affix},
      {"removesuffix", remove_affix},
      {"replace", replace_method},
      {"rfind", find_method},
      {"rpartition", partition_method},
      {"rsplit", split_right},
      {"rstrip", strip_right},
      {"split", split_left},
      {"splitlines", lines_method},
      {"startswith", affix_method},
      {"strip", strip_both},
      {"title", case_method<title>},
      {"upper", case_method<upper>},
  };
  return all;
}
const methods& dict_methods() {
  static const methods all{{"copy", copy_method},
                           {"get", get_method},
                           {"items", entries_method},
                           {"keys", entries_method},
                           {"values", entries_method}};
  return all;
}
const methods& list_methods() {
  static const methods all{{"copy", copy_method}, {"count", index_method}, {"index", index_method}};
  return all;
}

using names = std::set<std::string_view, std::less<>>;

// The other methods of Python's types. A template that reads one of them is refused, since it
// wouldn't get an entry of that name but the method.
const names& other_text_methods() {
  static const names all{"casefold", "center",       "encode",   "expandtabs", "format_map",
                         "index",    "isalnum",      "isalpha",  "isascii",    "isdecimal",
                         "isdigit",  "isidentifier", "islower",  "isnumeric",  "isprintable",
                         "isspace",  "istitle",      "isupper",  "ljust",      "maketrans",
                         "rindex",   "rjust",        "swapcase", "translate",  "zfill"};
  return all;
}
const names& other_dict_methods() {
  static const names all{"clear", "fromkeys", "pop", "popitem", "setdefault", "update"};
  return all;
}
const names& other_list_methods() {
  static const names all{"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};
  return all;
}

}  // namespace

bool is_test(std::string_view name) { return tests().contains(name); }

bool tested(machine& run, std::string_view name, const value& of, const given_arguments& given) {
  run.work(1);
  return tests().find(name)->second(run, of, given);
}

bool is_method(std::string_view name) {
  return text_methods().contains(name) || dict_methods().contains(name) ||
         list_methods().contains(name) || name == "cycle" || name == "changed";
}

bool has_method(const value& of, std::string_view name) {
  if (of.as_text()) return text_methods().contains(name) || other_text_methods().contains(name);
  if (of.as_dict()) return dict_methods().contains(name) || other_dict_methods().contains(name);
  if (of.as_list(list_kind::list))
    return list_methods().contains(name) || other_list_methods().contains(name);
  if (of.as_list(list_kind::tuple)) return name == "count" || name == "index";
  return of.as_loop() && (name == "cycle" || name == "changed");
}

value call_method(machine& run, const bound_method& method, const given_arguments& given) {
  run.work(1);
  if (auto* loop = method.of.as_loop())
    return method.name == "cycle" ? loop->cycle(given) : value(loop->changed(run, given));
  const auto& all = method.of.as_text()   ? text_methods()
                    : method.of.as_dict() ? dict_methods()
                                          : list_methods();
  const auto found = all.find(method.name);
  if (found == all.end()) fail("the method " + method.name + " isn't known");
  return found->second(run, method, given);
}

// -- functions --

namespace {

const std::map<std::string_view, builtin, std::less<>>& functions() {
  static const std::map<std::string_view, builtin, std::less<>> all{
      {"dict", builtin::dict},
      {"joiner", builtin::joiner},
      {"namespace", builtin::name_space},
      {"raise_exception", builtin::raise_exception},
      {"range", builtin::range},
      {"strftime_now", builtin::strftime_now}};
  return all;
}

value range(machine& run, given all) {
  const bound_arguments named("range", all, {"start", "stop", "step"});
  if (!all.named.empty()) fail("range: expected numbers without names");
  named.need(0);
  const bool has_start = named.at(1) != nullptr;
  const auto begin = has_start ? named.integer(0, 0) : 0, end = named.integer(has_start ? 1 : 0, 0),
             step = named.integer(2, 1);
  if (step == 0) fail("range: expected a step other than zero");
  std::vector<value> made;
  for (auto at = begin; step > 0 ? at < end : at > end;) {
    if (std::ssize(made) == range_max)
      fail("range: expected at most " + std::to_string(range_max) + " numbers");
    made.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  return run.make(std::move(made), list_kind::range);
}

/// The arguments of dict and namespace.
dict dict_of(machine& run, given all) {
  dict made;
  if (all.positional.size() > 1) fail("dict: expected at most one value without a name");
  if (!all.positional.empty()) {
    const auto& first = all.positional.front();
    if (first.as_dict()) {
      made = *first.as_dict();
    } else {
      for (const auto& pair : items_of(run, first)) {
        const auto both = items_of(run, pair);
        if (both.size() != 2) fail("dict: expected pairs of a key and a value");
        made.set(both[0], both[1]);
      }
    }
  }
  for (const auto& [name, held] : all.named) made.set(unmarked(name), held);
  return made;
}

value time_text(machine& run, given all) {
  const bound_arguments named("strftime_now", all, {"format"});
  const auto& format = need_text(named, 0, "strftime_now");
  if (format.size() == 0) return text();
  // The space keeps an empty result apart from one that doesn't fit.
  std::array<char, 4096> buffer;
  const auto date = run.date();
  const auto count =
      std::strftime(buffer.data(), buffer.size(), (format.chars + ' ').c_str(), &date);
  if (count == 0) fail("strftime_now: expected a shorter format");
  return run.make(unmarked({buffer.data(), count - 1}));
}

}  // namespace

bool is_function(std::string_view name) { return functions().contains(name); }

value function_named(std::string_view name) {
  const auto at = functions().find(name);
  return at == functions().end() ? value() : value(at->second);
}

value call_function(machine& run, builtin function, const given_arguments& given) {
  run.work(1);
  switch (function) {
    case builtin::range:
      return range(run, given);
    case builtin::dict:
      return run.make(dict_of(run, given));
    case builtin::name_space: {
      auto made = std::make_shared<name_space>(name_space{dict_of(run, given)});
      run.make(made->attributes);  // checks what it holds
      return made;
    }
    case builtin::raise_exception: {
      const bound_arguments named("raise_exception", given, {"message"});
      fail("the template says: " + detail::printable(str_of(run, named.need(0)).chars, 500));
    }
    case builtin::strftime_now:
      return time_text(run, given);
    case builtin::joiner: {
      const bound_arguments named("joiner", given, {"sep"});
      return std::make_shared<joiner>(
          joiner{named.at(0) ? str_of(run, *named.at(0)) : unmarked(", ")});
    }
  }
  fail("expected a function");
}

}  // namespace troupe::llm::jinja
