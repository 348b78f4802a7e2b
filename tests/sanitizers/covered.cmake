# What `./dev sanitize` and the test presets of that name build and run: the suites of runtime/, actors/ and algorithms/,
# and what was planted for the sanitizer to find. For threads those of runtime/, and the loops of asynchronous training
# with a learner that is a stub, as libtorch is not built with that sanitizer. Not test_crashes and test_allocations,
# whose bounds on time and memory are those of a release build.
if(TROUPE_SANITIZE STREQUAL "address")
  set(sanitized_tests
    test_runtime test_wire test_process test_remote test_cluster test_checkpoint test_data test_environments
    test_openenv test_openenv_server test_text test_recorder test_replay test_reward test_actors
    test_llm_files test_llm test_generator test_malformed_config test_malformed_llm
    test_algorithms test_task_selector test_learners test_off_policy test_q_learning test_multi_agent test_joint_q
    test_maddpg test_sft test_grpo)
  add_custom_target(sanitized DEPENDS ${sanitized_tests} planted_use_after_free)
else()
  set(sanitized_tests test_runtime test_process test_loops_on_threads)
  add_custom_target(sanitized DEPENDS ${sanitized_tests} planted_race)
endif()
list(APPEND sanitized_tests planted_test)
list(JOIN sanitized_tests "\n" lines)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/sanitized.txt "${lines}\n")

set(symbolizer external_symbolizer_path=/usr/bin/llvm-symbolizer-19)
list(APPEND test_environment
  ASAN_OPTIONS=${symbolizer}
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:${symbolizer}
  TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/sanitizers/tsan.supp:${symbolizer}
  LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/sanitizers/lsan.supp:print_suppressions=0)
