# `cmake --install`: the libraries with their headers, for find_package(troupe), and the troupe command with its manual
# page and completion. With `--component command` the command alone. The target `installed` builds what is installed.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
# What is installed finds a libtorch that does not lie in the system's folders.
foreach(target troupe troupe_work troupe_serve_env troupe_env_host troupe_language_model)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endforeach()

set(libraries options base boost runtime plugin checkpoint coder sandbox data environments openenv openenv_server python recorder replay
              reward run_metrics text torch video actors algorithms command_line program llm_files llm_jinja llm_tokenizer llm_config
              llm_tasks llm trained_model sft_examples sft grpo)
add_custom_target(installed DEPENDS troupe)

# refuse_what_is_not_built COMPONENT WHAT TARGET FILE...: installing the component stops where a file is missing, and says
# what to build. It stands before what is installed, so that no half of it is installed. CMake breaks no line that begins
# with a space.
function(refuse_what_is_not_built component what target)
  list(JOIN ARGN "\" \"" files)
  install(CODE "foreach(file \"${files}\")
  if(NOT EXISTS \"\${file}\")
    message(FATAL_ERROR \" ${what} not built yet: run `cmake --build ${PROJECT_BINARY_DIR} --target ${target}`, then install again.\")
  endif()
endforeach()" COMPONENT ${component})
endfunction()
set(archives ${libraries})
list(TRANSFORM archives PREPEND troupe_)
list(FILTER archives EXCLUDE REGEX "^troupe_(options|torch)$")  # they are no files
list(TRANSFORM archives REPLACE "(.+)" "$<TARGET_FILE:\\1>")
refuse_what_is_not_built(development "The libraries are" installed ${archives})
refuse_what_is_not_built(command "The troupe command is" deploy/troupe/troupe $<TARGET_FILE:troupe>)

foreach(library ${libraries})
  add_dependencies(installed troupe_${library})
  set_target_properties(troupe_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS troupe_${library} EXPORT troupe ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
target_include_directories(troupe_options INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/troupe>")
install(TARGETS troupe RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
# `troupe` looks for them there, beside its own folder.
install(TARGETS troupe_work troupe_serve_env troupe_env_host troupe_language_model
        RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/troupe COMPONENT command)
if(TROUPE_UNUSED_LIBRARIES)
  install(DIRECTORY ${TROUPE_UNUSED_LIBRARIES} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/troupe COMPONENT command)
endif()
install(FILES ${TROUPE_PRINTED}/troupe.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${TROUPE_PRINTED}/troupe.bash RENAME troupe COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${TROUPE_PRINTED}/_troupe DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
install(FILES ${TROUPE_PRINTED}/troupe.fish COMPONENT command
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The code of Python processes. find_installed() looks for it beside the programs.
install(DIRECTORY actors/python/troupe_worker DESTINATION ${CMAKE_INSTALL_DATADIR}/troupe/python COMPONENT command
        FILES_MATCHING PATTERN "*.py")

# The include root is the repository's: #include "runtime/service/service.hpp".
install(DIRECTORY runtime actors algorithms DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/troupe
        FILES_MATCHING PATTERN "*.hpp")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
install(EXPORT troupe NAMESPACE troupe:: FILE troupeTargets.cmake DESTINATION ${package})
file(RELATIVE_PATH prefix_from_package ${CMAKE_INSTALL_PREFIX}/${package} ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/troupeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/troupeConfig.cmake @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/troupeConfig.cmake cmake/CoroutineCheck.cmake cmake/coroutine_check.cpp
              cmake/Dependencies.cmake cmake/found_prefix.cpp.in
              cmake/Plugin.cmake cmake/plugin.map DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/troupeConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/troupeConfigVersion.cmake DESTINATION ${package})
