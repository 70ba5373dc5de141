import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import {
  answerTo,
  authorizationDocument,
  type Credential,
  credentials,
  gitAnswerTo,
  gitCalls,
} from '../../contract/authorization.ts'
import { usualConnections } from '../../contract/connection-shares.ts'
import { contract } from '../../contract/contract.ts'
import { eventStream } from '../../contract/event-stream.ts'
import type { CustomRights } from '../../contract/roles.ts'
import { type Stream, streamPaths, streams } from '../../contract/streams.ts'
import { createApiTokens, credentialReader } from '../../server/access/index.ts'
import { ownAccounts } from '../../server/accounts/index.ts'
import type { Handlers } from '../../server/http/call.ts'
import {
  createBudgets,
  createOpenStreams,
  createRateLimiter,
  createServer,
  targetQuery,
} from '../../server/http/index.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { AppError } from '../../server/lib/error.ts'
import { newId } from '../../server/lib/id.ts'
import { silentLogger } from '../../server/lib/log.ts'
import { Secret } from '../../server/lib/secret.ts'
import { createStateChanges } from '../../server/state-changes/index.ts'
import type { Feeds } from '../../server/streams/index.ts'
import { addPerson } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'
import { openEvents, openSocket } from '../support/streams.ts'
import { idsOf, operations, pathOf } from './requests.ts'
import { placeOf, queryOf } from './stream-queries.ts'

/**
 * Sends a request for every cell of docs/authorization.md, and for the git host, to the real
 * server. The handlers behind it do nothing.
 */
const platform = await createPlatform({ after })
const { a, database, rooms } = platform
const { organizationId } = a
const somewhere = { projectId: a.objects.projectId, clusterId: a.clusterId }
const pepper = Buffer.alloc(32, 5)
const tokens = createApiTokens({ database, clock: systemClock, pepper })

const reached: Handlers = new Proxy({} as Handlers, {
  get: () => async () => {
    throw new AppError('conflict', 'reached')
  },
})
const nothing: Feeds = new Proxy({} as Feeds, { get: () => async () => {} })
const openStreams = createOpenStreams({
  ...{ clock: systemClock, log: silentLogger },
  limits: { perCaller: 100, perOrganization: 1000 },
})
const stateChanges = createStateChanges({ database, clock: systemClock, log: silentLogger })
const door = createServer({
  isHttpsOnly: false,
  database,
  clock: systemClock,
  vault: rooms.vault,
  log: silentLogger,
  version: '0',
  hostNames: ['localhost'],
  allowedOrigins: [],
  metrics: { secret: new Secret('unused'), figures: rooms.metrics },
  readCredential: credentialReader({
    pepper,
    verifyJwt: async (text) => ({ issuer: ownAccounts, subject: text.slice('a.b.'.length) }),
  }),
  budgets: createBudgets(createRateLimiter(0, 1, systemClock)),
  connectionLimits: usualConnections,
  trustedProxies: [],
  handlers: reached,
  targetQuery,
  gitHost: { handle: async (_request, response) => void response.writeHead(409).end('reached') },
  placesOfRepository: async (_organization, repository) =>
    repository === 'used' ? [{ projectId: somewhere.projectId, mode: 'DEVELOPMENT' }] : [],
  receiver: { receive: async () => ({ status: 'ignored', reason: null }) },
  plans: Object.create(null),
  accounts: { handle: async () => {} },
  streams: { openStreams, stateChanges, feeds: nothing, ownOrigin: 'http://localhost' },
  ready: async () => {},
})
const origin = await door.listen({ host: '127.0.0.1', port: 0 })
after(async () => {
  await openStreams.close()
  await door.close()
  await stateChanges.close()
})

async function customRole({ projects }: CustomRights): Promise<string> {
  const { id } = await rooms.customRoles.create(organizationId, { name: newId() })
  const project_permissions = Object.entries(projects).map(([project_id, { is_admin, modes }]) => ({
    project_id,
    is_admin,
    permissions: Object.entries(modes).map(([mode, permission]) => {
      const environment_type = (['DEVELOPMENT', 'PREVIEW', 'PRODUCTION', 'STAGING'] as const).find(
        (one) => one === mode,
      )
      assert.ok(environment_type)
      return { environment_type, permission }
    }),
  }))
  await rooms.customRoles.edit(organizationId, id, { name: newId(), cluster_permissions: [], project_permissions })
  return id
}

/** Returns the credential of a caller with these rights: tokens have scopes, people have roles. */
async function authorizationOf({ rights }: Credential): Promise<string | undefined> {
  if (!rights) return undefined
  if ('permissions' in rights) {
    const maker = { name: 'test', permissions: ['ADMIN' as const] }
    const [scope = null] = rights.permissions
    return `Bearer ${(await tokens.create(organizationId, maker, { name: newId(), scope })).token}`
  }
  assert.ok(!('both' in rights), 'only tokens of a person with other rights have them')
  const role = 'role' in rights ? { role: rights.role } : { customRoleId: await customRole(rights.custom) }
  const { id } = await addPerson(database, { email: `${newId()}@a.example`, member: { organizationId, ...role } })
  return `Bearer a.b.${id}`
}

const kinds: { kind: Credential; authorization: string | undefined }[] = []
for (const kind of credentials(somewhere)) kinds.push({ kind, authorization: await authorizationOf(kind) })

for (const [name, operation] of operations) {
  test(`${name}: admits the callers that the table admits`, async () => {
    const url = pathOf(operation, idsOf(operation, a.objects))
    const isText = operation.body?.type === 'string'
    const contentType = (isText && operation.contentType) || 'application/json'
    const body = operation.body && { payload: '{"nonsense"', contentType }
    const found = await Promise.all(
      kinds.map(async ({ kind, authorization }) => {
        const answer = await door.inject({
          method: operation.method,
          url,
          headers: {
            host: 'localhost',
            ...(authorization ? { authorization } : {}),
            ...(body ? { 'content-type': body.contentType } : {}),
          },
          ...(body ? { payload: body.payload } : {}),
        })
        const { statusCode } = answer
        if (statusCode === 401 || statusCode === 403) return [kind.name, statusCode]
        assert.ok(statusCode === 400 || statusCode === 409, `${kind.name}: ${answer.payload}`)
        return [kind.name, 'passes']
      }),
    )
    assert.deepEqual(
      found,
      kinds.map(({ kind }) => [kind.name, answerTo(operation, kind, somewhere)]),
    )
  })
}

for (const path of streamPaths) {
  const stream: Stream = streams[path]
  const entrance = { path, access: stream.access, target: streams[path].targets[0] }
  test(`${path}: admits the callers that the table admits`, async () => {
    const target = `${path}${queryOf(stream, placeOf(a))}`
    const found = await Promise.all(
      kinds.map(async ({ kind, authorization }) => {
        const headers = authorization ? { authorization } : {}
        const { code, reason, status } = await openSocket(origin, target, { headers, origin: 'http://localhost' }).ended
        if (status === 401) return [kind.name, 401]
        if (code === 1008 && /needs the permission/.test(reason)) return [kind.name, 403]
        // A stream that is not supported is rejected only after the authorization.
        const isReached = code === 1000 || (code === 1008 && stream.refuses?.startsWith(reason.slice(0, 100)))
        assert.ok(isReached, `${kind.name}: ${status} ${code} ${reason}`)
        return [kind.name, 'passes']
      }),
    )
    assert.deepEqual(
      found,
      kinds.map(({ kind }) => [kind.name, answerTo(entrance, kind, somewhere)]),
    )
  })
}

test(`${eventStream.path}: admits the callers that the table admits`, async () => {
  const path = eventStream.path.replace('{organizationId}', organizationId)
  for (const { kind, authorization } of kinds) {
    const client = await openEvents(origin, path, authorization ? { authorization } : {})
    client.close()
    const answer = client.status === 200 ? 'passes' : client.status
    assert.deepEqual([kind.name, answer], [kind.name, answerTo(eventStream, kind, somewhere)])
  }
})

/** Each of git's two services can be requested in two ways. */
const gitServices = { read: 'git-upload-pack', write: 'git-receive-pack' }
for (const call of gitCalls) {
  test(`the git host: admits the callers that the table admits to ${call.title}`, async () => {
    const service = gitServices[call.access]
    for (const [method, rest] of [['GET', `info/refs?service=${service}`] as const, ['POST', service] as const]) {
      const found = await Promise.all(
        kinds.map(async ({ kind, authorization }) => {
          const password = Buffer.from(`git:${authorization?.slice('Bearer '.length)}`).toString('base64')
          const headers = { host: 'localhost', ...(authorization ? { authorization: `Basic ${password}` } : {}) }
          const url = `/git/${call.used ? 'used' : 'unused'}.git/${rest}`
          const { statusCode, payload } = await door.inject({ method, url, headers })
          assert.equal(statusCode === 409, payload === 'reached')
          return [kind.name, statusCode === 409 ? 'passes' : statusCode]
        }),
      )
      assert.deepEqual(
        found,
        kinds.map(({ kind }) => [kind.name, gitAnswerTo(call, kind, somewhere)]),
      )
    }
  })
}

test('docs/authorization.md matches the contract', () => {
  const document = readFileSync(new URL('../../docs/authorization.md', import.meta.url), 'utf8')
  assert.equal(document, authorizationDocument(contract), 'run: npm run emit')
})
