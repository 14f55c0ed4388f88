// How the device was while a row's calls were timed.
#include "kiln/report/columns/columns.h"

namespace kiln::report {

template <std::optional<double> DeviceState::*fact> static Value told(const Row &row) {
  const std::optional<double> value = row.deviceStates ? row.deviceStates->state.*fact : std::nullopt;
  return value ? Value(Number{*value, -1}) : Value();
}

static Value movedRounds(const Row &row) {
  return row.deviceStates && row.deviceStates->state.lowMegahertz ? Value(static_cast<int64_t>(row.deviceStates->moved))
                                                                  : Value();
}

static Value throttling(const Row &row) {
  return row.deviceStates ? textOrNothing(row.deviceStates->state.throttling) : Value();
}

static constexpr Column kColumns[] = {
    {"device_low_mhz", "Low MHz", Unit::Count, told<&DeviceState::lowMegahertz>, 7, 0, Page::More,
     "The lowest clock of the device's multiprocessors while it was timed; empty, as all that a device tells of "
     "itself, "
     "where nothing told it."},
    {"device_high_mhz", "High MHz", Unit::Count, told<&DeviceState::highMegahertz>, 8, 0, Page::More,
     "The highest clock of the device's multiprocessors while it was timed."},
    {"moved_rounds", "Moved", Unit::Count, movedRounds, 5, 0, Page::More,
     "Rounds during which that clock moved, of `rounds`."},
    {"device_watts", "Watts", Unit::Count, told<&DeviceState::watts>, 5, 0, Page::More,
     "The most power that the device took while it was timed."},
    {"device_celsius", "Celsius", Unit::Count, told<&DeviceState::celsius>, 7, 0, Page::More,
     "The highest temperature of the device while it was timed."},
    {"throttling", "Throttling", Unit::Text, throttling, 12, 0, Page::More,
     "What held the device's clock down in some of its rounds: power limit, heat, power brake, hardware, sync boost, "
     "display; empty: "
     "nothing."},
};

std::span<const Column> deviceColumns() {
  return kColumns;
}

} // namespace kiln::report
