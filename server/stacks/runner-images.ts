import type { SettingsOf } from '../services/index.ts'

/** An image with one version of an engine, as the operator configured it. */
export interface RunnerImage {
  readonly engine: SettingsOf['terraform']['engine']
  readonly version: string
  readonly reference: string
}
export type RunnerImages = readonly RunnerImage[]

const numbersOf = (version: string): number[] => version.replace(/^v/, '').split('.').map(Number)

/** Orders versions, newest first. */
export function newestFirst(one: string, other: string): number {
  const [a, b] = [numbersOf(one), numbersOf(other)]
  const index = a.findIndex((number, at) => number !== b[at])
  return index === -1 ? 0 : (b[index] ?? 0) - (a[index] ?? 0)
}

/**
 * Returns the image in which a stack runs: that of the explicit version, or the newest one if the
 * Terraform block decides, which the engine checks itself. Returns a reason if there is none.
 */
export function chooseRunner(
  images: RunnerImages,
  { engine, provider_version }: Pick<SettingsOf['terraform'], 'engine' | 'provider_version'>,
): RunnerImage | { readonly refusal: string } {
  const { read_from_terraform_block: isFromBlock, explicit_version } = provider_version
  const name = engine === 'OPEN_TOFU' ? 'OpenTofu' : 'Terraform'
  const setting = engine === 'OPEN_TOFU' ? 'QUAYSIDE_OPENTOFU_IMAGE' : 'QUAYSIDE_TERRAFORM_IMAGE'
  const all = images
    .filter((image) => image.engine === engine)
    .toSorted((one, other) => newestFirst(one.version, other.version))
  if (all.length === 0) return { refusal: `No image of ${name} is configured. Set ${setting}.` }
  const wanted = explicit_version.replace(/^v/, '')
  const found = all.find(({ version }) => isFromBlock || version === wanted || version.startsWith(`${wanted}.`))
  if (found) return found
  const versions = all.map(({ version }) => version).join(', ')
  return { refusal: `${name} ${wanted} is not available here. Available: ${versions}.` }
}

/** Returns the versions in which stacks can run, newest first. */
export const versionsOf = (images: RunnerImages) =>
  images
    .toSorted((one, other) => newestFirst(one.version, other.version))
    .map(({ engine, version }) => ({ engine, version }))
