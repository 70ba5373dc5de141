import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { run } from '../../../server/lib/run.ts'

// Builds the public Terraform provider `qovery/qovery` into the cache of tests, within two minutes,
// from a checkout of its sources (v0.86.1 of github.com/Qovery/terraform-provider-qovery). A second
// checkout, of github.com/Qovery/qovery-client-go, is for machines without that Go module:
//   node test/support/qovery-provider/build.ts PROVIDER [CLIENT]

const program = join(homedir(), '.cache', 'quayside', 'qovery-provider', 'terraform-provider-qovery')

/** Returns the directory of the program, or undefined if it was not built. */
export const qoveryProvider = (): string | undefined => (existsSync(program) ? dirname(program) : undefined)

async function go(cwd: string, args: readonly string[]): Promise<void> {
  const { HOME = '', PATH = '' } = process.env
  const env = { HOME, PATH, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false -mod=mod' }
  const { exitCode, stderr } = await run('go', args, { cwd, env, timeoutMs: 30 * 60_000 })
  if (exitCode !== 0) throw new Error(`go ${args[0]} failed:\n${stderr}`)
}

async function build(provider: string, client: string | undefined): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'quayside-provider-'))
  try {
    await cp(provider, place, { recursive: true })
    const replaced = `github.com/qovery/qovery-client-go=${resolve(client ?? '')}`
    if (client !== undefined) await go(place, ['mod', 'edit', '-replace', replaced])
    await mkdir(dirname(program), { recursive: true })
    await go(place, ['build', '-trimpath', '-ldflags', '-s -w', '-o', program, '.'])
  } finally {
    await rm(place, { recursive: true })
  }
}

if (import.meta.main) {
  const [provider, client] = process.argv.slice(2)
  if (provider === undefined) throw new Error('Name the directory of the sources of the provider.')
  await build(provider, client)
}
