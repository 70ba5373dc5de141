/** The block of a tar archive, in bytes. */
const block = 512

/**
 * An entry of a tar archive. `capabilities` is the value of the extended attribute
 * `security.capability`, which anybody may write here, and only root to a file.
 * @typedef {{
 *   name: string,
 *   mode: number,
 *   owner?: number,
 *   content?: Buffer,
 *   capabilities?: Buffer,
 * }} Entry
 */

/**
 * Pure: returns a tar archive of files and, for entries without content, directories.
 * @param {readonly Entry[]} entries
 */
export const tarOf = (entries) => Buffer.concat([...entries.flatMap(bytesOf), Buffer.alloc(2 * block)])

/** @param {Entry} entry */
function bytesOf({ name, mode, owner = 0, content, capabilities }) {
  const record = capabilities && paxRecord('SCHILY.xattr.security.capability', capabilities)
  const extended = record
    ? [header({ name: 'pax', mode: 0o644, owner, type: 'x', size: record.length }), padded(record)]
    : []
  const own = header({ name, mode, owner, type: content ? '0' : '5', size: content?.length ?? 0 })
  return [...extended, own, ...(content ? [padded(content)] : [])]
}

/**
 * @param {{ name: string, mode: number, owner: number, type: string, size: number }} entry
 */
function header({ name, mode, owner, type, size }) {
  if (Buffer.byteLength(name) > 100) throw new Error(`the path ${name} is too long for an archive`)
  const bytes = Buffer.alloc(block)
  bytes.write(name, 0)
  bytes.write(octal(mode, 7), 100)
  bytes.write(octal(owner, 7), 108)
  bytes.write(octal(owner, 7), 116)
  bytes.write(octal(size, 11), 124)
  bytes.write(octal(0, 11), 136)
  bytes.write(' '.repeat(8), 148)
  bytes.write(type, 156)
  bytes.write('ustar\u000000', 257)
  const sum = bytes.reduce((all, byte) => all + byte, 0)
  bytes.write(`${octal(sum, 6)}\u0000 `, 148)
  return bytes
}

/**
 * @param {number} value
 * @param {number} digits
 */
const octal = (value, digits) => value.toString(8).padStart(digits, '0')

/** @param {Buffer} content */
const padded = (content) => Buffer.concat([content, Buffer.alloc((block - (content.length % block)) % block)])

/**
 * A record begins with its own length, which includes the digits of that length.
 * @param {string} key
 * @param {Buffer} value
 */
function paxRecord(key, value) {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')])
  let length = rest.length
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length
  return Buffer.concat([Buffer.from(String(length)), rest])
}
