// Branches, calls, ends and barriers.
#include "kiln/targets/cuda/sim/operations.h"

#include <cstring>

namespace kiln::cudasim {

namespace {

const Inst *branch(const Inst *i, uint64_t *, Thread &) {
  return i->target;
}
void decodeBra(Decoder &in) {
  in.take("uni");
  in.expectOperands(1);
  if (in.operand(0).kind != Operand::Kind::Name)
    return in.fail("a label is expected");
  in.inst.target = in.label(in.operand(0).name);
  in.inst.run = &branch;
}

// `imm` has the list of labels, `b` how many there are.
const Inst *branchIndexed(const Inst *i, uint64_t *r, Thread &t) {
  const auto index = uint32_t(r[i->a]);
  if (index >= i->b)
    return t.fault(i, FaultCode::IllegalInstruction, fmt::format("branches to entry {} of {}", index, i->b));
  return reinterpret_cast<const Inst *const *>(i->imm)[index];
}
void decodeBrx(Decoder &in) {
  if (!in.take("idx"))
    in.fail("'.idx' is expected");
  in.take("uni");
  in.expectOperands(2);
  in.inst.a = in.source(0, Type::B32);
  if (in.operand(1).kind != Operand::Kind::Name)
    return in.fail("a list of labels is expected");
  size_t count = 0;
  in.inst.imm = reinterpret_cast<uint64_t>(in.labelTable(in.operand(1).name, count));
  in.inst.b = uint32_t(count);
  in.inst.run = &branchIndexed;
}

//===--- Calls ----------------------------------------------------------------------------------------------------===//

// `list` has the places of what is passed and then of what is returned, in the caller's parameters.
const Inst *call(const Inst *i, uint64_t *, Thread &t) {
  constexpr size_t kMostFrames = 256;
  if (t.frames.size() == kMostFrames)
    return t.fault(i, FaultCode::HardwareStack, fmt::format("is a call within {} calls", kMostFrames));
  const size_t caller = t.frames.back().params;
  t.enter(*i->callee, i);
  for (size_t k = 0; k < i->callee->parameters.size(); ++k) {
    auto [offset, bytes] = i->callee->parameters[k];
    std::memcpy(t.frameParams() + offset, t.params.data() + caller + i->list[k], bytes);
  }
  return t.next;
}

const Inst *leave(const Inst *i, uint64_t *, Thread &t) {
  if (t.frames.size() == 1) {
    t.next = i;
    t.block->end(t);
    return nullptr;
  }
  const Thread::Frame frame = t.frames.back();
  t.frames.pop_back();
  const uint32_t *places = frame.call->list + frame.code->parameters.size();
  for (size_t k = 0; k < frame.code->results.size(); ++k) {
    auto [offset, bytes] = frame.code->results[k];
    std::memcpy(t.frameParams() + places[k], t.params.data() + frame.params + offset, bytes);
  }
  t.registers = t.registerStack.data() + t.frames.back().registers;
  return frame.call + 1;
}
void decodeRet(Decoder &in) {
  in.take("uni");
  in.expectOperands(0);
  in.inst.run = &leave;
}

const Inst *endThread(const Inst *i, uint64_t *, Thread &t) {
  t.next = i;
  t.block->end(t);
  return nullptr;
}

void appendPlaces(Decoder &in, const Operand &list, const std::vector<uint32_t> &parameters,
                  std::vector<uint32_t> &places) {
  if (list.parts.size() != parameters.size())
    return in.fail(fmt::format("the function takes or returns {} values", parameters.size()));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Operand &part = list.parts[i];
    const Decoder::ParamPlace *place = part.kind == Operand::Kind::Variable ? in.paramPlace(part.index) : nullptr;
    if (!place || place->isLaunch)
      return in.fail("a call passes variables of the state space .param");
    if (in.variable(part.index).bytes != in.variable(parameters[i]).bytes)
      return in.fail("a value has another size than the function's parameter");
    places.push_back(uint32_t(place->offset));
  }
}

void decodeCall(Decoder &in) {
  in.take("uni");
  static const Operand kNone = [] {
    Operand list;
    list.kind = Operand::Kind::List;
    return list;
  }();
  size_t next = 0;
  const bool hasResults = in.operand(0).kind == Operand::Kind::List;
  const Operand &results = hasResults ? in.operand(next++) : kNone;
  const Operand &name = in.operand(next++);
  if (name.kind != Operand::Kind::Name)
    return in.fail("a function is expected; calls through pointers are not simulated");
  const bool hasArguments = next < in.operandCount() && in.operand(next).kind == Operand::Kind::List;
  const Operand &arguments = hasArguments ? in.operand(next++) : kNone;
  in.expectOperands(next);
  in.inst.callee = in.callee(name.name);
  if (in.failed())
    return;
  std::vector<uint32_t> places;
  appendPlaces(in, arguments, in.inst.callee->function->parameters, places);
  appendPlaces(in, results, in.inst.callee->function->results, places);
  in.inst.list = in.list(std::move(places));
  in.inst.run = &call;
}

//===--- Barriers -------------------------------------------------------------------------------------------------===//

const Inst *barrier(const Inst *i, uint64_t *r, Thread &t) {
  const bool value = (r[i->c] != 0) != (i->extra != 0);
  return t.block->arrive(t, i, uint32_t(r[i->a]), uint32_t(r[i->b]), value);
}

// bar{.cta}.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, {!}p, and the same as barrier, with and without
// .aligned.
void decodeBarrier(Decoder &in, bool isAligned) {
  in.take("cta");
  in.inst.imm = isAligned || in.take("aligned") ? kBarrierAligned : 0;
  if (in.take("arrive")) {
    in.expectOperands(2);
    in.inst.imm |= kBarrierArrives;
    in.inst.a = in.source(0, Type::U32);
    in.inst.b = in.source(1, Type::U32);
  } else if (in.take("sync")) {
    in.expectOperands(1, 2);
    in.inst.a = in.source(0, Type::U32);
    in.inst.b = in.operandCount() > 1 ? in.source(1, Type::U32) : 0;
  } else if (in.take("red")) {
    const bool counts = in.take("popc");
    const bool isAnd = in.take("and");
    in.inst.imm |= counts ? kBarrierCount : isAnd ? kBarrierAnd : kBarrierOr;
    if (!counts && !isAnd && !in.take("or"))
      in.fail("an operation is expected");
    const Type type = in.takeTypeOf({Type::U32, Type::Pred});
    in.expectOperands(3, 4);
    in.inst.d = in.target(0, type);
    in.inst.a = in.source(1, Type::U32);
    in.inst.b = in.operandCount() > 3 ? in.source(2, Type::U32) : 0;
    bool negated = false;
    in.inst.c = in.predicate(in.operand(in.operandCount() - 1), negated);
    in.inst.extra = negated;
  } else {
    return in.fail("'.sync', '.arrive' or '.red' is expected");
  }
  in.inst.run = &barrier;
}

bool meetInWarp(Block &block, uint32_t warp, uint32_t mask) {
  std::vector<uint32_t> members;
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1)
    members.push_back(block.lane(warp, uint32_t(std::countr_zero(lanes))).number);
  block.cluster->shadow.meet(members);
  return true;
}
const Inst *warpBarrier(const Inst *i, uint64_t *r, Thread &t) {
  return t.block->meet(t, i, uint32_t(r[i->a]), &meetInWarp, false);
}

void decodeBar(Decoder &in) {
  if (in.take("warp")) {
    if (!in.take("sync"))
      in.fail("'.sync' is expected");
    in.expectOperands(1);
    in.inst.a = in.source(0, Type::B32);
    in.inst.run = &warpBarrier;
    return;
  }
  decodeBarrier(in, true);
}

//===--- Others ---------------------------------------------------------------------------------------------------===//

const Inst *trap(const Inst *i, uint64_t *, Thread &t) {
  return t.fault(i, FaultCode::LaunchFailed, "the kernel has given up by itself");
}
// Lets others run.
const Inst *sleep(const Inst *i, uint64_t *, Thread &t) {
  t.next = i + 1;
  return nullptr;
}
void decodeNanosleep(Decoder &in) {
  const Type type = in.takeTypeOf({Type::U32});
  in.expectOperands(1);
  in.inst.a = in.source(0, type);
  in.inst.run = &sleep;
}
const Inst *awaitEarlierKernels(const Inst *i, uint64_t *, Thread &t) {
  t.isEarly = false;
  return i + 1;
}
const Inst *nothing(const Inst *i, uint64_t *, Thread &) {
  return i + 1;
}

constexpr Opcode kOpcodes[] = {
    {"bra", decodeBra},
    {"brx", decodeBrx},
    {"call", decodeCall},
    {"ret", decodeRet},
    {"exit",
     [](Decoder &in) {
       in.expectOperands(0);
       in.inst.run = &endThread;
     }},
    {"bar", decodeBar},
    {"barrier", [](Decoder &in) { in.take("cluster") ? decodeClusterBarrier(in) : decodeBarrier(in, false); }},
    {"trap",
     [](Decoder &in) {
       in.expectOperands(0);
       in.inst.run = &trap;
     }},
    {"nanosleep", decodeNanosleep},
    {"pmevent",
     [](Decoder &in) {
       in.take("mask");
       in.expectOperands(1);
       in.inst.run = &nothing;
     }},
    {"griddepcontrol",
     [](Decoder &in) {
       const std::string_view what = in.takeOneOf({"launch_dependents", "wait"});
       if (what.empty())
         in.fail("'.wait' or '.launch_dependents' is expected");
       in.expectOperands(0);
       in.inst.run = what == "wait" ? &awaitEarlierKernels : &nothing;
     }},
    // Registers are handed out as they are needed here, so that asking for more or less changes nothing.
    {"setmaxnreg",
     [](Decoder &in) {
       if (in.takeOneOf({"inc", "dec"}).empty())
         in.fail("'.inc' or '.dec' is expected");
       in.skipModifiers({"sync", "aligned", "u32"});
       in.expectOperands(1);
       if (uint64_t count = in.immediate(0); count < 24 || count > 256 || count % 8)
         in.fail("the count of registers is 24 to 256, a multiple of 8");
       in.inst.run = &nothing;
     }},
};

} // namespace

std::span<const Opcode> controlOpcodes() {
  return kOpcodes;
}

} // namespace kiln::cudasim
