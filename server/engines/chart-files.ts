import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import type { ChartFiles } from './chart.ts'
import { EngineError } from './engine-error.ts'

const unzip = promisify(gunzip)

/** The limits of one chart with the charts that it contains. */
export const mostOfChart = { files: 5_000, fileBytes: 5 * 1024 * 1024, bytes: 32 * 1024 * 1024, depth: 5 } as const

/** The sum over a chart and the charts in it. */
interface Used {
  files: number
  bytes: number
}

/**
 * Reads a chart from a tar archive of its directory. Charts in archives below `charts/` are
 * unpacked. Throws EngineError('refused') for a link, a path outside of the chart, and for a chart
 * that is too large.
 */
export async function readChartDirectory(archive: Readable): Promise<ChartFiles> {
  const used = { files: 0, bytes: 0 }
  return unpackInner(await readTar(archive, used), used, 0)
}

/** Reads a packed chart: a gzip archive with one directory. Throws as `readChartDirectory`. */
export async function readPackedChart(archive: Buffer): Promise<ChartFiles> {
  const used = { files: 0, bytes: 0 }
  return unpackInner(await readPacked(archive, used), used, 0)
}

async function readPacked(archive: Buffer, used: Used): Promise<Map<string, Buffer>> {
  const left = mostOfChart.bytes - used.bytes
  const bytes = await unzip(archive, { maxOutputLength: Math.max(1, left) * 2 }).catch((cause: unknown) => {
    throw tooLarge(cause)
  })
  const tar = extract()
  tar.end(bytes)
  const files = await readInto(tar, used)
  // A packed chart is one directory with the name of the chart.
  return new Map([...files].flatMap(([path, content]) => inside(path).map((inner) => [inner, content] as const)))
}

const inside = (path: string): string[] => {
  const rest = path.slice(path.indexOf('/') + 1)
  return path.includes('/') && rest !== '' ? [rest] : []
}

function readTar(archive: Readable, used: Used): Promise<Map<string, Buffer>> {
  const tar = extract()
  archive.on('error', (error) => tar.destroy(error))
  archive.pipe(tar)
  return readInto(tar, used)
}

async function readInto(tar: ReturnType<typeof extract>, used: Used): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>()
  try {
    for await (const entry of tar) {
      const { type, size = 0 } = entry.header
      const path = pathInChart(entry.header.name)
      if (type === 'symlink' || type === 'link') {
        throw refusal(`"${path}" of the chart is a link; commit a real file instead`)
      }
      if (type !== 'file') {
        entry.resume()
        continue
      }
      used.files++
      used.bytes += size
      if (size > mostOfChart.fileBytes)
        throw refusal(`"${path}" of the chart is larger than 5 MiB; remove it from the chart`)
      if (used.files > mostOfChart.files || used.bytes > mostOfChart.bytes) throw tooLarge()
      files.set(path, await contentOf(entry))
    }
  } catch (cause) {
    if (cause instanceof EngineError) throw cause
    throw new EngineError('refused', 'the chart cannot be unpacked: its archive is damaged', { cause })
  } finally {
    tar.destroy()
  }
  return files
}

/** Throws unless a path of an archive stays inside its directory. */
function pathInChart(text: string): string {
  const parts = text.split('/').filter((part) => part !== '' && part !== '.')
  const isInside = !text.startsWith('/') && !parts.includes('..') && !/[\0\\]/.test(text)
  if (!isInside) throw refusal('the archive of the chart has a path that leads out of it')
  return parts.join('/')
}

async function contentOf(entry: AsyncIterable<unknown>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of entry) if (Buffer.isBuffer(piece)) pieces.push(piece)
  return Buffer.concat(pieces)
}

const innerArchive = /^(?:.*\/)?charts\/[^/]+\.tgz$/

/** Replaces archives of charts below `charts/` by their files, so that all rules count for them. */
async function unpackInner(files: Map<string, Buffer>, used: Used, depth: number): Promise<ChartFiles> {
  const whole = new Map<string, Buffer>()
  for (const [path, content] of files) {
    if (!innerArchive.test(path)) {
      whole.set(path, content)
      continue
    }
    if (depth === mostOfChart.depth) throw refusal(`"${path}" of the chart is nested too deeply`)
    const inner = await unpackInner(await readPacked(content, used), used, depth + 1)
    for (const [name, bytes] of inner) whole.set(`${path.slice(0, -'.tgz'.length)}/${name}`, bytes)
  }
  return whole
}

const refusal = (message: string): EngineError => new EngineError('refused', message)

const tooLarge = (cause?: unknown): EngineError =>
  new EngineError(
    'refused',
    `the chart is larger than ${mostOfChart.bytes / 1024 ** 2} MiB or ${mostOfChart.files} files, ` +
      'or its archive is damaged; list what it does not need in .helmignore',
    { cause },
  )
