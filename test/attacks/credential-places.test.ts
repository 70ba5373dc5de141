import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { contract, type Operation } from '@quayside/contract'
import { createPlatform } from '../support/platform.ts'

/**
 * A stored credential stays at the place that it was given for. Every operation that changes a
 * record with a credential and an address is in one of two tables: tried here, or harmless for a
 * reason.
 */
const platform = await createPlatform({ after })
const { a, call } = platform
const organization = `/organization/${a.organizationId}`

interface Place {
  /** Where records are created. */
  readonly path: string
  readonly record: object
  /** The credential as a change sends it. */
  readonly credential: object
  /** Other places, each with the credential left out. */
  readonly moves: readonly object[]
}

const at = 'https://place.example.org'
const otherOrigins = ['https://evil.example.org', 'https://place.example.org:8443']
const moved = (field: string) => otherOrigins.map((address) => ({ [field]: address }))
const login = { config: { username: 'robot', password: 'secret-of-a-robot' } }
const withoutPassword = { config: { username: 'robot' } }

const places: Readonly<Record<string, Place>> = {
  editGitToken: {
    path: `${organization}/gitToken`,
    record: { name: 'a place', type: 'GITLAB', git_api_url: at },
    credential: { token: 'glpat-0123456789' },
    moves: [...moved('git_api_url'), { type: 'GITHUB' }, { git_api_url: null }],
  },
  editOrganizationWebhook: {
    path: `${organization}/webhook`,
    record: { kind: 'STANDARD', target_url: `${at}/hook`, events: ['DEPLOYMENT_STARTED'] },
    credential: { target_secret: 'secret-of-a-webhook' },
    moves: moved('target_url'),
  },
  editContainerRegistry: {
    path: `${organization}/containerRegistry`,
    record: { name: 'a place', kind: 'GENERIC_CR', url: at, ...withoutPassword },
    credential: login,
    moves: [...moved('url'), { kind: 'GITHUB_ENTERPRISE_CR' }],
  },
  editHelmRepository: {
    path: `${organization}/helmRepository`,
    record: { name: 'a place', kind: 'HTTPS', url: at, skip_tls_verification: false, ...withoutPassword },
    credential: login,
    moves: [
      ...moved('url'),
      { skip_tls_verification: true },
      { kind: 'OCI_GENERIC_CR', url: 'oci://evil.example.org' },
    ],
  },
}

const harmless: Readonly<Record<string, string>> = {
  editClusterDnsProvider: 'its addresses are zones of the provider; another provider needs its credential again',
  editTerraform: 'variables are replaced whole, and go to the programs of the service itself',
}

describe('a stored credential', () => {
  for (const [name, { path, record, credential, moves }] of Object.entries(places)) {
    test(`of ${name} stays when the place changes without it, and moves with it`, async () => {
      const made = await call(a.tokens.ADMIN, 'POST', path, { ...record, ...credential })
      assert.equal(made.status, 201, made.text)
      const put = (change: object) =>
        call(a.tokens.ADMIN, 'PUT', `${path}/${Object(made.body).id}`, { ...record, ...change })
      for (const move of moves) {
        const before = await platform.fingerprint()
        const { status, text } = await put(move)
        assert.equal(status, 400, `${JSON.stringify(move)} ${text}`)
        assert.match(text, /must be sent again/, JSON.stringify(move))
        assert.deepEqual(await platform.fingerprint(), before)
      }
      for (const move of moves.slice(0, 2)) {
        const { status, text } = await put({ ...move, ...credential })
        assert.equal(status, 200, `${JSON.stringify(move)} ${text}`)
      }
    })
  }
})

const isCredential = (name: string): boolean =>
  /secret|password|token|private_key|kubeconfig|credentials/.test(name) &&
  !/_id$|secret_name|secrets$|automount/.test(name)
const isAddress = (name: string): boolean => /(^|_)(url|host|endpoint|address|server|domain)$/.test(name)

/** The names of all members of a schema, at any depth. */
function membersOf(schema: unknown, depth = 0): string[] {
  const { properties, items, anyOf = [], allOf = [], oneOf = [] } = Object(schema)
  if (depth > 8) return []
  const inner = [...anyOf, ...allOf, ...oneOf, items, ...Object.values(Object(properties))]
  return [...Object.keys(Object(properties)), ...inner.flatMap((one) => (one ? membersOf(one, depth + 1) : []))]
}

test('every change of a record with a credential and an address is tried, or harmless for a reason', () => {
  const found = Object.entries<Operation>(contract).flatMap(([name, { method, body }]) => {
    const members = body ? membersOf(body) : []
    return method === 'PUT' && members.some(isCredential) && members.some(isAddress) ? [name] : []
  })
  assert.deepEqual(found.sort(), [...Object.keys(places), ...Object.keys(harmless)].sort())
})
