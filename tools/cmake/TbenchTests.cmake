# Functions that make test programs and register tests. ci/test.sh runs the tests in two halves: a build with sanitizers
# and the release build. A test that its half runs has the half's name as a label, `sanitizers` or `release`; that label
# is all that ci/test.sh and the test presets select by. A program that the half does not run is left out of `all`.

set(TBENCH_TESTS all CACHE STRING "Tests that are built and labelled: those of the half (`half`), or `all`")
set_property(CACHE TBENCH_TESTS PROPERTY STRINGS half all)
if(TBENCH_SANITIZE)
  set(tbench_half sanitizers)
else()
  set(tbench_half release)
endif()

# How sources of tests are compiled, which is most of what building the tests takes. Not optimised: half the time at -O0 of
# that at -O3. With sanitizers, without the checks of UBSan that are made at every access, of which AddressSanitizer sees
# most: three quarters of the time. The libraries under test are compiled as ever.
add_library(tbench_quick_to_compile INTERFACE)
if(TBENCH_SANITIZE)
  target_compile_options(tbench_quick_to_compile INTERFACE -fno-sanitize=null,alignment,vptr,object-size,pointer-overflow)
else()
  target_compile_options(tbench_quick_to_compile INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
endif()

# tbench_test(NAME [UNIT] [OPTIMISED] [EACH_TEST | ONE_PROCESS [SHARDS number] [APART suite...]]
#             SOURCES a_test.cpp ... LIBRARIES targets... [UNDER_SANITIZERS pattern...] [LABELS label... [ALONE pattern...]])
# Makes a GoogleTest program. UNIT: the half with sanitizers runs it, and else the release half; of the latter's, the half
# with sanitizers runs the tests that match a pattern of UNDER_SANITIZERS, too. OPTIMISED: its sources compute for long.
# A process of its own, and an entry of ctest, has every suite; every test (EACH_TEST: for long ones); or, where a process
# takes a second to start, the program (ONE_PROCESS) but for suites that need, or are worth, a fresh one (APART). SHARDS divide
# a program's tests among so many processes, side by side, where the host compares for long. GPU programs run side by
# side, but for entries that match a pattern of ALONE: those that take times, or all of the memory.
function(tbench_test name)
  cmake_parse_arguments(ARG "UNIT;OPTIMISED;EACH_TEST;ONE_PROCESS" "SHARDS" "SOURCES;ALONE;LIBRARIES;LABELS;APART;UNDER_SANITIZERS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tbench_warnings ${ARG_LIBRARIES} tbench_test_main GTest::gtest GTest::gmock)
  # What a GPU has computed is compared with references that the host computes.
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
  # A regular expression on the entries that this half runs.
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
# Labels the tests that add_test() has made in this folder, programs and scripts from end to end: the release half runs them.
function(tbench_label_scripts)
  if(TBENCH_SANITIZE AND NOT TBENCH_TESTS STREQUAL all)
    return()
  endif()
  get_property(tests DIRECTORY PROPERTY TESTS)
  set_property(TEST ${tests} APPEND PROPERTY LABELS ${tbench_half})
endfunction()
