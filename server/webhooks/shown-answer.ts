import { masker } from '../lib/masker.ts'
import type { SafeResponse } from '../lib/safe-fetch.ts'
import { Secret } from '../lib/secret.ts'

const shownBytes = 1024

/** Control characters except tab and line feed, and marks that change the direction of text. */
const unprintable = /[^\P{Cc}\t\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/**
 * Returns the first KiB of a receiver's answer as text that is safe to store and show. Secrets that
 * were sent to the receiver are masked. An answer from a private network that only the operator
 * opened is not shown, because readers of deliveries could read that network through it.
 */
export function shownAnswer(
  { body, headers, isPrivate }: Pick<SafeResponse, 'body' | 'headers' | 'isPrivate'>,
  secrets: readonly string[],
): string {
  if (isPrivate) return 'The receiver is in a private network, so its answer is not shown.'
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') return 'The answer is compressed, so it is not shown.'
  const forms = secrets.flatMap((text) => [new Secret(text), new Secret(JSON.stringify(text).slice(1, -1))])
  // Masked before truncating, because the limit could cut a secret in two.
  const text = masker(forms)(new TextDecoder().decode(body))
  return cut(text.replaceAll('\r\n', '\n').replace(unprintable, '\ufffd'))
}

/** Returns at most so many bytes of UTF-8, without a partial character at the end. */
function cut(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= shownBytes) return text
  return new TextDecoder().decode(bytes.subarray(0, shownBytes), { stream: true })
}
