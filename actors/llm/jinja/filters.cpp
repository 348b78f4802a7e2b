#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "actors/llm/jinja/library.hpp"
#include "actors/llm/jinja/operations.hpp"

namespace troupe::llm::jinja {
namespace {

using given = const given_arguments&;
using filter = value (*)(machine&, const value&, given);

text word_of(machine& run, const value* of, std::string_view otherwise) {
  return of ? str_of(run, *of) : unmarked(otherwise);
}

// -- texts --

template <text (*Change)(const text&)>
value changed_text(machine& run, const value& of, given all) {
  bound_arguments("the filter", all, {});
  return run.make(Change(str_of(run, of)));
}

/// jinja2's own rule: a word begins after white space, a hyphen and an opening bracket.
text title_of_words(const text& of) {
  text made{.markup = of.markup};
  const auto begins_word = [](char32_t code) {
    return is_space(code) || code == '-' || code == '(' || code == '{' || code == '[' ||
           code == '<';
  };
  for (std::size_t at = 0; at < of.size();) {
    const bool separates = begins_word(code_at(of.chars, at));
    auto end = at;
    while (end < of.size() && begins_word(code_at(of.chars, end)) == separates)
      end += char_bytes(of.chars, end);
    if (separates) {
      append(made, part(of, at, end));
    } else {
      const auto first = at + char_bytes(of.chars, at);
      append(made, upper(part(of, at, first)));
      append(made, lower(part(of, first, end)));
    }
    at = end;
  }
  return made;
}

value trim(machine& run, const value& of, given all) {
  const bound_arguments named("trim", all, {"chars"});
  const auto chars = named.at(0) && !named.at(0)->is_none() ? str_of(run, *named.at(0)) : text();
  const auto trimmed = str_of(run, of);
  if (named.at(0) && !named.at(0)->is_none() && chars.size() == 0) return run.make(trimmed);
  run.work(trimmed.size() * chars.size() / 16);
  return run.make(strip(trimmed, chars.chars, true, true));
}

value replace(machine& run, const value& of, given all) {
  const bound_arguments named("replace", all, {"old", "new", "count"});
  const auto method =
      std::make_shared<const bound_method>(bound_method{text(str_of(run, of)), "replace"});
  given_arguments passed{{str_of(run, named.need(0)), str_of(run, named.need(1))}};
  if (named.at(2) && !named.at(2)->is_none()) passed.positional.push_back(*named.at(2));
  return call_method(run, *method, passed);
}

value string(machine& run, const value& of, given all) {
  bound_arguments("string", all, {});
  return run.make(str_of(run, of));
}

value safe(machine& run, const value& of, given all) {
  bound_arguments("safe", all, {});
  auto made = str_of(run, of);
  made.markup = true;
  return run.make(std::move(made));
}

value escape(machine& run, const value& of, given all) {
  bound_arguments("escape", all, {});
  const auto chars = str_of(run, of);
  machine::check_size(chars.size() * 6);
  return run.make(chars.markup ? chars : escaped(chars));
}

value indent(machine& run, const value& of, given all) {
  const bound_arguments named("indent", all, {"width", "first", "blank"});
  if (!of.as_text()) fail("indent: expected a text, got a " + std::string(of.type()));
  text by;
  if (named.at(0) && named.at(0)->as_text()) {
    by = *named.at(0)->as_text();
  } else {
    const auto width = std::max<std::int64_t>(named.integer(0, 4), 0);
    machine::check_size(static_cast<std::size_t>(width));
    by = unmarked(std::string(static_cast<std::size_t>(width), ' '));
  }
  const bool first = named.truth(1, false), blank = named.truth(2, false);
  auto whole = *of.as_text();
  append(whole, "\n");
  const auto lines = split_lines(whole, false);
  text_builder to(run);
  if (first) to.add(by);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    run.work(1);
    if (i > 0) {
      to.add("\n");
      if (blank || lines[i].size() > 0) to.add(by);
    }
    to.add(lines[i]);
  }
  return run.make(to.take());
}

value tojson(machine& run, const value& of, given all) {
  // The parameters of transformers' own filter, which replaces that of jinja2.
  const bound_arguments named("tojson", all, {"ensure_ascii", "indent", "separators", "sort_keys"});
  json_format format{.ascii = named.truth(0, false), .sorted = named.truth(3, false)};
  if (const auto* by = named.at(1); by && !by->is_none()) {
    format.indented = true;
    if (by->as_text()) {
      format.indent = *by->as_text();
    } else {
      const auto width = std::max<std::int64_t>(named.integer(1, 0), 0);
      machine::check_size(static_cast<std::size_t>(width));
      format.indent = unmarked(std::string(static_cast<std::size_t>(width), ' '));
    }
  }
  format.item_separator = unmarked(format.indented ? "," : ", ");
  format.key_separator = unmarked(": ");
  if (const auto* both = named.at(2); both && !both->is_none()) {
    const auto* parts = both->as_list();
    if (!parts || parts->items.size() != 2 || !parts->items[0].as_text() ||
        !parts->items[1].as_text())
      fail("tojson: expected two texts as separators");
    format.item_separator = *parts->items[0].as_text();
    format.key_separator = *parts->items[1].as_text();
  }
  return run.make(json_of(run, of, format));
}

// -- numbers --

value absolute(machine& run, const value& of, given all) {
  bound_arguments("abs", all, {});
  if (!of.is_number()) fail("abs: expected a number, got a " + std::string(of.type()));
  if (of.is_float()) return std::abs(of.real());
  return of.integer() < 0 ? calculate(run, "-", 0, of) : value(of.integer());
}

value rounded(machine& run, const value& of, given all) {
  const bound_arguments named("round", all, {"precision", "method"});
  if (!of.is_number()) fail("round: expected a number, got a " + std::string(of.type()));
  const auto precision = named.integer(0, 0);
  const auto method = word_of(run, named.at(1), "common").chars;
  if (precision < 0 || precision > 15) fail("round: expected a precision of 0 to 15");
  if (method == "common") {
    if (of.is_int()) return of.integer();
    if (!std::isfinite(of.real())) return of;
    std::array<char, 400> buffer;
    const auto end = std::to_chars(buffer.begin(), buffer.end(), of.real(),
                                   std::chars_format::fixed, static_cast<int>(precision))
                         .ptr;
    double made = 0;
    std::from_chars(buffer.begin(), end, made);
    return made;
  }
  if (method != "ceil" && method != "floor")
    fail("round: expected the method common, ceil or floor, got " + method);
  const double scale = std::pow(10.0, double(precision)), scaled = of.real() * scale;
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale;
}

/// The number of a text as Python's int and float read it, if it is one.
template <class Number>
std::optional<Number> number_in(const text& of) {
  auto chars = strip(of, "", true, true).chars;
  for (std::size_t i = 1; i + 1 < chars.size(); ++i)
    if (chars[i] == '_' && std::isdigit(static_cast<unsigned char>(chars[i - 1])) &&
        std::isdigit(static_cast<unsigned char>(chars[i + 1])))
      chars.erase(i--, 1);
  const char* begin = chars.data();
  const char* end = begin + chars.size();
  if (begin < end && *begin == '+' && end - begin > 1 && begin[1] != '-') ++begin;
  Number made{};
  const auto read = std::from_chars(begin, end, made);
  if (read.ec == std::errc::result_out_of_range)
    fail("expected numbers that 64 bits can hold, got " + chars.substr(0, 60));
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return made;
}

value to_int(machine&, const value& of, given all) {
  const bound_arguments named("int", all, {"default", "base"});
  if (named.integer(1, 10) != 10) fail("int: expected the base 10");
  const value otherwise = named.at(0) ? *named.at(0) : value(0);
  if (of.is_undefined()) fail(of.as_undefined()->name + " is undefined");
  std::optional<double> real;
  if (of.is_int()) return of.integer();
  if (of.is_float()) real = of.real();
  if (of.as_text()) {
    if (const auto whole = number_in<std::int64_t>(*of.as_text())) return *whole;
    real = number_in<double>(*of.as_text());
  }
  if (!real || std::isnan(*real)) return otherwise;
  if (!(std::abs(*real) < 9.2e18)) fail("int: expected numbers that 64 bits can hold");
  return static_cast<std::int64_t>(*real);
}

value to_float(machine&, const value& of, given all) {
  const bound_arguments named("float", all, {"default"});
  const value otherwise = named.at(0) ? *named.at(0) : value(0.0);
  if (of.is_undefined()) fail(of.as_undefined()->name + " is undefined");
  if (of.is_number()) return of.real();
  if (!of.as_text()) return otherwise;
  const auto real = number_in<double>(*of.as_text());
  return real ? value(*real) : otherwise;
}

// -- lists --

value length(machine&, const value& of, given all) {
  bound_arguments("length", all, {});
  return length_of(of);
}

value first(machine& run, const value& of, given all) {
  bound_arguments("first", all, {});
  if (auto* rest = of.as_list(list_kind::generator)) {
    if (rest->consumed || rest->items.empty()) return undefined{"the first item of nothing"};
    auto found = rest->items.front();
    rest->items.erase(rest->items.begin());
    return found;
  }
  const auto items = items_of(run, of);
  return items.empty() ? value(undefined{"the first item of nothing"}) : items.front();
}

value last(machine& run, const value& of, given all) {
  bound_arguments("last", all, {});
  if (of.as_list(list_kind::generator) || of.is_undefined()) fail("last: expected a list");
  const auto items = items_of(run, of);
  return items.empty() ? value(undefined{"the last item of nothing"}) : items.back();
}

value listed(machine& run, const value& of, given all) {
  bound_arguments("list", all, {});
  return run.make(items_of(run, of));
}

value reversed(machine& run, const value& of, given all) {
  bound_arguments("reverse", all, {});
  auto items = items_of(run, of);
  std::ranges::reverse(items);
  if (of.as_text()) {
    text_builder to(run);
    for (const auto& one : items) to.add(*one.as_text());
    return run.make(to.take());
  }
  const bool is_generator = of.as_list(list_kind::generator) || of.is_undefined();
  return run.make(std::move(items), is_generator ? list_kind::list : list_kind::generator);
}

value default_value(machine&, const value& of, given all) {
  const bound_arguments named("default", all, {"default_value", "boolean"});
  const bool keep = named.truth(1, false) ? of.truth() : !of.is_undefined();
  if (keep) return of;
  return named.at(0) ? *named.at(0) : value(text());
}

value items(machine& run, const value& of, given all) {
  bound_arguments("items", all, {});
  std::vector<value> pairs;
  if (!of.is_undefined()) {
    if (!of.as_dict()) fail("items: expected a dictionary, got a " + std::string(of.type()));
    for (const auto& [key, held] : of.as_dict()->entries)
      pairs.push_back(run.make({key, held}, list_kind::tuple));
  }
  return run.make(std::move(pairs), list_kind::generator);
}

/// Gives the attribute of an item that a filter is told: `a.b.0` is three steps.
class attribute_getter {
 public:
  attribute_getter(machine& run, const value* attribute) : run_(run) {
    if (!attribute || attribute->is_none()) return;
    if (!attribute->as_text()) {
      if (!attribute->is_int())
        fail("expected the name of an attribute, got a " + std::string(attribute->type()));
      steps_.push_back(*attribute);
      return;
    }
    for (auto& step : split(*attribute->as_text(), ".", -1)) {
      const bool is_number = !step.chars.empty() && step.chars.size() < 10 &&
                             step.chars.find_first_not_of("0123456789") == std::string::npos;
      steps_.push_back(is_number ? value(std::atoi(step.chars.c_str())) : value(std::move(step)));
    }
  }
  value operator()(value of, const value* otherwise = nullptr) const {
    for (const auto& step : steps_) {
      of = item_of(run_, of, step);
      if (of.is_undefined() && otherwise) of = *otherwise;
    }
    return of;
  }

 private:
  machine& run_;
  std::vector<value> steps_;
};

value join(machine& run, const value& of, given all) {
  const bound_arguments named("join", all, {"d", "attribute"});
  const auto between = word_of(run, named.at(0), "");
  const attribute_getter get(run, named.at(1));
  text_builder to(run);
  bool is_first = true;
  for (const auto& one : items_of(run, of)) {
    if (!std::exchange(is_first, false)) to.add(between);
    run.work(1);
    to.add(str_of(run, get(one)));
  }
  return run.make(to.take());
}

value without_case(const value& of) { return of.as_text() ? value(lower(*of.as_text())) : of; }

struct keyed {
  value key, held;
};

value sorted_values(machine& run, std::vector<keyed> all, bool descending) {
  // Python sorts stably, in descending order, too.
  if (all.size() > 1) run.work(all.size() * 4);
  std::stable_sort(all.begin(), all.end(), [&](const keyed& a, const keyed& b) {
    return descending ? compare(run, b.key, a.key) < 0 : compare(run, a.key, b.key) < 0;
  });
  std::vector<value> made;
  for (auto& one : all) made.push_back(std::move(one.held));
  return run.make(std::move(made));
}

value sort(machine& run, const value& of, given all) {
  const bound_arguments named("sort", all, {"reverse", "case_sensitive", "attribute"});
  std::vector<attribute_getter> getters;
  if (named.at(2) && named.at(2)->as_text()) {
    for (auto& name : split(*named.at(2)->as_text(), ",", -1)) {
      const value attribute(std::move(name));
      getters.emplace_back(run, &attribute);
    }
  } else {
    getters.emplace_back(run, named.at(2));
  }
  const bool keeps_case = named.truth(1, false);
  std::vector<keyed> keys;
  for (const auto& one : items_of(run, of)) {
    std::vector<value> parts;
    for (const auto& get : getters) {
      auto key = get(one);
      parts.push_back(keeps_case ? key : without_case(key));
    }
    keys.push_back({parts.size() == 1 ? parts.front() : run.make(std::move(parts)), one});
  }
  return sorted_values(run, std::move(keys), named.truth(0, false));
}

value dictsort(machine& run, const value& of, given all) {
  const bound_arguments named("dictsort", all, {"case_sensitive", "by", "reverse"});
  if (!of.as_dict()) fail("dictsort: expected a dictionary, got a " + std::string(of.type()));
  const auto by = word_of(run, named.at(1), "key").chars;
  if (by != "key" && by != "value") fail("dictsort: expected by = key or value, got " + by);
  const bool keeps_case = named.truth(0, false);
  std::vector<keyed> keys;
  for (const auto& [key, held] : of.as_dict()->entries) {
    const auto& chosen = by == "key" ? key : held;
    keys.push_back(
        {keeps_case ? chosen : without_case(chosen), run.make({key, held}, list_kind::tuple)});
  }
  return sorted_values(run, std::move(keys), named.truth(2, false));
}

value unique(machine& run, const value& of, given all) {
  const bound_arguments named("unique", all, {"case_sensitive", "attribute"});
  const attribute_getter get(run, named.at(1));
  const bool keeps_case = named.truth(0, false);
  std::vector<value> seen, made;
  for (const auto& one : items_of(run, of)) {
    const auto found = get(one);
    const auto key = keeps_case ? found : without_case(found);
    if (key.as_dict() || key.as_list(list_kind::list))
      fail("unique: expected items that can be keys, got a " + std::string(key.type()));
    if (std::ranges::any_of(seen, [&](const value& other) { return equal(run, other, key); }))
      continue;
    seen.push_back(key);
    made.push_back(one);
  }
  return run.make(std::move(made), list_kind::generator);
}

value extreme(machine& run, const value& of, given all, int sign) {
  const bound_arguments named(sign < 0 ? "min" : "max", all, {"case_sensitive", "attribute"});
  const attribute_getter get(run, named.at(1));
  const bool keeps_case = named.truth(0, false);
  std::optional<value> best, best_key;
  for (const auto& one : items_of(run, of)) {
    const auto found = get(one);
    const auto key = keeps_case ? found : without_case(found);
    if (best_key && compare(run, key, *best_key) * sign <= 0) continue;
    best = one;
    best_key = key;
  }
  return best ? *best : value(undefined{"the least or greatest item of nothing"});
}
value smallest(machine& run, const value& of, given all) { return extreme(run, of, all, -1); }
value greatest(machine& run, const value& of, given all) { return extreme(run, of, all, 1); }

value sum(machine& run, const value& of, given all) {
  const bound_arguments named("sum", all, {"attribute", "start"});
  const attribute_getter get(run, named.at(0));
  value made = named.at(1) ? *named.at(1) : value(0);
  if (made.as_text()) fail("sum: expected a number to begin with, got a text");
  for (const auto& one : items_of(run, of)) made = calculate(run, "+", made, get(one));
  return made;
}

value batch(machine& run, const value& of, given all) {
  const bound_arguments named("batch", all, {"linecount", "fill_with"});
  const auto size = named.integer(0, 0);
  if (size < 1) fail("batch: expected a size of 1 or more");
  std::vector<value> rows, row;
  for (const auto& one : items_of(run, of)) {
    if (std::cmp_equal(row.size(), size)) rows.push_back(run.make(std::exchange(row, {})));
    row.push_back(one);
  }
  if (!row.empty()) {
    if (named.at(1) && !named.at(1)->is_none()) {
      if (size > static_cast<std::int64_t>(items_max)) fail("batch: expected a smaller size");
      row.resize(static_cast<std::size_t>(size), *named.at(1));
    }
    rows.push_back(run.make(std::move(row)));
  }
  return run.make(std::move(rows), list_kind::generator);
}

/// What follows the name of a filter or test in the arguments of map, select and the like.
given_arguments rest_of(given all, std::size_t first) {
  given_arguments rest{.named = all.named};
  for (auto i = first; i < all.positional.size(); ++i) rest.positional.push_back(all.positional[i]);
  return rest;
}

std::string name_at(given all, std::size_t at, std::string_view callee) {
  if (all.positional.size() <= at || !all.positional[at].as_text())
    fail(std::string(callee) + ": expected a name first");
  return all.positional[at].as_text()->chars;
}

value map(machine& run, const value& of, given all) {
  std::vector<value> made;
  if (all.positional.empty()) {
    const bound_arguments named("map", all, {"attribute", "default"});
    if (!named.at(0)) fail("map: expected the name of a filter or an attribute");
    const attribute_getter get(run, named.at(0));
    for (const auto& one : items_of(run, of)) made.push_back(get(one, named.at(1)));
    return run.make(std::move(made), list_kind::generator);
  }
  const auto name = name_at(all, 0, "map");
  const auto rest = rest_of(all, 1);
  if (!is_filter(name)) fail("the filter " + name + " isn't known");
  for (const auto& one : items_of(run, of)) made.push_back(filtered(run, name, one, rest));
  return run.make(std::move(made), list_kind::generator);
}

value chosen(machine& run, const value& of, given all, bool by_attribute, bool keep) {
  const std::size_t at = by_attribute ? 1 : 0;
  if (by_attribute && all.positional.empty()) fail("selectattr: expected the name of an attribute");
  const attribute_getter get(run, by_attribute ? &all.positional[0] : nullptr);
  const bool has_test = all.positional.size() > at;
  const auto name = has_test ? name_at(all, at, "select") : std::string();
  if (has_test && !is_test(name)) fail("the test " + name + " isn't known");
  const auto rest = rest_of(all, at + 1);
  std::vector<value> made;
  for (const auto& one : items_of(run, of)) {
    const auto held = get(one);
    if ((has_test ? tested(run, name, held, rest) : held.truth()) == keep) made.push_back(one);
  }
  return run.make(std::move(made), list_kind::generator);
}
value select(machine& run, const value& of, given all) { return chosen(run, of, all, false, true); }
value reject(machine& run, const value& of, given all) {
  return chosen(run, of, all, false, false);
}
value selectattr(machine& run, const value& of, given all) {
  return chosen(run, of, all, true, true);
}
value rejectattr(machine& run, const value& of, given all) {
  return chosen(run, of, all, true, false);
}

value format(machine& run, const value& of, given all) {
  if (!all.named.empty()) fail("format: expected values without names");
  return calculate(run, "%", run.make(str_of(run, of)), run.make(all.positional, list_kind::tuple));
}

value attr(machine& run, const value& of, given all) {
  const bound_arguments named("attr", all, {"name"});
  if (of.is_undefined() || of.as_dict())
    return undefined{"the attribute of a " + std::string(of.type())};
  return attribute_of(run, of, str_of(run, named.need(0)).chars);
}

const std::map<std::string_view, filter, std::less<>>& filters() {
  static const std::map<std::string_view, filter, std::less<>> all{
      {"abs", absolute},
      {"attr", attr},
      {"batch", batch},
      {"capitalize", changed_text<capitalize>},
      {"count", length},
      {"d", default_value},
      {"default", default_value},
      {"dictsort", dictsort},
      {"e", escape},
      {"escape", escape},
      {"first", first},
      {"float", to_float},
      {"format", format},
      {"indent", indent},
      {"int", to_int},
      {"items", items},
      {"join", join},
      {"last", last},
      {"length", length},
      {"list", listed},
      {"lower", changed_text<lower>},
      {"map", map},
      {"max", greatest},
      {"min", smallest},
      {"reject", reject},
      {"rejectattr", rejectattr},
      {"replace", replace},
      {"reverse", reversed},
      {"round", rounded},
      {"safe", safe},
      {"select", select},
      {"selectattr", selectattr},
      {"sort", sort},
      {"string", string},
      {"sum", sum},
      {"title", changed_text<title_of_words>},
      {"tojson", tojson},
      {"trim", trim},
      {"unique", unique},
      {"upper", changed_text<upper>},
  };
  return all;
}

}  // namespace

bool is_filter(std::string_view name) { return filters().contains(name); }

value filtered(machine& run, std::string_view name, const value& of, const given_arguments& given) {
  run.work(1);
  return filters().find(name)->second(run, of, given);
}

}  // namespace troupe::llm::jinja
