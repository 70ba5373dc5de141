import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { syncMembers } from '../server/access/index.ts'
import { insertBuiltInCluster } from '../server/clusters/index.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { newId } from '../server/lib/id.ts'
import { insertOrganization } from '../server/organizations/index.ts'
import type { Statement } from './statement.ts'
import { composeServer } from './whole-server.ts'

/**
 * The whole server with one service of each kind, fifty applications, and an issuer of JWTs.
 * Arguments: port, URL of an empty database, directory. Writes `reading.json` before it listens:
 * the tokens, and the reads with the statements and response of each.
 */
const [port = '', url = '', directory = ''] = process.argv.slice(2)

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const keys = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'ES256' }] }))
}).listen(0, '127.0.0.1')
await new Promise((resolve) => keys.once('listening', resolve))
// A server that listens on a port has an address with a port.
const { port: keysPort } = keys.address() as AddressInfo
const issuer = { issuer: 'https://issuer.invalid', audience: 'bench', jwksUrl: `http://127.0.0.1:${keysPort}/` }
const issuers = [{ ...issuer, algorithms: ['ES256'], members: { ada: ['ADMIN' as const] } }]

const sent: Statement[] = []
const onStatement = (text: string, parameters: readonly unknown[]): void =>
  void sent.push({ text, parameters: parameters.map(String) })
const settings = { QUAYSIDE_OIDC_ISSUERS: JSON.stringify(issuers) }
const { database, app, rooms } = await composeServer({ port, url, directory, onStatement }, settings)

const organizationId = newId()
await insertOrganization(database, { id: organizationId, name: 'Bench', now: clock.now() })
const cluster = { id: newId(), organization_id: organizationId, name: 'local', now: clock.now() }
await insertBuiltInCluster(database, cluster)
await syncMembers(database, clock, issuers)
const maker = { name: 'bench', permissions: ['ADMIN' as const] }
const { token } = await rooms.apiTokens.create(organizationId, maker, { name: 'bench', scope: 'ADMIN' })

const ask = async (method: 'GET' | 'POST', path: string, payload?: object, authorization = `Bearer ${token}`) => {
  const headers = { host: 'localhost', authorization }
  const answer = await app.inject({ method, url: path, headers, ...(payload && { payload }) })
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.payload}`)
  return JSON.parse(answer.payload)
}
const project = await ask('POST', `/organization/${organizationId}/project`, { name: 'bench' })
const environment = await ask('POST', `/project/${project.id}/environment`, { name: 'production' })
const of = `/environment/${environment.id}`
const registry = await ask('POST', `/organization/${organizationId}/containerRegistry`, {
  name: 'public',
  kind: 'GENERIC_CR',
  url: 'https://registry.invalid',
  config: {},
})
const git_repository = { url: 'https://github.com/acme/shop.git', branch: 'main' }
const bodies: Readonly<Record<string, object>> = {
  application: { git_repository },
  container: { registry_id: registry.id, image_name: 'acme/shop', tag: '1.0' },
  database: { type: 'POSTGRESQL', version: '17', mode: 'CONTAINER' },
  job: {
    source: { docker: { git_repository, dockerfile_path: 'Dockerfile' } },
    schedule: { cronjob: { scheduled_at: '0 3 * * *', timezone: 'UTC', arguments: [] } },
    auto_preview: false,
  },
  helm: { source: { git_repository }, auto_deploy: false, arguments: [], values_override: {} },
  terraform: {
    auto_deploy_config: { auto_deploy: false, terraform_action: 'DEFAULT' },
    terraform_files_source: { git_repository },
    terraform_variables_source: { tf_var_file_paths: [], tf_vars: [] },
    backend: { kubernetes: {} },
    engine: 'TERRAFORM',
    provider_version: { read_from_terraform_block: false, explicit_version: '1.10.0' },
    job_resources: { cpu_milli: 500, ram_mib: 512, gpu: 0, storage_gib: 1 },
  },
}
const paths: Record<string, string> = {}
for (const [kind, body] of Object.entries(bodies)) {
  const common = { name: `the-${kind}`, healthchecks: {}, ...body }
  const { id } = await ask('POST', `${of}/${kind}`, common)
  paths[`read-${kind}`] = `/${kind}/${id}`
}
for (let n = 1; n < 50; n++) await ask('POST', `${of}/application`, { name: `app-${n}`, ...bodies['application'] })
paths['list-applications'] = `${of}/application`
await database`vacuum analyze`

const reads: Record<string, { path: string; statements: readonly Statement[]; reply: unknown }> = {}
for (const [name, path] of Object.entries(paths)) {
  await ask('GET', path)
  sent.length = 0
  const reply = await ask('GET', path)
  reads[name] = { path, statements: [...sent], reply }
}
const jwt = await new SignJWT({})
  .setProtectedHeader({ alg: 'ES256', kid: 'bench' })
  .setIssuer(issuer.issuer)
  .setAudience(issuer.audience)
  .setSubject('ada')
  .setIssuedAt()
  .setExpirationTime('1h')
  .sign(privateKey)
await ask('GET', paths['read-application'] ?? '', undefined, `Bearer ${jwt}`)
await writeFile(join(directory, 'reading.json'), JSON.stringify({ token, jwt, reads }))
await app.listen({ host: '127.0.0.1', port: Number(port) })
