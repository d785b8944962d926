# Run as a script at every build: writes OUTPUT (C++) with the commit and a digest of everything that is compiled, and
# leaves it alone while neither has changed.
#   cmake -DSOURCE_DIR= -DOUTPUT= -DBUILD_TYPE= -DCOMPILER= -P BuildInfo.cmake

file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/src/* ${SOURCE_DIR}/include/* ${SOURCE_DIR}/bench/*.cpp
     ${SOURCE_DIR}/bench/*.hpp ${SOURCE_DIR}/tools/cmake/* ${SOURCE_DIR}/CMakeLists.txt ${SOURCE_DIR}/CMakePresets.json)
list(SORT sources)
set(digests "")
foreach(source ${sources})
  file(SHA256 ${SOURCE_DIR}/${source} digest)
  string(APPEND digests "${digest} ${source}\n")
endforeach()
string(SHA256 sources_digest "${digests}")

set(commit unknown)
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE_DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE head RESULT_VARIABLE failed
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed)
    set(commit ${head})
    execute_process(COMMAND ${git} -C ${SOURCE_DIR} status --porcelain -- src include bench tools/cmake CMakeLists.txt
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    string(REGEX MATCH "\\.(cpp|hpp|cu|cuh|cmake|txt)" code_changes "${changes}")
    if(code_changes)
      string(APPEND commit "-dirty")
    endif()
  endif()
endif()

set(text "// Written by tools/cmake/BuildInfo.cmake.
#include \"build_info.hpp\"

namespace tbench::bench {

const BuildInfo& build_info() {
  static constexpr BuildInfo kInfo{.commit = \"${commit}\",
                                   .sources_digest = \"${sources_digest}\",
                                   .build_type = \"${BUILD_TYPE}\",
                                   .compiler = \"${COMPILER}\"};
  return kInfo;
}

}  // namespace tbench::bench
")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUTPUT} "${text}")
endif()
