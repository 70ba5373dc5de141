import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../../server/lib/run.ts'
import { findProgram } from '../find-program.ts'

/** Returns why tests with an HTTP/3 client are skipped. Undefined if this machine can build it. */
export async function missingHttp3(): Promise<string | undefined> {
  if (existsSync(await placeOfProgram())) return undefined
  const go = await findProgram('go')
  if (go === undefined) return 'this machine has no Go to build the HTTP/3 client'
  const [, needed = ''] = /^go (\S+)$/m.exec(await readFile(join(import.meta.dirname, 'go.mod'), 'utf8')) ?? []
  const present = (await must(go, ['env', 'GOVERSION'], homedir())).trim().replace(/^go/, '')
  const isOld = present.localeCompare(needed, 'en', { numeric: true }) < 0
  return isOld ? `the HTTP/3 client needs Go ${needed}, and this machine has ${present}` : undefined
}

/**
 * Builds the HTTP/3 client from Go modules into the cache of tests, within a minute. Returns
 * undefined if the machine cannot build it.
 */
export async function provideHttp3Client(): Promise<string | undefined> {
  if ((await missingHttp3()) !== undefined) return undefined
  const program = await placeOfProgram()
  if (existsSync(program)) return program
  const half = `${program}.${process.pid}.half`
  await mkdir(join(program, '..'), { recursive: true })
  await must('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', half, '.'])
  await rename(half, program)
  return program
}

/** Its name contains a mark of the sources. */
async function placeOfProgram(): Promise<string> {
  const names = (await readdir(import.meta.dirname)).filter((name) => /\.(?:go|mod|sum)$/.test(name)).sort()
  const mark = createHash('sha256')
  for (const name of names) mark.update(`${name}\n`).update(await readFile(join(import.meta.dirname, name)))
  return join(homedir(), '.cache', 'quayside', `http3-${mark.digest('hex').slice(0, 12)}`)
}

async function must(go: string, args: readonly string[], cwd = import.meta.dirname): Promise<string> {
  const { HOME = '', PATH = '' } = process.env
  const { exitCode, stdout, stderr } = await run(go, args, {
    cwd,
    env: { HOME, PATH, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' },
    timeoutMs: 10 * 60_000,
  })
  if (exitCode !== 0) throw new Error(`The HTTP/3 client could not be built:\n${stderr}`)
  return stdout.toString()
}
