import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import type { BuildResults, ResultReceiver } from '../../engines/index.ts'
import { contextOf, failureOf, recipeOf, recording } from '../builder.cases.ts'
import { createBuildKitBuilder } from './buildkit-builder.ts'

const refuse = (): never => assert.fail('nothing arrives')

/** A repository that has nothing, and of which nothing is asked. */
const receiver: ResultReceiver = {
  add: refuse,
  begin: refuse,
  finish: refuse,
  [Symbol.asyncDispose]: async () => {},
}
const results: BuildResults = {
  find: async () => undefined,
  receive: async () => receiver,
  tagAgain: refuse,
  list: refuse,
  remove: refuse,
  publish: refuse,
}

for (const ends of ['ends', 'breaks'] as const) {
  test(`a build whose connection ${ends} fails with what to do`, async () => {
    const openDaemon = async (): Promise<Duplex> => {
      const stream: Duplex = new Duplex({
        read: () => {},
        write: (_bytes, _encoding, done) => {
          if (ends === 'ends') stream.push(null)
          else stream.destroy(new Error('the node went away'))
          done()
        },
      })
      return stream
    }
    const bases = { open: refuse, isOwn: () => false }
    const builder = createBuildKitBuilder({ openDaemon, results, bases })
    const recipe = recipeOf('one', 'FROM scratch\nCOPY . /\n')
    const { reason, message } = await failureOf(builder.build(contextOf(recipe), recipe, recording().attempt))
    assert.equal(reason, 'unreachable', message)
    assert.match(message, /The builder ended the connection.*Deploy again/)
  })
}
