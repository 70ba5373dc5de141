import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { killGroup, start } from '../../../server/lib/run.ts'
import { until } from '../../support/until.ts'
import { buildKitCache } from '../cluster/settings.ts'

export interface TestDaemon {
  readonly open: () => Promise<Duplex>
  close(): Promise<void>
}

/** Starts `buildkitd` on this machine, which needs root, and waits until it listens. */
export async function startTestDaemon(): Promise<TestDaemon> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-buildkit-'))
  const socket = join(directory, 'buildkitd.sock')
  const args = [`--addr=unix://${socket}`, `--root=${join(directory, 'root')}`, '--oci-worker-snapshotter=overlayfs']
  const child = start(join(buildKitCache, 'buildkitd'), args, { stdio: 'ignore' })
  await until('the daemon listens', () => existsSync(socket), { limitMs: 30_000 })
  return {
    open: async () => connect(socket),
    close: async () => {
      killGroup(child, 'SIGTERM')
      await until('the daemon has ended', () => child.exitCode !== null || child.signalCode !== null)
      await rm(directory, { recursive: true, force: true })
    },
  }
}
