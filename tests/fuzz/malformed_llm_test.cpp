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
  std::string name() {
    constexpr const char* names[] = {"a", "b", "c", "messages", "tools", "numbers", "d", "u"};
    return names[draw(std::size(names))];
  }
  std::string number() {
    constexpr const char* numbers[] = {"0", "1", "-1", "2", "7", "99999", "9223372036854775807"};
    return numbers[draw(std::size(numbers))];
  }

  std::string value(int depth) {
    if (depth == 0) return draw(2) ? name() : draw(2) ? number() : "'xy'";
    const auto inner = [&] { return value(depth - 1); };
    switch (draw(12)) {
      case 0:
        return '(' + inner() + " + " + inner() + ')';
      case 1:
        return '(' + inner() + " * " + inner() + ')';
      case 2:
        return '[' + inner() + ", " + inner() + ']';
      case 3:
        return "{'a': " + inner() + ", 'b': " + inner() + '}';
      case 4:
        return inner() + '[' + inner() + ']';
      case 5:
        return inner() + '[' + number() + ':' + number() + ':' + number() + ']';
      case 6:
        return "range(" + number() + ')';
      case 7:
        return '(' + inner() + " if " + inner() + " else " + inner() + ')';
      case 8:
        return '(' + inner() + filter() + ')';
      case 9:
        return '(' + inner() + " ~ " + inner() + ')';
      case 10:
        return '(' + inner() + " in " + inner() + ')';
      default:
        return inner() + ".replace('x', 'xx')";
    }
  }

  std::string filter() {
    constexpr const char* filters[] = {"tojson", "length", "trim",    "list",     "first",
                                       "last",   "upper",  "reverse", "sort",     "string",
                                       "items",  "unique", "indent",  "join(',')"};
    return std::string(" | ") + filters[draw(std::size(filters))];
  }

  std::string statement(int depth) {
    if (depth == 0) return "{{ " + value(1 + int(draw(3))) + " }}";
    const auto inside = [&] { return statements(depth - 1); };
    switch (draw(7)) {
      case 0:
        return "{% for a in " + value(2) + " %}" + inside() + "{% endfor %}";
      case 1:
        return "{% if " + value(2) + " %}" + inside() + "{% else %}" + inside() + "{% endif %}";
      case 2:
        return "{% set " + name() + " = " + value(3) + " %}" + inside();
      case 3:
        return "{% set n = namespace(x=" + value(1) + ") %}{% for b in range(" + number() +
               ") %}{% set n.x = n.x + n.x %}" + inside() + "{% endfor %}{{ n.x }}";
      case 4:
        return "{% macro m(a, b=1) %}" + inside() + (draw(2) ? "{{ m(b, a) }}" : "") +
               "{% endmacro %}{{ m(" + value(2) + ") }}";
      case 5:
        return "{% set c %}" + inside() + inside() + "{% endset %}{{ c * " + number() + " }}";
      default:
        return inside();
    }
  }

  std::mt19937_64 random_;
};

TEST_CASE("made up: chat templates end within their bounds, whatever they say") {
  std::size_t refused = 0;
  constexpr std::size_t templates = 1500;
  for (std::size_t seed = 0; seed < templates; ++seed)
    refused += !writes(template_maker(seed).statements(1 + static_cast<int>(seed % 3)));
  CHECK(refused > templates / 10);
  CHECK(refused < templates * 9 / 10);
}

TEST_CASE("mutilated: config.json") {
  fuzz(fixtures / "models/llama/config.json", "config.json", 6,
       [](const fs::path& path) { rope_frequencies(read_model_config(path)); });
}

}  // namespace
}  // namespace troupe::llm
