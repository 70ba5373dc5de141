import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInstalled, planSystem, unsupported, usesApt } from './system.mjs'

const linux = { platform: 'linux', arch: 'x64', nodeVersion: '20.20.2' }
/** @type {Parameters<typeof planSystem>[0]} */
const debian = {
  isRoot: true,
  isApt: true,
  hasGit: true,
  hasDockerd: true,
  hasSystemd: false,
  docker: 'answers',
  dockerHost: undefined,
  user: 'ada',
}

test('unsupported accepts Linux on x64 and arm64 with Node 20 or newer', () => {
  assert.equal(unsupported(linux), undefined)
  assert.equal(unsupported({ ...linux, arch: 'arm64', nodeVersion: '26.1.0' }), undefined)
  assert.match(unsupported({ ...linux, nodeVersion: '18.20.0' }) ?? '', /Node\.js 18\.20\.0; .* version 20 or newer/)
  assert.match(unsupported({ ...linux, platform: 'darwin' }) ?? '', /darwin on x64/)
  assert.match(unsupported({ ...linux, arch: 'arm' }) ?? '', /linux on arm;/)
})

test('usesApt recognizes Debian and its derivatives', () => {
  assert.ok(usesApt('PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n'))
  assert.ok(usesApt('ID=ubuntu\nID_LIKE=debian\n'))
  assert.ok(usesApt('ID=linuxmint\nID_LIKE="ubuntu debian"\n'))
  assert.ok(!usesApt('ID=fedora\nHOME_URL="https://debian.example"\n'))
  assert.ok(!usesApt(''))
})

test('planSystem does nothing when everything exists, for every user', () => {
  const nothing = { packages: [], startDocker: undefined, refusal: undefined }
  assert.deepEqual(planSystem(debian), nothing)
  assert.deepEqual(planSystem({ ...debian, isRoot: false, isApt: false, hasDockerd: false }), nothing)
  assert.deepEqual(planSystem({ ...debian, dockerHost: '/elsewhere.sock', hasDockerd: false }), nothing)
})

test('planSystem installs missing packages and starts the engine when root runs it on Debian', () => {
  /** @type {typeof debian} */
  const fresh = { ...debian, hasGit: false, hasDockerd: false, docker: 'silent' }
  assert.deepEqual(planSystem(fresh), { packages: ['docker.io', 'git'], startDocker: 'directly', refusal: undefined })
  assert.deepEqual(planSystem({ ...fresh, hasDockerd: true, hasGit: true, hasSystemd: true }), {
    packages: [],
    startDocker: 'systemd',
    refusal: undefined,
  })
})

test('planSystem lists the exact commands when another user runs it', () => {
  const { refusal } = planSystem({
    ...debian,
    isRoot: false,
    hasDockerd: false,
    hasGit: false,
    docker: 'silent',
    hasSystemd: true,
  })
  assert.match(refusal ?? '', /Not installed: Docker Engine and git/)
  assert.match(
    refusal ?? '',
    / {2}sudo apt-get update\n {2}sudo apt-get install -y --no-install-recommends docker\.io git\n {2}sudo systemctl enable --now docker\n {2}sudo usermod -aG docker ada/,
  )
  assert.match(
    planSystem({ ...debian, isRoot: false, docker: 'silent' }).refusal ?? '',
    /Docker does not run[\s\S]*nohup dockerd/,
  )
  assert.match(planSystem({ ...debian, isRoot: false, docker: 'denied' }).refusal ?? '', /sudo usermod -aG docker ada/)
})

test('planSystem installs nothing when the system has no apt', () => {
  const { refusal } = planSystem({ ...debian, isApt: false, hasDockerd: false, docker: 'silent' })
  assert.match(refusal ?? '', /Not installed: Docker Engine\. .*\n\n {2}Docker Engine: https:\/\/docs\.docker\.com/)
})

test('planSystem starts no engine when QUAYSIDE_DOCKER_HOST names another one', () => {
  assert.match(
    planSystem({ ...debian, docker: 'silent', dockerHost: '/x.sock' }).refusal ?? '',
    /"\/x\.sock", but no Docker Engine/,
  )
})

test('isInstalled searches PATH and the directories of system programs', () => {
  assert.ok(isInstalled('sh', '/nonexistent:/bin'))
  assert.ok(!isInstalled('sh', '/nonexistent'))
  assert.ok(isInstalled('ldconfig', ''))
})
