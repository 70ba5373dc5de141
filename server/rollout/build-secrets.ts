import { BuildError, type BuildRecipe } from '../builders/index.ts'
import type { Secret } from '../lib/secret.ts'
import { openVariables, type ReleaseRow } from '../releases/index.ts'
import type { Recipe } from './recipe.ts'

/** The limit of BuildKit for one secret. */
const maxSecretBytes = 500 * 1024

/**
 * The secrets that a build may mount, by name, and a hash that changes with their values without
 * revealing them.
 */
export type BuildSecrets = Pick<BuildRecipe, 'secrets' | 'secretsHash'>

/**
 * Returns the frozen secrets that the advanced setting `build.secrets` names. Empty if it names
 * none. Throws BuildError for a name that is not a secret of the service.
 */
export async function buildSecretsOf(
  { database, vault }: Pick<Recipe, 'database' | 'vault'>,
  organizationId: string,
  release: ReleaseRow,
): Promise<BuildSecrets> {
  const names = buildSecretNames(release.advanced_settings)
  if (names.length === 0) return {}
  const { secretVariables } = await openVariables(database, vault, organizationId, release)
  const secrets: Record<string, Secret> = {}
  for (const name of names) {
    const secret = secretVariables.get(name)
    if (!secret) throw new BuildError('secrets', missingText(name, Object.hasOwn(release.variables.variables, name)))
    if (Buffer.byteLength(secret.reveal()) > maxSecretBytes) {
      throw new BuildError(
        'secrets',
        `The secret "${name}" exceeds the limit of ${maxSecretBytes} bytes. Shorten it and deploy again.`,
      )
    }
    Object.defineProperty(secrets, name, { value: secret, enumerable: true })
  }
  const all = JSON.stringify(names.map((name) => [name, secrets[name]?.reveal()]))
  return { secrets, secretsHash: await vault.fingerprint(database, organizationId, 'build.secrets', all) }
}

/** Pure: returns the names that advanced settings list for builds, sorted, without duplicates. */
export function buildSecretNames(advanced: object): string[] {
  const setting: unknown = Object.entries(advanced).find(([name]) => name === 'build.secrets')?.[1]
  return Array.isArray(setting) ? [...new Set(setting.filter((one) => typeof one === 'string'))].sort() : []
}

const missingText = (name: string, isPlain: boolean): string =>
  isPlain
    ? `The advanced setting build.secrets names "${name}", which is a variable, not a secret. Declare it as ` +
      'ARG in the Dockerfile, or make it a secret, and deploy again.'
    : `The advanced setting build.secrets names "${name}", and the service has no secret of that name. Create ` +
      'it, or remove the name from the list, and deploy again.'
