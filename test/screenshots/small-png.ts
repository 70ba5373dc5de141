import { crc32, deflateSync, inflateSync } from 'node:zlib'

// Makes pictures of pages smaller: their most frequent colours become a palette of at most 256.

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
const palette = 256

interface Pixels {
  readonly width: number
  readonly height: number
  /** Bytes of a pixel: 3 or 4. */
  readonly channels: number
  readonly bytes: Buffer
}

/** Returns a smaller PNG of the same picture. `png` has 8 bits a channel and is not interlaced. */
export function smallPng(png: Buffer): Buffer {
  const pixels = read(png)
  return write(pixels, index(pixels))
}

function read(png: Buffer): Pixels {
  const parts: Buffer[] = []
  for (let at = signature.length; at < png.length; at += png.readUInt32BE(at) + 12)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const [width, height, channels] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] === 6 ? 4 : 3]
  return { width, height, channels, bytes: unfilter(inflateSync(Buffer.concat(parts)), width * channels, channels) }
}

/** Undoes the filter of each row, which predicts a byte by those to the left and above. */
function unfilter(rows: Buffer, stride: number, channels: number): Buffer {
  const height = rows.length / (stride + 1)
  const bytes = Buffer.alloc(height * stride)
  for (let at = 0; at < bytes.length; at++) {
    const [row, column] = [Math.floor(at / stride), at % stride]
    const left = column < channels ? 0 : (bytes[at - channels] ?? 0)
    const up = row === 0 ? 0 : (bytes[at - stride] ?? 0)
    const corner = row === 0 || column < channels ? 0 : (bytes[at - stride - channels] ?? 0)
    const guess = [0, left, up, (left + up) >> 1, nearest(left, up, corner)][rows[row * (stride + 1)] ?? 0] ?? 0
    bytes[at] = (rows[row * (stride + 1) + 1 + column] ?? 0) + guess
  }
  return bytes
}

function nearest(left: number, up: number, corner: number): number {
  const [ofLeft, ofUp, ofCorner] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs)
  if (ofLeft === undefined || ofUp === undefined || ofCorner === undefined) return left
  if (ofLeft <= ofUp && ofLeft <= ofCorner) return left
  return ofUp <= ofCorner ? up : corner
}

interface Indexed {
  readonly colours: Buffer
  readonly indices: Buffer
}

/** Gives the most frequent colours a number, and every other colour that of the nearest one. */
function index({ bytes, channels }: Pixels): Indexed {
  const all = Array.from({ length: bytes.length / channels }, (_, pixel) => bytes.readUIntBE(pixel * channels, 3))
  const counts = new Map<number, number>()
  for (const colour of all) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const chosen = [...counts].sort(([, one], [, other]) => other - one).map(([colour]) => colour)
  const kept = chosen.slice(0, palette)
  const numbers = new Map(kept.map((colour, number) => [colour, number]))
  for (const colour of chosen.slice(palette)) numbers.set(colour, nearestOf(kept, colour))
  const colours = Buffer.alloc(kept.length * 3)
  kept.forEach((colour, number) => void colours.writeUIntBE(colour, number * 3, 3))
  return { colours, indices: Buffer.from(all.map((colour) => numbers.get(colour) ?? 0)) }
}

const shifts = [16, 8, 0] as const

function nearestOf(kept: readonly number[], colour: number): number {
  const distance = (other: number): number =>
    shifts.reduce<number>((sum, shift) => sum + (((colour >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0)
  return kept.reduce((best, other, number) => (distance(other) < distance(kept[best] ?? 0) ? number : best), 0)
}

function write({ width, height }: Pixels, { colours, indices }: Indexed): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  // 8 bits, with a palette.
  head.set([8, 3, 0, 0, 0], 8)
  const rows = Buffer.alloc(height * (width + 1))
  for (let row = 0; row < height; row++) indices.copy(rows, row * (width + 1) + 1, row * width, (row + 1) * width)
  const data = deflateSync(rows, { level: 9 })
  return Buffer.concat([signature, chunk('IHDR', head), chunk('PLTE', colours), chunk('IDAT', data), chunk('IEND')])
}

function chunk(type: string, content: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(content.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}
