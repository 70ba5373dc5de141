import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../lib/error.ts'
import { parseId } from '../lib/id.ts'
import { writeBareRepository } from './bare-repository.ts'
import { isRepositoryName } from './names.ts'

/** The bare repositories of the built-in git host: `<directory>/<organization id>/<name>.git`. */
export interface HostedRepositories {
  /** Returns its path, whether or not it exists. Undefined for invalid names. */
  pathOf(organization: string, name: string): string | undefined
  exists(path: string): Promise<boolean>
  /**
   * Creates it if it does not exist, and returns its path. Safe to run concurrently. Throws for an
   * invalid name.
   */
  ensure(organization: string, name: string): Promise<string>
  /** Returns the names of an organization's repositories, sorted. */
  names(organization: string): Promise<readonly string[]>
}

const config = `[http]
	receivepack = true
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[receive]
	fsckObjects = true
	denyDeleteCurrent = ignore
`

export function createHostedRepositories(directory: string): HostedRepositories {
  const pathOf = (organization: string, name: string): string | undefined => {
    const id = parseId(organization)
    return id !== undefined && isRepositoryName(name) ? join(directory, id, `${name}.git`) : undefined
  }

  async function ensure(organization: string, name: string): Promise<string> {
    const path = pathOf(organization, name)
    if (path === undefined) throw new Error(`"${name}" is not the name of a repository: use a-z, 0-9 and . _ -`)
    if (await exists(path)) return path
    const fresh = join(path, '..', `.new-${randomBytes(8).toString('hex')}`)
    await mkdir(fresh, { recursive: true, mode: 0o700 })
    try {
      await writeBareRepository(fresh, { branch: 'main', config })
      // Fails if another call was faster: a rename never replaces a directory that is not empty.
      await rename(fresh, path)
    } catch (thrown) {
      await rm(fresh, { recursive: true, force: true })
      if (!(await exists(path))) throw thrown
    }
    return path
  }

  async function names(organization: string): Promise<readonly string[]> {
    const id = parseId(organization)
    const entries = id === undefined ? [] : await entriesOf(join(directory, id))
    // Others are repositories that are being created.
    return entries.flatMap((entry) => (/^[a-z0-9].*\.git$/.test(entry) ? [entry.slice(0, -4)] : [])).toSorted()
  }

  return { pathOf, exists, ensure, names }
}

/** The entries of a directory, or none if it does not exist. */
const entriesOf = (path: string): Promise<readonly string[]> =>
  readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw new Error(`The repository ${path} cannot be read: ${messageOf(error)}`, { cause: error })
    },
  )
