#include "algorithms/run/task_sections.hpp"

namespace troupe {

loops::curriculum_options curriculum_section::options(std::size_t levels) const {
  return {.levels = levels,
          .promote_at = promote_at,
          .window = static_cast<std::size_t>(window),
          .min_episodes = min_episodes,
          .demote_at = demote_at};
}

loops::schedule_options schedule_section::options(const std::vector<task_section>& tasks) const {
  loops::schedule_options options{
      .rule = rule, .window = static_cast<std::size_t>(window), .longest_wait = longest_wait};
  for (const auto& task : tasks) {
    options.tasks.push_back({task.id, task.weight, task.floor, task.target});
  }
  return options;
}

void describe(options_schema<curriculum_section>& s) {
  s.field("promote_at", &curriculum_section::promote_at)
      .above(0)
      .at_most(1)
      .help("The success rate of a level's last episodes at which the next level begins.");
  s.field("window", &curriculum_section::window)
      .at_least(1)
      .at_most(1'000'000)
      .unit("episodes")
      .help("The success rate is over the last so many episodes at a level.");
  s.field("min_episodes", &curriculum_section::min_episodes)
      .at_least(1)
      .help("A level is not left before so many of its episodes have ended.");
  s.field("demote_at", &curriculum_section::demote_at)
      .at_least(0)
      .help("The success rate at which the level before begins again; null means never.");
  s.field("stop_when_mastered", &curriculum_section::stop_when_mastered)
      .help("If true, training ends once the last level's success rate has reached promote_at.");
  s.rule("demote_at", "a rate below promote_at",
         [](const curriculum_section& c) { return !c.demote_at || *c.demote_at < c.promote_at; });
}

void describe(options_schema<task_section>& s) {
  s.field("id", &task_section::id)
      .help("The environment's name; `troupe list` prints all of them.");
  s.field("weight", &task_section::weight)
      .above(0)
      .help(
          "The task's share of the turns, relative to the other weights, if rule is proportional.");
  s.field("floor", &task_section::floor)
      .unit("return")
      .help("The return of a policy that has learned nothing; it is the relative return 0.");
  s.field("target", &task_section::target)
      .unit("return")
      .help("The return at which the task counts as learned; it is the relative return 1.");
  s.rule("target", "a return above floor",
         [](const task_section& task) { return task.target > task.floor; });
}

void describe(enum_schema<loops::schedule_rule>& s) {
  using loops::schedule_rule;
  s.name("round_robin", schedule_rule::round_robin)
      .name("proportional", schedule_rule::proportional)
      .name("by_need", schedule_rule::by_need);
}

void describe(options_schema<schedule_section>& s) {
  s.field("rule", &schedule_section::rule)
      .help(
          "The rule that chooses the next task: round_robin takes one after the other, "
          "proportional gives turns by weight, by_need takes the task with the worst relative "
          "return.");
  s.field("window", &schedule_section::window)
      .at_least(1)
      .at_most(1'000'000)
      .unit("episodes")
      .help("A task's mean return is over its last so many episodes.");
  s.field("longest_wait", &schedule_section::longest_wait)
      .at_least(0)
      .unit("turns")
      .has_effect_if(
          "env.schedule.rule is by_need",
          [](const schedule_section& o) { return o.rule == loops::schedule_rule::by_need; })
      .help(
          "A task gets a turn in any case after so many turns of others; 0 means the number of "
          "tasks.");
  s.field("stop_when_learned", &schedule_section::stop_when_learned)
      .help("If true, training ends once the mean return of each task has reached its target.");
}

}  // namespace troupe
