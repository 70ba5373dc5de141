import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRegistry } from '../../support/registry.ts'
import { etc } from '../cluster/settings.ts'
import { forwardFromNode } from './node-forward.ts'

/** A registry with a password that pods and nodes reach at one address. */
export interface PasswordRegistry {
  /** `address:port`. */
  readonly place: string
  readonly username: string
  readonly password: string
}

/** Starts the registry. It ends with `opened`. */
export async function startPasswordRegistry(opened: AsyncDisposableStack): Promise<PasswordRegistry> {
  const { host, username, password, close } = await startRegistry()
  opened.defer(close)
  const [address, port] = host.split(':')
  const { place } = opened.use(await forwardFromNode({ host: address, port: Number(port) }))
  // containerd reads this directory at each pull. Without it, it would ask by https.
  const settings = join(etc, 'certs.d', place)
  await mkdir(settings)
  opened.defer(() => rm(settings, { recursive: true }))
  const lines = [`server = "http://${place}"`, `[host."http://${place}"]`, '  capabilities = ["pull", "resolve"]', '']
  await writeFile(join(settings, 'hosts.toml'), lines.join('\n'))
  return { place, username, password }
}
