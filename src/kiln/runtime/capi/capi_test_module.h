/* The module that capi_test.c loads; written with the module writer, which is C++. */
#ifndef KILN_RUNTIME_CAPI_CAPI_TEST_MODULE_H
#define KILN_RUNTIME_CAPI_CAPI_TEST_MODULE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* @abs on a 4xf32, and functions that call the native module `host`: @scale (f32, i32) -> f32, @mix (i64, f64, tensor)
 * -> (tensor, f64, i64), @sum () -> i64 and @fail () -> (). To be freed with free(); its address is a multiple of 64.
 */
void *makeTestModule(size_t *outSize);

#ifdef __cplusplus
}
#endif

#endif /* KILN_RUNTIME_CAPI_CAPI_TEST_MODULE_H */
