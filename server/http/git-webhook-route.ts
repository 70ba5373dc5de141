import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../lib/clock.ts'
import { AppError, budgetSpent } from '../lib/error.ts'
import type { Received, Receiver } from '../pushes/index.ts'
import { readBytes } from './body.ts'
import { type BodyPlace, roomFor, webhookBodies } from './body-room.ts'
import type { Budgets } from './budgets.ts'
import { createRateLimiter } from './rate-limit.ts'

/** The parts of server/pushes that this route uses. */
export interface GitWebhookRouteOptions {
  readonly clock: Clock
  readonly budgets: Budgets
  readonly receiver: Receiver
}

/**
 * The largest payload that GitHub sends;
 * https://docs.github.com/en/webhooks/webhook-events-and-payloads#payload-cap
 */
const maxBytes = 25 * 1024 * 1024
const bodyTimeoutMs = 30_000
/** The rate limit of one webhook: messages a second, and messages at once. */
const [perSecond, burst] = [2, 120]

/**
 * Mounts `POST <public URL>/webhook/git/<provider>/<id>`. It takes no token; a signature over the
 * raw bytes of the body authenticates the message.
 */
export function mountGitWebhooks(app: FastifyInstance, options: GitWebhookRouteOptions): void {
  const limiter = createRateLimiter(perSecond, burst, options.clock)
  const room = roomFor(webhookBodies)
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.route({
      method: 'POST',
      url: '/webhook/git/:provider/:webhookId',
      bodyLimit: maxBytes,
      handler: async (request, reply) => {
        const { receiver, budgets } = options
        check(budgets.take(undefined, request.raw))
        const place = room.enter(budgets.ownerOf(undefined, request.raw))
        // The body has its place until the message is received: its reading may wait for its turn.
        const received = await receive(receiver, request, { clock: options.clock, place }, (id) =>
          check(limiter.take(id)),
        ).finally(() => place.leave())
        return reply.code(codes[received.status]).send(received)
      },
    })
  })
}

const codes = { accepted: 202, ignored: 200, repeated: 200 } as const satisfies Record<Received['status'], number>

function check({ allowed, resetSeconds }: ReturnType<Budgets['take']>): void {
  if (!allowed) throw budgetSpent(resetSeconds)
}

async function receive(
  receiver: Receiver,
  request: FastifyRequest,
  limits: { readonly clock: Clock; readonly place: BodyPlace },
  take: (webhookId: string) => void,
): Promise<Received> {
  const body = await readBody(request, limits)
  // The router gives path parameters as strings.
  const { provider = '', webhookId = '' } = request.params as Record<string, string>
  return receiver.receive({ provider, webhookId, headers: headersOf(request), body }, take)
}

async function readBody(
  request: FastifyRequest,
  { clock, place }: { readonly clock: Clock; readonly place: BodyPlace },
): Promise<Buffer> {
  if (request.headers['content-encoding'] !== undefined) {
    throw new AppError('unsupportedMediaType', 'The body must not be compressed.')
  }
  const length = request.headers['content-length']
  const announced = length === undefined ? maxBytes : Number(length)
  if (announced > maxBytes) throw new AppError('tooLarge', `The body is larger than ${maxBytes} bytes.`)
  return readBytes(request.raw, { bytes: maxBytes, timeoutMs: bodyTimeoutMs, place }, clock)
}

/**
 * Returns the headers that were sent once. Node.js joins repeated headers or keeps the first.
 * Choosing one would be a guess, so they are left out.
 */
function headersOf({ raw }: FastifyRequest): Readonly<Record<string, string>> {
  const found = new Map<string, string[]>()
  for (let index = 0; index < raw.rawHeaders.length; index += 2) {
    const name = (raw.rawHeaders[index] ?? '').toLowerCase()
    found.set(name, [...(found.get(name) ?? []), raw.rawHeaders[index + 1] ?? ''])
  }
  return Object.fromEntries(
    [...found].flatMap(([name, values]) => (values.length === 1 ? [[name, values[0] ?? '']] : [])),
  )
}
