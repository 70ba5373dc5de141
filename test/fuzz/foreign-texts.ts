import { createHmac, randomUUID } from 'node:crypto'
import { longestHoldMs } from '../../bench/longest-hold.ts'
import { ForeignJsonProblem } from '../../server/lib/foreign-json.ts'
import { Secret } from '../../server/lib/secret.ts'
import { planIn, resultIn } from '../../server/stacks/foreign-files.ts'
import { readState } from '../../server/stacks/state-file.ts'
import { commitOf, senders } from '../support/git-provider.ts'
import type { Platform } from '../support/platform.ts'
import type { Random } from './random.ts'

/** A text may hold the thread of the server for so long, on a machine with other work. */
const mostHoldMs = 500

type Provider = keyof typeof senders
interface Webhook {
  readonly provider: Provider
  readonly path: string
  readonly secret: string
}

/**
 * Creates a function that sends one random message of a git provider, or reads one random file of a
 * stack. It returns what went wrong: an error of the server, an unexpected exception, or a stall.
 */
export async function foreignTexts(platform: Platform, random: Random): Promise<() => Promise<string | undefined>> {
  const webhooks = await Promise.all((['GITHUB', 'GITLAB', 'BITBUCKET'] as const).map(makeWebhook))
  return async () => {
    const failure: { text?: string | undefined } = {}
    const holdMs = await longestHoldMs(async () => {
      failure.text = random.percent(50) ? await sendMessage() : await readFile()
    })
    if (failure.text !== undefined) return failure.text
    return holdMs > mostHoldMs ? `a text from outside held the server for ${Math.round(holdMs)} ms` : undefined
  }

  async function makeWebhook(provider: Provider): Promise<Webhook> {
    const { organizationId, tokens } = platform.a
    const { body } = await platform.call(tokens.ADMIN, 'POST', `/organization/${organizationId}/gitWebhook`, {
      provider,
    })
    const { url, secret } = Object(body)
    return { provider, secret, path: new URL(url).pathname }
  }

  async function sendMessage(): Promise<string | undefined> {
    const { provider, path, secret } = random.pick(webhooks)
    const facts = { repository: 'acme/shop', before: commitOf('a'), after: commitOf('b'), files: ['a/b', 'c'] }
    const { headers, body: whole } = senders[provider](facts, secret)
    const body = mutated(Buffer.from(whole), random)
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    const signed = {
      ...headers,
      'x-hub-signature': signature,
      'x-hub-signature-256': signature,
      'x-github-delivery': randomUUID(),
      'x-request-uuid': randomUUID(),
    }
    const { status, text } = await platform.call(undefined, 'POST', path, body, signed)
    return status >= 500 && status !== 503
      ? `${provider}: ${status} ${text}\n${body.toString('base64').slice(0, 2000)}`
      : undefined
  }

  async function readFile(): Promise<string | undefined> {
    const secrets = [new Secret('a-secret-of-a-stack')]
    const [make, read] = random.pick([
      [plan, (json: Buffer) => planIn(json, secrets)],
      [result, (json: Buffer) => resultIn(json, secrets)],
      [state, readState],
    ] as const)
    const json = mutated(Buffer.from(JSON.stringify(make())), random)
    try {
      const text = JSON.stringify(await read(json))
      return text !== undefined && text.length > 16 * 2 ** 20 ? `a summary has ${text.length} characters` : undefined
    } catch (error) {
      if (error instanceof ForeignJsonProblem) return undefined
      return `${read.name}: ${String(error)}\n${json.toString('base64').slice(0, 2000)}`
    }
  }
}

const change = {
  actions: ['update'],
  before: { name: 'a', list: [1, { b: null }], size: 1.5 },
  after: { name: 'b\u{1f600}', list: [], size: 2e300 },
  after_unknown: { id: true },
  after_sensitive: { list: [true] },
}
const plan = () => ({
  format_version: '1.2',
  prior_state: { values: {} },
  resource_changes: Array.from({ length: 3 }, (_, index) => ({ address: `a.b["${index}"]`, change })),
  resource_drift: [{ address: 'a.c', change }],
  output_changes: { url: change, other: { actions: ['no-op'] } },
})
const resource = { address: 'a.b', mode: 'managed', type: 'a', name: 'b', provider_name: 'p', values: change.after }
const result = () => ({
  values: {
    outputs: { 'a-url': { value: ['x'], sensitive: true }, b: { value: 'y' } },
    root_module: {
      resources: [{ ...resource, sensitive_values: { list: true } }],
      child_modules: [{ resources: [resource] }],
    },
  },
})
const state = () => ({ version: 4, serial: 3, lineage: 'one', outputs: {}, resources: [resource] })

const pieces = [
  '[',
  ']',
  '{',
  '}',
  '"',
  '\\',
  ',',
  ':',
  '\0',
  '\u00ff',
  '1e999',
  'null',
  '"a":',
  '\\ud800',
  '\\u0000',
  '[[',
  '{}',
]

/** Changes some bytes of a text, or repeats a part of it up to some megabytes. */
function mutated(text: Buffer, random: Random): Buffer {
  let bytes = text
  for (let turn = random.below(4); turn > 0; turn--) {
    const at = random.below(bytes.length + 1)
    const end = Math.min(bytes.length, at + random.below(20))
    const piece = Buffer.from(random.pick(pieces))
    const times = random.percent(5) ? 1 + random.below(1_000_000) : 1 + random.below(4)
    const part = random.percent(30) ? bytes.subarray(at, end) : piece
    const added = Buffer.alloc(Math.min(part.length * times, 4 * 2 ** 20), part.length > 0 ? part : ' ')
    bytes = Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(random.percent(50) ? at : end)])
  }
  return bytes
}
