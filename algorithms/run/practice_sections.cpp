#include "algorithms/run/practice_sections.hpp"

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
      .help("success rate of a level's last episodes at which the next level begins");
  s.field("window", &curriculum_section::window)
      .at_least(1)
      .at_most(1'000'000)
      .unit("episodes")
      .help("that the rate is of");
  s.field("min_episodes", &curriculum_section::min_episodes)
      .at_least(1)
      .help("at a level, before it is left");
  s.field("demote_at", &curriculum_section::demote_at)
      .at_least(0)
      .help("success rate at which the level before begins again; null: never");
  s.field("stop_when_mastered", &curriculum_section::stop_when_mastered)
      .help("training ends once the last level's rate has reached promote_at");
  s.rule("demote_at", "a rate below promote_at",
         [](const curriculum_section& c) { return !c.demote_at || *c.demote_at < c.promote_at; });
}

void describe(options_schema<task_section>& s) {
  s.field("id", &task_section::id).help("the environment; `troupe list` names them");
  s.field("weight", &task_section::weight)
      .above(0)
      .help("share of the turns, where the schedule is proportional");
  s.field("floor", &task_section::floor)
      .unit("return")
      .help("of somebody who can do nothing: a relative return of 0");
  s.field("target", &task_section::target)
      .unit("return")
      .help("of somebody who can do it: a relative return of 1");
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
          "whose turn it is. round_robin: one task after the other; proportional: by their "
          "weights; "
          "by_need: the task with the worst relative return");
  s.field("window", &schedule_section::window)
      .at_least(1)
      .at_most(1'000'000)
      .unit("episodes")
      .help("of a task that its mean return is of");
  s.field("longest_wait", &schedule_section::longest_wait)
      .at_least(0)
      .unit("turns")
      .help("of others after which a task has its own in any case; 0: as many as there are tasks");
  s.field("stop_when_learned", &schedule_section::stop_when_learned)
      .help("training ends once the mean return of each task has reached its target");
}

}  // namespace troupe
