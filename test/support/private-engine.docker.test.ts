import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { bridgeName, networkSpec } from '../../server/engines/docker/networks.ts'
import { newId } from '../../server/lib/id.ts'
import { viewEngine } from './engine-view.ts'
import { startPrivateEngine, whyNoPrivateEngine } from './private-engine.ts'

const whyNot = await whyNoPrivateEngine()

for (const end of ['closed', 'killed and closed']) {
  test(`a private engine that is ${end} leaves no bridge`, { skip: whyNot }, async (t) => {
    const engine = await startPrivateEngine()
    t.after(engine.close)
    const environment = newId()
    const hasBridge = async () => (await readdir('/sys/class/net')).includes(bridgeName(environment))
    await viewEngine(engine.socketPath).ask('POST', '/networks/create', networkSpec('test', environment, undefined))
    assert.equal(await hasBridge(), true)
    if (end !== 'closed') await engine.kill9()
    await engine.close()
    assert.equal(await hasBridge(), false)
  })
}
