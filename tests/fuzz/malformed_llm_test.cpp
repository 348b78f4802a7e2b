// Files of models and tokenisers, mutilated by a seeded mutator. Each is read or refused with
// llm_file_error; what is read is used. Chat templates are mutilated and also made up: each writes
// a text or is refused with template_error, within its bounds. TROUPE_FUZZ_BYTES: how many bytes
// are mutilated; ./dev fuzz-llm takes a million.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "actors/checkpoint/durable_file.hpp"
#include "actors/llm/files/gguf.hpp"
#include "actors/llm/files/input_file.hpp"
#include "actors/llm/files/safetensors.hpp"
#include "actors/llm/jinja/jinja_template.hpp"
#include "actors/llm/jinja/json_value.hpp"
#include "actors/llm/jinja/machine.hpp"
#include "actors/llm/model/model_config.hpp"
#include "actors/llm/tokenizer/chat_template.hpp"
#include "actors/llm/tokenizer/read_tokenizer.hpp"
#include "tests/actors/recorder/temporary_folder.hpp"
#include "tests/paths.hpp"
#include "tests/test.hpp"

namespace troupe::llm {
namespace {

namespace fs = std::filesystem;

const fs::path fixtures = testing::source_path("tests/fixtures/llm");

std::uint64_t bytes_to_mutilate() {
  const char* asked = std::getenv("TROUPE_FUZZ_BYTES");
  return asked ? std::strtoull(asked, nullptr, 10) : 20000;
}

/// Changes some bytes of a file; those at its begin, where lengths and names stand, more often.
class mutilator {
 public:
  explicit mutilator(std::uint64_t seed) : random_(seed) {}

  /// How many bytes it changed, added or took away (a cut counts one).
  std::size_t mutilate(std::string& bytes) {
    std::size_t changed = 0;
    for (std::size_t faults = 1 + draw(4); faults > 0 && !bytes.empty(); --faults) {
      changed += mutilate_once(bytes);
    }
    return changed;
  }

 private:
  std::size_t draw(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  std::size_t place(const std::string& bytes) {
    return draw(draw(3) == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 2048));
  }

  std::size_t mutilate_once(std::string& bytes) {
    const auto at = place(bytes);
    const std::size_t length = std::min<std::size_t>(1 + draw(8), bytes.size() - at);
    switch (draw(7)) {
      case 0:
        bytes[at] = static_cast<char>(random_());
        return 1;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << draw(8));
        return 1;
      case 2:
        std::fill_n(bytes.begin() + std::ptrdiff_t(at), length, draw(2) ? '\xff' : '\0');
        return length;
      case 3:
        bytes.erase(at, length);
        return length;
      case 4:
        bytes.insert(at, bytes.substr(place(bytes), length));
        return length;
      case 5:
        bytes.replace(at, length, std::to_string(random_() >> draw(64)));
        return length;
      default:
        if (draw(4) == 0) bytes.resize(at);
        return 1;
    }
  }

  std::mt19937_64 random_;
};

/// Reads a file's mutilated copies until enough bytes were; `use` reads one, and throws what it
/// may.
template <class Use>
void fuzz(const fs::path& original, const char* name, std::uint64_t seed, Use use) {
  const temporary_folder folder;
  const auto whole = read_text(original);
  mutilator mutilate(seed);
  std::uint64_t changed = 0;
  std::size_t refused = 0, files = 0;
  for (; changed < bytes_to_mutilate() / 6; ++files) {
    auto bytes = whole;
    changed += mutilate.mutilate(bytes);
    const auto path = folder.path / name;
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      use(path);
    } catch (const llm_file_error& e) {
      ++refused;
      if (std::string(e.what()).find(path.string()) == std::string::npos) FAIL(e.what());
    }
  }
  CAPTURE(files);
  CHECK(refused > files / 10);  // or what is mutilated isn't read
}

void read_all(const tensor_view& view) {
  std::vector<float> values(static_cast<std::size_t>(view.elements()));
  copy_floats(view, values);
}

TEST_CASE("mutilated: safetensors") {
  fuzz(fixtures / "models/qwen3/model.safetensors", "m.safetensors", 1, [](const fs::path& path) {
    for (const auto& [name, view] : read_safetensors(path).tensors) read_all(view);
  });
}

TEST_CASE("mutilated: GGUF with quantised tensors") {
  fuzz(fixtures / "quantised.gguf", "m.gguf", 2, [](const fs::path& path) {
    const gguf_file file(path);
    for (const auto& [name, view] : file.tensors()) read_all(view);
  });
}

TEST_CASE("mutilated: GGUF with a tokenizer") {
  fuzz(fixtures / "tokenizer.gguf", "m.gguf", 3, [](const fs::path& path) {
    const gguf_file file(path);
    const auto tokens = read_tokenizer(file);
    tokens.decode(tokens.encode("Hello w\u00f6rld, 12 <|im_end|>", {true, true}));
    read_chat_style(path);
  });
}

TEST_CASE("mutilated: tokenizer.json") {
  fuzz(fixtures / "tokenizers/qwen2/tokenizer.json", "tokenizer.json", 4, [](const fs::path& path) {
    const auto tokens = read_tokenizer(path);
    tokens.decode(tokens.encode("Hello w\u00f6rld, 12 <|im_end|>", {true, true}));
  });
}

TEST_CASE("mutilated: the shape in a GGUF file") {
  fuzz(fixtures / "models/llama.gguf", "m.gguf", 5,
       [](const fs::path& path) { rope_frequencies(read_model_config(gguf_file(path))); });
}

/// What templates are rendered with: a conversation and the values of the interpreter's cases.
const jinja::value& template_variables() {
  static const auto made = [] {
    auto all = nlohmann::ordered_json::parse(
        read_whole_file(fixtures / "chat_templates/cases.json", 1 << 24))["variables"];
    all["messages"] = nlohmann::ordered_json::parse(R"([{"role": "system", "content": "Be brief."},
      {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "<think>a</think>b",
       "tool_calls": [{"function": {"name": "f", "arguments": {"x": [1, {"y": null}]}}}]},
      {"role": "tool", "content": "3"}])");
    all["tools"] = all["messages"][2]["tool_calls"];
    all["add_generation_prompt"] = true;
    return jinja::value_of_json(all.dump(), jinja::from_data);
  }();
  return made;
}

/// Reads and runs a template. Returns false if it is refused.
bool writes(const std::string& source) {
  CAPTURE(source);
  try {
    const auto text = jinja::jinja_template(source).render(*template_variables().as_dict(), {});
    CHECK(text.size() <= jinja::text_bytes_max);
    CHECK(text.chars.size() == text.size());
    return true;
  } catch (const jinja::template_error& e) {
    CHECK_THAT(e.what(), Catch::Matchers::Contains("line ") || Catch::Matchers::Contains("UTF-8") ||
                             Catch::Matchers::Contains("bytes"));
    return false;
  }
}

TEST_CASE("mutilated: chat templates") {
  std::vector<std::string> sources;
  for (const auto* name : {"llama3", "llama3.2", "qwen2.5", "qwen3"})
    sources.push_back(
        read_whole_file(fixtures / "chat_templates" / (std::string(name) + ".jinja"), 1 << 20));
  for (const auto& one : nlohmann::json::parse(
           read_whole_file(fixtures / "chat_templates/cases.json", 1 << 24))["cases"])
    sources.push_back(one["template"]);
  mutilator mutilate(7);
  std::size_t files = 0, refused = 0;
  for (std::uint64_t changed = 0; changed < bytes_to_mutilate() / 6; ++files) {
    auto source = sources[files % sources.size()];
    changed += mutilate.mutilate(source);
    refused += !writes(source);
  }
  CAPTURE(files);
  CHECK(refused > files / 10);
  CHECK(refused < files);
}

/// Makes up templates whose syntax is right, of loops, macros and values that grow.
class template_maker {
 public:
  explicit template_maker(std::uint64_t seed) : random_(seed) {}

  std::string statements(int depth) {
    std::string all;
    for (auto count = 1 + draw(3); count > 0; --count) all += statement(depth);
    return all;
  }

 private:
  std::size_t draw(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  template <std::size_t N>
  const char* one_of(const char* const (&choices)[N]) {
    return choices[draw(N)];
  }

  // Values of the type that their place needs, so that most templates write something.
  std::string number(int depth) {
    if (depth <= 0) return one_of({"0", "1", "-1", "2", "n", "99", "9223372036854775807"});
    return draw(2) ? '(' + list(depth - 1) + " | length)"
                   : '(' + number(depth - 1) + one_of({" + ", " * ", " - "}) + number(0) + ')';
  }
  std::string text(int depth) {
    if (depth <= 0) return one_of({"s", "u", "'xy'", "html"});
    const auto inner = text(depth - 1);
    switch (draw(7)) {
      case 0:
        return '(' + inner + " + " + text(depth - 1) + ')';
      case 1:
        return '(' + inner + " ~ " + any(depth - 1) + ')';
      case 2:
        return inner + '[' + number(0) + ':' + number(0) + ']';
      case 3:
        return inner + ".replace('x', 'xx')";
      case 4:
        return '(' + inner + " * " + number(0) + ')';
      case 5:
        return '(' + inner + one_of({" | upper", " | trim", " | indent", " | string"}) + ')';
      default:
        return '(' + list(depth - 1) + one_of({" | join(',')", " | tojson", " | string"}) + ')';
    }
  }
  std::string list(int depth) {
    if (depth <= 0) return one_of({"numbers", "words", "messages", "tools", "range(9)"});
    const auto inner = list(depth - 1);
    switch (draw(6)) {
      case 0:
        return '[' + any(depth - 1) + ", " + any(depth - 1) + ']';
      case 1:
        return '(' + inner + " + " + list(depth - 1) + ')';
      case 2:
        return "range(" + number(0) + ')';
      case 3:
        return '(' + inner + " | reverse | list)";
      case 4:
        return inner + '[' + number(0) + ":]";
      default:
        return '(' + inner + " * " + number(0) + ')';
    }
  }
  std::string any(int depth) {
    switch (draw(4)) {
      case 0:
        return number(depth);
      case 1:
        return text(depth);
      case 2:
        return list(depth);
      default:
        return "{'a': " + text(depth - 1) + ", 'b': d}";
    }
  }

  std::string statement(int depth) {
    if (depth == 0) return "{{ " + any(1 + int(draw(2))) + " }}";
    const auto inside = [&] { return statements(depth - 1); };
    switch (draw(7)) {
      case 0:
        return "{% for a in " + list(1) + " %}" + inside() + "{% endfor %}";
      case 1:
        return "{% if " + any(1) + " %}" + inside() + "{% else %}" + inside() + "{% endif %}";
      case 2:
        return "{% set s = " + text(2) + " %}" + inside();
      case 3:
        return "{% set k = namespace(x=" + (draw(2) ? text(0) : list(0)) +
               ") %}{% for b in range(" + one_of({"3", "9", "9", "9", "9", "9", "9", "99999"}) +
               ") %}{% set k.x = k.x + k.x %}" + inside() + "{% endfor %}{{ k.x }}";
      case 4:
        return "{% macro m(s, b=1) %}" + inside() + one_of({"", "", "", "{{ m(s, b) }}"}) +
               "{% endmacro %}{{ m(" + text(1) + ") }}";
      case 5:
        return "{% set s %}" + inside() + inside() + "{% endset %}{{ s * " + number(0) + " }}";
      default:
        return inside();
    }
  }

  std::mt19937_64 random_;
};

TEST_CASE("made up: chat templates end within their bounds, whatever they say") {
  std::size_t refused = 0;
  constexpr std::size_t templates = 150;
  for (std::size_t seed = 0; seed < templates; ++seed)
    refused += !writes(template_maker(seed).statements(1 + static_cast<int>(seed % 2)));
  CHECK(refused > templates / 10);
  CHECK(refused < templates * 9 / 10);
}

TEST_CASE("mutilated: config.json") {
  fuzz(fixtures / "models/llama/config.json", "config.json", 6,
       [](const fs::path& path) { rope_frequencies(read_model_config(path)); });
}

}  // namespace
}  // namespace troupe::llm
