/* Module 'module', compiled by kiln 0.1.0. Programs declare
 *   const kiln_compiled_module_t *kiln_register_module(void);
 * and pass it to kiln_module_load_compiled. */
#include "kiln_compiled.h"

static int f0___initializer_0(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);
static int f1___initializer_1(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);
static int f2_dense(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);
static int f3_softmax(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);
static int f4_loop(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);
static int f5_parts(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);
static int f6_checked(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);
static int f7___initialize(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values);

/* @__initializer_0 _, program.mlir:0:0 */
static int f0___initializer_0(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) {
  uint64_t v0 = 0;
  uint64_t v1 = 0;
  uint64_t v2 = 0;
  uint64_t v3 = 0;
  uint64_t v4 = 0;
  uint64_t v5 = 0;
  uint64_t v6 = 0;
  uint64_t v7 = 0;
  uint64_t v8 = 0;
  uint64_t v9 = 0;
  uint64_t v10 = 0;
  uint64_t passed[11];
  (void)values;
  v0 = UINT64_C(4);
  v1 = UINT64_C(3);
  v2 = UINT64_C(70);
  v3 = UINT64_C(30);
  v4 = UINT64_C(16);
  v5 = UINT64_C(1);
  v6 = UINT64_C(1);
  v7 = UINT64_C(128);
  v8 = UINT64_C(0);
  v9 = UINT64_C(2);
  v10 = UINT64_C(0);
  passed[0] = v10;
  if (runtime->call_import(frame, 66, 16 /* hal.device.get */, passed, 1, (const uint16_t[]){0}, 0))
    return 1;
  runtime->store_global(frame, 0, 0);
  runtime->load_executable(frame, 1, 0);
  if (runtime->call_import(frame, 78, 15 /* hal.executable.create */, NULL, 0, (const uint16_t[]){0, 1, 2}, 2))
    return 1;
  runtime->discard(frame, 2, (const uint16_t[]){0, 1});
  runtime->store_global(frame, 1, 2);
  runtime->discard(frame, 1, (const uint16_t[]){2});
  runtime->load_global(frame, 2, 0);
  passed[0] = v10;
  passed[1] = v9;
  if (runtime->call_import(frame, 98, 14 /* hal.command_buffer.create */, passed, 2, (const uint16_t[]){2, 1}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  runtime->load_global(frame, 2, 1);
  passed[0] = v5;
  passed[1] = v6;
  passed[2] = v6;
  passed[3] = v6;
  passed[4] = v10;
  passed[5] = v8;
  passed[6] = v8;
  passed[7] = v7;
  passed[8] = v6;
  passed[9] = v8;
  passed[10] = v7;
  if (runtime->call_import(frame, 112, 13 /* hal.command_buffer.dispatch */, passed, 11, (const uint16_t[]){1, 2}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  if (runtime->call_import(frame, 132, 12 /* hal.command_buffer.finalize */, NULL, 0, (const uint16_t[]){1}, 1))
    return 1;
  runtime->store_global(frame, 2, 1);
  runtime->discard(frame, 1, (const uint16_t[]){1});
  runtime->load_global(frame, 1, 0);
  passed[0] = v10;
  passed[1] = v9;
  if (runtime->call_import(frame, 146, 14 /* hal.command_buffer.create */, passed, 2, (const uint16_t[]){1, 2}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){1});
  passed[0] = v10;
  passed[1] = v8;
  passed[2] = v5;
  passed[3] = v8;
  passed[4] = v4;
  if (runtime->call_import(frame, 157, 11 /* hal.command_buffer.copy */, passed, 5, (const uint16_t[]){2}, 1))
    return 1;
  if (runtime->call_import(frame, 167, 12 /* hal.command_buffer.finalize */, NULL, 0, (const uint16_t[]){2}, 1))
    return 1;
  runtime->store_global(frame, 3, 2);
  runtime->discard(frame, 1, (const uint16_t[]){2});
  runtime->load_global(frame, 2, 0);
  passed[0] = v10;
  passed[1] = v9;
  if (runtime->call_import(frame, 181, 14 /* hal.command_buffer.create */, passed, 2, (const uint16_t[]){2, 1}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  runtime->load_global(frame, 2, 1);
  passed[0] = v1;
  passed[1] = v6;
  passed[2] = v6;
  passed[3] = v6;
  passed[4] = v10;
  passed[5] = v8;
  passed[6] = v8;
  passed[7] = v3;
  passed[8] = v6;
  passed[9] = v8;
  passed[10] = v2;
  if (runtime->call_import(frame, 195, 13 /* hal.command_buffer.dispatch */, passed, 11, (const uint16_t[]){1, 2}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  if (runtime->call_import(frame, 215, 12 /* hal.command_buffer.finalize */, NULL, 0, (const uint16_t[]){1}, 1))
    return 1;
  runtime->store_global(frame, 4, 1);
  runtime->discard(frame, 1, (const uint16_t[]){1});
  runtime->load_global(frame, 1, 0);
  passed[0] = v10;
  passed[1] = v9;
  if (runtime->call_import(frame, 229, 14 /* hal.command_buffer.create */, passed, 2, (const uint16_t[]){1, 2}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){1});
  runtime->load_global(frame, 1, 1);
  passed[0] = v0;
  passed[1] = v6;
  passed[2] = v6;
  passed[3] = v6;
  passed[4] = v10;
  passed[5] = v8;
  passed[6] = v8;
  passed[7] = v4;
  passed[8] = v6;
  passed[9] = v8;
  passed[10] = v4;
  if (runtime->call_import(frame, 243, 13 /* hal.command_buffer.dispatch */, passed, 11, (const uint16_t[]){2, 1}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){1});
  if (runtime->call_import(frame, 263, 12 /* hal.command_buffer.finalize */, NULL, 0, (const uint16_t[]){2}, 1))
    return 1;
  runtime->store_global(frame, 5, 2);
  runtime->discard(frame, 1, (const uint16_t[]){2});
  return runtime->leave(frame, 0, NULL);
}

/* @__initializer_1 _, program.mlir:0:0 */
static int f1___initializer_1(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) {
  uint64_t v0 = 0;
  uint64_t v1 = 0;
  uint64_t passed[2];
  (void)values;
  v0 = UINT64_C(40);
  v1 = UINT64_C(0);
  runtime->load_constant(frame, 0, 1);
  runtime->load_global(frame, 1, 0);
  passed[0] = v1;
  passed[1] = v0;
  if (runtime->call_import(frame, 18, 10 /* hal.buffer.constant */, passed, 2, (const uint16_t[]){1, 0, 2}, 2))
    return 1;
  runtime->discard(frame, 2, (const uint16_t[]){0, 1});
  runtime->store_global(frame, 6, 2);
  runtime->discard(frame, 1, (const uint16_t[]){2});
  return runtime->leave(frame, 0, NULL);
}

/* @dense r_r, program.mlir:4:1 */
static int f2_dense(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) {
  uint64_t v0 = 0;
  uint64_t v1 = 0;
  uint64_t v2 = 0;
  uint64_t v3 = 0;
  uint64_t v4 = 0;
  uint64_t v5 = 0;
  uint64_t v6 = 0;
  uint64_t v7 = 0;
  uint64_t v8 = 0;
  uint64_t v9 = 0;
  uint64_t v10 = 0;
  uint64_t v11 = 0;
  uint64_t v12 = 0;
  uint64_t v13 = 0;
  uint64_t v14 = 0;
  uint64_t v15 = 0;
  uint64_t v16 = 0;
  uint64_t passed[18];
  (void)values;
  v0 = UINT64_C(10);
  v1 = UINT64_C(3);
  v2 = UINT64_C(2);
  v3 = UINT64_C(1);
  v4 = UINT64_C(95);
  v5 = UINT64_C(1048576000);
  v6 = UINT64_C(0);
  v7 = UINT64_C(4);
  v8 = UINT64_C(1);
  v9 = UINT64_C(96);
  v10 = UINT64_C(960);
  v11 = UINT64_C(16);
  v12 = UINT64_C(18446744073709551615);
  v13 = UINT64_C(24);
  v14 = UINT64_C(0);
  v15 = UINT64_C(40);
  runtime->load_global(frame, 1, 6);
  runtime->load_constant(frame, 2, 0);
  passed[0] = v11;
  passed[1] = v12;
  passed[2] = v13;
  if (runtime->call_import(frame, 102, 9 /* hal.buffer_view.assert */, passed, 3, (const uint16_t[]){0, 2}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  passed[0] = v14;
  if (runtime->call_import(frame, 114, 8 /* hal.buffer_view.dim */, passed, 1, (const uint16_t[]){0}, 1))
    return 1;
  v13 = passed[1];
  v12 = v13 * v9;
  if (runtime->call_import(frame, 125, 7 /* hal.buffer_view.buffer */, NULL, 0, (const uint16_t[]){0, 2}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  v16 = v13 * v15;
  runtime->load_global(frame, 0, 0);
  passed[0] = v14;
  passed[1] = v16;
  if (runtime->call_import(frame, 141, 6 /* hal.buffer.allocate */, passed, 2, (const uint16_t[]){0, 3}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->load_global(frame, 0, 0);
  passed[0] = v8;
  passed[1] = v10;
  if (runtime->call_import(frame, 155, 6 /* hal.buffer.allocate */, passed, 2, (const uint16_t[]){0, 4}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->load_global(frame, 5, 0);
  passed[0] = v8;
  passed[1] = v7;
  if (runtime->call_import(frame, 171, 14 /* hal.command_buffer.create */, passed, 2, (const uint16_t[]){5, 6}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){5});
  passed[0] = v14;
  passed[1] = v6;
  passed[2] = v10;
  passed[3] = v5;
  passed[4] = v7;
  if (runtime->call_import(frame, 182, 5 /* hal.command_buffer.fill */, passed, 5, (const uint16_t[]){6}, 1))
    return 1;
  if (runtime->call_import(frame, 192, 4 /* hal.command_buffer.barrier */, NULL, 0, (const uint16_t[]){6}, 1))
    return 1;
  v7 = v13 + v4;
  if (v9 == 0)
    return runtime->fail_division(frame, 201, v9 == 0);
  v4 = v7 / v9;
  runtime->load_global(frame, 5, 1);
  passed[0] = v14;
  passed[1] = v4;
  passed[2] = v3;
  passed[3] = v3;
  passed[4] = v8;
  passed[5] = v13;
  passed[6] = v3;
  passed[7] = v6;
  passed[8] = v12;
  passed[9] = v6;
  passed[10] = v6;
  passed[11] = v10;
  passed[12] = v2;
  passed[13] = v6;
  passed[14] = v15;
  passed[15] = v1;
  passed[16] = v6;
  passed[17] = v16;
  if (runtime->call_import(frame, 208, 13 /* hal.command_buffer.dispatch */, passed, 18, (const uint16_t[]){6, 5}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){5});
  if (runtime->call_import(frame, 235, 12 /* hal.command_buffer.finalize */, NULL, 0, (const uint16_t[]){6}, 1))
    return 1;
  if (runtime->call_import(frame, 240, 3 /* hal.buffer.length */, passed, 0, (const uint16_t[]){1}, 1))
    return 1;
  v4 = passed[0];
  runtime->load_global(frame, 5, 0);
  passed[0] = v6;
  passed[1] = v10;
  passed[2] = v6;
  passed[3] = v12;
  passed[4] = v6;
  passed[5] = v4;
  passed[6] = v6;
  passed[7] = v16;
  if (runtime->call_import(frame, 249, 2 /* hal.device.execute */, passed, 8, (const uint16_t[]){5, 0, 6, 4, 2, 1, 3, 7}, 7))
    return 1;
  runtime->discard(frame, 6, (const uint16_t[]){1, 2, 4, 0, 6, 5});
  passed[0] = v6;
  passed[1] = v16;
  passed[2] = v11;
  passed[3] = v13;
  passed[4] = v0;
  if (runtime->call_import(frame, 277, 1 /* hal.buffer_view.create */, passed, 5, (const uint16_t[]){3, 5}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){3});
  if (runtime->call_import(frame, 291, 0 /* hal.fence.await */, NULL, 0, (const uint16_t[]){7}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){7});
  return runtime->leave(frame, 1, (const uint16_t[]){5});
}

/* @softmax r_r, program.mlir:28:1 */
static int f3_softmax(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) {
  uint64_t v0 = 0;
  uint64_t v1 = 0;
  uint64_t v2 = 0;
  uint64_t v3 = 0;
  uint64_t v4 = 0;
  uint64_t v5 = 0;
  uint64_t passed[5];
  (void)values;
  v0 = UINT64_C(0);
  v1 = UINT64_C(0);
  v2 = UINT64_C(128);
  v3 = UINT64_C(8);
  v4 = UINT64_C(4);
  v5 = UINT64_C(16);
  runtime->load_constant(frame, 1, 0);
  passed[0] = v5;
  passed[1] = v4;
  passed[2] = v3;
  if (runtime->call_import(frame, 39, 9 /* hal.buffer_view.assert */, passed, 3, (const uint16_t[]){0, 1}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){1});
  if (runtime->call_import(frame, 51, 7 /* hal.buffer_view.buffer */, NULL, 0, (const uint16_t[]){0, 1}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->load_global(frame, 0, 0);
  passed[0] = v1;
  passed[1] = v2;
  if (runtime->call_import(frame, 63, 6 /* hal.buffer.allocate */, passed, 2, (const uint16_t[]){0, 2}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->load_global(frame, 3, 2);
  runtime->load_global(frame, 4, 0);
  passed[0] = v0;
  passed[1] = v2;
  passed[2] = v0;
  passed[3] = v2;
  if (runtime->call_import(frame, 82, 2 /* hal.device.execute */, passed, 4, (const uint16_t[]){4, 0, 3, 1, 2, 5}, 5))
    return 1;
  runtime->discard(frame, 4, (const uint16_t[]){1, 0, 3, 4});
  passed[0] = v0;
  passed[1] = v2;
  passed[2] = v5;
  passed[3] = v4;
  passed[4] = v3;
  if (runtime->call_import(frame, 102, 1 /* hal.buffer_view.create */, passed, 5, (const uint16_t[]){2, 4}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  if (runtime->call_import(frame, 116, 0 /* hal.fence.await */, NULL, 0, (const uint16_t[]){5}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){5});
  return runtime->leave(frame, 1, (const uint16_t[]){4});
}

/* @loop rI_ri, program.mlir:46:1 */
static int f4_loop(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) {
  uint64_t v0 = values[0];
  uint64_t v1 = 0;
  uint64_t v2 = 0;
  uint64_t v3 = 0;
  uint64_t v4 = 0;
  uint64_t v5 = 0;
  uint64_t v6 = 0;
  uint64_t v7 = 0;
  uint64_t v8 = 0;
  uint64_t v9 = 0;
  uint64_t v10 = 0;
  uint64_t v11 = 0;
  uint64_t v12 = 0;
  uint64_t passed[12];
  unsigned rounds = 0;
  v3 = UINT64_C(2);
  v4 = UINT64_C(16);
  v5 = UINT64_C(1);
  v6 = UINT64_C(0);
  v7 = UINT64_C(1);
  v8 = UINT64_C(0);
  v9 = UINT64_C(4);
  v10 = UINT64_C(4);
  runtime->load_constant(frame, 2, 0);
  passed[0] = v10;
  passed[1] = v9;
  if (runtime->call_import(frame, 51, 9 /* hal.buffer_view.assert */, passed, 2, (const uint16_t[]){0, 2}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  if (runtime->call_import(frame, 62, 7 /* hal.buffer_view.buffer */, NULL, 0, (const uint16_t[]){0, 2}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->copy(frame, 1, (const uint16_t[]){2, 1});
  v1 = v8;
  v2 = v6;
  goto L81;
L81:
  v11 = (int64_t)v1 < (int64_t)v0;
  if (v11 != 0) {
    goto L93;
  }
  goto L203;
L93:
  v11 = v2;
  v12 = (uint32_t)v2 + (uint32_t)v5;
  runtime->load_global(frame, 2, 0);
  passed[0] = v5;
  passed[1] = v4;
  if (runtime->call_import(frame, 103, 6 /* hal.buffer.allocate */, passed, 2, (const uint16_t[]){2, 0}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  runtime->discard(frame, 1, (const uint16_t[]){2});
  runtime->load_global(frame, 3, 0);
  passed[0] = v5;
  passed[1] = v3;
  if (runtime->call_import(frame, 119, 14 /* hal.command_buffer.create */, passed, 2, (const uint16_t[]){3, 4}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){3});
  runtime->load_global(frame, 3, 1);
  passed[0] = v3;
  passed[1] = v7;
  passed[2] = v7;
  passed[3] = v7;
  passed[4] = v5;
  passed[5] = v11;
  passed[6] = v8;
  passed[7] = v8;
  passed[8] = v4;
  passed[9] = v7;
  passed[10] = v8;
  passed[11] = v4;
  if (runtime->call_import(frame, 133, 13 /* hal.command_buffer.dispatch */, passed, 12, (const uint16_t[]){4, 3}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){3});
  if (runtime->call_import(frame, 154, 12 /* hal.command_buffer.finalize */, NULL, 0, (const uint16_t[]){4}, 1))
    return 1;
  runtime->load_global(frame, 3, 0);
  passed[0] = v8;
  passed[1] = v4;
  passed[2] = v8;
  passed[3] = v4;
  if (runtime->call_import(frame, 162, 2 /* hal.device.execute */, passed, 4, (const uint16_t[]){3, 2, 4, 1, 0, 5}, 5))
    return 1;
  runtime->discard(frame, 3, (const uint16_t[]){2, 4, 3});
  if (runtime->call_import(frame, 181, 0 /* hal.fence.await */, NULL, 0, (const uint16_t[]){5}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){5});
  v11 = v1 + v7;
  if (++rounds % KILN_ROUNDS_PER_ASKING == 0 && runtime->is_over(frame, 193))
    return 1;
  runtime->copy(frame, 1, (const uint16_t[]){0, 1});
  v1 = v11;
  v2 = v12;
  goto L81;
L203:
  runtime->load_global(frame, 0, 0);
  passed[0] = v6;
  passed[1] = v4;
  if (runtime->call_import(frame, 206, 6 /* hal.buffer.allocate */, passed, 2, (const uint16_t[]){0, 5}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->load_global(frame, 3, 3);
  runtime->load_global(frame, 4, 0);
  passed[0] = v8;
  passed[1] = v4;
  passed[2] = v8;
  passed[3] = v4;
  if (runtime->call_import(frame, 225, 2 /* hal.device.execute */, passed, 4, (const uint16_t[]){4, 0, 3, 1, 5, 2}, 5))
    return 1;
  runtime->discard(frame, 3, (const uint16_t[]){0, 3, 4});
  passed[0] = v8;
  passed[1] = v4;
  passed[2] = v10;
  passed[3] = v9;
  if (runtime->call_import(frame, 244, 1 /* hal.buffer_view.create */, passed, 4, (const uint16_t[]){5, 4}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){5});
  if (runtime->call_import(frame, 257, 0 /* hal.fence.await */, NULL, 0, (const uint16_t[]){2}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  values[1] = v2;
  return runtime->leave(frame, 1, (const uint16_t[]){4});
}

/* @parts r_r, program.mlir:60:1 */
static int f5_parts(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) {
  uint64_t v0 = 0;
  uint64_t v1 = 0;
  uint64_t v2 = 0;
  uint64_t v3 = 0;
  uint64_t v4 = 0;
  uint64_t v5 = 0;
  uint64_t v6 = 0;
  uint64_t v7 = 0;
  uint64_t passed[5];
  (void)values;
  v0 = UINT64_C(7);
  v1 = UINT64_C(0);
  v2 = UINT64_C(0);
  v3 = UINT64_C(70);
  v4 = UINT64_C(30);
  v5 = UINT64_C(5);
  v6 = UINT64_C(3);
  v7 = UINT64_C(14);
  runtime->load_constant(frame, 1, 0);
  passed[0] = v7;
  passed[1] = v6;
  passed[2] = v5;
  if (runtime->call_import(frame, 51, 9 /* hal.buffer_view.assert */, passed, 3, (const uint16_t[]){0, 1}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){1});
  if (runtime->call_import(frame, 63, 7 /* hal.buffer_view.buffer */, NULL, 0, (const uint16_t[]){0, 1}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->load_global(frame, 0, 0);
  passed[0] = v2;
  passed[1] = v3;
  if (runtime->call_import(frame, 75, 6 /* hal.buffer.allocate */, passed, 2, (const uint16_t[]){0, 2}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->load_global(frame, 3, 4);
  runtime->load_global(frame, 4, 0);
  passed[0] = v1;
  passed[1] = v4;
  passed[2] = v1;
  passed[3] = v3;
  if (runtime->call_import(frame, 94, 2 /* hal.device.execute */, passed, 4, (const uint16_t[]){4, 0, 3, 1, 2, 5}, 5))
    return 1;
  runtime->discard(frame, 4, (const uint16_t[]){1, 0, 3, 4});
  passed[0] = v1;
  passed[1] = v3;
  passed[2] = v7;
  passed[3] = v5;
  passed[4] = v0;
  if (runtime->call_import(frame, 114, 1 /* hal.buffer_view.create */, passed, 5, (const uint16_t[]){2, 4}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  if (runtime->call_import(frame, 128, 0 /* hal.fence.await */, NULL, 0, (const uint16_t[]){5}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){5});
  return runtime->leave(frame, 1, (const uint16_t[]){4});
}

/* @checked r_r, program.mlir:70:1 */
static int f6_checked(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) {
  uint64_t v0 = 0;
  uint64_t v1 = 0;
  uint64_t v2 = 0;
  uint64_t v3 = 0;
  uint64_t v4 = 0;
  uint64_t passed[4];
  (void)values;
  v0 = UINT64_C(0);
  v1 = UINT64_C(0);
  v2 = UINT64_C(16);
  v3 = UINT64_C(4);
  v4 = UINT64_C(4);
  runtime->load_constant(frame, 1, 0);
  passed[0] = v4;
  passed[1] = v3;
  if (runtime->call_import(frame, 33, 9 /* hal.buffer_view.assert */, passed, 2, (const uint16_t[]){0, 1}, 2))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){1});
  if (runtime->call_import(frame, 44, 7 /* hal.buffer_view.buffer */, NULL, 0, (const uint16_t[]){0, 1}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->load_global(frame, 0, 0);
  passed[0] = v1;
  passed[1] = v2;
  if (runtime->call_import(frame, 56, 6 /* hal.buffer.allocate */, passed, 2, (const uint16_t[]){0, 2}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->discard(frame, 1, (const uint16_t[]){0});
  runtime->load_global(frame, 3, 5);
  runtime->load_global(frame, 4, 0);
  passed[0] = v0;
  passed[1] = v2;
  passed[2] = v0;
  passed[3] = v2;
  if (runtime->call_import(frame, 75, 2 /* hal.device.execute */, passed, 4, (const uint16_t[]){4, 0, 3, 1, 2, 5}, 5))
    return 1;
  runtime->discard(frame, 4, (const uint16_t[]){1, 0, 3, 4});
  passed[0] = v0;
  passed[1] = v2;
  passed[2] = v4;
  passed[3] = v3;
  if (runtime->call_import(frame, 95, 1 /* hal.buffer_view.create */, passed, 4, (const uint16_t[]){2, 4}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){2});
  if (runtime->call_import(frame, 108, 0 /* hal.fence.await */, NULL, 0, (const uint16_t[]){5}, 1))
    return 1;
  runtime->discard(frame, 1, (const uint16_t[]){5});
  return runtime->leave(frame, 1, (const uint16_t[]){4});
}

/* @__initialize _, program.mlir:0:0 */
static int f7___initialize(const kiln_runtime_t *runtime, kiln_frame_t *frame, uint64_t *values) {
  kiln_frame_t *callee;
  (void)values;
  callee = runtime->enter(frame, 0, 0, NULL);
  if (!callee || f0___initializer_0(runtime, callee, NULL))
    return 1;
  callee = runtime->enter(frame, 4, 1, NULL);
  if (!callee || f1___initializer_1(runtime, callee, NULL))
    return 1;
  return runtime->leave(frame, 0, NULL);
}

/* __rodata_1 */
_Alignas(64) static const char constant_0[] = "input0";
/* __rodata_0 */
_Alignas(64) static const uint64_t constant_1[5] = {
    0x3f80000000000000, 0x4040000040000000, 0x40a0000040800000, 0x40e0000040c00000, 0x4110000041000000};
/* module_linked, elf-x86_64 */
_Alignas(64) static const uint64_t executable_0[1354] = {
    0x10102464c457f, 0x0, 0x1003e0003, 0x0, 0x40, 0x2650,
    0x38004000000000, 0xe001000400008, 0x400000006, 0x40, 0x40, 0x40,
    0x1c0, 0x1c0, 0x8, 0x400000001, 0x0, 0x0,
    0x0, 0x7d4, 0x7d4, 0x1000, 0x500000001, 0x7e0,
    0x17e0, 0x17e0, 0x1726, 0x1726, 0x1000, 0x600000001,
    0x1f10, 0x3f10, 0x3f10, 0x1e0, 0x10f0, 0x1000,
    0x600000002, 0x2020, 0x4020, 0x4020, 0xd0, 0xd0,
    0x8, 0x46474e552, 0x1f10, 0x3f10, 0x3f10, 0x1e0,
    0x10f0, 0x1, 0x46474e550, 0x6a0, 0x6a0, 0x6a0,
    0x3c, 0x3c, 0x4, 0x66474e551, 0x0, 0x0,
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    0x0, 0x8001200000001, 0x2ef0, 0x16, 0x9001100000017, 0x3fd0,
    0x50, 0x100000001, 0x1a00000001, 0x80000800200, 0xae3f7d0800000001, 0x6c696b005e7318ab,
    0x7475636578655f6e, 0x6575715f656c6261, 0x5f6e6c696b007972, 0x6261747563657865, 0x617373656d5f656c, 0x75646f6d00736567,
    0x6c75646f6d5f656c, 0x64656b6e696c5f65, 0x70635f6d766c6c5f, 0x6f732e75, 0x3f10, 0x8,
    0x5b0, 0x3f18, 0x8, 0x17e0, 0x3f30, 0x8,
    0x650, 0x3f38, 0x8, 0x27e0, 0x3f50, 0x8,
    0x620, 0x3f58, 0x8, 0x2d10, 0x3f70, 0x8,
    0x680, 0x3f78, 0x8, 0x2d40, 0x3f90, 0x8,
    0x580, 0x3f98, 0x8, 0x2e20, 0x3fb8, 0x8,
    0x3f10, 0x3fc8, 0x8, 0x5f0, 0x3fd0, 0x8,
    0x6a0, 0x3fe0, 0x8, 0x6a0, 0x3ff0, 0x8,
    0x6a0, 0x4000, 0x8, 0x6a0, 0x4010, 0x8,
    0x3fc8, 0x0, 0xffffff9cffffff9c, 0xffffff9cffffff9c, 0x3f3180003f318000, 0x3f3180003f318000,
    0x3e2aaa463e2aaa46, 0x3e2aaa463e2aaa46, 0x3efffffe3efffffe, 0x3efffffe3efffffe, 0xc2d00000c2d00000, 0xc2d00000c2d00000,
    0x3ab563713ab56371, 0x3ab563713ab56371, 0x3d2aac2c3d2aac2c, 0x3d2aac2c3d2aac2c, 0x3fb8aa3b3fb8aa3b, 0x3fb8aa3b3fb8aa3b,
    0xcb400000cb400000, 0xcb400000cb400000, 0x42b2000042b20000, 0x42b2000042b20000, 0x0, 0x0,
    0x3c091ef13c091ef1, 0x3c091ef13c091ef1, 0x3f0000003f000000, 0x3f0000003f000000, 0x4b4000004b400000, 0x4b4000004b400000,
    0x395e8083395e8083, 0x395e8083395e8083, 0x3f0000003f000000, 0x0, 0x3f8000003f800000, 0x3f8000003f800000,
    0x3c00, 0x0, 0x5f64656b63656863, 0x6863746170736964, 0x656d656c655f305f, 0x345f65736977746e,
    0x3233695f, 0x0, 0x69645f65736e6564, 0x305f686374617073, 0x5f6c756d74616d5f, 0x5f34327830317844,
    0x323366, 0x0, 0x0, 0x0, 0x2e6d6172676f7270, 0x3a39373a72696c6d,
    0x6c65206e61203a35, 0x756d20746e656d65, 0x6f70206562207473, 0x657669746973, 0x7369645f706f6f6c, 0x5f305f6863746170,
    0x77746e656d656c65, 0x33695f345f657369, 0x32, 0x0, 0x5f78616d74666f73, 0x6863746170736964,
    0x63756465725f305f, 0x3878345f6e6f6974, 0x3233665f, 0x0, 0x69645f7374726170, 0x305f686374617073,
    0x3778355f6461705f, 0x3631665f, 0x3c3b031b01, 0x114000000006, 0x214000000058, 0x267000000088,
    0x26a0000000a8, 0x2780000000c8, 0x2850000000e8, 0x110, 0x14, 0x110780100527a01,
    0x19008070c1b, 0x1c0000002c, 0xff9000010e0, 0xd430286100e4100, 0x58d068c07835406, 0xc0fe003038f048e,
    0x807, 0x4c0000001c, 0x52f000020b0, 0xd430286100e4100, 0x8070c052a0306, 0x6c0000001c,
    0x27000025c0, 0xd430286100e4100, 0x8070c6206, 0x8c0000001c, 0xd7000025d0, 0xd430286100e4100,
    0x8070cd20206, 0xac00000024, 0xd000002690, 0xd430286100e4100, 0x60c4108070c6606, 0x8070ca40210,
    0xd40000001c, 0x1600002738, 0xd430286100e4100, 0x8070c5106, 0x0, 0x0,
    0x56415741e5894855, 0xe483485354415541, 0x8c0ec8148c0, 0x48104f8b48078b48, 0x408b4c088b4c398b, 0x8c894810488b4808,
    0x408b48000000c824, 0xf00280f410e8b18, 0x4100000280248429, 0x2484290f1040280f, 0x40100f4100000290, 0x2a02484290f28,
    0x290f3840100f4100, 0xf41000002b02484, 0xc02484290f504028, 0x6040280f41000002, 0x2d02484290f, 0x84290f7840100f41,
    0x100f41000002e024, 0x84290f0000008880, 0x280f41000002f024, 0x84290f000000a080, 0x280f410000030024, 0x84290f000000b080,
    0x100f410000031024, 0x84290f000000c880, 0x100f410000032024, 0x84290f000000d880, 0x280f410000033024, 0x84290f000000f080,
    0x280f410000034024, 0x84290f0000010080, 0x100f410000035024, 0x84290f0000011880, 0x100f410000036024, 0x84290f0000012880,
    0x280f410000037024, 0x84290f0000014080, 0x280f410000038024, 0x84290f0000015080, 0x100f410000039024, 0x84290f0000016880,
    0x100f41000003a024, 0x84290f0000017880, 0x280f41000003b024, 0x84290f0000019080, 0x280f41000003c024, 0x84290f000001a080,
    0x100f41000003d024, 0x84290f000001b880, 0x100f41000003e024, 0x84290f000001c880, 0x280f41000003f024, 0x84290f000001e080,
    0x280f410000040024, 0x84290f000001f080, 0x100f410000041024, 0x84290f0000020880, 0x100f410000042024, 0x84290f0000021880,
    0x280f410000043024, 0x84290f0000023080, 0x280f410000044024, 0x84290f0000024080, 0x100f410000045024, 0x84290f0000025880,
    0x100f410000046024, 0x84290f0000026880, 0x280f410000047024, 0x84290f0000028080, 0x280f410000048024, 0x84290f0000029080,
    0x100f410000049024, 0x84290f000002a880, 0x100f41000004a024, 0x84290f000002b880, 0x280f41000004b024, 0x84290f000002d080,
    0x280f41000004c024, 0x84290f000002e080, 0x100f41000004d024, 0x84290f000002f880, 0x100f41000004e024, 0x84290f0000030880,
    0x280f41000004f024, 0x84290f0000032080, 0x280f410000050024, 0x84290f0000033080, 0x100f410000051024, 0x84290f0000034880,
    0x100f410000052024, 0x84290f0000035880, 0x280f410000053024, 0x84290f0000037080, 0x280f410000054024, 0x84290f0000038080,
    0x100f410000055024, 0x84290f0000039880, 0x100f410000056024, 0x84290f000003a880, 0xc083490000057024, 0x906600000300ba20,
    0x84290f00100f41f2, 0xc083490000028014, 0xfa814820c2834828, 0x8948e27500000600, 0x148d4805e2c148ca, 0x60ff8348d7294852,
    0x4c0f4800000060be, 0x3c0d16948f7, 0x4cfce08349f08949, 0x48c9148d4c901c8d, 0x13f8c0f04ff83, 0xae2c148d2894c00,
    0x20c381480a1c8d4a, 0x9066f63145000001, 0x4d01cd8349f5894d, 0x894d02cc8349f489, 0xc0570f03cf8349f7, 0xd2570fc9570fd231,
    0x570fe4570fdb570f, 0x90ff570ff6570fed, 0xfee013a4100f44f3, 0x13ac100f44f3ffff, 0x100f44f3ffffff40, 0x4100f44f3a0135c,
    0xf4400e4c60f4513, 0x4400000280d49428, 0x290d48c280f, 0xf4590f45f2280f45, 0xe1590f45fe580f41, 0xedc60f45f4580f41,
    0x590f45e2280f4500, 0x590f45ec580f41e5, 0xc60f45e5580f41e9, 0xf45e2280f4500db, 0xf45dc580f41e359, 0xf45d3580f41d959,
    0x41d0590f4500c0c6, 0x41c1590f45ca580f, 0x4804c28348c0580f, 0xffff5f850f60fa83, 0x290f41b6148d4bff, 0x10d374290f41d33c,
    0xad148d4a, 0xd32c110f41ea014c, 0x8d4b10d364110f41, 0x41d31c290f41a414, 0x148d4b10d354290f, 0xf41d30c110f41bf,
    0x4c6834910d34411, 0x4d00000180c38148, 0xfffffed88c0fc639, 0x622840ff03949, 0x2802484280f00, 0xb02484290f00,
    0x2902484280f00, 0xa02484290f00, 0x2a02484280f00, 0x902484290f00, 0x2b02484280f00, 0x802484290f00,
    0x2c02484280f00, 0x280f702444290f00, 0x290f000002d02484, 0xe02484280f602444, 0x502444290f000002, 0x2f02484280f,
    0x84280f402444290f, 0x44290f0000030024, 0x3102484280f3024, 0xf202444290f0000, 0xf00000320248428, 0xf00000270248429,
    0xf00000330248428, 0xf00000260248429, 0xf00000340248428, 0xf00000250248429, 0xf00000350248428, 0xf00000240248429,
    0xf00000360248428, 0xf00000230248429, 0xf00000370248428, 0x4c00000220248429, 0x89490ae2c148d289, 0x1c8d4b02eec149f6,
    0xd3014807e3c14876, 0x485cc38348cb014c, 0x8d4f00000f00d169, 0x14905e6c149b634, 0x10c68349c60149d6, 0x802484280fc7894d,
    0x102484290f000003, 0x902484280f000002, 0x2484290f000003, 0xa02484280f000002, 0xf02484290f000003, 0xb02484280f000001,
    0xe02484290f000003, 0xc02484280f000001, 0xd02484290f000003, 0xd02484280f000001, 0xc02484290f000003, 0xe02484280f000001,
    0xb02484290f000003, 0xf02484280f000001, 0xa02484290f000003, 0x2484280f000001, 0x902484290f000004, 0x102484280f000001,
    0x802484290f000004, 0x202484280f000001, 0x702484290f000004, 0x302484280f000001, 0x602484290f000004, 0x402484280f000001,
    0x502484290f000004, 0x502484280f000001, 0x402484290f000004, 0x602484280f000001, 0x302484290f000004, 0x702484280f000001,
    0x202484290f000004, 0x802484280f000001, 0x102484290f000004, 0x902484280f000001, 0x2484290f000004, 0xa02484280f000001,
    0xf02484290f000004, 0xb02484280f000000, 0xe02484290f000004, 0xc02484280f000000, 0xd0248c280f000004, 0xd0248c290f000004,
    0xe02494280f000000, 0x249c280f44000004, 0x24a4280f000004f0, 0xac280f4400000500, 0xb4280f0000051024, 0x280f440000052024,
    0xf440000053024bc, 0x4400000540248428, 0x55024b4280f, 0x5602494280f44, 0x57024ac280f00, 0x1f0fe4570f4500,
    0x100ff3a45b100ff3, 0xf4400dbc60fa87b, 0x44000000b0248c28, 0xfcc580f45cb590f, 0x90248c280f00ffc6, 0xf41cf590f000000,
    0xac4b100f44f3c958, 0xa0249c590f, 0x8024bc590f, 0x45fb580fdc580f41, 0x245c280f00c9c60f, 0xd9580fd9590f4170,
    0x590f44b04b100ff3, 0xfcf580f4460244c, 0x50247c280f00c9c6, 0x590ffb580ff9590f, 0xb45b100ff340244c, 0xc9580f4100dbc60f,
    0xf4430244c280f44, 0x4420245c590fcb59, 0xff3d9580fcf580f, 0x7024bc280fb84b10, 0xf00c9c60f000002, 0x590ff9580f41f959,
    0x580f00000260248c, 0xc60fbc5b100ff3cb, 0x50248c280f4400db, 0x44cb590f44000002, 0x40249c590fcf580f, 0xc07b100ff3000002,
    0xf00ffc60fd9580f, 0xf00000230248c28, 0x590fc9580f41cf59, 0x44f30000022024bc, 0xc9c60f45c44b100f, 0x249c280ffb580f00,
    0xd9590f4100000210, 0x200248c590f44, 0xcf580f44d9580f00, 0xbc280fc84b100ff3, 0xc9c60f000001f024, 0xffb580ff9590f00,
    0x41000001e0248c59, 0xcc5b100ff3c9580f, 0x8c280f4400dbc60f, 0x590f44000001d024, 0x9c590fcf580f44cb, 0x100ff3000001c024,
    0xffc60fd9580fd07b, 0x1b0248c280f00, 0xc9580f41cf590f00, 0x1a024bc590f, 0xf45d44b100f44f3, 0x280ffb580f00c9c6,
    0xf4100000190249c, 0x80248c590f44d959, 0xf44d9580f000001, 0xfd84b100ff3cf58, 0xf0000017024bc28, 0x580ff9590f00c9c6,
    0x160248c590ffb, 0x100ff3c9580f4100, 0xf4400dbc60fdc5b, 0x4400000150248c28, 0xfcf580f44cb590f, 0xf300000140249c59,
    0xfd9580fe07b100f, 0x30248c280f00ffc6, 0xf41cf590f000001, 0x12024bc590fc958, 0xe44b100f44f30000, 0xfb580f00c9c60f45,
    0x110249c280f, 0x8c590f44d9590f41, 0xd9580f0000010024, 0x4b100ff3cf580f44, 0xf024bc280fe8, 0xf9590f00c9c60f00,
    0xe0248c590ffb580f, 0xf3c9580f41000000, 0xdbc60fec5b100f, 0xcb590f44c8280f44, 0x249c590fcf580f44, 0x7b100ff3000000d0,
    0xffc60fd9580ff0, 0xf41cf590fca280f, 0x44f3fb590f41c958, 0xc9c60f45f44b100f, 0x41dc280ffb580f00, 0xfcd590f45d9590f,
    0xff3cf580f44d958, 0xc60ffe280ff84b10, 0xfb580ff9590f00c9, 0xc9580f41cf590f41, 0xdbc60ffc5b100ff3, 0x590f44c8280f4500,
    0x590f41cf580f44cb, 0xd9580f3b100ff3de, 0xca280f4100ffc60f, 0xfc9580f41cf590f, 0x110f41fb580ffd59, 0x83493e110f41f04e,
    0x834960c3834801c7, 0xbd8c0ff7394928c6, 0xf04ff8348fffffc, 0xca89480000010f8c, 0xd2148d4808e2c148, 0x90f63145911c8d49,
    0x4d01cc8349f4894d, 0x894c02cf8349f789, 0xc0570f03ca8348f2, 0x570f00000060bd41, 0x66db570fd2570fc9, 0x841f0f,
    0xf3a02b64100f42f3, 0xf42f32b2c100f42, 0x100f42f3602b7410, 0xc60f000000c02bbc, 0x80ec84280f4600e4, 0xfe0590f41000002,
    0xf4100edc60fdc58, 0xf6c60fd5580fe859, 0xce580ff0590f4100, 0xf8590f4100ffc60f, 0x4904c58349c7580f, 0xa075000000c0fd81,
    0x110f43f3b62c8d4f, 0xf355dbc60f20eb5c, 0x8d4f24eb5c110f43, 0xe354110f43f3a424, 0xf43f355d2c60f20, 0xbf3c8d4f24e35411,
    0xf20fb4c110f43f3, 0x4c110f43f355c9c6, 0x41f392148d4824fb, 0xc0c60f20d344110f, 0x24d344110f41f355, 0x80c3814804c68349,
    0x8c0fc6394d000001, 0xff03949ffffff04, 0x84280f0000034b84, 0x84290f0000058024, 0x84280f000000b024, 0x84290f000005a024,
    0x84280f000000a024, 0x84290f000005c024, 0x84280f0000009024, 0x84290f000005e024, 0x84280f0000008024, 0x44290f0000060024,
    0x6202484280f7024, 0xf602444290f0000, 0xf00000640248428, 0x2484280f50244429, 0x2444290f00000660, 0x6802484280f40,
    0x280f302444290f00, 0x290f000006a02484, 0x2494280f44202444, 0x9c280f44000006c0, 0x280f44000006e024, 0xf440000070024a4,
    0x440000072024ac28, 0x74024b4280f, 0x76024bc280f44, 0xf00d1694800, 0x4c02ebc148f38948, 0x4905e3c1499b1c8d,
    0xc38349c30149d301, 0x148d480ae2c14920, 0xd2014c07e2c1485b, 0xf5cc18349d10149, 0xf00000780248428, 0xf000007a0248c28,
    0xf000007c0249428, 0xf000007e0249c28, 0xf0000080024a428, 0xf0000082024ac28, 0xf0000084024b428, 0x900000086024bc28,
    0x45f3a441100f45f3, 0xc0c60f45a849100f, 0xb02484590f4400, 0x4400c9c60f450000, 0xa0248c590f, 0xffffdfa005580f44,
    0x100f45f3c8580f45, 0x4400c0c60f45ac41, 0x902484590f, 0x100f45f3c1580f45, 0x4400c9c60f45b049, 0x80248c590f,
    0x100f45f3c8580f45, 0x4400c0c60f45b441, 0x580f45702444590f, 0x45b849100f45f3c1, 0x4c590f4400c9c60f, 0x45f3c8580f456024,
    0xc0c60f45bc41100f, 0x45502444590f4400, 0x49100f45f3c1580f, 0xf4400c9c60f45c0, 0xc8580f4540244c59, 0xf45c441100f45f3,
    0x2444590f4400c0c6, 0xf45f3c1580f4530, 0xc9c60f45c84910, 0xf4520244c590f44, 0xcc41100f45f3c858, 0x590f4500c0c60f45,
    0xf45f3c1580f45c2, 0xc9c60f45d04910, 0xc8580f45cb590f45, 0xf45d441100f45f3, 0x45c4590f4500c0c6, 0x49100f45f3c1580f,
    0xf4500c9c60f45d8, 0x45f3c8580f45cd59, 0xc0c60f45dc41100f, 0x580f45c6590f4500, 0x45e049100f45f3c1, 0xcf590f4500c9c60f,
    0x100f45f3c8580f45, 0x4400c0c60f45e441, 0xf3c1580f45c0590f, 0xc60f45e849100f45, 0xf45c9590f4400c9, 0xec41100f45f3c858,
    0x590f4400c0c60f45, 0xf45f3c1580f45c2, 0xc9c60f45f04910, 0xc8580f45cb590f44, 0xf45f441100f45f3, 0x45c4590f4400c0c6,
    0x49100f45f3c1580f, 0xf4400c9c60f45f8, 0x45f3c8580f45cd59, 0xc0c60f45fc41100f, 0x580f45c6590f4400, 0xf4509100f45f3c1,
    0x45cf590f4400c9c6, 0xb110f45f3c8580f, 0xf45f355c9c60f45, 0x4901c08349044b11, 0x4960c1834928c383, 0xfffffdf08c0ff039,
    0x7f8e0fff8548, 0xc824bc8b4800, 0x104f280f07280f00, 0x1ba02fe8348, 0x100ff2d64d0f4800, 0x8d4803e2c1482057,
    0xf00c969489214, 0x20c08348c8014800, 0xffdd971d280fc931, 0xffffddc025280fff, 0xe8580fe0086c100f, 0xf1580ff00874100f,
    0xe0086c110feb590f, 0xf00874110ff3590f, 0xea580f082c100ff2, 0x48082c130fec590f, 0xc875ca394828c183, 0x415bd8658d48c031,
    0x5d5f415e415d415c, 0xccccccccccccccc3, 0xc0e48348e5894855, 0x48078b4840ec8348, 0x280f08408b48088b, 0xd1280f1049280f01,
    0xf03c0c20fd05f0f, 0xc1560fc2550fc854, 0x700f66ffc8700f66, 0xf55d8700f66eed0, 0xf03e0c20ff3e028, 0x5f0ff3eb540fec28,
    0x66e5560fe3550fd8, 0xf3c45f0ff3c26f0f, 0xfdc280f03e4c20f, 0xe3560fe2540fd855, 0xc45f0ff3c16f0f66, 0xd4280f03e4c20ff3,
    0x560fe1540fd0550f, 0x280f2424110ff3e2, 0x280f3049280f2041, 0x3c0c20fd05f0fd1, 0x560fc2550fc8540f, 0xf66ffc8700f66c1,
    0x55d8700f66eed070, 0x3e0c20ff3e0280f, 0xff3eb540fec280f, 0xe5560fe3550fd85f, 0xc45f0ff3c26f0f66, 0xdc280f03e4c20ff3,
    0x560fe2540fd8550f, 0x5f0ff3c16f0f66e3, 0x280f03e4c20ff3c4, 0xfe1540fd0550fd4, 0x42464110ff3e256, 0x5049280f4041280f,
    0xc20fd05f0fd1280f, 0xc2550fc8540f03c0, 0xffc8700f66c1560f, 0x700f66eed0700f66, 0xc20ff3e0280f55d8, 0xeb540fec280f03e0,
    0xfe3550fd85f0ff3, 0xff3c26f0f66e556, 0xf03e4c20ff3c45f, 0xe2540fd8550fdc28, 0xf3c16f0f66e3560f, 0x3e4c20ff3c45f0f,
    0x540fd0550fd4280f, 0x64110ff3e2560fe1, 0x280f6041280f0824, 0xd05f0fd1280f7049, 0xfc8540f03c0c20f, 0x700f66c1560fc255,
    0x66eed0700f66ffc8, 0xf3e0280f55d8700f, 0xfec280f03e0c20f, 0x550fd85f0ff3eb54, 0xc26f0f66e5560fe3, 0xe4c20ff3c45f0ff3,
    0xfd8550fdc280f03, 0x6f0f66e3560fe254, 0xc20ff3c45f0ff3c1, 0xd0550fd4280f03e4, 0xff3e2560fe1540f, 0xf44d2310c246411,
    0x280fffffdb7a2528, 0x2d280fffffdae325, 0xe535280fffffdb3c, 0xda6e3d280fffffda, 0xdb3605280f44ffff, 0xda9e0d280f44ffff,
    0xdaf615280f44ffff, 0xda9e1d280f44ffff, 0x841f0f2e66ffff, 0x401f0f00000000, 0xf45142c100f44f3, 0xd134280f4400edc6,
    0xa515280ff55c0f45, 0x45fa280f44ffffda, 0xda461d280ffe5d0f, 0x5f0f41c3280fffff, 0xfcc590fc8280fc7, 0xf44f1280f44cd58,
    0xf44fe280f45f658, 0xf45c75c0f41ff59, 0xf41f0580f44f059, 0xf41c1590f41c628, 0xf41c6590f41c258, 0xf44c6590f41c358,
    0xf41ffffd9da3d28, 0xf44c6590f41c758, 0xf41ffffd9da3d28, 0xf45fe280f45c758, 0xf45f8590f44fe59, 0x280ffc580f45fe58,
    0xf6610f0720f66c1, 0x66c8fa0f6611e072, 0xfe0f416617f0720f, 0x720f66c7590f41c4, 0xfccfe0f416617f1, 0x280fd00c290fc859,
    0xfc55c0f4110d144, 0x280f44da5f0fd05d, 0x580f44ec590f44eb, 0xce580fcd280f41ed, 0xf7590f44f1280f44, 0xc8590f41de5c0f41,
    0xf41c1280fcb580f, 0x590fc2580f41c159, 0xc1590fc3580f41c1, 0xfffffd93105580f, 0xffd93705580fc159, 0x590f44f1280f44ff,
    0x580f44f0590f44f1, 0x280f41f4580f45f1, 0xf6610f0720f66c5, 0xe8fa0f446611e072, 0xf416617f0720f66, 0x4166c6590f41c4fe,
    0xfe0f456617f5720f, 0x290f44e8590f44ec, 0x4804c2834810d06c, 0xfffe7f850f10fa83, 0x18280fc0570f45ff, 0x2048280f1050280f,
    0x41e3280f3040280f, 0x45ca280f44e0580f, 0xfcc580f44c8580f, 0xf44e0580f41e128, 0xf44d0580f45d028, 0x280f4060280fd458,
    0x68280ff0580f41f4, 0x580f45dd280f4450, 0x70280fde580f44d8, 0x580f45e6280f4460, 0x580f447078280fe0, 0x280f45c4580f45c7,
    0xf45e1150f4566e1, 0xf45cc280f45e158, 0xcc580f45f355ccc6, 0x580f45f3e4570f45, 0xf45cc580f45f3cc, 0x45ea150f4566ea28,
    0x45d5280f45ea580f, 0x580f45f355d5c60f, 0x45f3d4580f45f3d5, 0x66eb280f45d4580f, 0xeb580f45eb150f45, 0xddc60f45dd280f45,
    0x45f3dd580f45f355, 0xdc580f45f3dc580f, 0x150f4566e8280f45, 0x280f45e8580f45e8, 0x45f355c5c60f45c5, 0xc4580f45f3c5580f,
    0xc60f45c4580f45f3, 0x290fd95e0f4100c9, 0x50290fd15e0f4118, 0xf4100d2c60f4510, 0xf412048290fca5e, 0xf453040290fc25e,
    0xfe35e0f4100dbc6, 0xfeb5e0f41406029, 0xc0c60f45506829, 0x6070290ff05e0f41, 0x7078290ff85e0f41, 0xccc35dec8948c031,
    0x48078b48e5894855, 0x8b48108b48104f8b, 0xf66016e0f660840, 0x6602fe0f6600c070, 0xccc35dc031007f0f, 0xcccccccccccccccc,
    0x48078b48e5894855, 0xba4808408b48088b, 0x3c003c003c003c00, 0x3c000840c7108948, 0xd80505c40f663c00, 0xf0c50f6600ffff,
    0x147089660c508948, 0x227089661a508948, 0x3070896628508948, 0x3e70896636508948, 0x663c003c004040c7, 0x8948118b48447089,
    0x841c40f661050, 0x50896600d0c50f66, 0x5089480a518b4818, 0x66001241c40f661e, 0x2650896600d0c50f, 0xf66001641c40f66,
    0x51c40f66001a49c4, 0x1859c40f660014, 0x50896600d3c50f66, 0x896600d2c50f6630, 0x6600d1c50f662c50, 0x3250896600f0c50f,
    0x41c40f662e708966, 0x6600c8c50f66001c, 0xccc35dc031344889, 0xcccccccccccccccc, 0x48078b48e5894855, 0xf66116f0f66088b,
    0xf66ca6f0f66c0ef, 0x1b9d1500fc866, 0x8904740ffa830000, 0x6608708b48c35dc8, 0x66da6f0f66c2760f, 0x66c9760f66d8fa0f,
    0x66d16f0f66ca760f, 0x66d1fa0f66d3df0f, 0xdf7e0f66ffda700f, 0x3100000064b8c931, 0x66d86e0f66fff7d2, 0xe77e0f66eee2700f,
    0xf7d23100000064b8, 0x620f66e06e0f66ff, 0x64b8d77e0f66e3, 0xf66fff7d2310000, 0x6655d2700f66d86e, 0x64b8d77e0f,
    0xd06e0f66fff7d231, 0xdc6c0f66da620f66, 0xddb0f66d16f0f66, 0xd3df0f66ffffd584, 0xc1df0f66caeb0f66, 0xc35dc889067f0f66,
    0xff83c031e5894855, 0x10b00d8d4802, 0xc35dc1430f48, 0x0, 0x0, 0x0,
    0x100000004, 0x0, 0x0, 0x0, 0x2, 0x0,
    0x0, 0x0, 0x100000002, 0x0, 0x0, 0x0,
    0x2, 0x0, 0x0, 0x0, 0x2, 0x0,
    0x500000002, 0x0, 0x2000000018, 0x0, 0x0, 0x0,
    0x0, 0x0, 0x0, 0x0, 0x0, 0x0,
    0x0, 0x1, 0xe, 0x30, 0x1e, 0x8,
    0x6ffffffb, 0x1, 0x7, 0x2c0, 0x8, 0x198,
    0x9, 0x18, 0x6ffffff9, 0x11, 0x6, 0x200,
    0xb, 0x18, 0x5, 0x26c, 0xa, 0x51,
    0x6ffffef5, 0x248, 0x0, 0x0, 0x203a72656b6e694c, 0x4c206e6169626544,
    0x2e312e323220444c, 0x38, 0x0, 0x0, 0x0, 0xfff1000400000001,
    0x0, 0x0, 0x802020000016b, 0x17e0, 0xff9, 0xfff1000400000022,
    0x0, 0x0, 0x802020000018f, 0x27e0, 0x52f, 0xfff1000400000043,
    0x0, 0x0, 0x80202000001b4, 0x2d10, 0x27, 0xfff1000400000064,
    0x0, 0x0, 0x80202000001d6, 0x2d40, 0xd7, 0xfff1000400000085,
    0x0, 0x0, 0x80202000001f3, 0x2e20, 0xd0, 0xfff10004000000a6,
    0x0, 0x0, 0x90001000000c7, 0x3fb0, 0x18, 0x50001000000d4,
    0x5b0, 0x24, 0x50001000000e5, 0x650, 0x25, 0x50001000000f8,
    0x620, 0x22, 0x500010000010b, 0x680, 0x1d, 0x500010000011e,
    0x580, 0x25, 0x9000100000131, 0x3f10, 0xa0, 0x500010000013e,
    0x6a0, 0x0, 0x500010000014e, 0x5f0, 0x2f, 0x900010000015b,
    0x3fc8, 0x8, 0xa020000000247, 0x4020, 0x0, 0x8001200000218,
    0x2ef0, 0x16, 0x900110000022e, 0x3fd0, 0x50, 0x6d79736e79642e00,
    0x61682e756e672e00, 0x736e79642e006873, 0x616c65722e007274, 0x6f722e006e79642e, 0x68652e0061746164, 0x685f656d6172665f,
    0x665f68652e007264, 0x65742e00656d6172, 0x617461642e007478, 0x6f722e6c65722e, 0x63696d616e79642e, 0x5f6f726c65722e00,
    0x676e6964646170, 0x746e656d6d6f632e, 0x6261746d79732e00, 0x7472747368732e00, 0x747274732e006261, 0x75646f6d00006261,
    0x6c75646f6d5f656c, 0x64656b6e696c5f65, 0x70635f6d766c6c5f, 0x646f6d006f732e75, 0x75646f6d5f656c75, 0x656b6e696c5f656c,
    0x635f6d766c6c5f64, 0x6f6d006f732e7570, 0x646f6d5f656c7564, 0x6b6e696c5f656c75, 0x5f6d766c6c5f6465, 0x6d006f732e757063,
    0x6f6d5f656c75646f, 0x6e696c5f656c7564, 0x6d766c6c5f64656b, 0x6f732e7570635f, 0x6d5f656c75646f6d, 0x696c5f656c75646f,
    0x766c6c5f64656b6e, 0x6f732e7570635f6d, 0x5f656c75646f6d00, 0x6c5f656c75646f6d, 0x6c6c5f64656b6e69, 0x732e7570635f6d76,
    0x6c5f6e6c696b006f, 0x6b00797261726269, 0x6f7078655f6e6c69, 0x656d616e5f7472, 0x7078655f6e6c696b, 0x656d616e5f74726f,
    0x5f6e6c696b00312e, 0x6e5f74726f707865, 0x696b00322e656d61, 0x726f7078655f6e6c, 0x332e656d616e5f74, 0x78655f6e6c696b00,
    0x6d616e5f74726f70, 0x6e6c696b00342e65, 0x7374726f7078655f, 0x656d5f6e6c696b00, 0x372e736567617373, 0x656d5f6e6c696b00,
    0x696b006567617373, 0x617373656d5f6e6c, 0x656400382e736567, 0x707369645f65736e, 0x6d5f305f68637461, 0x78445f6c756d7461,
    0x33665f3432783031, 0x616d74666f730032, 0x7461707369645f78, 0x6465725f305f6863, 0x345f6e6f69746375, 0x6c003233665f3878,
    0x707369645f706f6f, 0x655f305f68637461, 0x6977746e656d656c, 0x3233695f345f6573, 0x645f737472617000, 0x5f68637461707369,
    0x78355f6461705f30, 0x6863003631665f37, 0x69645f64656b6365, 0x305f686374617073, 0x746e656d656c655f, 0x695f345f65736977,
    0x5f6e6c696b003233, 0x6261747563657865, 0x79726575715f656c, 0x78655f6e6c696b00, 0x656c626174756365, 0x6567617373656d5f,
    0x4d414e59445f0073, 0x4349, 0x0, 0x0, 0x0, 0x0,
    0x0, 0x0, 0x0, 0x0, 0xb00000001, 0x2,
    0x200, 0x200, 0x48, 0x100000003, 0x8, 0x18,
    0x6ffffff600000009, 0x2, 0x248, 0x248, 0x24, 0x1,
    0x8, 0x0, 0x300000013, 0x2, 0x26c, 0x26c,
    0x51, 0x0, 0x1, 0x0, 0x40000001b, 0x2,
    0x2c0, 0x2c0, 0x198, 0x1, 0x8, 0x18,
    0x100000025, 0x32, 0x460, 0x460, 0x240, 0x0,
    0x10, 0x0, 0x10000002d, 0x2, 0x6a0, 0x6a0,
    0x3c, 0x0, 0x4, 0x0, 0x10000003b, 0x2,
    0x6e0, 0x6e0, 0xf4, 0x0, 0x8, 0x0,
    0x100000045, 0x6, 0x17e0, 0x7e0, 0x1726, 0x0,
    0x10, 0x0, 0x10000004b, 0x3, 0x3f10, 0x1f10,
    0x110, 0x0, 0x10, 0x0, 0x600000058, 0x3,
    0x4020, 0x2020, 0xd0, 0x3, 0x8, 0x10,
    0x800000061, 0x3, 0x40f0, 0x20f0, 0xf10, 0x0,
    0x1, 0x0, 0x100000070, 0x30, 0x0, 0x20f0,
    0x1a, 0x0, 0x1, 0x1, 0x200000079, 0x0,
    0x0, 0x2110, 0x258, 0x170000000f, 0x8, 0x18,
    0x300000081, 0x0, 0x0, 0x2368, 0x93, 0x0,
    0x1, 0x0, 0x30000008b, 0x0, 0x0, 0x23fb,
    0x250, 0x0, 0x1, 0x0};
static const kiln_compiled_attribute_t attributes_0[] = {
    {"kiln.abi.declaration", "sync func @dense(%input0: tensor<\?x24xf32>) -> (%output0: tensor<\?x10xf32>)"},
};
static const kiln_compiled_attribute_t attributes_1[] = {
    {"kiln.abi.declaration", "sync func @softmax(%input0: tensor<4x8xf32>) -> (%output0: tensor<4x8xf32>)"},
};
static const kiln_compiled_attribute_t attributes_2[] = {
    {"kiln.abi.declaration", "sync func @loop(%input0: tensor<4xi32>, %input1: index) -> (%output0: tensor<4xi32>, %output1: i32)"},
};
static const kiln_compiled_attribute_t attributes_3[] = {
    {"kiln.abi.declaration", "sync func @parts(%input0: tensor<3x5xf16>) -> (%output0: tensor<5x7xf16>)"},
};
static const kiln_compiled_attribute_t attributes_4[] = {
    {"kiln.abi.declaration", "sync func @checked(%input0: tensor<4xi32>) -> (%output0: tensor<4xi32>)"},
};
static const kiln_compiled_dispatch_t dispatches_0_0[] = {
    {"dense_dispatch_0_matmul_Dx10x24_f32", 4, 1},
    {"softmax_dispatch_0_reduction_4x8_f32", 2, 0},
    {"loop_dispatch_0_elementwise_4_i32", 2, 1},
    {"parts_dispatch_0_pad_5x7_f16", 2, 0},
    {"checked_dispatch_0_elementwise_4_i32", 2, 0},
};
static const kiln_compiled_variant_t variants_0[] = {
    {"llvm-cpu", "elf-x86_64", "x86-64", "", dispatches_0_0, 5, executable_0, 10832},
};
static const kiln_compiled_function_t functions[] = {
    {"__initializer_0", "_", 11, 2, 3, 1, f0___initializer_0},
    {"__initializer_1", "_", 2, 2, 3, 1, f1___initializer_1},
    {"dense", "r_r", 17, 7, 8, 1, f2_dense},
    {"softmax", "r_r", 6, 5, 6, 1, f3_softmax},
    {"loop", "rI_ri", 13, 5, 6, 1, f4_loop},
    {"parts", "r_r", 8, 5, 6, 1, f5_parts},
    {"checked", "r_r", 5, 5, 6, 1, f6_checked},
    {"__initialize", "_", 0, 0, 0, 0, f7___initialize},
};
static const kiln_compiled_export_t exports[] = {
    {"dense", 2, 1, attributes_0},
    {"softmax", 3, 1, attributes_1},
    {"loop", 4, 1, attributes_2},
    {"parts", 5, 1, attributes_3},
    {"checked", 6, 1, attributes_4},
};
static const kiln_compiled_import_t imports[] = {
    {"hal.fence.await", "r_"},
    {"hal.buffer_view.create", "rIIiI*_r"},
    {"hal.device.execute", "rrr(rII)*_r"},
    {"hal.buffer.length", "r_I"},
    {"hal.command_buffer.barrier", "r_"},
    {"hal.command_buffer.fill", "riIIIi_"},
    {"hal.buffer.allocate", "riI_r"},
    {"hal.buffer_view.buffer", "r_r"},
    {"hal.buffer_view.dim", "ri_I"},
    {"hal.buffer_view.assert", "rriI*_"},
    {"hal.buffer.constant", "rrII_r"},
    {"hal.command_buffer.copy", "riIiII_"},
    {"hal.command_buffer.finalize", "r_"},
    {"hal.command_buffer.dispatch", "rriIIIiI*_"},
    {"hal.command_buffer.create", "rii_r"},
    {"hal.executable.create", "rr_r"},
    {"hal.device.get", "i_r"},
};
static const kiln_compiled_requirement_t requirements[] = {
    {"vm", 1, 0},
    {"hal", 1, 0},
};
static const kiln_compiled_data_t constants[] = {
    {"__rodata_1", constant_0, 6},
    {"__rodata_0", constant_1, 40},
};
static const kiln_compiled_executable_t executables[] = {
    {"module_linked", variants_0, 1},
};
static const kiln_compiled_attribute_t attributes[] = {
    {"kiln.remarks", "copy 1, repack 1"},
};
static const kiln_compiled_module_t module = {
    1, 0, /* the version of kiln_compiled.h */
    sizeof(kiln_compiled_module_t),
    "module",
    "kiln 0.1.0",
    functions,
    exports,
    imports,
    requirements,
    constants,
    executables,
    attributes,
    8, 5, 17, 2, 2, 1, 1, /* how many of each */
    0, 7, /* variables: values, references */
    7, /* the initializer */
};

KILN_COMPILED_API const kiln_compiled_module_t *kiln_register_module(void);
const kiln_compiled_module_t *kiln_register_module(void) {
  return &module;
}
