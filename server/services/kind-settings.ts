import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { ServiceRow } from './service-store.ts'
import { at, type Branch, type RecordFacts, type Settings, type TokenTypes } from './settings/branch.ts'
import { branches } from './settings/branches.ts'
import type { PortSettings } from './settings/ports.ts'
import type { Repository } from './settings/repository.ts'

/** What a body and settings of any kind are here: the kind that stands beside them says which. */
type AnyBranch = Branch<KindName> & {
  create(body: unknown, types: TokenTypes): Settings
  change(former: Settings, body: unknown, types: TokenTypes): Settings
}

/**
 * The branch of a kind, for settings and bodies of that kind. The cast stands here alone: the row's
 * kind and the operation's kind are the same, for the target was looked for by it, and its schema
 * has checked the body.
 */
export const settingsBranchOf = (kind: KindName): AnyBranch => branches[kind] as unknown as AnyBranch

/** Every git repository of the settings, with where it stands. */
export const repositoriesOf = (kind: KindName, settings: Settings): { path: string; repository: Repository }[] =>
  settingsBranchOf(kind).repositories.flatMap((path) => {
    const repository = at(settings, path)
    // What stands there was put there by `repositoryOf`.
    return repository ? [{ path, repository: repository as Repository }] : []
  })

/** The public and private ports that the router may lead to. */
export const routedPorts = (settings: Settings): readonly PortSettings[] =>
  'ports' in settings && 'healthchecks' in settings ? settings.ports : []

/** Whether a port of this machine leads to it, beside the router. */
export const isPublished = (settings: Settings): boolean =>
  'accessibility' in settings && settings.accessibility === 'PUBLIC'

/** The part of the record that the settings give. */
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
