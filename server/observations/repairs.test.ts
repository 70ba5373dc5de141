import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { silentLogger } from '../lib/log.ts'
import type { ObserverOptions } from './observer-options.ts'
import { Repairs } from './repairs.ts'

test('repairs forget the rounds of a service without a record once its removal has ended', async () => {
  const scratch = Promise.withResolvers<boolean>()
  // The removal of a scratch service ends before it calls anything else.
  const options = { log: silentLogger, isScratch: () => scratch.promise } as Partial<ObserverOptions> as ObserverOptions
  const repairs = new Repairs(options, () => {})
  repairs.beginRemoval('gone', new AbortController().signal)
  repairs.keepOnly(() => false)
  assert.equal(repairs.roundOf('gone'), 1)
  scratch.resolve(true)
  await until('the removal has ended', async () => repairs.roundOf('gone') === 2)
  repairs.keepOnly((id) => id === 'gone')
  assert.equal(repairs.roundOf('gone'), 2)
  repairs.keepOnly(() => false)
  assert.equal(repairs.roundOf('gone'), undefined)
})
