import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, pack } from 'tar-stream'
import { leadingLines } from './dockerfile.ts'

const directive = /^\s*(?:#|\/\/)\s*syntax\s*=\s*(.*?)\s*$/i
const official = /^(?:docker\.io\/)?docker\/dockerfile(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?$/

/** What a Dockerfile asks to be read by; undefined when it leaves that to the builder. */
export function requestedFrontend(text: string): string | undefined {
  for (const line of leadingLines(text)) {
    const value = directive.exec(line)?.[1]
    if (value !== undefined) return value
  }
  // Newer builders also take the directive from a file that is JSON.
  return /^\s*\{/.test(text) ? 'JSON' : undefined
}

/** Docker's own frontend: the built-in one stands in for it, so that nothing has to be pulled. */
export const isOfficialFrontend = (frontend: string): boolean => official.test(frontend)

/** The text with its syntax line turned into a plain comment; every line keeps its number. */
export function withoutSyntaxLine(text: string): string {
  const asked = leadingLines(text).find((line) => directive.test(line))
  return asked === undefined ? text : text.replace(asked, '# (read by the built-in frontend)')
}

/** The same archive with another content of one file; `addsIt`: also where it has none of that name. */
export function replaceFile(
  archive: Readable,
  path: string,
  content: string,
  { addsIt = false }: { readonly addsIt?: boolean } = {},
): Readable {
  const packed = pack()
  let isThere = false
  const copy = async (): Promise<void> => {
    for await (const entry of archive.pipe(extract())) {
      const { header } = entry
      if (header.type === 'file' && header.name.replace(/^\.\//, '') === path) {
        isThere = true
        packed.entry({ ...header, size: Buffer.byteLength(content) }, content)
        entry.resume()
      } else {
        await pipeline(entry, packed.entry(header))
      }
    }
    if (addsIt && !isThere) packed.entry({ name: path, mode: 0o644 }, content)
    packed.finalize()
  }
  archive.once('error', (error) => packed.destroy(error))
  copy().catch((error: unknown) => packed.destroy(error instanceof Error ? error : new Error(String(error))))
  return Readable.from(packed)
}
