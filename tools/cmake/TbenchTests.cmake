# Functions that make test programs and register tests. ci/test.sh runs the tests in two halves: one in a build with
# sanitizers, the other in the release build. The tests that a half runs have its name as a label, `sanitizers` or
# `release`, by which ci/test.sh and the test presets select them. Programs of which a half runs no test are not part of
# its target `all`.

set(TBENCH_TESTS all CACHE STRING "Tests that are built and labelled: those of the half (`half`), or `all`")
set_property(CACHE TBENCH_TESTS PROPERTY STRINGS half all)
if(TBENCH_SANITIZE)
  set(tbench_half sanitizers)
else()
  set(tbench_half release)
endif()

# Options for the sources of tests, which take most of the time that building the tests takes. They are not optimised:
# -O0 takes half the time of -O3. With sanitizers, they are compiled without UBSan's checks of each access, which takes
# three quarters of the time; AddressSanitizer finds most of these errors, too. The libraries under test are compiled as
# usual.
add_library(tbench_quick_to_compile INTERFACE)
if(TBENCH_SANITIZE)
  target_compile_options(tbench_quick_to_compile INTERFACE -fno-sanitize=null,alignment,vptr,object-size,pointer-overflow)
else()
  target_compile_options(tbench_quick_to_compile INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
endif()

# tbench_test(NAME [UNIT] [OPTIMISED] [EACH_TEST | ONE_PROCESS [SHARDS number] [APART suite...]]
#             SOURCES a_test.cpp ... LIBRARIES targets... [UNDER_SANITIZERS pattern...] [LABELS label... [ALONE pattern...]])
# Makes a GoogleTest program. UNIT: the half with sanitizers runs it. Without UNIT, the release half does.
# UNDER_SANITIZERS: the half with sanitizers also runs the tests of a release program that match a pattern. OPTIMISED:
# the sources are compiled with optimisation, for tests that compute for a long time.
# Each suite is an entry of ctest with its own process. With EACH_TEST, for long tests, each test is such an entry. With
# ONE_PROCESS, for programs that take a second to start, the whole program is one, and the suites in APART have an entry
# of their own. SHARDS divides the tests of such a program among that number of processes, which run concurrently. It
# suits programs whose results the host takes long to compare. GPU programs run at the same time, except for entries
# that match a pattern of ALONE, because they measure times or use all of the memory.
function(tbench_test name)
  cmake_parse_arguments(ARG "UNIT;OPTIMISED;EACH_TEST;ONE_PROCESS" "SHARDS" "SOURCES;ALONE;LIBRARIES;LABELS;APART;UNDER_SANITIZERS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tbench_warnings ${ARG_LIBRARIES} tbench_test_main GTest::gtest GTest::gmock)
  # The host computes references for the results of a GPU, so GPU programs are optimised.
  if(NOT ARG_OPTIMISED AND NOT "gpu" IN_LIST ARG_LABELS)
    target_link_libraries(${name} PRIVATE tbench_quick_to_compile)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE TBENCH_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  set(entries one_per_suite)
  if(ARG_EACH_TEST)
    set(entries one_per_test)
  elseif(ARG_ONE_PROCESS)
    set(entries one_in_all)
  endif()
  # A regular expression that matches the entries that this half runs.
  set(run_here "^$")
  if(TBENCH_TESTS STREQUAL all OR (ARG_UNIT AND TBENCH_SANITIZE) OR NOT (ARG_UNIT OR TBENCH_SANITIZE))
    set(run_here ".")
  elseif(TBENCH_SANITIZE AND ARG_UNDER_SANITIZERS)
    list(JOIN ARG_UNDER_SANITIZERS "|" run_here)
  endif()
  if(run_here STREQUAL "^$")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  set(alone "^$")
  if(ARG_ALONE)
    list(JOIN ARG_ALONE "|" alone)
  endif()
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake)
  file(
    GENERATE
    OUTPUT ${script}
    CONTENT
      "set(name ${name})
set(program \"$<TARGET_FILE:${name}>\")
set(entries ${entries})
set(apart \"${ARG_APART}\")
set(labels \"${ARG_LABELS}\")
set(shards \"${ARG_SHARDS}\")
set(alone [==[${alone}]==])
set(half ${tbench_half})
set(run_here [==[${run_here}]==])
include(\"${PROJECT_SOURCE_DIR}/tools/cmake/RegisterTests.cmake\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# tbench_label_scripts()
# Labels the tests that add_test() has made in this folder: programs and scripts. The release half runs them.
function(tbench_label_scripts)
  if(TBENCH_SANITIZE AND NOT TBENCH_TESTS STREQUAL all)
    return()
  endif()
  get_property(tests DIRECTORY PROPERTY TESTS)
  set_property(TEST ${tests} APPEND PROPERTY LABELS ${tbench_half})
endfunction()
