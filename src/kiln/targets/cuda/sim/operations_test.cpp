// Single instructions against what the manual says of them.
#include "kiln/targets/cuda/sim/kernel_run.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>

namespace kiln::cudasim {
namespace {

// Runs `code` in one thread, with the inputs in %a, %b and %c of 64 bits, whose low parts are %ra..., %ha... and
// %fa... for instructions of other widths, and gives %d; of results in %rd, %hd, %fd or %pd, their bits.
uint64_t compute(const std::string &code, std::vector<uint64_t> inputs) {
  inputs.resize(3);
  std::string text = R"(.visible .entry k(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c) {
  .reg .b64 %a, %b, %c, %d, %out;
  .reg .b32 %ra, %rb, %rc, %rd;
  .reg .b16 %ha, %hb, %hc, %hd;
  .reg .f32 %fa, %fb, %fc, %fd;
  .reg .f64 %da, %db, %dc, %dd;
  .reg .pred %pa, %pb, %pd, %pe;
  ld.param.u64 %out, [out];
  ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c];
  mov.u64 %d, 0; mov.u32 %rd, 0; mov.u16 %hd, 0; mov.f32 %fd, 0f00000000; mov.f64 %dd, 0d0000000000000000;
  cvt.u32.u64 %ra, %a; cvt.u32.u64 %rb, %b; cvt.u32.u64 %rc, %c;
  cvt.u16.u64 %ha, %a; cvt.u16.u64 %hb, %b; cvt.u16.u64 %hc, %c;
  mov.b32 %fa, %ra; mov.b32 %fb, %rb; mov.b32 %fc, %rc;
  mov.b64 %da, %a; mov.b64 %db, %b; mov.b64 %dc, %c;
  setp.ne.u64 %pa, %a, 0; setp.ne.u64 %pb, %b, 0; setp.ne.u64 %pd, 0, 0; setp.ne.u64 %pe, 0, 0;
  )";
  text += code;
  const size_t place = code.find('%');
  const char kind = code[place + 1];
  if (kind == 'r')
    text += " cvt.u64.u32 %d, %rd;";
  else if (kind == 'h')
    text += " cvt.u64.u16 %d, %hd;";
  else if (kind == 'f')
    text += " mov.b32 %rd, %fd; cvt.u64.u32 %d, %rd;";
  else if (kind == 'p')
    text += " selp.u64 %d, 1, 0, %pd; @%pe add.u64 %d, %d, 2;";
  else if (code[place + 2] == 'd')
    text += " mov.b64 %d, %dd;";
  text += " st.global.u64 [%out], %d; ret; }";
  KernelRun kernel(text);
  EXPECT_EQ(kernel.loadError(), "") << code;
  if (!kernel.loadError().empty())
    return 0xbad;
  const uint64_t out = kernel.allocate(std::vector<uint64_t>{0});
  EXPECT_EQ(kernel.run({1, 1, 1}, {1, 1, 1}, {out, inputs[0], inputs[1], inputs[2]}), "") << code;
  return kernel.read<uint64_t>(out, 1)[0];
}

uint64_t f(float value) {
  return std::bit_cast<uint32_t>(value);
}
uint64_t d(double value) {
  return std::bit_cast<uint64_t>(value);
}
uint64_t s(int64_t value) {
  return uint64_t(value);
}
uint64_t s32(int32_t value) {
  return uint32_t(value);
}
constexpr uint64_t kNan = 0x7fffffff, kInf = 0x7f800000;

TEST(Operations, integersWrapAndSaturate) {
  EXPECT_EQ(compute("add.s32 %rd, %ra, %rb;", {0x7fffffff, 1}), 0x80000000);
  EXPECT_EQ(compute("add.sat.s32 %rd, %ra, %rb;", {0x7fffffff, 1}), 0x7fffffff);
  EXPECT_EQ(compute("sub.sat.s32 %rd, %ra, %rb;", {0x80000000, 1}), 0x80000000);
  EXPECT_EQ(compute("add.u16 %hd, %ha, %hb;", {0xffff, 2}), 1u);
  EXPECT_EQ(compute("sub.u64 %d, %a, %b;", {0, 1}), ~uint64_t(0));
  EXPECT_EQ(compute("mul.lo.s32 %rd, %ra, %rb;", {s32(-3), 5}), s32(-15));
  EXPECT_EQ(compute("mul.hi.u32 %rd, %ra, %rb;", {0xffffffff, 0xffffffff}), 0xfffffffe);
  EXPECT_EQ(compute("mul.hi.s64 %d, %a, %b;", {s(-1), 2}), s(-1));
  EXPECT_EQ(compute("mul.hi.u64 %d, %a, %b;", {s(-1), s(-1)}), s(-2));
  EXPECT_EQ(compute("mul.hi.u16 %hd, %ha, %hb;", {0xffff, 0xffff}), 0xfffe);
  EXPECT_EQ(compute("mul.wide.s32 %d, %ra, %rb;", {s32(-2), 3}), s(-6));
  EXPECT_EQ(compute("mul.wide.u32 %d, %ra, %rb;", {0xffffffff, 0xffffffff}), 0xfffffffe00000001);
  EXPECT_EQ(compute("mul.wide.s16 %rd, %ha, %hb;", {0xffff, 3}), s32(-3));
  EXPECT_EQ(compute("mad.wide.s32 %d, %ra, %rb, %c;", {s32(-2), 3, 10}), 4u);
  EXPECT_EQ(compute("mad.lo.s64 %d, %a, %b, %c;", {3, s(-4), 5}), s(-7));
  EXPECT_EQ(compute("mad.hi.sat.s32 %rd, %ra, %rb, %rc;", {0x7fffffff, 0x7fffffff, 0x7fffffff}), 0x7fffffff);
  EXPECT_EQ(compute("mul24.lo.u32 %rd, %ra, %rb;", {0xff000003, 5}), 15u);
  EXPECT_EQ(compute("mul24.hi.u32 %rd, %ra, %rb;", {0xffffff, 0xffffff}), 0xfffffe00);
  EXPECT_EQ(compute("sad.s32 %rd, %ra, %rb, %rc;", {s32(-3), 4, 10}), 17u);
  EXPECT_EQ(compute("div.s32 %rd, %ra, %rb;", {s32(-7), 2}), s32(-3));
  EXPECT_EQ(compute("div.s32 %rd, %ra, %rb;", {0x80000000, s32(-1)}), 0x80000000);
  EXPECT_EQ(compute("rem.s32 %rd, %ra, %rb;", {s32(-7), 2}), s32(-1));
  EXPECT_EQ(compute("rem.u64 %d, %a, %b;", {100, 7}), 2u);
  EXPECT_EQ(compute("min.s32 %rd, %ra, %rb;", {s32(-1), 1}), s32(-1));
  EXPECT_EQ(compute("min.u32 %rd, %ra, %rb;", {s32(-1), 1}), 1u);
  EXPECT_EQ(compute("max.s16x2 %rd, %ra, %rb;", {0x0001ffff, 0x00020000}), 0x00020000);
  EXPECT_EQ(compute("abs.s32 %rd, %ra;", {0x80000000}), 0x80000000);
  EXPECT_EQ(compute("abs.s64 %d, %a;", {s(-5)}), 5u);
  EXPECT_EQ(compute("neg.s16 %hd, %ha;", {1}), 0xffff);
  EXPECT_EQ(compute("dp4a.s32.s32 %rd, %ra, %rb, %rc;", {0xff020304, 0x01010101, 1}), 9u);
  EXPECT_EQ(compute("dp2a.hi.u32.u32 %rd, %ra, %rb, %rc;", {0x00020003, 0x05040000, 1}), 23u);
}

TEST(Operations, carriesGoOn) {
  EXPECT_EQ(compute("add.cc.u32 %rd, %ra, %rb; addc.u32 %rd, 0, 0;", {0xffffffff, 1}), 1u);
  EXPECT_EQ(compute("sub.cc.u32 %rd, %ra, %rb; subc.u32 %rd, 5, 0;", {0, 1}), 4u);
  EXPECT_EQ(compute("add.cc.u64 %d, %a, %b; addc.u64 %d, 0, 0;", {s(-1), 1}), 1u);
  EXPECT_EQ(compute("mad.lo.cc.u32 %rd, %ra, %rb, %rc; madc.hi.u32 %rd, %ra, %rb, 0;", {0x80000000, 2, 0}), 1u);
}

TEST(Operations, bits) {
  EXPECT_EQ(compute("shl.b32 %rd, %ra, %rb;", {1, 32}), 0u);
  EXPECT_EQ(compute("shl.b64 %d, %a, %rb;", {1, 63}), uint64_t(1) << 63);
  EXPECT_EQ(compute("shr.u32 %rd, %ra, %rb;", {0x80000000, 40}), 0u);
  EXPECT_EQ(compute("shr.s32 %rd, %ra, %rb;", {0x80000000, 40}), 0xffffffff);
  EXPECT_EQ(compute("shr.s16 %hd, %ha, %rb;", {0x8000, 3}), 0xf000);
  EXPECT_EQ(compute("shf.l.wrap.b32 %rd, %ra, %rb, %rc;", {0x80000000, 1, 1}), 3u);
  EXPECT_EQ(compute("shf.l.clamp.b32 %rd, %ra, %rb, %rc;", {0x12345678, 1, 40}), 0x12345678);
  EXPECT_EQ(compute("shf.r.wrap.b32 %rd, %ra, %rb, %rc;", {2, 1, 1}), 0x80000001);
  EXPECT_EQ(compute("shf.r.clamp.b32 %rd, %ra, %rb, %rc;", {2, 7, 32}), 7u);
  EXPECT_EQ(compute("lop3.b32 %rd, %ra, %rb, %rc, 0x96;", {0b1100, 0b1010, 0b0110}), 0u);
  EXPECT_EQ(compute("lop3.b32 %rd, %ra, %rb, %rc, 0xE8;", {0b1100, 0b1010, 0b0110}), 0b1110);
  EXPECT_EQ(compute("prmt.b32 %rd, %ra, %rb, 0x7061;", {0x33221100, 0x77665544}), 0x77006611u);
  EXPECT_EQ(compute("prmt.b32 %rd, %ra, %rb, 0x8888;", {0x80, 0}), 0xffffffff);
  EXPECT_EQ(compute("prmt.b32.f4e %rd, %ra, %rb, 1;", {0x33221100, 0x77665544}), 0x44332211);
  EXPECT_EQ(compute("popc.b64 %rd, %a;", {s(-1)}), 64u);
  EXPECT_EQ(compute("clz.b32 %rd, %ra;", {1}), 31u);
  EXPECT_EQ(compute("clz.b64 %rd, %a;", {0}), 64u);
  EXPECT_EQ(compute("brev.b32 %rd, %ra;", {1}), 0x80000000);
  EXPECT_EQ(compute("bfind.u32 %rd, %ra;", {0x100}), 8u);
  EXPECT_EQ(compute("bfind.shiftamt.u32 %rd, %ra;", {0x100}), 23u);
  EXPECT_EQ(compute("bfind.s32 %rd, %ra;", {s32(-1)}), 0xffffffff);
  EXPECT_EQ(compute("fns.b32 %rd, %ra, %rb, 2;", {0b10110, 0}), 2u);
  EXPECT_EQ(compute("bfe.u32 %rd, %ra, 4, 8;", {0xabcd}), 0xbcu);
  EXPECT_EQ(compute("bfe.s32 %rd, %ra, 4, 8;", {0xabcd}), s32(-0x44));
  EXPECT_EQ(compute("bfe.s32 %rd, %ra, 40, 4;", {0x80000000}), 0xffffffff);
  EXPECT_EQ(compute("bfe.u64 %d, %a, 60, 8;", {s(-1)}), 15u);
  EXPECT_EQ(compute("bfi.b32 %rd, %ra, %rb, 8, 4;", {0x5, 0xffffffff}), 0xfffff5ff);
  EXPECT_EQ(compute("szext.wrap.s32 %rd, %ra, 4;", {0x8}), s32(-8));
  EXPECT_EQ(compute("bmsk.clamp.b32 %rd, 4, 8;", {}), 0xff0u);
  EXPECT_EQ(compute("not.b16 %hd, %ha;", {1}), 0xfffe);
  EXPECT_EQ(compute("cnot.b32 %rd, %ra;", {0}), 1u);
  EXPECT_EQ(compute("xor.pred %pd, %pa, %pb;", {1, 1}), 0u);
  EXPECT_EQ(compute("not.pred %pd, %pa;", {0}), 1u);
}

TEST(Operations, floatsRoundOnce) {
  EXPECT_EQ(compute("add.f32 %fd, %fa, %fb;", {f(1), f(0x1p-24f)}), f(1));
  EXPECT_EQ(compute("add.rp.f32 %fd, %fa, %fb;", {f(1), f(0x1p-24f)}), f(1 + 0x1p-23f));
  EXPECT_EQ(compute("add.rz.f32 %fd, %fa, %fb;", {f(-1), f(-0x1p-24f)}), f(-1));
  EXPECT_EQ(compute("add.rm.f32 %fd, %fa, %fb;", {f(-1), f(-0x1p-24f)}), f(-1 - 0x1p-23f));
  EXPECT_EQ(compute("fma.rn.f32 %fd, %fa, %fb, %fc;", {f(1 + 0x1p-12f), f(1 + 0x1p-12f), f(-1)}),
            f(0x1p-11f + 0x1p-24f));
  EXPECT_EQ(compute("fma.rz.f64 %dd, %da, %db, %dc;", {d(3), d(5), d(0.5)}), d(15.5));
  EXPECT_EQ(compute("mul.f32 %fd, %fa, %fb;", {f(0x1p-100f), f(0x1p-40f)}), f(0x1p-140f));
  EXPECT_EQ(compute("mul.ftz.f32 %fd, %fa, %fb;", {f(0x1p-100f), f(-0x1p-40f)}), f(-0.0f));
  EXPECT_EQ(compute("add.ftz.f32 %fd, %fa, %fb;", {f(0x1p-140f), f(0)}), 0u);
  EXPECT_EQ(compute("add.sat.f32 %fd, %fa, %fb;", {f(3), f(4)}), f(1));
  EXPECT_EQ(compute("add.sat.f32 %fd, %fa, %fb;", {f(NAN), f(4)}), 0u);
  EXPECT_EQ(compute("sub.f32 %fd, %fa, %fb;", {kInf, kInf}), kNan);
  EXPECT_EQ(compute("div.rn.f32 %fd, %fa, %fb;", {f(1), f(3)}), f(1.0f / 3));
  EXPECT_EQ(compute("div.full.f32 %fd, %fa, %fb;", {f(1), f(0)}), kInf);
  EXPECT_EQ(compute("div.approx.f32 %fd, %fa, %fb;", {f(1), f(0x1p127f)}), 0u);
  EXPECT_EQ(compute("div.rn.f64 %dd, %da, %db;", {d(1), d(3)}), d(1.0 / 3));
  EXPECT_EQ(compute("rcp.rn.f32 %fd, %fa;", {f(3)}), f(1.0f / 3));
  EXPECT_EQ(compute("rcp.approx.ftz.f32 %fd, %fa;", {f(0x1p-140f)}), kInf);
  EXPECT_EQ(compute("sqrt.rn.f32 %fd, %fa;", {f(2)}), f(std::sqrt(2.0f)));
  EXPECT_EQ(compute("sqrt.rn.f32 %fd, %fa;", {f(-1)}), kNan);
  EXPECT_EQ(compute("sqrt.rn.f64 %dd, %da;", {d(2)}), d(std::sqrt(2.0)));
  EXPECT_EQ(compute("rsqrt.approx.f32 %fd, %fa;", {f(4)}), f(0.5f));
  EXPECT_EQ(compute("ex2.approx.f32 %fd, %fa;", {f(3)}), f(8));
  EXPECT_EQ(compute("lg2.approx.f32 %fd, %fa;", {f(8)}), f(3));
  EXPECT_EQ(compute("lg2.approx.f32 %fd, %fa;", {f(0)}), f(-INFINITY));
  EXPECT_EQ(compute("sin.approx.f32 %fd, %fa;", {f(1)}), f(float(std::sin(1.0))));
  EXPECT_EQ(compute("tanh.approx.f32 %fd, %fa;", {f(100)}), f(1));
  EXPECT_EQ(compute("neg.f32 %fd, %fa;", {f(0)}), f(-0.0f));
  EXPECT_EQ(compute("abs.f64 %dd, %da;", {d(-2)}), d(2));
  EXPECT_EQ(compute("copysign.f32 %fd, %fa, %fb;", {f(-1), f(3)}), f(-3));
  EXPECT_EQ(compute("testp.subnormal.f32 %pd, %fa;", {f(0x1p-140f)}), 1u);
  EXPECT_EQ(compute("testp.notanumber.f32 %pd, %fa;", {f(1)}), 0u);
}

TEST(Operations, minimaAndMaximaOfFloats) {
  EXPECT_EQ(compute("min.f32 %fd, %fa, %fb;", {f(NAN), f(2)}), f(2));
  EXPECT_EQ(compute("min.f32 %fd, %fa, %fb;", {f(NAN), f(NAN)}), kNan);
  EXPECT_EQ(compute("max.NaN.f32 %fd, %fa, %fb;", {f(1), 0xffc00000}), kNan);
  EXPECT_EQ(compute("max.f32 %fd, %fa, %fb;", {f(-0.0f), f(0)}), f(0));
  EXPECT_EQ(compute("min.f32 %fd, %fa, %fb;", {f(0), f(-0.0f)}), f(-0.0f));
  EXPECT_EQ(compute("max.xorsign.abs.f32 %fd, %fa, %fb;", {f(-3), f(2)}), f(-3));
  EXPECT_EQ(compute("min.f64 %dd, %da, %db;", {d(1), d(-1)}), d(-1));
  EXPECT_EQ(compute("max.f16 %hd, %ha, %hb;", {0x3c00, 0x4000}), 0x4000u);
  EXPECT_EQ(compute("max.NaN.bf16x2 %rd, %ra, %rb;", {0x7fc03f80, 0x3f804000}), 0x7fff4000u);
}

TEST(Operations, numbersOf16Bits) {
  EXPECT_EQ(compute("add.f16 %hd, %ha, %hb;", {0x3c00, 0x1000}), 0x3c00u);                 // 1 + 2^-11 is a tie
  EXPECT_EQ(compute("fma.rn.f16 %hd, %ha, %hb, %hc;", {0x3c01, 0x3c01, 0x1000}), 0x3c03u); // beyond a tie
  EXPECT_EQ(compute("mul.f16x2 %rd, %ra, %rb;", {0x40003c00, 0x42004200}), 0x46004200u);
  EXPECT_EQ(compute("add.bf16 %hd, %ha, %hb;", {0x3f80, 0x3f80}), 0x4000u);
  EXPECT_EQ(compute("fma.rn.relu.bf16 %hd, %ha, %hb, %hc;", {0x3f80, 0xbf80, 0x0000}), 0u);
  EXPECT_EQ(compute("sub.ftz.f16 %hd, %ha, %hb;", {0x0001, 0x0000}), 0u);
  EXPECT_EQ(compute("add.f16 %hd, %ha, %hb;", {0x7bff, 0x7bff}), 0x7c00u);
  EXPECT_EQ(compute("neg.f16x2 %rd, %ra;", {0x3c00bc00}), 0xbc003c00u);
  // An addend far below the last place decides ties.
  EXPECT_EQ(compute("fma.rn.bf16 %hd, %ha, %hb, %hc;", {0x3f80, 0x3f80, 0x3b80}), 0x3f80u);
  EXPECT_EQ(compute("fma.rn.bf16 %hd, %ha, %hb, %hc;", {0x3f81, 0x3f81, 0x0080}), 0x3f82u);
}

TEST(Operations, conversions) {
  EXPECT_EQ(compute("cvt.u32.u64 %rd, %a;", {0x1234567890}), 0x34567890u);
  EXPECT_EQ(compute("cvt.s64.s32 %d, %ra;", {s32(-2)}), s(-2));
  EXPECT_EQ(compute("cvt.s32.s8 %rd, %ra;", {0x80}), s32(-128));
  EXPECT_EQ(compute("cvt.u32.u8 %rd, %ra;", {0x1ff}), 0xffu);
  EXPECT_EQ(compute("cvt.s16.s8 %hd, %ha;", {0xff}), 0xffffu);
  EXPECT_EQ(compute("cvt.s8.s32 %rd, %ra;", {0x1ff}), 0xffffffffu);
  EXPECT_EQ(compute("cvt.sat.u8.s32 %rd, %ra;", {300}), 255u);
  EXPECT_EQ(compute("cvt.sat.u8.s32 %rd, %ra;", {s32(-4)}), 0u);
  EXPECT_EQ(compute("cvt.sat.s8.u32 %rd, %ra;", {200}), 127u);
  EXPECT_EQ(compute("cvt.rn.f32.s32 %fd, %ra;", {s32(-3)}), f(-3));
  EXPECT_EQ(compute("cvt.rn.f32.u64 %fd, %a;", {s(-1)}), f(0x1p64f));
  EXPECT_EQ(compute("cvt.rz.f32.u64 %fd, %a;", {s(-1)}), f(0x1.fffffep63f));
  EXPECT_EQ(compute("cvt.rp.f32.u32 %fd, %ra;", {0x1000001}), f(0x1000002));
  EXPECT_EQ(compute("cvt.rn.f64.s64 %dd, %a;", {s(-7)}), d(-7));
  EXPECT_EQ(compute("cvt.rzi.s32.f32 %rd, %fa;", {f(-2.9f)}), s32(-2));
  EXPECT_EQ(compute("cvt.rni.s32.f32 %rd, %fa;", {f(2.5f)}), 2u);
  EXPECT_EQ(compute("cvt.rmi.s32.f32 %rd, %fa;", {f(-2.1f)}), s32(-3));
  EXPECT_EQ(compute("cvt.rpi.u32.f32 %rd, %fa;", {f(2.1f)}), 3u);
  EXPECT_EQ(compute("cvt.rzi.s32.f32 %rd, %fa;", {f(1e20f)}), 0x7fffffffu);
  EXPECT_EQ(compute("cvt.rzi.u32.f32 %rd, %fa;", {f(-5)}), 0u);
  EXPECT_EQ(compute("cvt.rzi.s32.f32 %rd, %fa;", {f(NAN)}), 0u);
  EXPECT_EQ(compute("cvt.rzi.s64.f64 %d, %da;", {d(NAN)}), uint64_t(1) << 63);
  EXPECT_EQ(compute("cvt.rzi.u64.f64 %d, %da;", {d(1e30)}), ~uint64_t(0));
  EXPECT_EQ(compute("cvt.rni.f32.f32 %fd, %fa;", {f(3.5f)}), f(4));
  EXPECT_EQ(compute("cvt.rni.f32.f32 %fd, %fa;", {f(-0.25f)}), f(-0.0f));
  EXPECT_EQ(compute("cvt.sat.f32.f32 %fd, %fa;", {f(-3)}), 0u);
  EXPECT_EQ(compute("cvt.f64.f32 %dd, %fa;", {f(1.5f)}), d(1.5));
  EXPECT_EQ(compute("cvt.rn.f32.f64 %fd, %da;", {d(0.1)}), f(0.1f));
  EXPECT_EQ(compute("cvt.rz.f32.f64 %fd, %da;", {d(1 + 0x1.8p-23)}), f(1 + 0x1p-23f));
  EXPECT_EQ(compute("cvt.f32.f16 %fd, %ha;", {0x0001}), f(0x1p-24f));
  EXPECT_EQ(compute("cvt.f32.f16 %fd, %ha;", {0xfc00}), f(-INFINITY));
  EXPECT_EQ(compute("cvt.f32.bf16 %fd, %ha;", {0x3fc0}), f(1.5f));
  EXPECT_EQ(compute("cvt.rn.f16.f32 %hd, %fa;", {f(65520)}), 0x7c00u);
  EXPECT_EQ(compute("cvt.rz.f16.f32 %hd, %fa;", {f(65520)}), 0x7bffu);
  EXPECT_EQ(compute("cvt.rn.f16.f32 %hd, %fa;", {f(0x1p-25f)}), 0u);
  EXPECT_EQ(compute("cvt.rn.f16.f32 %hd, %fa;", {f(0x1.8p-25f)}), 1u);
  EXPECT_EQ(compute("cvt.rn.relu.bf16.f32 %hd, %fa;", {f(-1)}), 0u);
  EXPECT_EQ(compute("cvt.rn.bf16.f32 %hd, %fa;", {f(1 + 0x1p-8f)}), 0x3f80u);
  EXPECT_EQ(compute("cvt.rn.f16x2.f32 %rd, %fa, %fb;", {f(1), f(2)}), 0x3c004000u);
  EXPECT_EQ(compute("cvt.rn.bf16x2.f32 %rd, %fa, %fb;", {f(1), f(2)}), 0x3f804000u);
  EXPECT_EQ(compute("cvt.rna.tf32.f32 %rd, %fa;", {f(1 + 0x1p-11f)}), f(1 + 0x1p-10f));
  EXPECT_EQ(compute("cvt.rn.satfinite.e4m3x2.f32 %hd, %fa, %fb;", {f(1000), f(1)}), 0x7e38u);
  EXPECT_EQ(compute("cvt.rn.f16x2.e5m2x2 %rd, %ha;", {0x3c40}), 0x3c004000u);
  EXPECT_EQ(compute("cvt.rn.f16.u64 %hd, %a;", {2049}), 0x6800u);
}

TEST(Operations, comparisons) {
  EXPECT_EQ(compute("setp.lt.s32 %pd, %ra, %rb;", {s32(-1), 1}), 1u);
  EXPECT_EQ(compute("setp.lo.u32 %pd, %ra, %rb;", {s32(-1), 1}), 0u);
  EXPECT_EQ(compute("setp.lt.f32 %pd, %fa, %fb;", {f(NAN), f(1)}), 0u);
  EXPECT_EQ(compute("setp.ltu.f32 %pd, %fa, %fb;", {f(NAN), f(1)}), 1u);
  EXPECT_EQ(compute("setp.ne.f32 %pd, %fa, %fb;", {f(NAN), f(1)}), 0u);
  EXPECT_EQ(compute("setp.neu.f64 %pd, %da, %db;", {d(NAN), d(1)}), 1u);
  EXPECT_EQ(compute("setp.nan.f32 %pd, %fa, %fa;", {f(NAN)}), 1u);
  EXPECT_EQ(compute("setp.num.f32 %pd, %fa, %fb;", {f(0), f(1)}), 1u);
  EXPECT_EQ(compute("setp.eq.u32 %pd|%pe, %ra, %rb;", {4, 5}), 2u);
  EXPECT_EQ(compute("setp.eq.and.u32 %pd|%pe, %ra, %rb, %pa;", {4, 4}), 1u);
  EXPECT_EQ(compute("setp.eq.or.u32 %pd, %ra, 9, !%pb;", {4, 0}), 1u);
  EXPECT_EQ(compute("setp.gt.f16 %pd, %ha, %hb;", {0x4000, 0x3c00}), 1u);
  EXPECT_EQ(compute("setp.lt.f16x2 %pd|%pe, %ra, %rb;", {0x3c003c00, 0x40003c00}), 2u);
  EXPECT_EQ(compute("set.gt.u32.s32 %rd, %ra, %rb;", {2, 1}), 0xffffffffu);
  EXPECT_EQ(compute("set.gt.f32.s32 %fd, %ra, %rb;", {2, 1}), f(1));
  EXPECT_EQ(compute("selp.b32 %rd, %ra, %rb, %pa;", {3, 4}), 3u);
  EXPECT_EQ(compute("slct.b32.s32 %rd, %ra, %rb, %rc;", {3, 4, s32(-1)}), 4u);
}

TEST(Operations, movesAndParts) {
  EXPECT_EQ(compute("mov.b64 %d, {%ra, %rb};", {1, 2}), 0x200000001u);
  EXPECT_EQ(compute("mov.b64 {%ra, %rd}, %a;", {0x200000001}), 2u);
  EXPECT_EQ(compute("mov.b32 {%hd, %hb}, %ra;", {0x00020001}), 1u);
  EXPECT_EQ(compute("mov.u32 %rd, %ntid.x;", {}), 1u);
  EXPECT_EQ(compute("mov.f32 %fd, 0f3F800000;", {}), f(1));
  EXPECT_EQ(compute("mov.f32 %fd, 1.5;", {}), f(1.5f));
  EXPECT_EQ(compute("mov.u32 %rd, (3 + 4) * 2;", {}), 14u);
  EXPECT_EQ(compute("mov.u32 %rd, WARP_SZ;", {}), 32u);
}

} // namespace
} // namespace kiln::cudasim
