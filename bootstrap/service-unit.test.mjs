import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { execute } from './execute.mjs'
import { findUnit, installUnit, removeUnit } from './service-unit.mjs'
import { isInstalled } from './system.mjs'
import { environmentText, unitText } from './unit-text.mjs'

const what = {
  node: '/usr/bin/node',
  root: '/opt/quayside',
  directory: '/var/lib/data',
  environmentFile: '/etc/quayside/quayside.env',
  uid: 0,
}
/**
 * Returns the value of a setting of a unit.
 * @param {string} text
 * @param {string} name
 */
const settingOf = (text, name) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1]

/** @param {import('node:test').TestContext} t */
function openPlaces(t) {
  const home = mkdtempSync(join(tmpdir(), 'quayside-unit-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  /** @type {string[]} */
  const called = []
  return {
    home,
    places: { units: home, settings: join(home, 'settings') },
    called,
    /** @param {string[]} args */
    run: async (...args) => void called.push(args.join(' ')),
  }
}

test('unitText restarts the server after failures, stops it with SIGTERM, and keeps the router running', () => {
  const text = unitText(what)
  const expected = {
    KillMode: 'process',
    KillSignal: 'SIGTERM',
    Restart: 'on-failure',
    ProtectSystem: 'yes',
    NoNewPrivileges: 'yes',
    ProtectHome: 'yes',
    User: '0',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, settingOf(text, name)])), expected)
  // Longer than the server and PostgreSQL need to stop.
  assert.ok(Number(settingOf(text, 'TimeoutStopSec')) > 120)
  assert.equal(settingOf(text, 'ExecStart'), '"/usr/bin/node" "/opt/quayside/bootstrap/start.mjs"')
})

test('unitText hides home directories unless the installation uses one', () => {
  for (const change of [{ root: '/root/quayside' }, { directory: '/home/me/data' }, { node: '/root/.nvm/node' }])
    assert.equal(settingOf(unitText({ ...what, ...change }), 'ProtectHome'), 'no')
})

test('unitText and environmentText escape special characters in paths and settings', () => {
  const text = unitText({ ...what, root: '/opt/a b"c%d$e' })
  assert.equal(settingOf(text, 'ExecStart'), '"/usr/bin/node" "/opt/a b\\"c%%d$$e/bootstrap/start.mjs"')
  const variables = { QUAYSIDE_OIDC_ISSUERS: '[{"a":\n "b$"}]', QUAYSIDE_HOST: '', HOME: '/root' }
  assert.equal(
    environmentText(variables, '/data'),
    'QUAYSIDE_DATA="/data"\nQUAYSIDE_OIDC_ISSUERS="[{\\"a\\": \\"b\\$\\"}]"\n',
  )
})

test('systemd accepts the text of the unit', {
  skip: isInstalled('systemd-analyze') ? false : 'systemd-analyze is not installed',
}, async (t) => {
  const { home } = openPlaces(t)
  const environmentFile = join(home, 'quayside.env')
  writeFileSync(environmentFile, '')
  const path = join(home, 'quayside.service')
  writeFileSync(path, unitText({ ...what, node: process.execPath, root: home, directory: home, environmentFile }))
  const { code, output } = await execute('systemd-analyze', ['verify', '--man=no', path])
  // Complaints about other units of this machine do not count.
  const said = output.split('\n').filter((line) => line.includes('quayside'))
  assert.deepEqual(said, [], `${code} ${output}`)
})

test('the service command lists the duties of another supervisor when systemd does not run', {
  skip: existsSync('/run/systemd/system') && 'systemd runs here',
}, async () => {
  const env = { ...process.env, QUAYSIDE_DATA: '/nowhere/data' }
  const { code, output } = await execute(process.execPath, [join(import.meta.dirname, 'service.mjs')], { env })
  assert.equal(code, 1)
  assert.match(output, /systemd does not run here.*QUAYSIDE_DATA=\/nowhere\/data.*SIGTERM.*KillMode=process/s)
  const removal = await execute(process.execPath, [join(import.meta.dirname, 'service.mjs'), '--remove'], { env })
  assert.match(removal.output, /There is no unit of systemd for \/nowhere\/data/)
})

test('installUnit installs and updates a unit, findUnit finds it, and removeUnit removes it', async (t) => {
  const { places, called, run } = openPlaces(t)
  const variables = { QUAYSIDE_DATABASE_URL: 'postgres://a:secret@b/c' }
  const unit = await installUnit({ ...what, variables }, { run, places })
  assert.deepEqual(called, ['daemon-reload', 'enable quayside.service', 'restart quayside.service'])
  assert.equal(statSync(unit.environmentFile).mode & 0o777, 0o600)
  assert.ok(!readFileSync(unit.path, 'utf8').includes('secret'))
  assert.deepEqual(findUnit(what.directory, places), unit)
  assert.deepEqual(await installUnit({ ...what, variables: { QUAYSIDE_PORT: '4000' } }, { run, places }), unit)
  assert.match(readFileSync(unit.environmentFile, 'utf8'), /QUAYSIDE_PORT="4000"/)
  // A second installation on the same machine.
  const other = await installUnit({ ...what, directory: '/var/lib/data2', variables }, { run, places })
  assert.match(other.name, /^quayside-[0-9a-f]{8}\.service$/)
  called.length = 0
  await removeUnit(unit, { run })
  assert.deepEqual(called, ['disable --now quayside.service', 'daemon-reload'])
  assert.deepEqual(
    [existsSync(unit.path), existsSync(unit.environmentFile), existsSync(other.path)],
    [false, false, true],
  )
  assert.equal(findUnit(what.directory, places), undefined)
})
