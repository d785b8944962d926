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
# A static library tbench::NAME whose headers are include/tbench/NAME/ for all, and beside the sources, spelled from src/,
# for itself and its tests.
function(tbench_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(tbench_${name} STATIC ${ARG_SOURCES})
  add_library(tbench::${name} ALIAS tbench_${name})
  target_include_directories(tbench_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tbench_${name} PUBLIC ${ARG_PUBLIC} PRIVATE tbench_warnings ${ARG_PRIVATE})
endfunction()

# tbench_test(NAME [BY_SUITE] SOURCES a_test.cpp ... LIBRARIES targets... [LABELS label...])
# A GoogleTest program; every test of it becomes a ctest test, with the labels given. BY_SUITE, and with the label gpu:
# every suite, because a process that loads LibTorch or makes a CUDA context takes half a second to start.
function(tbench_test name)
  cmake_parse_arguments(ARG "BY_SUITE" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tbench_warnings ${ARG_LIBRARIES} GTest::gtest GTest::gmock)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE TBENCH_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  if(ARG_BY_SUITE OR "gpu" IN_LIST ARG_LABELS)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/suite_main.cpp)
    set(resource $<$<IN_LIST:gpu,${ARG_LABELS}>:gpu>)
    set(suites ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
    file(
      GENERATE
      OUTPUT ${suites}
      CONTENT
        "set(name ${name})\nset(program \"$<TARGET_FILE:${name}>\")\nset(labels \"${ARG_LABELS}\")\nset(resource \"${resource}\")\ninclude(\"${PROJECT_SOURCE_DIR}/tools/cmake/TbenchTestSuites.cmake\")\n"
    )
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${suites})
    return()
  endif()
  target_link_libraries(${name} PRIVATE GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}")
endfunction()

# tbench_link_in_top_folder(TARGET)
# ./TARGET is the program of the preset `release`, whatever was built last; of `host` as long as there is no release build.
function(tbench_link_in_top_folder target)
  file(RELATIVE_PATH folder ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
  set(release ${PROJECT_SOURCE_DIR}/build/release)
  set(link ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:${target}> ${PROJECT_SOURCE_DIR}/${target})
  if(PROJECT_BINARY_DIR STREQUAL release)
    add_custom_command(TARGET ${target} POST_BUILD COMMAND ${link})
  elseif(PROJECT_BINARY_DIR STREQUAL ${PROJECT_SOURCE_DIR}/build/host)
    add_custom_command(TARGET ${target} POST_BUILD COMMAND test -e ${release}/${folder}/${target} || ${link})
  endif()
endfunction()

# tbench_install_library(TARGET)
# A library that few systems have goes along in lib, if it is a shared one.
function(tbench_install_library target)
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL SHARED_LIBRARY)
    install(IMPORTED_RUNTIME_ARTIFACTS ${target} LIBRARY DESTINATION lib)
  endif()
endfunction()
