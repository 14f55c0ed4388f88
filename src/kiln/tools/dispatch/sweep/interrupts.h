// Ctrl-C: once, what runs ends after its round; twice, the program does.
#ifndef KILN_TOOLS_DISPATCH_SWEEP_INTERRUPTS_H
#define KILN_TOOLS_DISPATCH_SWEEP_INTERRUPTS_H

namespace kiln {

// From here on.
void catchInterrupts();
bool isInterrupted();

} // namespace kiln

#endif // KILN_TOOLS_DISPATCH_SWEEP_INTERRUPTS_H
