/** The signature of an entry of the directory at the end of a zip archive. */
const entryMark = 0x02014b50
const endMark = 0x06054b50
const endBytes = 22

/**
 * Reads the texts of a small zip archive by their names. The archive has no comment, and its files
 * are deflated or stored, as those of the API are. Throws an Error for any other archive.
 */
export async function readZip(archive: Uint8Array<ArrayBuffer>): Promise<ReadonlyMap<string, string>> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength)
  const end = archive.length - endBytes
  if (end < 0 || view.getUint32(end, true) !== endMark) throw new Error('The export is not a zip archive.')
  const files = new Map<string, string>()
  let at = view.getUint32(end + 16, true)
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (view.getUint32(at, true) !== entryMark) throw new Error('The directory of the export is broken.')
    const nameLength = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(archive.subarray(at + 46, at + 46 + nameLength))
    files.set(name, await textAt(archive, view, at))
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return files
}

/** Reads the file of an entry of the directory. */
function textAt(archive: Uint8Array<ArrayBuffer>, view: DataView, entry: number): Promise<string> {
  const header = view.getUint32(entry + 42, true)
  const begin = header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true)
  const packed = archive.subarray(begin, begin + view.getUint32(entry + 20, true))
  const isStored = view.getUint16(entry + 10, true) === 0
  if (isStored) return Promise.resolve(new TextDecoder().decode(packed))
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text()
}
