// Builds the precompiled header of pch.h.
