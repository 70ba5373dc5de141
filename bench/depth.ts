import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../test/support/free-port.ts'
import { startChild } from './child.ts'
import { absolute, atMost, type Benchmark, relative, type Session } from './figure.ts'
import { createInstallation, type Installation } from './installation.ts'
import { load } from './load.ts'
import { paired } from './paired.ts'
import { emptyDatabase } from './reading.ts'

const rounds = 7
const seconds = 2
const many = 1_000_000
const few = 1000
/** Writing a million deployments takes a minute. */
const preparingMs = 300_000

/**
 * Measures how cost grows: pages of histories with a million deployments against a thousand, in
 * milliseconds of one of 32 busy connections, and resolving and importing variables.
 */
export const depth: Benchmark = {
  figures: ['history-depth', 'service-history-depth', 'resolve-variables', 'import-variables'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    session.say(`Writing ${many} deployments`)
    const small = await serverWith(session, installation, few)
    const large = await serverWith(session, installation, many)
    const compared = async (path: 'environment' | 'service') => {
      await small.pageMs(path)
      await large.pageMs(path)
      return paired(
        rounds,
        () => small.pageMs(path),
        async () => ({ page: await large.pageMs(path) }),
      )
    }
    return [
      relative('history-depth', (await compared('environment')).page, 'ms', atMost(1.3)),
      relative('service-history-depth', (await compared('service')).page, 'ms', atMost(1.3)),
      absolute('resolve-variables', small.resolveMs, 'ms', atMost(5)),
      absolute('import-variables', small.importMs, 'ms', atMost(3000)),
    ]
  },
}

async function serverWith(session: Session, installation: Installation, deployments: number) {
  const { url, directory } = await emptyDatabase(session, installation, `depth${deployments}`)
  const port = await findFreePort()
  await startChild(session, 'depth-server.ts', [String(port), url, directory, String(deployments)], port, preparingMs)
  const { token, paths, importMs, resolveMs } = JSON.parse(await readFile(join(directory, 'depth.json'), 'utf8'))
  const headers = { Authorization: `Bearer ${token}` }
  return {
    importMs: Number(importMs),
    resolveMs: Number(resolveMs),
    async pageMs(path: 'environment' | 'service'): Promise<number> {
      const { perSecond } = await load({ port, paths: [paths[path]], headers, seconds })
      return 32_000 / perSecond
    },
  }
}
