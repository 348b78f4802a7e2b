#define PCRE2_CODE_UNIT_WIDTH 8
#include "actors/llm/tokenizer/pre_tokenizer.hpp"

#include <pcre2.h>

#include <stdexcept>
#include <string>

namespace troupe::llm {
namespace {

// The patterns of the families. White space is Unicode's property White_Space, which is written out
// here since PCRE2's \s also has U+180E.
#define SPACES \
  R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})"
#define LETTER R"(\p{L})"
#define DIGIT R"(\p{N})"

#define GPT2_WORDS                                                                           \
  R"('s|'t|'re|'ve|'m|'ll|'d| ?[)" LETTER R"(]+| ?[)" DIGIT R"(]+| ?[^)" SPACES LETTER DIGIT \
  R"(]+|[)" SPACES R"(]+(?![^)" SPACES R"(])|[)" SPACES R"(]+)"

#define QWEN2_WORDS(digits)                                                                        \
  R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n)" LETTER DIGIT R"(]?[)" LETTER R"(]+|[)" DIGIT "]" digits \
  R"(| ?[^)" SPACES LETTER DIGIT R"(]+[\r\n]*|[)" SPACES R"(]*[\r\n]+|[)" SPACES                   \
  R"(]+(?![^)" SPACES R"(])|[)" SPACES R"(]+)"

// SmolLM2 splits off digits first. White space before a digit is therefore treated as at the end of
// the text, and no space joins a digit.
#define SMOLLM_WORDS                                                                   \
  "[" DIGIT R"(]|'s|'t|'re|'ve|'m|'ll|'d| ?[)" LETTER R"(]+| ?[^)" SPACES LETTER DIGIT \
  R"(]+|[)" SPACES R"(]+(?![^)" SPACES DIGIT R"(])|[)" SPACES R"(]+)"

const char* text_of(split_style style) {
  switch (style) {
    case split_style::gpt2:
      return GPT2_WORDS;
    case split_style::smollm:
      return SMOLLM_WORDS;
    case split_style::qwen2:
      return QWEN2_WORDS("");
    case split_style::llama3:
      return QWEN2_WORDS("{1,3}");
  }
  return "";
}

std::string message_of(int code) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

struct free_code {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct free_match {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

}  // namespace

struct pre_tokenizer::pattern {
  std::unique_ptr<pcre2_code, free_code> code;
};

pre_tokenizer::pre_tokenizer(split_style style) {
  const char* text = text_of(style);
  int error = 0;
  PCRE2_SIZE at = 0;
  std::unique_ptr<pcre2_code, free_code> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text), PCRE2_ZERO_TERMINATED,
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK, &error, &at, nullptr));
  if (!code)
    throw std::logic_error("pre_tokenizer: pattern refused at character " + std::to_string(at) +
                           ": " + message_of(error));
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // if this fails, PCRE2 interprets the pattern
  pattern_.reset(new pattern{std::move(code)});
}

pre_tokenizer::~pre_tokenizer() = default;
pre_tokenizer::pre_tokenizer(pre_tokenizer&&) noexcept = default;
pre_tokenizer& pre_tokenizer::operator=(pre_tokenizer&&) noexcept = default;

std::vector<std::string_view> pre_tokenizer::split(std::string_view text) const {
  std::vector<std::string_view> pieces;
  const auto* code = pattern_->code.get();
  std::unique_ptr<pcre2_match_data, free_match> match(
      pcre2_match_data_create_from_pattern(code, nullptr));
  if (!match) throw std::bad_alloc();
  const auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    const int result =
        pcre2_match(code, subject, text.size(), at, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
    if (result < 0 && result != PCRE2_ERROR_NOMATCH)
      throw std::runtime_error("pre_tokenizer: at byte " + std::to_string(at) + " of " +
                               std::to_string(text.size()) + ": " + message_of(result));
    const auto* found = pcre2_get_ovector_pointer(match.get());
    const auto begin = result < 0 ? text.size() : found[0];
    if (begin > at)
      pieces.push_back(text.substr(at, begin - at));  // the pattern doesn't match this part
    if (result < 0) break;
    pieces.push_back(text.substr(begin, found[1] - begin));
    at = found[1];
  }
  return pieces;
}

}  // namespace troupe::llm
