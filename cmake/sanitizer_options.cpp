// What the sanitizers are told in every program of a sanitized build. ASAN_OPTIONS and its like come after these.
//
// A request for more memory than there is gives null, as without a sanitizer, so that the tests of it run.

extern "C" {

const char *__asan_default_options() {
  return "allocator_may_return_null=1:detect_stack_use_after_return=1:strict_string_checks=1";
}

const char *__tsan_default_options() {
  return "allocator_may_return_null=1:second_deadlock_stack=1";
}

const char *__ubsan_default_options() {
  return "print_stacktrace=1";
}

} // extern "C"
