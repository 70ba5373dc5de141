import { readFile } from 'node:fs/promises'
import { pullConfig, type RegistryLogin } from '../engines/index.ts'
import { Secret } from '../lib/secret.ts'

/** A registry of the operator, with the file that has its password. */
export interface RegistryAccount {
  /** `host/path`, below which each service has a repository. */
  readonly repository: string
  readonly username?: string
  readonly passwordFile?: string
}

/** Reads the credentials of a registry each time, so that a new password needs no restart. */
export async function readRegistryLogin({
  username,
  passwordFile,
}: RegistryAccount): Promise<RegistryLogin | undefined> {
  if (username === undefined || passwordFile === undefined) return undefined
  return { username, password: new Secret((await readFile(passwordFile, 'utf8')).trim()) }
}

/**
 * Reads a Docker configuration with the credentials of a registry. Undefined if there is no
 * registry, or it needs none.
 */
export async function readPullConfig(registry: RegistryAccount | undefined): Promise<string | undefined> {
  const login = registry && (await readRegistryLogin(registry))
  return registry && login && pullConfig({ repository: registry.repository, login })
}
