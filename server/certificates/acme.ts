import { AsyncLocalStorage } from 'node:async_hooks'
import { type Authorization, axios, Client, crypto } from 'acme-client'
import { systemClock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import { Secret } from '../lib/secret.ts'
import { renewalName, windowIn } from './acme-renewal.ts'
import {
  type Authority,
  type HostProof,
  type Issued,
  type Order,
  type ProofKind,
  RefusedError,
  type RenewalWindow,
} from './authority.ts'
import { checkIssued } from './check-issued.ts'

export interface AcmeOptions {
  /** The address of the authority's directory (RFC 8555). */
  readonly directory: string
  /** Where the authority may write about its certificates. */
  readonly email?: string
}

/** The time limit of one request. */
const requestMs = 20_000
/** How often an authority is asked whether it is done, and the pauses in between. */
const polling = { backoffAttempts: 20, backoffMin: 500, backoffMax: 10_000 } as const

/**
 * The signal of the work that runs. The library has none and works on after the end of an order, so
 * each of its requests gets it here.
 */
const running = new AsyncLocalStorage<AbortSignal>()

axios.defaults.timeout = requestMs
axios.interceptors.request.use((config) => {
  const signal = running.getStore()
  signal?.throwIfAborted()
  return signal ? { ...config, signal } : config
})
// The plan of this room decides when a request is repeated. The library itself waits as long as an
// authority says, and fails without a reason if there is no answer. It rejects every response, and
// still repeats a request whose nonce was rejected.
axios.interceptors.response.clear()
axios.interceptors.response.use(undefined, (error: { readonly response?: Response }) => {
  running.getStore()?.throwIfAborted()
  const { response } = error
  if (!response) {
    throw new RefusedError(sentence(`the certificate authority cannot be reached: ${reasonOf(error)}`), {
      cause: error,
    })
  }
  const { type, detail } = Object(response.data)
  if (response.status < 400 || type === 'urn:ietf:params:acme:error:badNonce') return response
  throw new RefusedError(sentence(`the certificate authority answered ${response.status}: ${detail ?? type ?? ''}`), {
    retryAfterSeconds: secondsOf(response.headers['retry-after']),
    isAccountGone: type === 'urn:ietf:params:acme:error:accountDoesNotExist',
  })
})

interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly data: unknown
}

/** Failed connections to several addresses have a code and no message. */
const reasonOf = (error: unknown): string => messageOf(error) || String(Object(error).code)

/** Creates the client of an authority. */
export function createAcmeAuthority({ directory, email }: AcmeOptions): Authority {
  const clientOf = (key: Secret, url?: string): Client =>
    new Client({ directoryUrl: directory, accountKey: key.reveal(), ...(url && { accountUrl: url }), ...polling })
  return {
    register: (signal) =>
      refusing(signal, async () => {
        const key = new Secret(String(await crypto.createPrivateEcdsaKey()))
        const client = clientOf(key)
        await client.createAccount({ termsOfServiceAgreed: true, ...(email && { contact: [`mailto:${email}`] }) })
        return { url: client.getAccountUrl(), key }
      }),
    order: (account, wanted, publish, signal) =>
      refusing(signal, async () => {
        const replaces = await replacedBy(directory, wanted)
        return order(clientOf(account.key, account.url), { ...wanted, ...(replaces && { replaces }) }, publish)
      }),
    renewalWindow: (chain, signal) => refusing(signal, () => askWindow(directory, chain)),
  }
}

/** Asks an authority for the renewal window of a certificate. Undefined if it has none. */
async function askWindow(directory: string, chain: string): Promise<RenewalWindow | undefined> {
  const { renewalInfo } = Object((await axios.get<unknown>(directory)).data)
  const name = renewalName(chain)
  if (typeof renewalInfo !== 'string' || name === undefined) return undefined
  const { data, headers } = await axios.get<unknown>(`${renewalInfo}/${name}`)
  return windowIn(data, secondsOf(headers['retry-after']))
}

/**
 * Returns the name of the certificate that an order replaces. Undefined if there is none, or the
 * authority does not know renewals.
 */
async function replacedBy(directory: string, { replaces }: Order): Promise<string | undefined> {
  if (replaces === undefined) return undefined
  const { renewalInfo } = Object((await axios.get<unknown>(directory)).data)
  return typeof renewalInfo === 'string' ? renewalName(replaces) : undefined
}

/** An order with the name of the certificate that it replaces. */
interface Named extends Omit<Order, 'replaces'> {
  readonly replaces?: string
}

/**
 * Creates an order. An authority may reject what it replaces, such as a certificate of another
 * account. The order then replaces nothing.
 */
async function create(client: Client, host: string, replaces: string | undefined) {
  const wanted = { identifiers: [{ type: 'dns', value: host }] }
  if (replaces === undefined) return client.createOrder(wanted)
  const renewed = { ...wanted, replaces }
  return client.createOrder(renewed).catch((error: unknown) => {
    const isRejected = error instanceof RefusedError && !error.isAccountGone && error.retryAfterSeconds === 0
    if (!isRejected) throw error
    return client.createOrder(wanted)
  })
}

type Publish = (proof: HostProof) => Promise<void>

async function order(client: Client, { host, kind, replaces }: Named, publish: Publish): Promise<Issued> {
  const created = await create(client, host, replaces)
  for (const authorization of await client.getAuthorizations(created)) {
    if (authorization.status !== 'valid') await prove(client, { authorization, host, kind }, publish)
  }
  const [key, request] = await crypto.createCsr({ altNames: [host] }, await crypto.createPrivateEcdsaKey())
  const chain = await client.getCertificate(await client.finalizeOrder(created, request))
  return checkIssued(host, { chain, key: new Secret(String(key)) })
}

/** Answers the challenge of an authorization. Throws RefusedError with `isCheck` if that fails. */
async function prove(
  client: Client,
  { authorization, host, kind }: Omit<Order, 'replaces'> & { readonly authorization: Authorization },
  publish: Publish,
): Promise<void> {
  const challenge = authorization.challenges.find(({ type }) => type === kind)
  if (!challenge) {
    throw new RefusedError(`The certificate authority does not check this name ${ways[kind]}.`, { isCheck: true })
  }
  const text = await client.getChallengeKeyAuthorization(challenge)
  running.getStore()?.throwIfAborted()
  await publish({ kind, host, token: challenge.token, answer: await answerTo(authorization, kind, text) })
  await client.completeChallenge(challenge)
  try {
    await client.waitForValidStatus(challenge)
  } catch (cause) {
    if (cause instanceof RefusedError) throw cause
    throw new RefusedError(`The check ${ways[kind]} failed: ${sentence(messageOf(cause))}`, { isCheck: true, cause })
  }
}

const ways = {
  'http-01': 'over HTTP at port 80',
  'tls-alpn-01': 'over TLS at port 443',
  'dns-01': 'in DNS',
} as const

/** Returns the answer to a challenge, from its key authorization. */
async function answerTo(authorization: Authorization, kind: ProofKind, text: string): Promise<string> {
  if (kind !== 'tls-alpn-01') return text
  const [key, certificate] = await crypto.createAlpnCertificate(
    authorization,
    text,
    await crypto.createPrivateEcdsaKey(),
  )
  return `${certificate}\n${key}`
}

/**
 * Does the work until `signal` aborts. The library then sends no further request. Translates errors
 * of the library.
 */
async function refusing<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([running.run(signal, work), aborted])
  } catch (cause) {
    if (signal.aborted || cause instanceof RefusedError) throw cause
    throw new RefusedError(sentence(messageOf(cause)), { cause })
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

const longestSentence = 400

/** Turns words of an authority into a sentence for users. */
function sentence(text: string): string {
  const plain = text
    .replace(/[^\x20-\x7e]/g, ' ')
    .trim()
    .slice(0, longestSentence)
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}${plain.endsWith('.') ? '' : '.'}`
}

/** Returns the seconds of a `Retry-After` header, a number or a date. 0 if it is neither. */
export function secondsOf(header: unknown, nowMs = systemClock.now().getTime()): number {
  if (typeof header !== 'string') return 0
  if (/^\d{1,9}$/.test(header)) return Number(header)
  return Math.max(0, Math.round((Date.parse(header) - nowMs) / 1000)) || 0
}
