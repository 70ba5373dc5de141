import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reasonOf } from './reason-of.ts'

const seen = (state: 'running' | 'starting' | 'failing' | 'stopped', reason?: string) =>
  ({ state, release: 'r1', replicas: [], ...(reason === undefined ? {} : { reason }) }) as const

test('reasonOf always returns a reason for a service that is down', () => {
  for (const reason of [undefined, '', ' \n']) assert.match(reasonOf(seen('failing', reason)) ?? '', /\w/)
  assert.match(reasonOf({ state: 'absent' }) ?? '', /container no longer exists/)
})

test('reasonOf keeps the reason of the engine, and invents none for a running service', () => {
  assert.equal(reasonOf(seen('failing', 'exited with code 1')), 'exited with code 1')
  for (const state of ['running', 'starting', 'stopped'] as const) assert.equal(reasonOf(seen(state)), null)
  assert.equal(reasonOf(seen('running', '')), null)
})
