import { once } from 'node:events'
import { access, copyFile, mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { messageOf } from '../../server/lib/error.ts'
import { run, start } from '../../server/lib/run.ts'

/** What BuildKit's own parser reads. */
export interface Reading {
  readonly error?: string
  readonly escape: string
  readonly nodes: readonly ReadNode[] | null
  readonly stages: readonly ReadStage[] | null
  readonly problem?: string
}
export interface ReadNode {
  readonly keyword: string
  readonly flags: readonly string[] | null
  readonly words: readonly string[] | null
  readonly line: number
  readonly original: string
  readonly heredocs: readonly { readonly name: string; readonly content: string }[] | null
}
export interface ReadStage {
  readonly name: string
  readonly base: string
  readonly adds: readonly string[] | null
  readonly froms: readonly string[] | null
}

/** `old` is the parser of Docker 20.10.24, `new` that of the newest BuildKit. */
export type ParserVersion = 'old' | 'new'

export interface BuildKitParser {
  read(text: string): Promise<Reading>
}

const root = join(import.meta.dirname, '..', '..')
const sources = join(import.meta.dirname, 'buildkit-parser')

/**
 * Builds a small Go program around BuildKit's parser once, below node_modules. Returns the reason
 * if it cannot be built. `mayLoad` allows Go to download modules that this machine does not have.
 */
export async function buildParser(version: ParserVersion, mayLoad: boolean): Promise<{ program: string } | string> {
  return buildGoProgram(`buildkit-parser/${version}`, {
    files: {
      'main.go': join(sources, 'main.go'),
      [`version_${version}.go`]: join(sources, `version_${version}.go`),
      'go.mod': join(sources, `${version}.mod`),
    },
    options: version === 'old' ? ['-tags', 'old'] : [],
    mayLoad,
  })
}

/**
 * Builds a Go program from copies of `files` once, below node_modules. Returns the reason if it
 * cannot be built.
 */
export async function buildGoProgram(
  name: string,
  { files, options = [], mayLoad }: GoSources,
): Promise<{ program: string } | string> {
  const directory = join(root, 'node_modules', '.cache', name)
  const program = join(directory, 'parser')
  if (await exists(program)) return { program }
  await mkdir(directory, { recursive: true })
  for (const [file, source] of Object.entries(files)) await copyFile(source, join(directory, file))
  const path = `/usr/local/go/bin:/usr/lib/go/bin:${process.env['PATH'] ?? ''}`
  const env = {
    HOME: homedir(),
    PATH: path,
    CGO_ENABLED: '0',
    GOFLAGS: '-mod=mod',
    ...(mayLoad ? {} : { GOPROXY: 'off' }),
  }
  const args = ['build', ...options, '-o', program, '.']
  try {
    const { exitCode, stderr } = await run('go', args, { cwd: directory, env, timeoutMs: mayLoad ? 400_000 : 60_000 })
    if (exitCode === 0) return { program }
    return `Go could not build BuildKit's code: ${stderr.trim().split('\n').slice(-2).join(' ')}`
  } catch (error) {
    return `BuildKit's code is not built: ${messageOf(error)}`
  }
}

interface GoSources {
  /** The source files, by their names in the build directory. */
  readonly files: Readonly<Record<string, string>>
  readonly options?: readonly string[]
  /** Allows Go to download modules that this machine does not have. */
  readonly mayLoad: boolean
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Starts the program until the test ends. It reads one Dockerfile at a time. */
export function startParser(program: string, t: { after(end: () => Promise<void>): void }): BuildKitParser {
  const child = start(program, [], { stdio: 'pipe' })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('the parser has no standard streams')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  t.after(async () => {
    const ended = once(child, 'exit')
    stdin.end()
    await ended
  })
  return {
    async read(text) {
      stdin.write(`${JSON.stringify(text)}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`BuildKit's parser stopped at ${JSON.stringify(text)}`)
      const reading = JSON.parse(value)
      if (reading.panic) throw new Error(`BuildKit's parser panicked (${reading.panic}) at ${JSON.stringify(text)}`)
      return reading
    },
  }
}
