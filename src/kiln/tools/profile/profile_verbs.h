// What kiln-profile does, a verb each: with its own arguments, of which the first is its name. Gives the exit code.
#ifndef KILN_TOOLS_PROFILE_PROFILE_VERBS_H
#define KILN_TOOLS_PROFILE_PROFILE_VERBS_H

namespace kiln {

inline constexpr char kProfileTool[] = "kiln-profile";

// Runs a command, and records what of Kiln runs below it.
int profileRecord(int argc, const char *const *argv);

// Of a recording.
int profileSummary(int argc, const char *const *argv);
int profileDispatch(int argc, const char *const *argv);
int profileExport(int argc, const char *const *argv);

} // namespace kiln

#endif // KILN_TOOLS_PROFILE_PROFILE_VERBS_H
