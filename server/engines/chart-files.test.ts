import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { readChartDirectory, readPackedChart } from './chart-files.ts'

type Entry = Partial<Header> & { readonly name: string; readonly content?: string }

async function tar(...entries: readonly Entry[]): Promise<Buffer> {
  const archive = pack()
  for (const { content = '', ...header } of entries) archive.entry(header, content)
  archive.finalize()
  return await buffer(archive)
}
const packed = async (...entries: readonly Entry[]): Promise<Buffer> => gzipSync(await tar(...entries))
const file = (name: string, content = ''): Entry => ({ name, content })

test('a packed chart is read without its directory, and charts in it are unpacked', async () => {
  const inner = await packed(file('sub/Chart.yaml', 'name: sub'))
  const archive = pack()
  archive.entry({ name: 'web/Chart.yaml' }, 'name: web')
  archive.entry({ name: 'web/charts/sub-1.tgz' }, inner)
  archive.finalize()
  const files = await readPackedChart(gzipSync(await buffer(archive)))
  assert.deepEqual(
    [...files].map(([path, content]) => [path, content.toString()]),
    [
      ['Chart.yaml', 'name: web'],
      ['charts/sub-1/Chart.yaml', 'name: sub'],
    ],
  )
})

for (const [what, entry, message] of [
  ['a symbolic link', { name: 'web/a', type: 'symlink', linkname: '/etc/passwd' }, /"web\/a" of the chart is a link/],
  ['a hard link', { name: 'web/a', type: 'link', linkname: 'web/b' }, /is a link/],
  ['a path with ..', { name: 'web/../../a' }, /leads out of it/],
  ['an absolute path', { name: '/etc/a' }, /leads out of it/],
  [
    'a large file',
    { name: 'web/a', content: 'x'.repeat(5 * 1024 * 1024 + 1) },
    /"web\/a" of the chart is larger than 5 MiB/,
  ],
] as const) {
  test(`a chart with ${what} is refused`, async () => {
    await assert.rejects(readPackedChart(await packed(entry as Entry)), { name: 'EngineError', message })
  })
}

test('a chart that unpacks to very much is refused', async () => {
  const bomb = await packed(...Array.from({ length: 8 }, (_, at) => file(`web/${at}`, ' '.repeat(4.5 * 1024 ** 2))))
  assert.ok(bomb.length < 200_000)
  await assert.rejects(readPackedChart(bomb), /larger than 32 MiB/)
})

test('something that is no archive is refused', async () => {
  await assert.rejects(readPackedChart(Buffer.from('<html>')), /its archive is damaged/)
  const { Readable } = await import('node:stream')
  await assert.rejects(readChartDirectory(Readable.from([Buffer.alloc(700, 1)])), /archive is damaged/)
})
