import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { actions, isAtRest, isFailed, phases, refusal, type State, stateNames } from './states.ts'
import { foreignStates, initialState, mayFollow, statesBefore, transitions } from './transitions.ts'
import { withTransitions } from './transitions-page.ts'

const own = stateNames.filter((state) => !foreignStates.includes(state))
const passing = own.filter((state) => !isAtRest(state))
/** Every single change: its row, and one state each. */
const edges = transitions.flatMap((row) => row.from.flatMap((from) => row.to.map((to) => ({ ...row, from, to }))))

/** The states that can be reached, by these changes only. */
function reached(start: State, follow: (edge: (typeof edges)[number]) => boolean): Set<State> {
  const known = new Set([start])
  for (const state of known) {
    for (const edge of edges) if (edge.from === state && follow(edge)) known.add(edge.to)
  }
  return known
}

test('every state is reached from READY, except those that the platform does not use', () => {
  assert.deepEqual([...reached(initialState, () => true)].sort(), [...own].sort())
  for (const { from, to } of edges) assert.ok(![from, to].some((state) => foreignStates.includes(state)))
})

test('every passing state has a way out for success, failure and cancellation', () => {
  for (const state of passing) {
    const ends = [...reached(state, (edge) => edge.event !== 'comes next' && !isAtRest(edge.from))].filter(isAtRest)
    const done = actions.map((action) => phases[action].done)
    assert.ok(
      ends.some((end) => done.some((one) => one === end)),
      `${state} never succeeds`,
    )
    assert.ok(ends.some(isFailed), `${state} never fails`)
    assert.ok(ends.includes('CANCELED'), `${state} is never cancelled`)
  }
})

test('every passing state that is not being cancelled already can be, and fails in one step', () => {
  for (const state of passing) {
    assert.ok(mayFollow(state, 'being cancelled', 'CANCELING'), state)
    assert.ok(edges.some((edge) => edge.event === 'ended badly' && edge.from === state))
  }
})

test('no state leads into the phase of another action', () => {
  /** The actions whose requests have a service in that state; CANCELING belongs to all of them. */
  const owners = (state: State): string[] =>
    actions.filter((action) =>
      edges.some(
        ({ event, actions: of, to }) =>
          (event === 'accepted' || event === 'begun') && of.includes(action) && to === state,
      ),
    )
  for (const { event, from, to, actions: of } of edges) {
    if (isAtRest(from) || from === 'CANCELING' || event === 'being cancelled') continue
    for (const state of isAtRest(to) ? [from] : [from, to]) {
      assert.ok(
        of.some((action) => owners(state).includes(action)),
        `${from} → ${to}`,
      )
    }
    if (!isAtRest(to)) assert.deepEqual(owners(from), owners(to), `${from} → ${to}`)
  }
})

test('a request ends in the states of its action only', () => {
  for (const { event, actions: of, to } of edges) {
    if (event !== 'ended well' && event !== 'ended badly') continue
    for (const action of of) {
      const { done, failed } = phases[action]
      const ends: State[] = event === 'ended well' ? [done] : action === 'DEPLOY' ? [failed, 'BUILD_ERROR'] : [failed]
      assert.ok(ends.includes(to), `${action} ${event}: ${to}`)
    }
  }
})

test('settled states are left by requests and by the disk guard alone', () => {
  for (const { event, from } of edges) {
    if (isAtRest(from)) assert.ok(['accepted', 'comes next', 'disk is full'].includes(event), `${from}: ${event}`)
  }
})

test('a settled service enters the queue of exactly the actions that are not refused', () => {
  for (const action of actions) {
    for (const state of own.filter(isAtRest)) {
      const allowed = refusal(action, state) === undefined
      assert.equal(statesBefore('accepted', phases[action].queued).includes(state), allowed, `${action} in ${state}`)
    }
  }
})

test('a state may be written twice, and an event that does not lead there is not allowed', () => {
  assert.ok(mayFollow('BUILDING', 'begun', 'BUILDING'))
  assert.ok(mayFollow('BUILDING', 'begun', 'DEPLOYING'))
  assert.ok(!mayFollow('DEPLOYED', 'begun', 'DEPLOYING'))
  assert.ok(!mayFollow('STOPPING', 'ended well', 'DEPLOYED'))
  assert.ok(!mayFollow('DEPLOYING', 'disk is full', 'DEPLOYMENT_ERROR'))
})

test('docs/deployments.md has the table of transitions', () => {
  const page = readFileSync(new URL('../docs/deployments.md', import.meta.url), 'utf8')
  assert.equal(page, withTransitions(page), 'run: npm run emit')
})
