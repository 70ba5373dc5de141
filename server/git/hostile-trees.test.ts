import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { writeBareRepository } from './bare-repository.ts'
import { openCheckout, openTree } from './checkout.ts'
import { createGitProgram } from './git-program.ts'
import { scratchDirectory } from './git-server.fixture.ts'
import { defaultGitLimits } from './limits.ts'
import { readDirectories } from './questions.ts'
import { createScratch } from './scratch.ts'

const { signal } = new AbortController()
const modes = { file: '100644', link: '120000', directory: '40000', submodule: '160000' } as const

interface Entry {
  readonly kind: keyof typeof modes
  readonly name: string
  readonly id: string
}

/**
 * A bare repository. Its objects are written without git, which would need a process for each
 * directory.
 */
async function scene(t: TestContext) {
  const gitDirectory = await scratchDirectory(t)
  await writeBareRepository(gitDirectory, { branch: 'main' })
  const program = createGitProgram(await scratchDirectory(t))
  const write = (type: string, content: Buffer): string => {
    const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
    const id = createHash('sha1').update(bytes).digest('hex')
    mkdirSync(join(gitDirectory, 'objects', id.slice(0, 2)), { recursive: true })
    writeFileSync(join(gitDirectory, 'objects', id.slice(0, 2), id.slice(2)), deflateSync(bytes, { level: 1 }))
    return id
  }
  const blob = (text: string): string => write('blob', Buffer.from(text))
  const tree = (entries: readonly Entry[]): string =>
    write(
      'tree',
      Buffer.concat(
        entries.flatMap(({ kind, name, id }) => [Buffer.from(`${modes[kind]} ${name}\0`), Buffer.from(id, 'hex')]),
      ),
    )
  return {
    gitDirectory,
    blob,
    tree,
    /** A chain of this many nested directories of that name. */
    below: (depth: number, name: string, id: string): string =>
      Array.from({ length: depth }).reduce<string>((inner) => tree([{ kind: 'directory', name, id: inner }]), id),
    source: (root: string) => {
      const who = 'a <a> 1 +0000'
      const commit = write('commit', Buffer.from(`tree ${root}\nauthor ${who}\ncommitter ${who}\n\nx\n`))
      return {
        program,
        gitDirectory,
        limits: defaultGitLimits,
        commit,
        tags: Promise.resolve(new Map()),
        release: async () => {},
      }
    },
  }
}
const numbered = (count: number, kind: Entry['kind'], id: string): Entry[] =>
  Array.from({ length: count }, (_, n) => ({ kind, id, name: `n${String(n).padStart(6, '0')}` }))

const refused = { name: 'GitError', reason: 'limits' }

test('a path longer than file systems allow is rejected before it is in memory, however often it occurs', async (t) => {
  const { blob, tree, source, below } = await scene(t)
  // A few kilobytes of objects, and 1 GB of paths.
  const many = tree(numbered(1_000, 'file', blob('x')))
  const before = process.memoryUsage.rss()
  await assert.rejects(openTree(source(below(250, 'n'.repeat(4_000), many)), signal), {
    ...refused,
    message: /longer than file systems allow/,
  })
  const grown = process.memoryUsage.rss() - before
  assert.ok(grown < 200_000_000, `${grown} bytes`)
})

test('endlessly nested directories are rejected with the reason', async (t) => {
  const { blob, tree, source, below } = await scene(t)
  const root = below(3_000, 'n', tree(numbered(1, 'file', blob('x'))))
  await assert.rejects(openTree(source(root), signal), { ...refused, message: /fewer directories/ })
})

test('paths whose total is too large are rejected, though each is allowed', async (t) => {
  const { blob, tree, source, below } = await scene(t)
  const many = tree(numbered(20_000, 'file', blob('x')))
  await assert.rejects(openTree(source(below(17, 'n'.repeat(230), many)), signal), {
    ...refused,
    message: /more than 67108864 bytes together/,
  })
})

test('directories that contain themselves repeatedly end at the limit of entries', async (t) => {
  const { blob, tree, source } = await scene(t)
  let root = tree(numbered(10, 'file', blob('x')))
  for (let level = 0; level < 10; level++) root = tree(numbered(10, 'directory', root))
  const one = { ...source(root), limits: { ...defaultGitLimits, maxEntries: 5_000 } }
  await assert.rejects(openTree(one, signal), { ...refused, message: /more than 5000 files/ })
})

test('deep links are followed quickly or rejected', async (t) => {
  const { blob, tree, source, below } = await scene(t)
  const links = tree(numbered(60, 'link', blob('../x')))
  const attempt = { signal, output: silent }
  const checkout = await openCheckout(source(below(2_040, 'n', links)), attempt)
  const before = process.cpuUsage()
  await assert.rejects(checkout.archive('', signal), refused)
  const used = (process.cpuUsage(before).user + process.cpuUsage(before).system) / 1_000
  assert.ok(used < 300, `${used} ms of CPU`)
})

test('a directory of very many others is not listed, and one of very many files does not block other work', async (t) => {
  const { blob, tree, source, gitDirectory } = await scene(t)
  const { program, limits, commit } = source(
    tree([
      { kind: 'directory', name: 'files', id: tree(numbered(150_000, 'file', blob('x'))) },
      { kind: 'directory', name: 'others', id: tree(numbered(150_000, 'directory', tree([]))) },
    ]),
  )
  const server = { program, limits, clock, scratch: createScratch(gitDirectory) }
  const list = (directory: string) =>
    readDirectories(server, gitDirectory, { head: { branch: 'main', commit }, directory, signal })
  await assert.rejects(list('others'), { ...refused, message: /"others" has more than 10000 directories/ })
  let [turns, isOver] = [0, false]
  const others = (async () => {
    for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve))
  })()
  assert.deepEqual(await list('files'), [])
  isOver = true
  await others
  assert.ok(turns >= 50, `${turns} turns`)
  assert.deepEqual(await list(''), ['files', 'others'])
  await assert.rejects(list('nowhere'), { reason: 'path', message: /has no directory "nowhere"/ })
})

test('a commit with very many submodules is reported in a few lines', async (t) => {
  const { tree, source } = await scene(t)
  const lines: string[] = []
  const attempt = { signal, output: { line: (text: string) => void lines.push(text) } }
  const checkout = await openCheckout(source(tree(numbered(5_000, 'submodule', 'a'.repeat(40)))), attempt)
  await checkout[Symbol.asyncDispose]()
  assert.equal(lines.length, 21)
  assert.equal(lines.at(-1), '4980 further submodules are not fetched.')
})

test('names that look like options, commands or other directories are treated as names', async (t) => {
  const { blob, tree, source } = await scene(t)
  const names = ['"\'`$(id)', '-x', '.gIt', '.git\u200c', 'README', 'a\nb', 'con', 'git~1', 'readme', '\u001b[31m']
  const entries = names.toSorted().map((name) => ({ kind: 'file', name, id: blob(name) }) as const)
  const { files } = await openTree(source(tree(entries)), signal)
  assert.deepEqual(files.toSorted(), names.toSorted())
})
