# Functions that make the project's targets: one layer, one test program. Warnings and sanitizers live here alone.

add_library(tbench_warnings INTERFACE)
target_compile_options(
  tbench_warnings
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall
            -Wextra
            -Wconversion
            -Wshadow
            -Wnon-virtual-dtor
            -Woverloaded-virtual
            $<$<BOOL:${TBENCH_WARNINGS_AS_ERRORS}>:-Werror>>)
# GCC 12 sees overlapping copies inside std::string's own operator+ (GCC bug 105651).
target_compile_options(
  tbench_warnings
  INTERFACE $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(TBENCH_SANITIZE)
  target_compile_options(tbench_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined
                                                   -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  target_link_options(tbench_warnings INTERFACE -fsanitize=address,undefined)
endif()

# tbench_layer(NAME SOURCES a.cpp ... [PUBLIC targets...] [PRIVATE targets...])
# A static library tbench::NAME whose headers are include/tbench/NAME/.
function(tbench_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(tbench_${name} STATIC ${ARG_SOURCES})
  add_library(tbench::${name} ALIAS tbench_${name})
  target_include_directories(tbench_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(tbench_${name} PUBLIC ${ARG_PUBLIC} PRIVATE tbench_warnings ${ARG_PRIVATE})
endfunction()

# tbench_test(NAME SOURCES a_test.cpp ... LIBRARIES targets... [LABELS label...])
# A GoogleTest program; every test of it becomes a ctest test, with the labels given.
function(tbench_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tbench_warnings ${ARG_LIBRARIES} GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name} PRIVATE TBENCH_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
endfunction()
