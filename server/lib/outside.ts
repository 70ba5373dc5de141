import { AppError } from './error.ts'
import { asInvalid, parseForeign } from './foreign-json.ts'
import { type SafeFetch, SafeFetchError, type SafeResponse } from './safe-fetch.ts'

export interface Question {
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: 'GET' | 'HEAD'
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Follows up to three redirects, without the authorization if the host changes. */
  readonly follows?: boolean
  /** Only for the first host. */
  readonly anyCertificate?: boolean
}

/**
 * A response and the address that sent it, which differs from the requested one after a redirect.
 */
export interface Answer extends SafeResponse {
  readonly from: URL
}

/**
 * Sends one request to an address that a user chose. Throws AppError `invalid` with a message that
 * names the host.
 */
export type Ask = (url: URL, question: Question) => Promise<Answer>

const timeoutMs = 15_000
const mostRedirects = 3

export function createAsk(safeFetch: SafeFetch): Ask {
  const once = async (
    url: URL,
    { method = 'GET', headers = {}, maxBytes, signal, anyCertificate = false }: Question,
  ): Promise<SafeResponse> => {
    try {
      const answer = await safeFetch(url, {
        method,
        headers,
        timeoutMs,
        maxResponseBytes: maxBytes,
        signal,
        anyCertificate,
      })
      if (!answer.truncated || method === 'HEAD') return answer
      throw new AppError('invalid', `${url.host} answered with more than ${maxBytes} bytes, or broke off.`)
    } catch (error) {
      if (!(error instanceof SafeFetchError)) throw error
      throw new AppError('invalid', error.message, { cause: error })
    }
  }
  return async (first, question) => {
    let [url, headers] = [first, question.headers ?? {}]
    let anyCertificate = question.anyCertificate ?? false
    for (let hop = 0; ; hop++) {
      const answer = await once(url, { ...question, headers, anyCertificate })
      const location = answer.headers['location']
      if (!question.follows || hop === mostRedirects || answer.status < 300 || answer.status > 399 || !location) {
        return { ...answer, from: url }
      }
      const next = URL.parse(location, url.href)
      if (!next) throw new AppError('invalid', `${url.host} leads to an address that is not valid.`)
      if (next.origin !== url.origin) {
        headers = withoutAuthorization(headers)
        anyCertificate = false
      }
      url = next
    }
  }
}

const withoutAuthorization = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'authorization'))

/**
 * Returns the body as JSON. Throws AppError `invalid` if it is none, or larger than any answer that
 * is needed.
 */
export function parseJson(url: URL, { body }: SafeResponse): unknown {
  try {
    return parseForeign(body)
  } catch (error) {
    return asInvalid(`The answer of ${url.host}`)(error)
  }
}
