# Functions that make the project's targets. Only this file sets warnings and sanitizers. TbenchTests.cmake makes the
# test programs.

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
# GCC 12 reports overlapping copies inside std::string's own operator+ (GCC bug 105651).
target_compile_options(
  tbench_warnings
  INTERFACE $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(TBENCH_SANITIZE)
  target_compile_options(tbench_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined
                                                   -fno-sanitize-recover=undefined -fno-omit-frame-pointer>)
  target_link_options(tbench_warnings INTERFACE -fsanitize=address,undefined)
endif()

# tbench_layer(NAME [SELF_REGISTERING] SOURCES a.cpp ... [PUBLIC targets...] [PRIVATE targets...])
# Makes a static library tbench::NAME. Its public headers are in include/tbench/NAME/. Its other headers are next to the
# sources, are included by their path below src/, and are for the layer and its tests. SELF_REGISTERING: some of its
# files have TBENCH_REGISTER; see tbench_link_whole().
function(tbench_layer name)
  cmake_parse_arguments(ARG "SELF_REGISTERING" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(tbench_${name} STATIC ${ARG_SOURCES})
  if(ARG_SELF_REGISTERING)
    tbench_link_whole(${name})
  else()
    add_library(tbench::${name} ALIAS tbench_${name})
  endif()
  target_include_directories(tbench_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tbench_${name} PUBLIC ${ARG_PUBLIC} PRIVATE tbench_warnings ${ARG_PRIVATE})
endfunction()

# tbench_link_whole(NAME)
# Makes tbench::NAME, which links all objects of the static library tbench_NAME. A linker takes from an archive only
# objects that something refers to, and nothing refers to a file that registers itself (TBENCH_REGISTER).
function(tbench_link_whole name)
  add_library(tbench_whole_${name} INTERFACE)
  target_link_libraries(tbench_whole_${name} INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,tbench_${name}>)
  add_library(tbench::${name} ALIAS tbench_whole_${name})
endfunction()

# tbench_link_in_top_folder(TARGET)
# Makes ./TARGET a link to the program of the preset `release`, whichever preset was built last. If there is no release
# build, it is a link to the program of `host`.
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
# Installs a library that few systems have into lib, if it is a shared library.
function(tbench_install_library target)
  get_target_property(kind ${target} TYPE)
  if(kind STREQUAL SHARED_LIBRARY)
    install(IMPORTED_RUNTIME_ARTIFACTS ${target} LIBRARY DESTINATION lib)
  endif()
endfunction()
