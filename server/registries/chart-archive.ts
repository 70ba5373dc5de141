import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { AppError } from '../lib/error.ts'

const unzip = promisify(gunzip)
const mostUnpackedBytes = 64 * 1024 * 1024
const mostFileBytes = 1024 * 1024

/**
 * Returns a file from the top directory of a packed chart, such as `values.yaml`, or undefined. It
 * writes nothing to the disk.
 */
export async function readChartFile(archive: Buffer, fileName: string): Promise<string | undefined> {
  const bytes = await unzip(archive, { maxOutputLength: mostUnpackedBytes }).catch((cause: unknown) => {
    throw new AppError('invalid', 'The chart is not a gzip archive, or is larger than 64 MiB.', { cause })
  })
  const tar = extract()
  tar.end(bytes)
  try {
    for await (const entry of tar) {
      const { name, type, size = 0 } = entry.header
      if (type === 'file' && isAtTop(name, fileName)) {
        if (size > mostFileBytes) throw new AppError('invalid', `${fileName} of the chart is larger than 1 MiB.`)
        return await readText(entry)
      }
      entry.resume()
    }
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('invalid', 'The chart is not a tar archive.', { cause })
  } finally {
    tar.destroy()
  }
  return undefined
}

/** A packed chart contains one directory with the chart's name. */
const isAtTop = (path: string, fileName: string): boolean => {
  const [directory, name, ...rest] = path.replace(/^\.\//, '').split('/')
  return directory !== '' && name === fileName && rest.length === 0
}

async function readText(entry: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of entry) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
