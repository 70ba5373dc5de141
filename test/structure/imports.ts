/**
 * Which rooms of the server a room may import. Every room may also import `lib` and the contract.
 * `npm run emit` writes the table into ARCHITECTURE.md. An entry that no import uses fails the
 * test.
 */
export const roomImports: Readonly<Record<string, readonly string[]>> = {
  access: ['database', 'limits'],
  accounts: ['access', 'database', 'vault'],
  audit: ['database'],
  backups: ['audit', 'database', 'engines', 'jobs', 'limits', 'services', 'vault', 'workflows'],
  builders: ['engines'],
  certificates: ['database', 'domains', 'limits', 'routers', 'vault'],
  clusters: ['database', 'limits', 'organizations', 'services', 'vault', 'workflows'],
  database: [],
  disk: ['builders', 'database', 'engines', 'services'],
  doctor: [],
  domains: ['database', 'limits', 'routers', 'services'],
  engines: [],
  environments: [
    'audit',
    'database',
    'engines',
    'limits',
    'organizations',
    'services',
    'variables',
    'vault',
    'workflows',
  ],
  git: [],
  history: ['database', 'jobs', 'logs', 'organizations', 'releases', 'requests', 'services', 'vault'],
  http: [
    'access',
    'accounts',
    'audit',
    'backups',
    'certificates',
    'clusters',
    'database',
    'disk',
    'domains',
    'environments',
    'git',
    'history',
    'jobs',
    'logs',
    'metrics',
    'organizations',
    'pushes',
    'registries',
    'repositories',
    'requests',
    'rollout',
    'services',
    'stacks',
    'state-changes',
    'streams',
    'traffic',
    'variables',
    'vault',
    'webhooks',
  ],
  jobs: ['database', 'engines', 'variables', 'vault', 'workflows'],
  lib: [],
  limits: ['database'],
  logs: ['engines'],
  metrics: ['database', 'organizations'],
  observations: ['database', 'domains', 'engines', 'logs', 'scaling', 'services'],
  organizations: ['database', 'limits', 'vault'],
  pushes: ['audit', 'database', 'git', 'limits', 'requests', 'services', 'vault', 'workflows'],
  registries: ['database', 'limits', 'vault'],
  releases: ['builders', 'database', 'domains', 'engines', 'jobs', 'scaling', 'services', 'variables', 'vault'],
  repositories: ['builders', 'git'],
  requests: [
    'audit',
    'database',
    'disk',
    'engines',
    'git',
    'jobs',
    'limits',
    'organizations',
    'releases',
    'services',
    'state-changes',
    'webhooks',
    'workflows',
  ],
  rollout: [
    'audit',
    'builders',
    'database',
    'disk',
    'domains',
    'engines',
    'git',
    'jobs',
    'logs',
    'observations',
    'organizations',
    'releases',
    'requests',
    'routers',
    'scaling',
    'services',
    'stacks',
    'variables',
    'vault',
    'webhooks',
    'workflows',
  ],
  routers: [],
  scaling: ['database', 'domains', 'engines', 'routers', 'services'],
  services: ['database', 'limits', 'organizations'],
  stacks: ['database', 'engines', 'jobs', 'services', 'variables', 'vault'],
  'state-changes': ['database'],
  streams: [
    'access',
    'clusters',
    'database',
    'engines',
    'environments',
    'history',
    'logs',
    'organizations',
    'services',
    'state-changes',
  ],
  traffic: ['database', 'engines', 'logs', 'routers'],
  variables: ['database', 'limits', 'vault'],
  vault: ['database', 'workflows'],
  webhooks: ['database', 'limits', 'organizations', 'vault'],
  workflows: ['database'],
}

/**
 * The rooms that join the others: they may import every room, and no other room imports them.
 * `start` begins processes and imports `composition`.
 */
export const joiningRooms: readonly string[] = ['composition', 'start']

/** Files that another room may import past the door, for their types only. */
export const typesPastTheDoor: readonly string[] = [
  'server/engines/engine.ts',
  'server/database/database.ts',
  'server/workflows/workflow.ts',
]

/** The files and folders that may import each library. */
export const libraryPlaces: Readonly<Record<string, readonly string[]>> = {
  '@bufbuild/protobuf': ['server/lib/grpc/', 'server/builders/trace.ts'],
  '@connectrpc/connect': [
    'server/builders/session-server.ts',
    'server/builders/buildkit/',
    'server/engines/docker/grpc-probe.ts',
  ],
  '@connectrpc/connect-node': [
    'server/builders/session-server.ts',
    'server/builders/buildkit/',
    'server/engines/docker/grpc-probe.ts',
  ],
  '@sinclair/typebox': ['contract/'],
  '@peculiar/x509': ['server/certificates/local.ts', 'server/certificates/acme-renewal.ts'],
  'acme-client': ['server/certificates/acme.ts'],
  ajv: ['server/http/'],
  croner: ['server/jobs/timetable.ts'],
  'fast-json-stringify': ['server/http/'],
  fastify: ['server/http/'],
  fflate: ['server/lib/zip.ts'],
  'ipaddr.js': ['server/lib/address.ts'],
  jose: ['server/access/'],
  oauth4webapi: ['server/accounts/outside-issuers.ts'],
  'oidc-provider': ['server/accounts/'],
  pino: ['server/lib/log.ts'],
  postgres: ['server/database/'],
  'tar-stream': ['server/engines/', 'server/builders/', 'server/registries/'],
  'temporal-polyfill': ['server/lib/time-zone.ts'],
  tldts: ['server/domains/public-suffix.ts'],
  undici: ['server/lib/safe-stream.ts', 'router/'],
  ws: ['server/engines/kubernetes/client/channels.ts', 'server/http/streams/'],
  yaml: ['server/lib/helm-yaml.ts', 'server/clusters/', 'server/repositories/', 'server/services/yaml.ts'],
}

/**
 * The programs of bootstrap/ run before packages are installed and before Node can read TypeScript.
 * They import Node's modules and each other only. These files may also import the listed ones.
 */
export const bootstrapExceptions: Readonly<Record<string, readonly string[]>> = {
  'bootstrap/upgrade.test.mjs': ['server/database/exclusive.ts'],
}

/** Files of tests that may import files of bootstrap/, and which. No other file outside may. */
export const bootstrapImporters: Readonly<Record<string, readonly string[]>> = {
  'test/browser/console.test.ts': ['bootstrap/console.mjs'],
  'test/structure/console-size.test.ts': ['bootstrap/console.mjs'],
  'test/support/console.ts': ['bootstrap/console.mjs'],
  'test/faults/half-removed-network.docker.test.ts': ['bootstrap/network-store.mjs'],
  'test/support/private-engine.ts': ['bootstrap/network-store.mjs'],
}
