#include "kiln/runtime/capi/handles.h"

using namespace kiln;
using namespace kiln::capi;

kiln_status_t *kiln_parameters_create(int preload, kiln_parameters_t **out_parameters) {
  return guarded([&]() -> Status {
    KILN_RETURN_IF_ERROR(needed(out_parameters, "out_parameters"));
    *out_parameters =
        giveHandle<kiln_parameters_t>(makeRef<ParameterSet>(preload ? ParameterMode::Preload : ParameterMode::File));
    return okStatus();
  });
}

kiln_status_t *kiln_parameters_add_file(kiln_parameters_t *parameters, const char *scope, const char *path) {
  return guarded([&]() -> Status {
    KILN_ASSIGN_OR_RETURN(Ref<ParameterSet> object, argument(parameters, "parameters"));
    KILN_RETURN_IF_ERROR(needed(path, "path"));
    return object->add(scope ? scope : "", path);
  });
}

void kiln_parameters_retain(kiln_parameters_t *parameters) {
  retainHandle(__func__, parameters);
}
void kiln_parameters_release(kiln_parameters_t *parameters) {
  releaseHandle(__func__, parameters);
}
