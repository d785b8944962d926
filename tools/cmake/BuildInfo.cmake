# Writes a C++ source with the commit, and with a digest of every file that a program is compiled from.
#
# As a module: tbench_build_info(TARGET PROGRAM)
#   adds the source to TARGET. Every build writes it again if the commit or the digest has changed. The digest covers
#   the sources of TARGET, PROGRAM and the project's libraries that TARGET links, the project headers that they include,
#   the files embedded in them, and the build's own files. Prose, other programs and files embedded with NOT_IN_DIGEST
#   do not count.
# As a script: cmake -DSOURCE_DIR= -DSOURCES=FILE -DOUTPUT= -DBUILD_TYPE= -DCOMPILER= -DOPTIONS= -DVARIANT= -P
#   BuildInfo.cmake
#   FILE lists the sources, one per line, relative to SOURCE_DIR. -DLIST=FILE writes the list of digested files.

# tbench_program_sources(OUT TARGET...): the files from which the targets, and the project's libraries that they link,
# are compiled.
function(tbench_program_sources out)
  set(pending ${ARGN})
  set(seen "")
  set(files CMakeLists.txt CMakePresets.json)
  file(GLOB build_files RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tools/cmake/*)
  list(APPEND files ${build_files})
  while(pending)
    list(POP_FRONT pending target)
    if(target MATCHES "^\\$<LINK_LIBRARY:WHOLE_ARCHIVE,([^,>]+)>$")
      set(target ${CMAKE_MATCH_1})
    endif()
    if(NOT TARGET ${target})
      continue()
    endif()
    get_target_property(aliased ${target} ALIASED_TARGET)
    if(aliased)
      set(target ${aliased})
    endif()
    get_target_property(imported ${target} IMPORTED)
    if(imported OR target IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${target})
    get_target_property(folder ${target} SOURCE_DIR)
    foreach(property SOURCES TBENCH_EMBEDDED)
      get_target_property(sources ${target} ${property})
      foreach(source IN LISTS sources)
        if(source)
          cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE OUTPUT_VARIABLE path)
          cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${path} is_generated)
          if(NOT is_generated)
            list(APPEND files ${path})
          endif()
        endif()
      endforeach()
    endforeach()
    if(EXISTS ${folder}/CMakeLists.txt)
      list(APPEND files ${folder}/CMakeLists.txt)
    endif()
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(libraries ${target} ${property})
      if(libraries)
        list(APPEND pending ${libraries})
      endif()
    endforeach()
  endwhile()
  set(relative "")
  foreach(path IN LISTS files)
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR} NORMALIZE)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    list(APPEND relative ${path})
  endforeach()
  list(REMOVE_DUPLICATES relative)
  set(${out} ${relative} PARENT_SCOPE)
endfunction()

set(TBENCH_VARIANT "" CACHE STRING "Name that tells this build from others with the same recorded facts; in every result")

# tbench_compile_options(OUT): the options for C++ and CUDA in this build type, and the GPU architectures.
function(tbench_compile_options out)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(options "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  if(CMAKE_CUDA_COMPILER)
    list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)
    string(APPEND options ", CUDA ${CMAKE_CUDA_FLAGS} ${CMAKE_CUDA_FLAGS_${type}}, GPUs ${architectures}")
  endif()
  string(REGEX REPLACE " +" " " options "${options}")
  string(REPLACE " ," "," options "${options}")
  string(STRIP "${options}" options)
  set(${out} "${options}" PARENT_SCOPE)
endfunction()

function(tbench_build_info target program)
  if(NOT TBENCH_VARIANT MATCHES "^[A-Za-z0-9_.+-]*$")
    message(FATAL_ERROR "TBENCH_VARIANT: '${TBENCH_VARIANT}' may only have letters, digits, '_', '.', '+' and '-'")
  endif()
  tbench_compile_options(options)
  tbench_program_sources(sources ${target} ${program})
  list(JOIN sources "\n" sources)
  set(listed ${CMAKE_CURRENT_BINARY_DIR}/build_info_sources.txt)
  file(CONFIGURE OUTPUT ${listed} CONTENT "@sources@\n" @ONLY)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/build_info.cpp)
  add_custom_target(
    ${target}_build_info
    COMMAND
      ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DSOURCES=${listed} -DOUTPUT=${output}
      -DBUILD_TYPE=${CMAKE_BUILD_TYPE} "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
      "-DOPTIONS=${options}" -DVARIANT=${TBENCH_VARIANT} -P ${PROJECT_SOURCE_DIR}/tools/cmake/BuildInfo.cmake
    VERBATIM
    BYPRODUCTS ${output})
  target_sources(${target} PRIVATE ${output})
  add_dependencies(${target} ${target}_build_info)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()
cmake_policy(VERSION 3.25) # no cmake_minimum_required() sets the policies of a script

# find_headers(FILE OUT): the project's headers that a file includes. Looks where the compiler does: next to the file,
# and below the project's folders.
function(find_headers file out)
  file(STRINGS ${SOURCE_DIR}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
  cmake_path(GET file PARENT_PATH folder)
  string(REGEX MATCH "^src/[^/]+" layer "${file}")
  set(found "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" header "${line}")
    foreach(root IN ITEMS ${folder} include src ${layer} .)
      cmake_path(APPEND root ${header} OUTPUT_VARIABLE path)
      cmake_path(NORMAL_PATH path)
      if(EXISTS ${SOURCE_DIR}/${path})
        list(APPEND found ${path})
        break()
      endif()
    endforeach()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

file(STRINGS ${SOURCES} pending)
set(sources "")
while(pending)
  list(POP_FRONT pending source)
  if(source IN_LIST sources)
    continue()
  endif()
  list(APPEND sources ${source})
  if(source MATCHES "\\.(cpp|hpp|h|cu|cuh)$")
    find_headers(${source} headers)
    list(APPEND pending ${headers})
  endif()
endwhile()
list(SORT sources)
set(digests "")
foreach(source IN LISTS sources)
  file(SHA256 ${SOURCE_DIR}/${source} digest)
  string(APPEND digests "${digest} ${source}\n")
endforeach()
string(SHA256 sources_digest "${digests}")
if(LIST)
  file(WRITE ${LIST} "${digests}")
endif()

set(commit unknown)
set(diff_digest "")
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
      execute_process(COMMAND ${git} -C ${SOURCE_DIR} diff HEAD --binary -- src include bench tools/cmake CMakeLists.txt
                      OUTPUT_VARIABLE diff ERROR_QUIET)
      string(SHA256 diff_digest "${changes}${diff}")
    endif()
  endif()
endif()

string(REGEX REPLACE "([\\\"])" "\\\\\\1" OPTIONS "${OPTIONS}")

set(text "// Written by tools/cmake/BuildInfo.cmake.
#include \"bench/cli/build_info.hpp\"

namespace tbench::bench {

const BuildInfo& build_info() {
  static constexpr BuildInfo kInfo{.commit = \"${commit}\",
                                   .sources_digest = \"${sources_digest}\",
                                   .diff_digest = \"${diff_digest}\",
                                   .build_type = \"${BUILD_TYPE}\",
                                   .compile_options = \"${OPTIONS}\",
                                   .variant = \"${VARIANT}\",
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
