# `cpack` in the build folder: the Debian package troupe with the command, and troupe-dev with libraries and headers.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the Troupe authors <troupe@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command development)
set(CPACK_COMPONENTS_GROUPING IGNORE)  # a package for each component
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE)
# The copyright, the changelog and the compression of pages, as Debian wants them.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake)
set(CPACK_TROUPE_DEBIAN_FOLDER ${PROJECT_SOURCE_DIR}/deploy/debian)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME troupe)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "reinforcement learning by actors
The troupe command trains agents on environments and language models on tasks
by reinforcement learning, on one machine or many, and evaluates them. It
resumes runs from checkpoints, serves metrics, and serves environments.")
# What the programs link directly is what they need: they bring empty libraries in the place of those that libtorch asks
# for in vain (UnusedLibraries.cmake). libtorch takes any BLAS; the reference one is 35 times slower.
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS libopenblas0-pthread)
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "bubblewrap (>= 0.8), python3-minimal")  # programs in sandboxes
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS python3-pip)  # for `troupe models get`

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME troupe-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "reinforcement learning by actors (development files)
The headers and static libraries with which C++ programs train agents on
environments and by algorithms of their own, and the package troupe for CMake.")
# The libraries that find_package(troupe) looks for stand in the second part of packages.txt.
file(READ ${PROJECT_SOURCE_DIR}/deploy/packages.txt packages)
string(REGEX REPLACE ".*\n# Libraries\n(.*)\n# Tests and checks\n.*" "\\1" packages "${packages}")
string(REGEX REPLACE "#[^\n]*" "" packages "${packages}")
string(REGEX MATCHALL "[a-z0-9][-+.a-z0-9]+" packages "${packages}")
list(JOIN packages ", " packages)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "troupe (= ${PROJECT_VERSION}), cmake, ${packages}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "clang-19")
include(CPack)
