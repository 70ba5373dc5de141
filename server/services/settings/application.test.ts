import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApplicationBody, type ApplicationSettings, changeSettings, newSettings } from './application.ts'

const body = (change: Partial<ApplicationBody> = {}): ApplicationBody => ({
  name: 'shop',
  git_repository: { url: 'https://gitlab.com/a/b.git', branch: 'main' },
  build_mode: 'DOCKER',
  cpu: 500,
  memory: 512,
  gpu: 0,
  min_running_instances: 1,
  max_running_instances: 1,
  auto_preview: true,
  ports: [],
  storage: [],
  arguments: [],
  healthchecks: {},
  ...change,
})
const port = (internal_port: number, change: object = {}) =>
  ({ internal_port, publicly_accessible: true, protocol: 'HTTP', ...change }) as const
const volume = (mount_point: string, change: object = {}) =>
  ({ type: 'FAST_SSD', size: 1, mount_point, ...change }) as const
const made = (change: Partial<ApplicationBody> = {}): ApplicationSettings =>
  newSettings(body(change), undefined, 'app://icon')

test('a new application gets defaults where nothing was sent', () => {
  const settings = made()
  assert.equal(settings.icon_uri, 'app://icon')
  assert.equal(settings.auto_deploy, false)
  assert.equal(settings.dockerfile_path, null)
  assert.deepEqual(settings.git_repository, {
    url: 'https://gitlab.com/a/b.git',
    provider: 'GITLAB',
    root_path: '/',
    git_token_id: null,
    branch: 'main',
  })
})

test('the provider is the one sent, else that of the token, else derived from the address', () => {
  const url = 'https://git.example.org/a/b.git'
  const of = (provider: 'BITBUCKET' | null, token?: 'GITLAB') =>
    newSettings(body({ git_repository: { url, provider } }), token, 'app://i').git_repository.provider
  assert.deepEqual([of('BITBUCKET', 'GITLAB'), of(null, 'GITLAB'), of(null)], ['BITBUCKET', 'GITLAB', 'GITHUB'])
})

test('the first public port is the default one, unless another is named', () => {
  const defaults = (ports: ApplicationBody['ports']) => made({ ports }).ports.map(({ is_default }) => is_default)
  assert.deepEqual(defaults([port(1, { publicly_accessible: false }), port(2), port(3)]), [false, true, false])
  assert.deepEqual(defaults([port(1), port(2, { is_default: true })]), [false, true])
  assert.deepEqual(defaults([port(1, { publicly_accessible: false })]), [false])
})

test('ports get names and external ports by default', () => {
  const ports = [
    port(80),
    port(81, { name: 'admin' }),
    port(82, { publicly_accessible: false }),
    port(83, { protocol: 'TCP' }),
  ]
  assert.deepEqual(
    made({ ports }).ports.map(({ name, external_port }) => [name, external_port]),
    [
      ['p80', 443],
      ['admin', 443],
      ['p82', undefined],
      ['p83', 83],
    ],
  )
  assert.equal(made({ ports: [port(80, { external_port: 8443 })] }).ports[0]?.external_port, 8443)
})

test('a change keeps omitted members and clears members that are null', () => {
  const former = made({ dockerfile_path: 'Dockerfile.web', entrypoint: '/run', ephemeral_storage_in_gib: 4, cpu: 100 })
  const same = changeSettings(former, {}, undefined)
  assert.deepEqual(JSON.parse(JSON.stringify(same)), JSON.parse(JSON.stringify(former)))
  const cleared = changeSettings(
    former,
    { dockerfile_path: null, entrypoint: null, ephemeral_storage_in_gib: null },
    undefined,
  )
  assert.deepEqual(
    [cleared.dockerfile_path, cleared.entrypoint, cleared.ephemeral_storage_in_gib, cleared.cpu],
    [null, undefined, undefined, 100],
  )
})

test('existing ports and volumes keep their ids, whether or not the body names them', () => {
  const former = made({ ports: [port(80), port(81)], storage: [volume('/a'), volume('/b')] })
  const [first, second] = former.ports
  const ports = [port(81), port(90), port(8080, { id: first?.id })]
  const changed = changeSettings(former, { ports, storage: [volume('/b', { size: 2 }), volume('/c')] }, undefined)
  assert.equal(changed.ports[0]?.id, second?.id)
  assert.equal(changed.ports[2]?.id, first?.id)
  assert.ok(![first?.id, second?.id].includes(changed.ports[1]?.id))
  assert.equal(changed.storage[0]?.id, former.storage[1]?.id)
  assert.ok(!former.storage.some(({ id }) => id === changed.storage[1]?.id))
})

test('an unknown id or an id of another entry is not adopted', () => {
  const foreign = '0190a000-0000-7000-8000-00000000abcd'
  const settings = made({ ports: [port(80, { id: foreign })], storage: [volume('/a', { id: foreign })] })
  assert.notEqual(settings.ports[0]?.id, foreign)
  assert.notEqual(settings.storage[0]?.id, foreign)
})

test('another repository drops the branch of the previous one', () => {
  const former = made()
  const other = changeSettings(former, { git_repository: { url: 'https://github.com/x/y' } }, undefined)
  assert.equal(other.git_repository.branch, undefined)
  const same = changeSettings(former, { git_repository: { url: former.git_repository.url } }, undefined)
  assert.equal(same.git_repository.branch, 'main')
})

test('a moved volume or port keeps its id, and its replacement gets a new one', () => {
  const former = made({ storage: [volume('/a')], ports: [port(80), port(81)] })
  const id = former.storage[0]?.id
  const change = {
    storage: [volume('/a'), volume('/b', { id })],
    ports: [port(81, { id: former.ports[0]?.id }), port(80)],
  }
  const { storage, ports } = changeSettings(former, change, undefined)
  assert.deepEqual([storage[0]?.id === id, storage[1]?.id === id], [false, true])
  assert.equal(ports[0]?.id, former.ports[0]?.id)
  assert.ok(!former.ports.some((one) => one.id === ports[1]?.id))
})
