import type { Benchmark } from '../figure.ts'
import { measureChange } from './change.ts'
import { measureClicks } from './click.ts'
import { measureCrowd } from './crowd.ts'
import { measureLines } from './lines.ts'
import { measureMap } from './map.ts'
import { measurePages } from './pages.ts'
import { measurePaint } from './paint.ts'
import { inChromium } from './session.ts'

/** The figures of the console: `npm run bench -- console`. */
export const consoleFigures: readonly Benchmark[] = [
  inChromium(
    ['console-paint-cold', 'console-paint-warm', 'console-bytes', 'console-bytes-more', 'console-click'],
    async (console, session) => [
      ...(await measurePaint(console, session)),
      await measurePages(),
      await measureClicks(console, session),
    ],
  ),
  inChromium(['console-map', 'console-scroll'], measureMap),
  inChromium(['console-lines', 'console-lines-rate', 'console-lines-memory'], measureLines),
  inChromium(['console-change'], async (console, session) => [await measureChange(console, session)]),
  inChromium(['console-crowd'], async (console) => [await measureCrowd(console)]),
]
