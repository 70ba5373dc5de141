import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CloudMetadata } from '../engines/index.ts'
import type { Foundation } from './foundation.ts'
import { createMetadataGuard } from './metadata-guard.ts'

const { signal } = new AbortController()

/** The guard, before an engine that answers so, one after the other; what it asked for and what it logged. */
function guarding(wanted: CloudMetadata, answers: readonly (boolean | Error)[]) {
  const logged: string[] = []
  let asked = 0
  const note =
    (level: string) =>
    ({ reason }: { readonly reason?: string }) =>
      void logged.push(`${level} ${reason ?? 'done'}`)
  const foundation = {
    config: { cloudMetadata: wanted },
    engine: {
      guardMetadata: async () => {
        const answer = answers[asked++] ?? false
        if (answer instanceof Error) throw answer
        return answer
      },
    },
    log: { info: note('info'), warn: note('warn'), debug: note('debug') },
  }
  // The rest of it is not looked at.
  return { guard: createMetadataGuard(foundation as unknown as Foundation), logged, asked: () => asked }
}

test('why it cannot be closed is told once for each reason, and again after it went well', async () => {
  const [first, second] = [new Error('not as root'), new Error('no iptables')]
  const { guard, logged } = guarding('closed', [first, first, second, true, false, second])
  for (let times = 0; times < 6; times++) await guard.reconcile(signal)
  assert.deepEqual(logged, ['warn not as root', 'warn no iptables', 'info done', 'warn no iptables'])
})

test('it is opened once, and not warned of where that cannot be', async () => {
  const { guard, logged, asked } = guarding('open', [new Error('not as root'), true])
  for (let times = 0; times < 4; times++) await guard.reconcile(signal)
  assert.deepEqual([logged, asked()], [['debug not as root', 'info done'], 2])
})
