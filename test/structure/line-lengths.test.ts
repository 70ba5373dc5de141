import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const root = resolve(import.meta.dirname, '..', '..')
const longest = 120

/** Written by programs. */
const generated: readonly string[] = [
  'contract/openapi.json',
  'deploy/chart/files/rights.yaml',
  'docs/authorization.md',
  'docs/compatibility.md',
  'docs/kinds.md',
  'images/builder/go.sum',
  'package-lock.json',
  'server/database/schema.sql',
  'test/kubernetes/cluster/modules/cert-manager/go.sum',
  'test/kubernetes/cluster/modules/hyper/go.sum',
  'test/kubernetes/cluster/modules/traefik/go.sum',
  'test/support/lab-provider/go.sum',
  'test/support/opentofu/go.sum',
]

/**
 * Lines that cannot be broken: regular expressions, and programs and pages of other languages
 * inside of strings. The number may fall, and must not rise.
 */
const unbreakable: Readonly<Record<string, number>> = {
  'ARCHITECTURE.md': 1,
  'bootstrap/execute.test.mjs': 1,
  'bootstrap/lock-holder.test.mjs': 1,
  'bootstrap/system.test.mjs': 1,
  'bootstrap/upgrade.test.mjs': 1,
  'contract/authorization.ts': 8,
  'contract/stream-descriptions.ts': 2,
  'docs/deployments.md': 1,
  'docs/operate.md': 1,
  'package.json': 1,
  'router/attacks.test.ts': 5,
  'router/pages.ts': 1,
  'server/builders/docker/build-network.docker.test.ts': 2,
  'server/builders/docker/build-secrets.docker.test.ts': 2,
  'server/builders/docker/docker-builder.docker.test.ts': 2,
  'server/builders/explain-failure.test.ts': 1,
  'server/builders/linear-reading.test.ts': 1,
  'server/clusters/cluster-parts.test.ts': 1,
  'server/clusters/credentials.ts': 1,
  'server/database/database-error.ts': 1,
  'server/database/schema.ts': 1,
  'server/disk/organization-limit.test.ts': 1,
  'server/disk/organizations.test.ts': 1,
  'server/domains/ask-proof.ts': 1,
  'server/domains/domain-check.ts': 1,
  'server/domains/domain-name.ts': 1,
  'server/engines/docker/containers.ts': 1,
  'docs/quayside-dashboard.json': 4,
  'server/engines/docker/docker-engine.docker.test.ts': 3,
  'server/engines/docker/layer-limits.docker.test.ts': 1,
  'server/engines/docker/registry/manifest.ts': 1,
  'server/engines/docker/test-bench.ts': 1,
  'server/engines/docker/volumes.docker.test.ts': 1,
  'server/git/explain.ts': 2,
  'server/git/host-limits.test.ts': 1,
  'server/http/docs-route.ts': 1,
  'server/http/handlers/browsing.ts': 1,
  'server/http/streams/silent-peers.ts': 1,
  'server/http/without-secrets.ts': 1,
  'server/lib/grpc/content_pb.ts': 1,
  'server/lib/grpc/control_pb.ts': 1,
  'server/lib/grpc/health_pb.ts': 1,
  'server/lib/grpc/secrets_pb.ts': 1,
  'server/lib/grpc/status.proto': 1,
  'server/lib/grpc/status_pb.ts': 1,
  'server/lib/grpc/upload_pb.ts': 1,
  'server/logs/collector.test.ts': 1,
  'server/releases/unchanged.test.ts': 1,
  'server/repositories/inspections.test.ts': 1,
  'server/rollout/registry.docker.test.ts': 1,
  'server/services/lifecycle-templates.ts': 3,
  'server/variables/interpolate.ts': 1,
  'test/structure/architecture.test.ts': 1,
  'test/attacks/base-images.docker.test.ts': 1,
  'test/attacks/host-access.docker.test.ts': 1,
  'test/attacks/neighbours.docker.test.ts': 3,
  'test/e2e/databases.docker.test.ts': 2,
  'test/faults/disk.faults.ts': 2,
  'test/structure/code-of.ts': 1,
  'test/support/buildkit-parser/main.go': 1,
  'test/support/ignore-matcher/main.go': 1,
  'test/support/spoof.pl': 3,
}

/**
 * Returns the long lines. Tables, blocks of code in Markdown and names of tests are one line each.
 */
function longLines(path: string): number[] {
  let isCode = false
  return readFileSync(join(root, path), 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      if (path.endsWith('.md') && /^\s*(?:```|~~~)/.test(line)) isCode = !isCode
      const isTable = path.endsWith('.md') && line.trimStart().startsWith('|')
      const isName = /^\s*(?:test|it|describe)\(['`]/.test(line)
      return line.length <= longest || isCode || isTable || isName ? [] : [index + 1]
    })
}

test(`no line is longer than ${longest} columns`, () => {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)
  assert.ok(files.length > 1000, `${files.length} files`)
  // The checksum of a migration is recorded in every database that ran it.
  const isFixed = (path: string): boolean =>
    generated.includes(path) || path.startsWith('server/database/migrations/') || path.endsWith('.png')
  const wrong: string[] = []
  for (const path of files.filter((one) => !isFixed(one))) {
    const lines = longLines(path)
    if (lines.length !== (unbreakable[path] ?? 0)) wrong.push(`${path}: ${lines.join(', ')}`)
  }
  assert.deepEqual(wrong, [], 'break these lines, or correct the table of this test')
})
