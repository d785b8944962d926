# Read by ctest: makes each suite of the GoogleTest program `program` a test, with `labels` and, if given, the lock
# `resource`.
execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
if(failed)
  add_test("${name}_NOT_BUILT" "${program}")
  return()
endif()
string(REGEX MATCHALL "\n[^ \n]+\\." suites "\n${listed}")
foreach(line ${suites})
  string(STRIP "${line}" suite)
  string(REGEX REPLACE "\\.$" "" suite_name "${suite}")
  add_test("${suite_name}" "${program}" "--gtest_filter=${suite}*")
  set_tests_properties("${suite_name}" PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77 LABELS "${labels}" RESOURCE_LOCK
                                                  "${resource}")
endforeach()
