# Compiles Hopper's kernels for sm_90a and reads what ptxas reports: it fails for registers that are spilled, and for
# wgmma instructions that ptxas has serialised (C7510 to C7518, which it reports as information, not as warnings).
#   cmake -DNVCC=... -DSOURCE_DIR=... -DINCLUDES=... -DOUTPUT_DIR=... -P check_resources.cmake
file(GLOB_RECURSE sources ${SOURCE_DIR}/src/kernels/attention/sm90/*.cu)
if(NOT sources)
  message(FATAL_ERROR "no kernels of Hopper in ${SOURCE_DIR}/src/kernels/attention/sm90")
endif()
set(include_options)
foreach(folder ${SOURCE_DIR}/include ${SOURCE_DIR}/src ${INCLUDES})
  list(APPEND include_options -I${folder})
endforeach()
foreach(source ${sources})
  set(precisions kBf16 kFp16)
  if(source MATCHES "/sm90/tf32/")
    set(precisions kTf32)
  endif()
  foreach(precision ${precisions})
    get_filename_component(name ${source} NAME_WE)
    string(APPEND name _${precision})
    execute_process(
      COMMAND ${NVCC} -DTBENCH_PRECISION=${precision} -std=c++20 -O3 --expt-relaxed-constexpr -gencode=arch=compute_90a,code=sm_90a ${include_options} -Xptxas -v -cubin -o
              ${OUTPUT_DIR}/${name}_resources.cubin ${source}
      RESULT_VARIABLE result
      OUTPUT_VARIABLE report
      ERROR_VARIABLE report)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "${name}: nvcc failed:\n${report}")
    endif()
    string(REGEX MATCHALL "Compiling entry function '[^']*wgmma" kernels "${report}")
    string(REGEX MATCHALL " 0 bytes spill stores, 0 bytes spill loads" unspilled "${report}")
    string(REGEX MATCHALL "bytes spill stores" reported "${report}")
    list(LENGTH kernels kernel_count)
    list(LENGTH unspilled unspilled_count)
    list(LENGTH reported reported_count)
    if(kernel_count EQUAL 0 OR NOT reported_count EQUAL unspilled_count)
      message(FATAL_ERROR "${name}: ${unspilled_count} of ${reported_count} functions without spills, ${kernel_count} of "
                          "them wgmma kernels, of which there should be one or more:\n${report}")
    endif()
    string(REGEX MATCHALL "Compiling entry function '[^']*one_item_wgmma" one_item "${report}")
    list(LENGTH one_item one_item_count)
    if(name MATCHES "^backward_launch_sm90" AND (one_item_count EQUAL 0 OR one_item_count EQUAL kernel_count))
      message(FATAL_ERROR "${name}: ${one_item_count} of ${kernel_count} kernels have one item a block: there should be "
                          "others, too:\n${report}")
    endif()
    if(name MATCHES "^backward_launch_sm90" AND NOT report MATCHES "Compiling entry function '[^']*deep_wgmma")
      message(FATAL_ERROR "${name}: no kernel of head_dim 256:\n${report}")
    endif()
    if(report MATCHES "C751[0-8]")
      message(FATAL_ERROR "${name}: ptxas has serialised products:\n${report}")
    endif()
    message(STATUS "${name}: ${kernel_count} wgmma kernels, no spills, no products serialised")
  endforeach()
endforeach()
