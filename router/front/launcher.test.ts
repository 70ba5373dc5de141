import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { until } from '../../test/support/until.ts'
import { freePort } from '../listen.ts'
import { silentLog } from '../log.ts'
import { configurationOf } from './configuration.ts'
import { frontFiles } from './front-files.ts'
import { Launcher } from './launcher.ts'
import { findHaproxy } from './start-haproxy.ts'
import { TlsStore } from './tls-store.ts'

/** The start has written all files, and has begun the process, after fewer turns of the loop. */
const mostTurns = 60

test('no HAProxy runs after the end of its launcher, at whatever moment of its start that comes', {
  skip: (await missingHaproxy()) ?? false,
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-launcher-'))
  const host = '127.0.0.1'
  const files = frontFiles(join(folder, 'control.sock'))
  t.after(async () => {
    const left = await findHaproxy(files)
    if (left) process.kill(left.pid, 'SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const settings = { files, host, port: await freePort(host), tlsPort: undefined, trusted: [], proxies: [] }
  const configuration = configurationOf({ ...settings, connections: usualConnections })
  for (const signal of ['SIGUSR1', 'SIGKILL'] as const) {
    for (let turns = 0; turns < mostTurns; turns++) {
      const store = new TlsStore(files, silentLog)
      const launcher = new Launcher({ program: haproxy, files, configuration, store, log: silentLog, tried: () => {} })
      launcher.begin([])
      for (let count = 0; count < turns; count++) await turn()
      launcher.end(signal)
      await launcher.settled()
      await until(`none runs after ${signal} in turn ${turns}`, async () => (await findHaproxy(files)) === undefined)
    }
  }
})
