import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

// Clients may use other ports and another scheme than those on which the router listens. So every
// address for clients comes from one place: `server/domains/links.ts`, and `router/secure.ts` for
// redirects.

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')
const filesOf = (...folders: string[]): string[] =>
  folders
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
    .filter((path) => !/node_modules|\.(test|faults|kubernetes|fixture)\.ts$|\/test(ing)?-?[\w-]*\.ts$/.test(path))
const withPattern = (folders: readonly string[], pattern: RegExp): string[] =>
  filesOf(...folders)
    .filter((path) => pattern.test(read(path)))
    .toSorted()

test('the ports on which the router listens are read by the parts that listen, check or guard', () => {
  assert.deepEqual(withPattern(['server'], /\brouterPort\b|\brouterTls\??\.port\b/), [
    'server/config-object.ts',
    'server/config.ts',
    'server/doctor/gather-haproxy.ts',
    'server/doctor/gather.ts',
    'server/domains/links.ts',
    'server/main.ts',
    'server/observations/network-guards.ts',
  ])
})

test('the ports that clients use are given to links and to the router', () => {
  assert.deepEqual(withPattern(['server'], /\bpublicRouterPorts\b/), [
    'server/config-object.ts',
    'server/config-tls.ts',
    'server/config.ts',
    'server/domains/links.ts',
    'server/main.ts',
  ])
})

test('a URL with a host name is written in one place for clients', () => {
  /** Other URLs, by their reader. */
  const others = {
    'router/endpoint-session.ts': 'an endpoint',
    'router/endpoint.ts': 'an endpoint',
    'server/config-forms.ts': 'an API server',
    'server/engines/docker/grpc-probe.ts': 'a probe of a container',
    'server/engines/docker/registry/client.ts': 'a registry',
    'server/engines/docker/registry/places.ts': 'a registry',
    'server/engines/docker/registry/registries.ts': 'a registry',
    'server/http/server.ts': 'the Host header of a request, which is only parsed',
    'server/lib/address.ts': 'a host name, which is only parsed',
    'server/variables/database-built-ins.ts': 'a database',
  }
  const writers = withPattern(['server', 'router', 'contract', 'client'], /(?:https?|\$\{scheme\}):\/\/\$\{/)
  const clients = ['router/secure.ts', 'server/domains/links.ts']
  assert.deepEqual(writers, [...clients, ...Object.keys(others)].toSorted())
})

test('the router names its ports to clients and applications in one form', () => {
  assert.deepEqual(withPattern(['router'], /\.listens\b/), [
    'router/front/behind.ts',
    'router/router.ts',
    'router/secure-front.ts',
  ])
  assert.deepEqual(withPattern(['router'], /X-Forwarded-Port: [$]|'X-Forwarded-Port'/), [
    'router/front/configuration.ts',
    'router/sender.ts',
  ])
})
