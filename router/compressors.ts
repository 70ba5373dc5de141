import type { Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib'
import type { Coding } from './accept-encoding.ts'
import { limits } from './limits.ts'

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

/** The compressors of all responses. Each needs memory, so their number is limited. */
export class Compressors {
  readonly #open = new Map<string, number>()
  #total = 0

  /** Whether a service may have one more. */
  hasRoom(service: string): boolean {
    return this.#total < limits.compressors && (this.#open.get(service) ?? 0) < limits.compressorsPerService
  }

  /** Creates a compressor. It counts until it is closed. */
  open(service: string, coding: Coding): Compressor {
    const compressor = create[coding]()
    this.#add(service, 1)
    compressor.once('close', () => this.#add(service, -1))
    return compressor
  }

  #add(service: string, count: number): void {
    this.#total += count
    const own = (this.#open.get(service) ?? 0) + count
    if (own > 0) this.#open.set(service, own)
    else this.#open.delete(service)
  }
}
