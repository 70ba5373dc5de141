import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../../../server/lib/run.ts'

// Builds OpenTofu from Go modules into the cache of tests, within about four minutes:
//   node test/support/opentofu/build.ts

const version = '1.12.6'
const program = join(homedir(), '.cache', 'quayside', `opentofu-${version}`, 'tofu')

/** Returns the path of the program, or undefined if it was not built. */
export const openTofu = (): string | undefined => (existsSync(program) ? program : undefined)

if (import.meta.main && !openTofu()) {
  await mkdir(dirname(program), { recursive: true })
  const flags = '-s -w -X github.com/opentofu/opentofu/version.dev=no'
  const args = ['build', '-trimpath', '-ldflags', flags, '-o', program, 'github.com/opentofu/opentofu/cmd/tofu']
  const { HOME = '', PATH = '' } = process.env
  const { exitCode, stderr } = await run('go', args, {
    cwd: dirname(fileURLToPath(import.meta.url)),
    env: { HOME, PATH, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' },
    timeoutMs: 30 * 60_000,
  })
  if (exitCode !== 0) throw new Error(`OpenTofu could not be built:\n${stderr}`)
}
