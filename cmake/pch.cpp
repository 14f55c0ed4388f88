// Stands for a precompiled header.
