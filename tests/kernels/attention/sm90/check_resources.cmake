# Reads the reports of ptxas on the sm90 kernels from their build (OBJECT.ptxas, see tools/cmake/keep_ptxas_report.sh), for
# sm_90a. Fails for spilled registers, for wgmma instructions that ptxas has serialised (C7510 to C7518, which it reports as
# information, not as warnings), and for a kernel that no report has. RENAMES, tools/renames.tsv, lists the kernels that have
# been renamed; they may have the old name or the new one. ADDED lists the others. 16-bit kernels are required in bf16 and in
# fp16.
#   cmake "-DOBJECTS=a.cu.o;..." -DRENAMES=tools/renames.tsv "-DADDED=a_kernel;..." -P check_resources.cmake
cmake_policy(VERSION 3.25) # a script sets none

# mangled_begins(RESULT ROW): sets RESULT to "OLD|NEW" for a kernel's row, both as in a mangled name, with the length
# first.
function(mangled_begins result row)
  string(REPLACE "\t" ";" columns "${row}")
  set(begins "")
  foreach(column 1 2)
    list(GET columns ${column} name)
    string(REGEX REPLACE ".*::" "" name "${name}")
    string(LENGTH "${name}" length)
    list(APPEND begins "${length}${name}")
  endforeach()
  list(JOIN begins "|" joined)
  set(${result} "${joined}" PARENT_SCOPE)
endfunction()

file(STRINGS ${RENAMES} rows REGEX "^kernel\t.*\tkernels::sm90")
set(all_kernels "")
foreach(row ${rows})
  mangled_begins(begins "${row}")
  list(APPEND all_kernels "${begins}")
endforeach()
if(NOT all_kernels)
  message(FATAL_ERROR "${RENAMES}: no row of a kernel in the namespace kernels::sm90")
endif()
foreach(name ${ADDED})
  string(LENGTH "${name}" length)
  list(APPEND all_kernels "${length}${name}")
endforeach()
list(JOIN all_kernels "|" any_kernel)

set(all_names "")
foreach(object ${OBJECTS})
  if(NOT EXISTS ${object}.ptxas)
    message(FATAL_ERROR "${object}.ptxas: ptxas's report is not there. Build the target tbench_kernels again.")
  endif()
  file(READ ${object}.ptxas whole)
  # Keeps only the kernels' part: the lines of ptxas from a function compiled for sm_90a up to the next one for another
  # GPU.
  string(REGEX REPLACE "Compiling entry function" ";" functions "${whole}")
  set(report "")
  set(names "")
  foreach(function ${functions})
    if(function MATCHES "^ '([^']*)' for 'sm_90a'")
      string(APPEND names "${CMAKE_MATCH_1}\n")
      string(APPEND report "Compiling entry function${function}")
    endif()
  endforeach()
  string(APPEND all_names "${names}")
  string(REGEX MATCHALL "(${any_kernel})I" kernels "${names}")
  string(REGEX MATCHALL " 0 bytes spill stores, 0 bytes spill loads" unspilled "${report}")
  string(REGEX MATCHALL "bytes spill stores" reported "${report}")
  list(LENGTH kernels kernel_count)
  list(LENGTH unspilled unspilled_count)
  list(LENGTH reported reported_count)
  if(kernel_count EQUAL 0 OR NOT reported_count EQUAL unspilled_count)
    message(FATAL_ERROR "${object}: ${unspilled_count} of ${reported_count} functions without spills, ${kernel_count} of "
                        "them kernels that ${RENAMES} lists, of which there should be one or more:\n${report}")
  endif()
  if(whole MATCHES "C751[0-8]")
    message(FATAL_ERROR "${object}: ptxas has serialised products:\n${whole}")
  endif()
  message(STATUS "${object}: ${kernel_count} kernels, no spills, no products serialised")
endforeach()

foreach(kernel ${all_kernels})
  set(elements "I13__nv_bfloat16" "I6__half")
  if(kernel MATCHES "_tf32_")
    set(elements "I")
  endif()
  foreach(element ${elements})
    if(NOT all_names MATCHES "(${kernel})${element}")
      message(FATAL_ERROR "no kernel ${kernel} with ${element} among the functions for sm_90a of '${OBJECTS}':\n${all_names}")
    endif()
  endforeach()
endforeach()
