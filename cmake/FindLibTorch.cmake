# Finds LibTorch 2.6 or later and defines the imported target LibTorch::LibTorch.
#
# The package file shipped with LibTorch is not used: in a CUDA wheel it stops without a CUDA toolkit, and its library
# search can take another release's libraries from /usr/lib while the headers come from the wheel.
# Looked at, in this order: HEADPRUNE_TORCH (a folder with include/ and lib/; variable or environment), every entry of
# CMAKE_PREFIX_PATH, the torch that python3 imports, and .deps/torch-venv, which scripts/setup makes.

set(_torch_candidates ${HEADPRUNE_TORCH} $ENV{HEADPRUNE_TORCH} ${CMAKE_PREFIX_PATH})
execute_process(COMMAND python3 -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
                OUTPUT_VARIABLE _torch_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
file(GLOB _torch_venv ${PROJECT_SOURCE_DIR}/.deps/torch-venv/lib/python3*/site-packages/torch)
list(APPEND _torch_candidates ${_torch_python} ${_torch_venv})

set(_torch_rejected "")
foreach(_prefix IN LISTS _torch_candidates)
  set(_header ${_prefix}/include/torch/csrc/api/include/torch/version.h)
  if(NOT EXISTS ${_header})
    continue()
  endif()
  if(EXISTS ${_prefix}/include/torch/headeronly/version.h)  # newer releases keep the numbers here
    set(_header ${_prefix}/include/torch/headeronly/version.h)
  endif()
  file(STRINGS ${_header} _version_lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX MATCHALL "[0-9]+" _version "${_version_lines}")
  list(JOIN _version "." _version)
  if(_version VERSION_LESS 2.6)
    list(APPEND _torch_rejected "${_prefix} is LibTorch ${_version}")
    continue()
  endif()
  find_library(_torch_library torch PATHS ${_prefix}/lib NO_DEFAULT_PATH NO_CACHE)
  find_library(_torch_cpu_library torch_cpu PATHS ${_prefix}/lib NO_DEFAULT_PATH NO_CACHE)
  find_library(_c10_library c10 PATHS ${_prefix}/lib NO_DEFAULT_PATH NO_CACHE)
  if(_torch_library AND _torch_cpu_library AND _c10_library)
    set(LibTorch_PREFIX ${_prefix})
    set(LibTorch_VERSION ${_version})
    break()
  endif()
  list(APPEND _torch_rejected "${_prefix} has headers but no libraries in lib/")
endforeach()

if(NOT LibTorch_PREFIX)
  list(JOIN _torch_rejected "; " _torch_rejected)
  message(FATAL_ERROR "LibTorch 2.6 or later was not found (${_torch_rejected}). Run scripts/setup, or set "
                      "-DHEADPRUNE_TORCH=FOLDER to an unpacked LibTorch or to site-packages/torch.")
endif()

# Only these four folders of the include tree: the wheel also brings its own fmt, which must not hide Debian's.
set(_overlay ${CMAKE_BINARY_DIR}/torch-include)
file(REMOVE_RECURSE ${_overlay})
file(MAKE_DIRECTORY ${_overlay})
foreach(_part ATen c10 caffe2 torch)
  if(EXISTS ${LibTorch_PREFIX}/include/${_part})
    file(CREATE_LINK ${LibTorch_PREFIX}/include/${_part} ${_overlay}/${_part} SYMBOLIC)
  endif()
endforeach()

set(_torch_libraries ${_torch_library} ${_torch_cpu_library} ${_c10_library})
foreach(_optional torch_cuda c10_cuda)
  find_library(_${_optional} ${_optional} PATHS ${LibTorch_PREFIX}/lib NO_DEFAULT_PATH NO_CACHE)
  if(_${_optional})
    list(APPEND _torch_libraries ${_${_optional}})
  endif()
endforeach()

add_library(LibTorch::LibTorch INTERFACE IMPORTED)
target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE ${_overlay} ${_overlay}/torch/csrc/api/include)
target_link_libraries(LibTorch::LibTorch INTERFACE -Wl,--no-as-needed ${_torch_libraries})

# Headers and library must be of one release: the library's own version string is in libtorch_cpu.
file(STRINGS ${LibTorch_PREFIX}/../torch/version.py _wheel_version REGEX "__version__ = '" LIMIT_COUNT 1)
if(EXISTS ${LibTorch_PREFIX}/build-version)
  file(STRINGS ${LibTorch_PREFIX}/build-version _wheel_version LIMIT_COUNT 1)
endif()
if(_wheel_version AND NOT _wheel_version MATCHES "${LibTorch_VERSION}")
  message(FATAL_ERROR "LibTorch in ${LibTorch_PREFIX} is mixed: headers of ${LibTorch_VERSION}, libraries of ${_wheel_version}")
endif()
# Operators whose names begin with _ may go with any release (src/model/private_operators.h).
set(_private_there ON)
foreach(_header _safe_softmax _fused_adamw)
  if(NOT EXISTS ${LibTorch_PREFIX}/include/ATen/ops/${_header}.h)
    set(_private_there OFF)
  endif()
endforeach()
option(HEADPRUNE_PRIVATE_OPERATORS "Use LibTorch's faster operators that it does not document" ${_private_there})
message(STATUS "LibTorch ${LibTorch_VERSION} from ${LibTorch_PREFIX}")
set(LibTorch_FOUND TRUE)
