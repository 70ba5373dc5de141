import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import type { WebhookEvent } from '@quayside/contract/enums.ts'
import { until } from '../../test/support/until.ts'
import type { Database } from '../database/index.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { runIfDue } from '../database/testing-due.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { createSafeFetch } from '../lib/safe-fetch.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { createWebhookReconciler } from './reconciler.ts'
import { createWebhooks, type WebhookRequest } from './webhooks.ts'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}
/**
 * The receiver's next answer: a status, nothing until the connection ends, or a closed connection.
 */
type Reply =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'silence'
  | 'lost'

/** A webhook receiver, and a reconciler that delivers to it. */
export interface Bench {
  readonly sql: Database
  readonly received: Received[]
  /** Answers in order, then 204. */
  readonly replies: Reply[]
  readonly url: string
  register(change?: Partial<WebhookRequest>): Promise<{ id: string; secret: string }>
  happen(type: WebhookEvent, payload?: object): Promise<string>
  /** Advances the clock, reconciles, and waits until no delivery is in progress. */
  pass(ms?: number): Promise<void>
  deliveries(): Promise<{ state: string; attempts: number; failure: string | null; waitMs: number }[]>
  edit(id: string, change: Partial<WebhookRequest>): Promise<unknown>
  replay(id: string, deliveryId: string): Promise<unknown>
  list(id: string): ReturnType<ReturnType<typeof createWebhooks>['deliveries']>
  /** Returns `target_response_body` of the deliveries of a webhook, newest first. */
  bodies(id: string): Promise<string[]>
}

export async function openBench(t: Cleanup, { isPrivate = true } = {}): Promise<Bench> {
  const { sql } = await testDatabase(t)
  const vault = await testVault(t, sql)
  const { organizationId, projectId, environmentId } = (await addPlace(sql)).environment
  const received: Received[] = []
  const replies: Reply[] = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    const reply = replies.shift() ?? { status: 204 }
    if (reply === 'lost') request.socket.destroy()
    else if (reply !== 'silence') response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
  })
  const bound = server.address()
  const url = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}/hook`
  let nowMs = systemClock.now().getTime()
  const clock = { ...systemClock, now: () => new Date(nowMs) }
  const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] })
  const webhooks = createWebhooks({ database: sql, vault, clock, guard, publicUrl: 'http://localhost:3000' })
  const reconciler = createWebhookReconciler({
    database: sql,
    vault,
    clock,
    log: silentLogger,
    // The receiver of the tests listens on this machine, which is a private network.
    safeFetch: async (...asked) => ({
      ...(await createSafeFetch(guard)(...asked)),
      ...(isPrivate ? {} : { isPrivate }),
    }),
    random: () => 0,
  })
  const { signal } = new AbortController()
  const base = { target_url: url, events: ['DEPLOYMENT_STARTED' as const, 'DEPLOYMENT_SUCCEEDED' as const] }
  const payload = {
    project: { name: 'Shop' },
    environment: { name: 'prod', mode: 'PRODUCTION' },
    applications: [],
    logs: [],
  }
  const editor = { mayEdit: true, environment: () => true, projectNames: undefined }
  return {
    sql,
    received,
    replies,
    url,
    register: async (change) => {
      const { id, signing_secret: secret = '' } = await webhooks.create(organizationId, { ...base, ...change })
      return { id, secret }
    },
    bodies: async (id) =>
      (await webhooks.deliveries(organizationId, id, editor)).map(({ target_response_body }) => target_response_body),
    replay: (id, deliveryId) => webhooks.replay(organizationId, id, deliveryId),
    list: (id) => webhooks.deliveries(organizationId, id, editor),
    edit: (id, change) => webhooks.edit(organizationId, id, { ...base, ...change }),
    happen: async (type, change) => {
      const id = newId()
      await sql`
        insert into event (id, organization_id, project_id, environment_id, type, payload_id, payload, created_at)
        values (${id}, ${organizationId}, ${projectId}, ${environmentId}, ${type}, ${newId()},
          ${sql.json({ ...payload, ...change } as never)}, ${clock.now()})`
      return id
    },
    pass: async (ms = 0) => {
      nowMs += ms
      await runIfDue(sql, reconciler, signal)
      // A delivery in progress is claimed until exactly then.
      const claimed = new Date(nowMs + 20_000)
      await until('nothing is on its way', async () => {
        const rows = await sql`select from webhook_delivery where state = 'pending' and next_attempt_at = ${claimed}`
        return rows.length === 0
      })
    },
    deliveries: async () => {
      const rows = await sql<{ state: string; attempts: number; failure: string | null; next_attempt_at: Date }[]>`
        select state, attempts, failure, next_attempt_at from webhook_delivery order by event_seq, created_at`
      return rows.map(({ next_attempt_at: next, ...row }) => ({
        ...row,
        waitMs: next.getTime() - clock.now().getTime(),
      }))
    },
  }
}
