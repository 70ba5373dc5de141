import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { State } from '@quayside/contract/states.ts'
import { requestState } from './request-state.ts'

const target = (state: State, ended = true) => ({ state, finished_at: ended ? new Date() : null })

test('requestState follows the action and the states of the services', () => {
  const deploy = { action: 'DEPLOY' } as const
  assert.equal(requestState({ ...deploy, status: 'QUEUED' }, [target('DEPLOYMENT_QUEUED', false)]), 'DEPLOYMENT_QUEUED')
  const underWay = [target('DEPLOYED'), target('BUILDING', false)]
  assert.equal(requestState({ ...deploy, status: 'ONGOING' }, underWay), 'BUILDING')
  assert.equal(requestState({ ...deploy, status: 'ONGOING' }, [target('DEPLOYED')]), 'DEPLOYING')
  assert.equal(requestState({ ...deploy, status: 'SUCCESS' }, [target('DEPLOYED')]), 'DEPLOYED')
  assert.equal(requestState({ ...deploy, status: 'ERROR' }, [target('DEPLOYED'), target('BUILD_ERROR')]), 'BUILD_ERROR')
  assert.equal(requestState({ action: 'STOP', status: 'ERROR' }, []), 'STOP_ERROR')
  assert.equal(requestState({ ...deploy, status: 'CANCELED' }, [target('DEPLOYED')]), 'CANCELED')
  assert.equal(requestState({ action: 'UNINSTALL', status: 'SUCCESS' }, [target('DELETED')]), 'DELETED')
})
