import assert from 'node:assert/strict'
import { crc32, inflateRawSync } from 'node:zlib'

/** Reads an archive by its directory, as programs do. */
export function unzip(archive: Buffer): Record<string, string> {
  const end = archive.length - 22
  assert.equal(archive.readUInt32LE(end), 0x06054b50)
  const files: Record<string, string> = {}
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    assert.equal(archive.readUInt32LE(at), 0x02014b50)
    const [size, nameLength, begin] = [
      archive.readUInt32LE(at + 20),
      archive.readUInt16LE(at + 28),
      archive.readUInt32LE(at + 42),
    ]
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength)
    assert.equal(archive.readUInt32LE(begin), 0x04034b50)
    const from = begin + 30 + nameLength
    const content = inflateRawSync(archive.subarray(from, from + size))
    assert.equal(crc32(content), archive.readUInt32LE(at + 16))
    files[name] = content.toString()
    at += 46 + nameLength
  }
  return files
}
