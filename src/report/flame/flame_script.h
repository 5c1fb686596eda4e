/* SPDX-License-Identifier: GPL-2.0-only */
/* What moves in the flame graph. The picture is whole without it, as in a viewer without scripts. */
#ifndef TEGRATRACE_REPORT_FLAME_SCRIPT_H
#define TEGRATRACE_REPORT_FLAME_SCRIPT_H

/* An element for the end of the SVG; the same for every session, so no name can get into it. */
extern const char flame_script[];

#endif
