import { existsSync } from 'node:fs'
import { copyFile, mkdir, rename } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../../../server/lib/run.ts'
import { findProgram } from '../find-program.ts'

/** The program of the certificate authority, and the files of its own HTTPS server. */
export interface PebbleFiles {
  readonly program: string
  /** The root of the authority's HTTPS server, not of the certificates that it issues. */
  readonly serverRoot: string
  readonly serverCertificate: string
  readonly serverKey: string
}

const version = '2.10.3'
const place = join(homedir(), '.cache', 'quayside', `pebble-${version}`)
const files: PebbleFiles = {
  program: join(place, 'pebble'),
  serverRoot: join(place, 'root.pem'),
  serverCertificate: join(place, 'server.pem'),
  serverKey: join(place, 'server-key.pem'),
}

/**
 * Builds Pebble, the test server of Let's Encrypt, from Go modules into the cache of tests, within
 * a minute. Returns undefined if the machine has no Go.
 */
export async function providePebble(): Promise<PebbleFiles | undefined> {
  if (existsSync(files.program)) return files
  const go = await findProgram('go')
  if (go === undefined) return undefined
  await mkdir(place, { recursive: true })
  const module = 'github.com/letsencrypt/pebble/v2'
  const half = `${files.program}.half`
  await must(go, ['build', '-trimpath', '-ldflags', '-s -w', '-o', half, `${module}/cmd/pebble`])
  const from = join((await must(go, ['list', '-m', '-f', '{{.Dir}}', module])).trim(), 'test', 'certs')
  await copyFile(join(from, 'pebble.minica.pem'), files.serverRoot)
  await copyFile(join(from, 'localhost', 'cert.pem'), files.serverCertificate)
  await copyFile(join(from, 'localhost', 'key.pem'), files.serverKey)
  await rename(half, files.program)
  return files
}

async function must(go: string, args: readonly string[]): Promise<string> {
  const { HOME = '', PATH = '' } = process.env
  const { exitCode, stdout, stderr } = await run(go, [...args], {
    cwd: dirname(fileURLToPath(import.meta.url)),
    env: { HOME, PATH, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' },
    timeoutMs: 10 * 60_000,
  })
  if (exitCode !== 0) throw new Error(`Pebble could not be built:\n${stderr}`)
  return stdout.toString()
}
