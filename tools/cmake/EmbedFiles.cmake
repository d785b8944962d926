# Embeds files as bytes in a C++ source, at build time and with CMake alone.
#
# As a module: tbench_embed(TARGET [NOT_IN_DIGEST] NAMESPACE ns HEADER h.hpp FUNCTION f FILES a.css b/c.js ...)
#   adds a source to TARGET that defines `std::span<const EmbeddedFile> ns::f()`, as declared in h.hpp. The name of a
#   file is without its folders. NOT_IN_DIGEST: no result depends on the files, so they do not change the digest of the
#   sources (BuildInfo.cmake).
# As a script: cmake -DFILES= -DOUTPUT= -DNAMESPACE= -DHEADER= -DFUNCTION= -P EmbedFiles.cmake

function(tbench_embed target)
  cmake_parse_arguments(ARG "NOT_IN_DIGEST" "NAMESPACE;HEADER;FUNCTION" "FILES" ${ARGN})
  list(TRANSFORM ARG_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${ARG_FUNCTION}.cpp)
  list(JOIN ARG_FILES "," files)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFILES=${files} -DOUTPUT=${output} -DNAMESPACE=${ARG_NAMESPACE} -DHEADER=${ARG_HEADER}
            -DFUNCTION=${ARG_FUNCTION} -P ${PROJECT_SOURCE_DIR}/tools/cmake/EmbedFiles.cmake
    DEPENDS ${ARG_FILES} ${PROJECT_SOURCE_DIR}/tools/cmake/EmbedFiles.cmake
    COMMENT "Embedding the files of ${ARG_FUNCTION}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  if(NOT ARG_NOT_IN_DIGEST)
    set_property(TARGET ${target} APPEND PROPERTY TBENCH_EMBEDDED ${ARG_FILES})
  endif()
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()
cmake_policy(VERSION 3.25) # no cmake_minimum_required() sets the policies of a script

set(arrays "")
set(table "")
string(REPLACE "," ";" FILES "${FILES}")
set(index 0)
foreach(file ${FILES})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  get_filename_component(name ${file} NAME)
  string(APPEND arrays "constexpr char kFile${index}[] = {${bytes}};\n")
  string(APPEND table "    {\"${name}\", {kFile${index}, sizeof(kFile${index})}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Written by tools/cmake/EmbedFiles.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {
namespace {

${arrays}
constexpr EmbeddedFile kFiles[] = {
${table}};

}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() { return kFiles; }

}  // namespace ${NAMESPACE}
")
