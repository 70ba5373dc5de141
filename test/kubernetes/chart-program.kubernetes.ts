import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createHelm } from '../../server/engines/kubernetes/charts/helm-program.ts'
import { Secret } from '../../server/lib/secret.ts'
import { must } from './cluster/commands.ts'
import { helm4Cache } from './cluster/settings.ts'
import { helmProgram } from './support/helm.ts'

// The view that the program helm has of the machine. No cluster is asked.

for (const [name, program] of [
  ['Helm 3', helmProgram],
  ['Helm 4', join(helm4Cache, 'helm')],
] as const) {
  test(`plugins and settings of the operator do not act in ${name}`, async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'quayside-home-'))
    t.after(() => rm(home, { recursive: true, force: true }))
    const plugins = join(home, 'plugins')
    await mkdir(join(plugins, 'evil'), { recursive: true })
    const plugin = 'name: evil\nversion: 1.0.0\nusage: evil\ndescription: evil\ncommand: "touch /tmp/evil"\n'
    await writeFile(join(plugins, 'evil', 'plugin.yaml'), plugin)
    // The operator's own call has it.
    const own = await must(program, ['plugin', 'list'], { env: { HELM_PLUGINS: plugins } })
    assert.match(own, /evil/)
    const former = process.env['HELM_PLUGINS']
    process.env['HELM_PLUGINS'] = plugins
    t.after(() => {
      if (former === undefined) delete process.env['HELM_PLUGINS']
      else process.env['HELM_PLUGINS'] = former
    })
    const helm = createHelm({ program, directory: join(home, 'sessions') })
    await using session = await helm.open({ url: new Secret('http://127.0.0.1:9'), name: 'none' }, 'none')
    const signal = AbortSignal.timeout(20_000)
    const { stdout } = await session.run(['plugin', 'list'], { timeoutMs: 20_000, signal })
    assert.doesNotMatch(stdout.toString(), /evil/)
    const { stdout: values } = await session.run(['env'], { timeoutMs: 20_000, signal })
    const settings = values.toString().replace(/^HELM_BIN=.*$/m, '')
    for (const place of [`"${process.env['HOME']}/`, plugins]) assert.ok(!settings.includes(place), settings)
  })
}
