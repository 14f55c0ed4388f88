/* Calls a function of a compiled module on a vector of f32, and prints the first result:
 *   call MODULE FUNCTION NUMBER...
 */
#include <kiln.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program where a call has failed. */
static void check(kiln_status_t *status) {
  if (status == NULL)
    return;
  fprintf(stderr, "%s: %s\n", kiln_status_code_name(kiln_status_code(status)), kiln_status_message(status));
  kiln_status_free(status);
  exit(1);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s MODULE FUNCTION NUMBER...\n", argv[0]);
    return 1;
  }
  uint64_t count = (uint64_t)argc - 3;
  float *numbers = calloc(count, sizeof(float));
  if (numbers == NULL)
    return 1;
  for (uint64_t i = 0; i < count; ++i) {
    char *end = NULL;
    numbers[i] = strtof(argv[i + 3], &end);
    if (end == argv[i + 3] || *end != '\0') {
      fprintf(stderr, "'%s' is no number\n", argv[i + 3]);
      return 1;
    }
  }

  kiln_instance_t *instance = NULL;
  kiln_device_t *device = NULL;
  kiln_module_t *module = NULL;
  check(kiln_instance_create(KILN_API_VERSION, &instance));
  check(kiln_device_create(instance, "local-task", NULL, &device));
  check(kiln_module_load_file(argv[1], &module));

  kiln_session_t *session = NULL;
  const kiln_function_t *function = NULL;
  kiln_session_options_t options = {
      .struct_size = sizeof(options), .modules = &module, .module_count = 1, .devices = &device, .device_count = 1};
  check(kiln_session_create(&options, &session));
  check(kiln_session_lookup(session, argv[2], &function));

  kiln_value_t argument = {.kind = KILN_KIND_REF};
  kiln_value_t result;
  check(kiln_buffer_view_create(device, KILN_ELEMENT_TYPE_F32, &count, 1, numbers, count * sizeof(float),
                                &argument.as.ref));
  check(kiln_session_call(session, function, &argument, 1, &result, 1));

  const float *elements = result.kind == KILN_KIND_REF ? kiln_buffer_view_data(result.as.ref) : NULL;
  if (elements == NULL || kiln_buffer_view_element_type(result.as.ref) != KILN_ELEMENT_TYPE_F32) {
    fprintf(stderr, "the result is no tensor of f32\n");
    return 1;
  }
  for (size_t i = 0; i < kiln_buffer_view_byte_size(result.as.ref) / sizeof(float); ++i)
    printf("%g ", (double)elements[i]);
  printf("\n");

  kiln_ref_release(result.as.ref);
  kiln_ref_release(argument.as.ref);
  kiln_session_release(session);
  kiln_module_release(module);
  kiln_device_release(device);
  kiln_instance_release(instance);
  free(numbers);
  if (fflush(stdout) != 0) {
    perror("standard output");
    return 1;
  }
  return 0;
}
