import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOfficialFrontend } from './official-frontend.ts'

test('isOfficialFrontend accepts only Docker’s own frontend', () => {
  for (const name of ['docker/dockerfile', 'docker/dockerfile:1', 'docker.io/docker/dockerfile:1.7-labs']) {
    assert.equal(isOfficialFrontend(name), true, name)
  }
  for (const name of [
    'attacker/frontend',
    'docker/dockerfile.evil/x',
    'evil.io/docker/dockerfile:1',
    'docker/dockerfile:1 x',
    'JSON',
  ]) {
    assert.equal(isOfficialFrontend(name), false, name)
  }
})
