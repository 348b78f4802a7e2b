#include "algorithms/language_models/grpo/prompt_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "actors/checkpoint/state_codec.hpp"
#include "actors/random/derived_seed.hpp"

namespace troupe {
namespace {

/// The problems of each level. Without a curriculum they have one level.
std::vector<std::vector<llm::problem>> by_level(
    std::vector<llm::problem> problems,
    const std::optional<loops::curriculum_options>& curriculum) {
  if (!curriculum) return {std::move(problems)};
  std::vector<std::vector<llm::problem>> levels(curriculum->levels);
  for (auto& one : problems) levels.at(one.level).push_back(std::move(one));
  return levels;
}

}  // namespace

prompt_source::prompt_source(std::vector<prompt_task> tasks, prompt_source_options options)
    : seed_(options.seed) {
  for (auto& task : tasks) {
    if (!(task.share > 0))
      throw std::invalid_argument(
          fmt::format("prompts: expected a share above 0, got {}", task.share));
    source made{.make = {},
                .levels = {},
                .share = task.share,
                .drawn = 0,
                .curriculum = task.curriculum,
                .progress = {}};
    if (auto* generated = std::get_if<generated_prompts>(&task.problems)) {
      made.make.push_back([generated = std::move(*generated)](std::uint64_t) {
        return items(python_dataset<llm::problem>(generated.items, generated.to_problem));
      });
    } else {
      auto& problems = std::get<std::vector<llm::problem>>(task.problems);
      for (auto& level : by_level(std::move(problems), task.curriculum)) {
        made.make.push_back([shared = dataset<llm::problem>::shared(std::move(level)),
                             shuffle = options.shuffle](std::uint64_t seed) {
          const dataset_options ordered{.shuffle = shuffle, .seed = seed};
          return items(dataset<llm::problem>({}, shared, ordered));
        });
      }
    }
    sources_.push_back(std::move(made));
  }
  begin();
}

prompt_source::prompt_source(std::vector<llm::problem> problems, bool shuffle, std::uint64_t seed)
    : prompt_source(std::vector<prompt_task>{{.problems = std::move(problems)}},
                    {.shuffle = shuffle, .seed = seed}) {}

void prompt_source::begin() {
  drawn_ = 0;
  for (std::size_t task = 0; task < sources_.size(); ++task) {
    auto& source = sources_[task];
    source.drawn = 0;
    source.progress.reset();
    if (source.curriculum) source.progress.emplace(*source.curriculum);
    source.levels.clear();
    for (std::size_t level = 0; level < source.make.size(); ++level) {
      const bool first = task == 0 && level == 0;
      source.levels.push_back(
          source.make[level](first ? seed_ : derived_seed(seed_, "task", {task, level})));
    }
  }
}

std::size_t prompt_source::furthest_behind() const {
  double all = 0;
  for (const auto& source : sources_) all += source.share;
  const auto behind = [&](const source& of) {
    return of.share / all * static_cast<double>(drawn_ + 1) - static_cast<double>(of.drawn);
  };
  const auto found = std::ranges::max_element(sources_, {}, behind);
  return static_cast<std::size_t>(found - sources_.begin());
}

prompt_draw prompt_source::next() {
  const auto task = furthest_behind();
  auto& source = sources_[task];
  auto& items = source.levels[source.progress ? source.progress->level() : 0];
  auto asked = std::visit([](auto& of) { return of.next(); }, items);
  ++source.drawn;
  const auto number = drawn_++;
  return {std::move(asked), derived_seed(seed_, "prompt", {number}), task, number};
}

void prompt_source::rewind(std::uint64_t seed) {
  seed_ = seed;
  begin();
}

void prompt_source::answered(std::uint64_t task, std::uint64_t level, std::int64_t answers,
                             std::int64_t right) {
  auto& levels = sources_.at(task).progress;
  if (!levels) return;
  for (std::int64_t i = 0; i < answers; ++i)
    levels->ended({.level = static_cast<std::size_t>(level), .success = i < right});
}

std::vector<prompt_progress> prompt_source::progress() const {
  std::vector<prompt_progress> all;
  for (const auto& source : sources_) {
    auto& now = all.emplace_back(prompt_progress{.drawn = source.drawn});
    if (!source.progress) continue;
    now.level = source.progress->level();
    now.success_rate = source.progress->success_rate();
  }
  return all;
}

namespace {

struct source_state {
  std::vector<std::string> levels;
  std::uint64_t drawn = 0;
  std::string progress;  ///< Empty without a curriculum.
};

struct prompt_source_state {
  std::vector<source_state> sources;
  std::uint64_t drawn = 0;
};

}  // namespace

std::string prompt_source::save() const {
  prompt_source_state state{.sources = {}, .drawn = drawn_};
  for (const auto& source : sources_) {
    auto& saved = state.sources.emplace_back();
    for (const auto& items : source.levels)
      saved.levels.push_back(std::visit([](const auto& of) { return of.save(); }, items));
    saved.drawn = source.drawn;
    if (source.progress) saved.progress = source.progress->save();
  }
  return state_bytes(state);
}

void prompt_source::restore(std::string bytes) {
  auto state = state_of<prompt_source_state>(bytes);
  const auto fits = [](const source_state& saved, const source& of) {
    return saved.levels.size() == of.levels.size() &&
           saved.progress.empty() == !of.progress.has_value();
  };
  if (!std::ranges::equal(state.sources, sources_, fits))
    throw state_error("prompts: expected the state of the same tasks and levels");
  for (std::size_t task = 0; task < sources_.size(); ++task) {
    auto& source = sources_[task];
    auto& saved = state.sources[task];
    for (std::size_t level = 0; level < source.levels.size(); ++level)
      std::visit([&](auto& items) { items.restore(std::move(saved.levels[level])); },
                 source.levels[level]);
    source.drawn = saved.drawn;
    if (source.progress) source.progress->restore(std::move(saved.progress));
  }
  drawn_ = state.drawn;
}

}  // namespace troupe
