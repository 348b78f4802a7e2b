// The task "code": a small Python function is to be written, which is run on tests.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "actors/llm/tasks/problem.hpp"

namespace troupe::llm {
namespace {

using nlohmann::json;

constexpr int tests_of_a_function = 6;

/// Draws the arguments of a function, which are numbers, texts and lists.
struct draws {
  action_random& random;

  std::int64_t number(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  json list(std::size_t length_min) {
    json made = json::array();
    const auto length = static_cast<std::size_t>(number(std::int64_t(length_min), 7));
    while (made.size() < length) made.push_back(number(-30, 30));
    return made;
  }
  std::string word() {
    std::string made;
    for (auto left = number(1, 6); left > 0; --left) made += "abcde"[number(0, 4)];
    return made;
  }
  json words() {
    json made = json::array();
    for (auto left = number(2, 6); left > 0; --left) made.push_back(word());
    return made;
  }
};

/// One kind of function. Its constants a and b are from 2 to 9 for a size of 1, and from 2 to 1 + 8
/// `size` in general.
struct function_kind {
  const char* signature;  ///< such as "add(x)"
  const char* what;       ///< the text after "returns", with {0} and {1} for the constants
  const char* body;       ///< the body of a right answer, with {0} and {1} for the constants
  json (*argument)(draws& from, std::int64_t a, std::int64_t b);
  json (*expected)(const json& argument, std::int64_t a, std::int64_t b);
};

using i64 = std::int64_t;

json any_number(draws& from, i64, i64) { return from.number(-50, 50); }
json near_both(draws& from, i64 a, i64 b) { return from.number(-2 * a, 2 * b); }
json any_list(draws& from, i64, i64) { return from.list(0); }
json any_words(draws& from, i64, i64) { return from.words(); }
json any_text(draws& from, i64, i64) { return from.word() + from.word(); }

json keep(const json& list, auto wanted) {
  json kept = json::array();
  for (const auto& each : list) {
    if (wanted(each)) kept.push_back(each);
  }
  return kept;
}

const function_kind kinds[] = {
    {"add(x)", "x plus {0}", "return x + {0}", any_number,
     [](const json& x, i64 a, i64) -> json { return x.get<i64>() + a; }},
    {"multiply(x)", "x times {0}", "return x * {0}", any_number,
     [](const json& x, i64 a, i64) -> json { return x.get<i64>() * a; }},
    {"line(x)", "{0} times x plus {1}", "return {0} * x + {1}", any_number,
     [](const json& x, i64 a, i64 b) -> json { return a * x.get<i64>() + b; }},
    {"clamp(x)", "x, but at least -{0} and at most {1}", "return max(-{0}, min(x, {1}))", near_both,
     [](const json& x, i64 a, i64 b) -> json { return std::clamp(x.get<i64>(), -a, b); }},
    {"is_near(x)", "True if x is at least -{0} and at most {1}, else False",
     "return -{0} <= x <= {1}", near_both,
     [](const json& x, i64 a, i64 b) -> json { return -a <= x.get<i64>() && x.get<i64>() <= b; }},
    {"largest(items)", "the largest number of the list items, or {0} if the list is empty",
     "return max(items, default={0})", any_list,
     [](const json& items, i64 a, i64) -> json {
       return items.empty() ? json(a) : *std::max_element(items.begin(), items.end());
     }},
    {"total(items)", "the sum of the list items plus {0}", "return sum(items) + {0}", any_list,
     [](const json& items, i64 a, i64) -> json {
       for (const auto& each : items) a += each.get<i64>();
       return a;
     }},
    {"above(items)", "the list of those numbers in the list items that are larger than {0}",
     "return [x for x in items if x > {0}]", any_list,
     [](const json& items, i64 a, i64) -> json {
       return keep(items, [a](const json& x) { return x.get<i64>() > a; });
     }},
    {"between(items)",
     "the list of those numbers in the list items that are larger than -{0} and smaller than {1}",
     "return [x for x in items if -{0} < x < {1}]", any_list,
     [](const json& items, i64 a, i64 b) -> json {
       return keep(items, [=](const json& x) { return -a < x.get<i64>() && x.get<i64>() < b; });
     }},
    {"first(items)", "the first {0} elements of the list items", "return items[:{0}]",
     [](draws& from, i64 a, i64) -> json {
       auto list = json::array();
       for (auto left = from.number(0, 2 * a); left > 0; --left) list.push_back(from.number(0, 9));
       return list;
     },
     [](const json& items, i64 a, i64) -> json {
       const auto count = std::min<std::size_t>(items.size(), static_cast<std::size_t>(a));
       return json(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count));
     }},
    {"repeat(text)", "the text {0} times in a row", "return text * {0}", any_text,
     [](const json& text, i64 a, i64) -> json {
       std::string made;
       for (; a > 0; --a) made += text.get<std::string>();
       return made;
     }},
    {"count_a(text)", "how often the letter a is in the text, plus {0}",
     "return text.count(\"a\") + {0}", any_text,
     [](const json& text, i64 a, i64) -> json {
       const auto& t = text.get_ref<const std::string&>();
       return a + std::count(t.begin(), t.end(), 'a');
     }},
    {"reverse(words)", "the list words in reverse order, with the number {0} at its end",
     "return words[::-1] + [{0}]", any_words,
     [](const json& words, i64 a, i64) -> json {
       auto made = json::array();
       for (auto at = words.rbegin(); at != words.rend(); ++at) made.push_back(*at);
       made.push_back(a);
       return made;
     }},
    {"weigh(words)", "the sum of the lengths of the words in the list words, times {0}, minus {1}",
     "return sum(len(w) for w in words) * {0} - {1}", any_words,
     [](const json& words, i64 a, i64 b) -> json {
       i64 length = 0;
       for (const auto& word : words) length += std::ssize(word.get_ref<const std::string&>());
       return length * a - b;
     }},
};

problem draw_function(action_random& random, int size) {
  draws from{random};
  const auto& kind = kinds[random.below(std::size(kinds))];
  const auto a = from.number(2, 1 + 8 * size), b = from.number(2, 1 + 8 * size);
  const auto fill = [&](const char* text) { return fmt::format(fmt::runtime(text), a, b); };

  const std::string signature = kind.signature;
  problem made{.question = fmt::format(
                   "Write a Python function {} that returns {}. Answer with the code alone.",
                   signature, fill(kind.what)),
               .letters = signature + ": " + fill(kind.what),
               .expected = fmt::format("def {}:\n    {}", signature, fill(kind.body))};
  made.function.name = signature.substr(0, signature.find('('));
  while (made.function.tests.size() < tests_of_a_function) {
    const auto argument = kind.argument(from, a, b);
    made.function.tests.push_back(
        {json::array({argument}).dump(), kind.expected(argument, a, b).dump()});
  }
  return made;
}

}  // namespace

problem_task code_task() {
  return {
      .name = "code",
      .what = "small Python functions, run on tests",
      .draw = draw_function,
      .rewards = {{"right", [](const answered_problem& a) { return double(a.tests_passed == 1.0); },
                   0.0},
                  {"tests", [](const answered_problem& a) { return a.tests_passed; }}},
      .is_code = true};
}

}  // namespace troupe::llm
