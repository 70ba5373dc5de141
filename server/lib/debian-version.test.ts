import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareDebian } from './debian-version.ts'

const rising = [
  '1.0.0~rc6+dfsg1-3',
  '1.0.0~rc93+ds1-5+deb11u3',
  '1.0.0~rc93+ds1-5+deb11u10',
  '1.0.0-1',
  '1.0.0+ds1-1',
  '1.1.5+ds1-1',
  '1.1.5+ds1-1+b4',
  '1.1.5+ds1-1+deb12u1',
  '1.1.5+ds1-2',
  '1.1.15+ds1-2',
  '20.10.24+dfsg1-1+deb12u1',
  '20.10.24+dfsg1-1+deb12u1+b6',
  '1:0.1-1',
]

test('compareDebian orders versions as dpkg does', () => {
  for (const [at, left] of rising.entries())
    for (const [other, right] of rising.entries())
      assert.equal(Math.sign(compareDebian(left, right)), Math.sign(at - other), `${left} and ${right}`)
})

test('compareDebian ignores leading zeros', () => {
  assert.equal(compareDebian('1.01-1', '1.1-1'), 0)
})

test('compareDebian reads long versions in linear time', () => {
  const long = '1a'.repeat(200_000)
  const before = process.cpuUsage()
  assert.ok(compareDebian(long, `${long}1`) < 0)
  assert.ok(process.cpuUsage(before).user < 2_000_000)
})
