import { crc32, deflateRawSync } from 'node:zlib'

/** A few small files as one zip archive, each deflated; names with `/` are in directories. For files of less than 4 GiB together. */
export function zip(files: Readonly<Record<string, string>>, at: Date): Buffer {
  const parts: Buffer[] = []
  const entries: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const head = describe(Buffer.from(name), Buffer.from(text), at)
    const local = Buffer.concat([signature(0x04034b50), head.common, head.name])
    entries.push(Buffer.concat([signature(0x02014b50), version, head.common, tail(offset), head.name]))
    parts.push(local, head.data)
    offset += local.length + head.data.length
  }
  const directory = Buffer.concat(entries)
  return Buffer.concat([...parts, directory, end(entries.length, directory.length, offset)])
}

/** What the entry before a file and the one in the directory have in common: from the version needed to the length of extras. */
function describe(name: Buffer, content: Buffer, at: Date): { common: Buffer; name: Buffer; data: Buffer } {
  const data = deflateRawSync(content)
  const common = Buffer.alloc(26)
  common.writeUInt16LE(20, 0)
  // Names are UTF-8.
  common.writeUInt16LE(0x0800, 2)
  common.writeUInt16LE(8, 4)
  common.writeUInt16LE((at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1), 6)
  const year = Math.max(0, at.getUTCFullYear() - 1980)
  common.writeUInt16LE((year << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(), 8)
  common.writeUInt32LE(crc32(content), 10)
  common.writeUInt32LE(data.length, 14)
  common.writeUInt32LE(content.length, 18)
  common.writeUInt16LE(name.length, 22)
  return { common, name, data }
}

const signature = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
/** Made by version 2.0 of the format. */
const version = Buffer.from([20, 0])

/** The rest of an entry of the directory: no comment, first disk, no attributes, where the file begins. */
function tail(offset: number): Buffer {
  const bytes = Buffer.alloc(14)
  bytes.writeUInt32LE(offset, 10)
  return bytes
}

function end(count: number, size: number, offset: number): Buffer {
  const bytes = Buffer.alloc(22)
  bytes.writeUInt32LE(0x06054b50, 0)
  bytes.writeUInt16LE(count, 8)
  bytes.writeUInt16LE(count, 10)
  bytes.writeUInt32LE(size, 12)
  bytes.writeUInt32LE(offset, 16)
  return bytes
}
