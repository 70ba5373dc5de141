import { databaseTable } from '@quayside/contract/services/database.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { ServiceRow } from './service-store.ts'
import { at, type Branch, type RecordFacts, type Settings, type TokenTypes } from './settings/branch.ts'
import { branches } from './settings/branches.ts'
import type { PortSettings } from './settings/ports.ts'
import type { Repository } from './settings/repository.ts'

/** The branch of any kind. The types of bodies and settings follow from the kind next to them. */
type AnyBranch = Branch<KindName> & {
  create(body: unknown, types: TokenTypes): Settings
  change(former: Settings, body: unknown, types: TokenTypes): Settings
}

/**
 * Returns the branch of a kind, for settings and bodies of that kind. Only this place casts: row
 * and operation have the same kind, because the target was found by it, and the operation's schema
 * has checked the body.
 */
export const settingsBranchOf = (kind: KindName): AnyBranch => branches[kind] as unknown as AnyBranch

/** Lists the git repositories of the settings, each with its path. */
export const repositoriesOf = (kind: KindName, settings: Settings): { path: string; repository: Repository }[] =>
  settingsBranchOf(kind).repositories.flatMap((path) => {
    const repository = at(settings, path)
    // `repositoryOf` has written this member.
    return repository ? [{ path, repository: repository as Repository }] : []
  })

/** Lists the public and private ports that the router may serve. */
export function routedPorts(settings: Settings): readonly PortSettings[] {
  if (!('ports' in settings)) return []
  if ('healthchecks' in settings) return settings.ports
  // Every port of a chart is public.
  return settings.ports.map(({ id, name, internal_port, external_port, is_default, protocol }) => ({
    ...{ id, name, internal_port, external_port, is_default, protocol },
    publicly_accessible: true,
  }))
}

/** Returns the port of a public database. Undefined for other services. */
export const publishedPort = (settings: Settings): PortSettings | undefined =>
  'accessibility' in settings && settings.accessibility === 'PUBLIC'
    ? {
        id: '',
        name: 'database',
        internal_port: databaseTable[settings.type].port,
        publicly_accessible: true,
        is_default: true,
        protocol: 'TCP',
      }
    : undefined

/** Returns the part of the record that follows from the settings. */
export const settingsRecord = (
  row: ServiceRow,
  facts: Omit<RecordFacts, 'commit' | 'tokenName' | 'repositoryFacts' | 'origin' | 'publicAddress'>,
) =>
  settingsBranchOf(row.kind).record(row.settings as never, {
    ...facts,
    publicAddress: row.public_address,
    commit: row.deployed_commit,
    tokenName: row.git_token_name,
    repositoryFacts: row.repository_access ?? [],
    origin: row.origin,
  })
