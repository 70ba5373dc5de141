import type { Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import type { Coding } from './accept-encoding.ts'
import { limits } from './limits.ts'
import { ownerOf } from './owner.ts'

/** A stream that compresses. `flush` makes everything readable that was written. */
export interface Compressor extends Transform {
  flush(): void
}

const create: Readonly<Record<Coding, () => Compressor>> = {
  gzip: () => createGzip({ level: 6 }),
  br: () =>
    createBrotliCompress({
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_LGWIN]: 18,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      },
    }),
  zstd: () =>
    createZstdCompress({
      params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: 17 },
    }),
}

/** Whose response is compressed. */
type Owned = Parameters<typeof ownerOf>[0]

/**
 * The compressors of all responses. Each needs memory, so their number is limited. An organization
 * gets one more only if it then has no more than the remainder, so some are left for others.
 */
export class Compressors {
  readonly #services = new Map<string, number>()
  readonly #owners = new Map<string, number>()
  #total = 0

  /** Whether a service may have one more. */
  hasRoom(route: Owned): boolean {
    const left = limits.compressors - this.#total - 1
    const own = (this.#services.get(route.service) ?? 0) + 1
    return left >= (this.#owners.get(ownerOf(route)) ?? 0) + 1 && own <= limits.compressorsPerService
  }

  /** Creates a compressor. It counts until it is closed. */
  open(route: Owned, coding: Coding): Compressor {
    const compressor = create[coding]()
    this.#add(route, 1)
    compressor.once('close', () => this.#add(route, -1))
    return compressor
  }

  #add(route: Owned, count: number): void {
    this.#total += count
    add(this.#services, route.service, count)
    add(this.#owners, ownerOf(route), count)
  }
}

function add(counts: Map<string, number>, name: string, count: number): void {
  const own = (counts.get(name) ?? 0) + count
  if (own > 0) counts.set(name, own)
  else counts.delete(name)
}
