import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { run } from '../../../server/lib/run.ts'
import { usualSocket, viewEngine } from '../engine-view.ts'
import { findProgram } from '../find-program.ts'
import { provideRunnerImage } from '../stack.ts'

const sources = dirname(fileURLToPath(import.meta.url))
const recipe = createHash('sha256')
for (const name of ['main.go', 'go.mod', 'go.sum']) recipe.update(readFileSync(join(sources, name)))
const identity = recipe.digest('hex').slice(0, 12)
const program = join(homedir(), '.cache', 'quayside', `lab-provider-${identity}`, 'terraform-provider-lab_v1.0.0')
/** A directory in which both engines look for providers. */
const place = '/usr/local/share/terraform/plugins/quayside.test/quayside/lab/1.0.0/linux_amd64'

/**
 * Builds an image of an engine with the provider of tests. Returns its name, or undefined if the
 * machine has no such engine or no Go.
 */
export async function provideLabImage(name: 'terraform' | 'opentofu'): Promise<string | undefined> {
  const base = await provideRunnerImage(name)
  if (base === undefined || !(await buildProgram())) return undefined
  const reference = `quayside-lab-${identity}/${base.split('/').at(-1)}`
  if (!(await viewEngine().ask('GET', `/images/${encodeURIComponent(reference)}/json`)))
    await buildImage(base, reference)
  return reference
}

async function buildProgram(): Promise<boolean> {
  if (existsSync(program)) return true
  const go = await findProgram('go')
  if (go === undefined) return false
  await mkdir(dirname(program), { recursive: true })
  const { HOME = '', PATH = '' } = process.env
  const args = ['build', '-trimpath', '-ldflags', '-s -w', '-o', program, '.']
  const env = { HOME, PATH, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' }
  const { exitCode, stderr } = await run(go, args, { cwd: sources, env, timeoutMs: 10 * 60_000 })
  if (exitCode !== 0) throw new Error(`the provider of tests could not be built:\n${stderr}`)
  return true
}

async function buildImage(base: string, reference: string): Promise<void> {
  const context = await mkdtemp(join(tmpdir(), 'quayside-lab-'))
  try {
    await copyFile(program, join(context, 'provider'))
    await writeFile(join(context, 'Dockerfile'), `FROM ${base}\nCOPY provider ${place}/terraform-provider-lab_v1.0.0\n`)
    const tar = await run('tar', ['-C', context, '-c', '.'], { timeoutMs: 60_000, maxBytes: 64 * 2 ** 20 })
    if (tar.exitCode !== 0) throw new Error(`the context could not be packed:\n${tar.stderr}`)
    const path = `/build?${new URLSearchParams({ t: reference, rm: '1', forcerm: '1' })}`
    const headers = { 'content-type': 'application/x-tar' }
    const outgoing = request({ socketPath: usualSocket, method: 'POST', path, headers }).end(tar.stdout)
    const [response] = await once(outgoing, 'response')
    const said = await text(response)
    if (response.statusCode !== 200 || /"errorDetail"/.test(said)) throw new Error(`the image was not built:\n${said}`)
  } finally {
    await rm(context, { recursive: true, force: true })
  }
}
