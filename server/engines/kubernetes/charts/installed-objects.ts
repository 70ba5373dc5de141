import { EngineError, type RenderedObject } from '../../engine.ts'
import type { HelmSession } from './helm-program.ts'
import { readObjects, saidBy } from './render-chart.ts'

const limitMs = 60_000
/** Objects of one release are at most a few MiB, because Helm stores them in a Secret. */
const mostBytes = 32 * 1024 * 1024

/** Returns the objects of the installed release with its hooks. None if it is not installed. */
export async function readInstalled(
  session: HelmSession,
  name: string,
  signal: AbortSignal,
): Promise<readonly RenderedObject[]> {
  const texts: string[] = []
  for (const what of ['manifest', 'hooks']) {
    const limits = { timeoutMs: limitMs, signal, maxBytes: mostBytes }
    const { exitCode, stdout, stderr } = await session.run(['get', what, name], limits)
    if (exitCode !== 0 && stderr.includes('release: not found')) return []
    if (exitCode !== 0) throw new EngineError('refused', `the installed version cannot be read: ${saidBy(stderr)}`)
    texts.push(stdout.toString())
  }
  const read = await readObjects(texts.join('\n---\n'))
  if ('problem' in read) throw new EngineError('refused', `the installed version cannot be read: ${read.problem}`)
  return read.objects
}
