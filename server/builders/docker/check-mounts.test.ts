import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkMounts, mountHoles } from './check-mounts.ts'

test('mountHoles knows the versions before the fixes, and mistrusts unknown ones', () => {
  for (const version of ['20.10.24+dfsg1', '23.0.6', '24.0.9', '25.0.0', '25.0.1', 'dev', '']) {
    assert.deepEqual(mountHoles(version), ['CVE-2024-23651', 'CVE-2024-23652'], version)
  }
  for (const version of ['25.0.2', '25.1.0', '26.1.5+dfsg1', '29.0.0']) {
    assert.deepEqual(mountHoles(version), [], version)
  }
})

const old = { version: '20.10.24', why: 'it is missing.' }
const check = (dockerfileText: string, triggers: readonly string[] = [], engine = old): void =>
  checkMounts({ dockerfile: 'Dockerfile', dockerfileText }, triggers, engine)

test('checkMounts rejects each form of a mount, also in ONBUILD and in base images', () => {
  const forms = [
    'RUN --mount=type=cache,target=/c true',
    'run --network=none --MOUNT=type=tmpfs,target=/t true',
    'RUN \\\n  --mount=type=secret,id=A \\\n  true',
    'RUN --mount=type=bind,target=/x ["true"]',
    'ONBUILD RUN --mount=type=cache,target=/c true',
  ]
  for (const form of forms)
    assert.throws(() => check(`FROM a\n${form}\n`), /RUN --mount.*Docker 20.10.24.*it is missing/, form)
  assert.throws(() => check('FROM a\n', ['RUN --mount=type=cache,target=/c true']), /RUN --mount/)
  check('FROM a\nRUN echo --mount=type=cache\n')
  check('FROM a\nRUN --mount=type=cache,target=/c true\n', [], { ...old, version: '25.0.2' })
})
