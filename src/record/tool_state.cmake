# cmake -DSOURCE_DIR=... -DOUTPUT=... -P tool_state.cmake
# Writes the git state of the sources into a header, and touches it only when it changed.
set(git "unknown")
set(dirty 0)
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=7 HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT failed)
  set(git ${commit})
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    set(dirty 1)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define HEADPRUNE_GIT \"${git}\"\n#define HEADPRUNE_DIRTY ${dirty}\n")
