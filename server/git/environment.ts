import { isIP } from 'node:net'
import type { Repository } from './git.ts'

/** A checked git server. The program connects only to these addresses. */
export interface Remote {
  readonly url: URL
  readonly addresses: readonly string[]
  readonly credential?: Repository['credential']
  /** Called on each contact with whether the server shows the repository. */
  readonly contacted?: (hasAccess: boolean) => Promise<void>
}

/**
 * Settings so that nothing in a repository, in the system or in a home directory makes git run a
 * program or read other data.
 */
const fixed: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.symlinks': 'false',
  // With `refs/replace/*` a pusher could change the meaning of an existing commit id.
  'core.useReplaceRefs': 'false',
  // Streams larger blobs instead of loading them into memory.
  'core.bigFileThreshold': '16m',
  'credential.helper': '',
  'safe.bareRepository': 'explicit',
  'safe.directory': '*',
  'submodule.recurse': 'false',
  'fetch.recurseSubmodules': 'false',
  'transfer.fsckObjects': 'true',
  // Harmless mistakes of old tools that many honest repositories contain in their history.
  'fetch.fsck.zeroPaddedFilemode': 'ignore',
  'fetch.fsck.badTimezone': 'ignore',
  'fetch.fsck.missingSpaceBeforeDate': 'ignore',
  // Always one pack, so that watching its size is enough.
  'fetch.unpackLimit': '1',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'log.mailmap': 'false',
  'log.showSignature': 'false',
  'tar.umask': '0022',
}

const network: Readonly<Record<string, string>> = {
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '30',
  'http.proxy': '',
  'transfer.bundleURI': 'false',
  'protocol.version': '2',
}

/**
 * Returns the whole environment of one git process, except PATH. Without a remote no protocol is
 * allowed at all. The credential is passed only here, bound to the origin of the remote.
 */
export function gitEnvironment(
  home: string,
  remote?: Remote,
  changes?: Readonly<Record<string, string>>,
): Record<string, string> {
  const config = { ...fixed, ...changes, ...(remote ? { ...network, ...remoteConfig(remote) } : {}) }
  const environment: Record<string, string> = {
    HOME: home,
    GIT_ALLOW_PROTOCOL: remote ? remote.url.protocol.slice(0, -1) : 'none',
    GIT_ASKPASS: '/bin/false',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(Object.keys(config).length),
  }
  for (const [index, [key, value]] of Object.entries(config).entries()) {
    environment[`GIT_CONFIG_KEY_${index}`] = key
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return environment
}

/** Returns the Authorization header for a git credential. */
export const basicAuthorization = ({ username, password }: NonNullable<Repository['credential']>): string =>
  `Basic ${Buffer.from(`${username}:${password.reveal()}`).toString('base64')}`

function remoteConfig({ url, addresses, credential }: Remote): Record<string, string> {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const isLiteral = url.hostname.startsWith('[') || isIP(url.hostname) !== 0
  const pinned = addresses.map((address) => (isIP(address) === 6 ? `[${address}]` : address)).join(',')
  return {
    ...(isLiteral ? {} : { 'http.curloptResolve': `${url.hostname}:${port}:${pinned}` }),
    ...(credential ? { [`http.${url.origin}/.extraHeader`]: `Authorization: ${basicAuthorization(credential)}` } : {}),
  }
}
