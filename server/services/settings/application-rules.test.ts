import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ApplicationSettings, checkApplication } from './application.ts'
import { checkStorageGrowth } from './rules.ts'

const good: ApplicationSettings = {
  git_repository: { url: 'https://github.com/a/b', provider: 'GITHUB', root_path: '/', git_token_id: null },
  build_mode: 'DOCKER',
  dockerfile_path: null,
  docker_target_build_stage: null,
  cpu: 500,
  memory: 512,
  gpu: 0,
  cpu_architecture: null,
  min_running_instances: 1,
  max_running_instances: 1,
  healthchecks: {},
  auto_preview: false,
  auto_deploy: false,
  arguments: [],
  icon_uri: 'app://icon',
  ports: [],
  storage: [],
}
const ceiling = { cpu: 2000, memory: 4096, architecture: 'AMD64' as const }
const check = (change: object) => checkApplication({ ...good, ...change }, ceiling)
const git = (change: object) => ({ git_repository: { ...good.git_repository, ...change } })
const port = (number: number, change: object = {}) => ({
  id: `${number}`,
  name: `p${number}`,
  internal_port: number,
  publicly_accessible: true,
  is_default: false,
  protocol: 'HTTP',
  ...change,
})
const volume = (mount_point: string) => ({ id: mount_point, type: 'FAST_SSD' as const, size: 1, mount_point })
const probe = (type: object) => ({
  healthchecks: {
    readiness_probe: {
      type,
      initial_delay_seconds: 0,
      period_seconds: 1,
      timeout_seconds: 1,
      success_threshold: 1,
      failure_threshold: 1,
    },
  },
})

const accepted: Record<string, object> = {
  'the capacity of the machine': { cpu: 2000, memory: 4096 },
  'no upper limit of instances': { min_running_instances: 3, max_running_instances: -1 },
  'a branch with a path': git({ branch: 'feature/x-1.2_3@a#b+c' }),
  'a directory of the repository': git({ root_path: '/apps/web' }),
  'a Dockerfile of another name': { dockerfile_path: 'docker/web.Dockerfile' },
  'public TCP and UDP': { ports: [port(80), port(81, { protocol: 'TCP' }), port(82, { protocol: 'UDP' })] },
  'private TCP': { ports: [port(5432, { protocol: 'TCP', publicly_accessible: false })] },
  'a probe of each kind': probe({ tcp: { port: 1 }, http: null }),
  'a volume': { storage: [volume('/var/lib/app.data')] },
}
for (const [what, change] of Object.entries(accepted)) {
  test(`takes ${what}`, () => check(change))
}

const refused: [string, object, RegExp][] = [
  ['more cores than the machine has', { cpu: 2001 }, /^cpu must be ≤ 2000/],
  ['more memory than the machine has', { memory: 4097 }, /^memory must be ≤ 4096/],
  ['another processor', { cpu_architecture: 'ARM64' }, /^cpu_architecture must be AMD64/],
  ['a GPU', { gpu: 1 }, /^gpu must be 0/],
  ['a maximum of no instances', { max_running_instances: 0 }, /^max_running_instances/],
  ['a minimum above the maximum', { min_running_instances: 2 }, /^min_running_instances/],
  [
    'a port twice',
    { ports: [port(80), port(80, { id: 'x', name: 'other' })] },
    /^ports\[1\]\.internal_port is used twice/,
  ],
  ['a name twice', { ports: [port(80), port(81, { name: 'p80' })] }, /^ports\[1\]\.name is used twice/],
  ['an id twice', { ports: [port(80), port(81, { id: '80' })] }, /^ports\[1\]\.id is used twice/],
  [
    'a volume’s id twice',
    { storage: [volume('/a'), { ...volume('/b'), id: '/a' }] },
    /^storage\[1\]\.id is used twice/,
  ],
  ['a name that is not a DNS label', { ports: [port(80, { name: 'a_b' })] }, /^ports\[0\]\.name/],
  [
    'two default ports',
    { ports: [port(80, { is_default: true }), port(81, { is_default: true })] },
    /^ports must have/,
  ],
  [
    'two volumes at one path',
    { storage: [volume('/a'), { ...volume('/a'), id: 'x' }] },
    /^storage\[1\]\.mount_point is used twice/,
  ],
  ['a volume over the kernel’s files', { storage: [volume('/proc/1')] }, /^storage\[0\]\.mount_point/],
  ['a volume at the root', { storage: [volume('/')] }, /^storage\[0\]\.mount_point/],
  ['a volume with a path upwards', { storage: [volume('/a/../b')] }, /^storage\[0\]\.mount_point/],
  ['a probe without a kind', probe({}), /^healthchecks\.readiness_probe\.type must hold exactly one/],
  ['a probe of two kinds', probe({ tcp: { port: 1 }, exec: { command: ['true'] } }), /exactly one/],
  ['a probe of another host', probe({ tcp: { port: 1, host: '169.254.169.254' } }), /tcp\.host/],
  ['a probe with a line break', probe({ http: { path: '/a\r\nX: y', scheme: 'HTTP', port: 1 } }), /http\.path/],
  ['a stage with an option', { docker_target_build_stage: 'x --network=host' }, /^docker_target_build_stage/],
  ['an icon with a script address', { icon_uri: 'javascript:alert(1)' }, /^icon_uri/],
]
for (const [what, change, message] of refused) {
  test(`refuses ${what}`, () => assert.throws(() => check(change), { code: 'invalid', message }))
}

test('a branch is rejected when git or a shell could misread it', () => {
  for (const branch of [
    '-x',
    'a..b',
    'a b',
    '@{u}',
    'x.lock',
    'x.lock/y',
    '/x',
    'x/',
    'a\\b',
    'a~1',
    'a^',
    'a:b',
    '*',
    '$(id)',
    'a;b',
    'a//b',
    'a/.b',
    'a.',
  ]) {
    assert.throws(() => check(git({ branch })), { code: 'invalid', message: /^git_repository\.branch/ }, branch)
  }
})

test('a path stays inside the repository', () => {
  for (const path of ['../x', 'a/../../b', '-r', 'a\\b', 'C:\\x', 'a\nb', 'a\0b']) {
    assert.throws(() => check(git({ root_path: path })), { message: /^git_repository\.root_path/ }, path)
    assert.throws(() => check({ dockerfile_path: path }), { message: /^dockerfile_path/ }, path)
  }
  for (const path of ['', '/etc/passwd', 'https://x/Dockerfile']) {
    assert.throws(() => check({ dockerfile_path: path }), { message: /^dockerfile_path/ }, path)
  }
})

test('a deployed volume only grows', () => {
  const sized = (size: number) => ({ ...good, storage: [{ ...volume('/a'), size }] })
  checkStorageGrowth(sized(2), sized(2))
  checkStorageGrowth(sized(2), sized(3))
  checkStorageGrowth(sized(2), good)
  assert.throws(() => checkStorageGrowth(sized(2), sized(1)), { code: 'conflict', message: /2 GB and cannot shrink/ })
})
