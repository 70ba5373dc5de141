import { join } from 'node:path'
import { must, tryTo } from '../cluster/commands.ts'
import { helmCache, kubeconfig, versions } from '../cluster/settings.ts'

const program = join(helmCache, 'helm')
/** Helm 3. */
export const helmProgram = program
export const chart = join(import.meta.dirname, '..', '..', '..', 'deploy', 'chart')

/** Values of the chart, by the paths of `--set`. */
export type Values = Readonly<Record<string, unknown>>

/** Every value that has no default. */
export const neededValues: Values = {
  publicUrl: 'https://quayside.example.org',
  domain: 'apps.example.org',
  'image.server': 'registry.example.org/quayside/server@sha256:0000',
  'database.url': 'postgres://user:password@db.example.org:5432/quayside',
  'registry.repository': 'registry.example.org/quayside',
}

const flagsOf = (values: Values): string[] =>
  Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`])

/** Runs helm on the test cluster and returns its output. Throws with what it said if it fails. */
export const helm = (args: readonly string[], values: Values = {}): Promise<string> =>
  must(program, [...args, ...flagsOf(values), '--kubeconfig', kubeconfig], { timeoutMs: 300_000 })

/** Renders the chart without a cluster. Returns the manifests. */
export const render = (values: Values): Promise<string> => must(program, renderArguments(values))

/** Returns the message with which the chart refuses values. Empty if it accepts them. */
export async function refusalOf(values: Values): Promise<string> {
  const { exitCode, stderr } = await tryTo(program, renderArguments(values))
  return exitCode === 0 ? '' : stderr
}

const renderArguments = (values: Values): string[] => [
  ...['template', 'quayside', chart, '--namespace', 'platform', '--kube-version', versions.kubernetes],
  ...flagsOf(values),
]
