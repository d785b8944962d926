# Uses ccache if it is installed and can write its cache. If it cannot, no object compiles.

find_program(TBENCH_CCACHE ccache)
if(TBENCH_CCACHE)
  execute_process(COMMAND ${TBENCH_CCACHE} --get-config cache_dir
                  OUTPUT_VARIABLE cache OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${CMAKE_COMMAND} -E make_directory "${cache}/tmp" OUTPUT_QUIET ERROR_QUIET)
  execute_process(COMMAND ${CMAKE_COMMAND} -E touch "${cache}/tmp/.tbench" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    file(REMOVE "${cache}/tmp/.tbench")
    set(CMAKE_CXX_COMPILER_LAUNCHER ${TBENCH_CCACHE})
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${TBENCH_CCACHE})
  else()
    message(STATUS "ccache is left out: its folder '${cache}' cannot be written to")
  endif()
endif()
